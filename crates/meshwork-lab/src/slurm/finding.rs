//! What is to be said of a configuration: what Slurm refuses, and what it takes without a word.

/// Which of the two files a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The topology.
    Topology,
    /// `slurm.conf`.
    Conf,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Slurm does not start.
    Fatal,
    /// Slurm starts, and does something else than is meant.
    Warning,
}

/// One thing that is to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which file it is in.
    pub source: Source,
    /// The line, from 1; none for the file as a whole.
    pub line: Option<usize>,
    /// How bad it is.
    pub level: Level,
    /// What is wrong, in a sentence.
    pub says: String,
    /// What Slurm logs, line by line; nothing where it is silent, or where its words are not known.
    pub slurm: Vec<String>,
}

/// All that is to be said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings(pub Vec<Finding>);

/// Something is fatal, and has been said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fatal;

impl Findings {
    /// Says that Slurm does not start.
    pub fn fatal(&mut self, line: usize, says: impl Into<String>, slurm: &[&str]) -> Fatal {
        self.add(Source::Topology, Some(line), Level::Fatal, says.into(), slurm);
        Fatal
    }

    /// Warns of something that Slurm takes in silence.
    pub fn warn(&mut self, line: usize, says: impl Into<String>) {
        self.add(Source::Topology, Some(line), Level::Warning, says.into(), &[]);
    }

    /// Warns of something that Slurm logs and starts with.
    pub fn warn_logged(&mut self, line: usize, says: impl Into<String>, slurm: &[&str]) {
        self.add(Source::Topology, Some(line), Level::Warning, says.into(), slurm);
    }

    /// Warns of something in `slurm.conf`.
    pub fn warn_conf(&mut self, line: Option<usize>, says: impl Into<String>) {
        self.add(Source::Conf, line, Level::Warning, says.into(), &[]);
    }

    /// Says that Slurm does not start with this `slurm.conf`.
    pub fn fatal_conf(
        &mut self,
        line: Option<usize>,
        says: impl Into<String>,
        slurm: &[&str],
    ) -> Fatal {
        self.add(Source::Conf, line, Level::Fatal, says.into(), slurm);
        Fatal
    }

    fn add(
        &mut self,
        source: Source,
        line: Option<usize>,
        level: Level,
        says: String,
        slurm: &[&str],
    ) {
        let slurm = slurm.iter().map(|&text| text.to_owned()).collect();
        self.0.push(Finding { source, line, level, says, slurm });
    }

    /// The first thing for which Slurm does not start.
    #[must_use]
    pub fn first_fatal(&self) -> Option<&Finding> {
        self.0.iter().find(|finding| finding.level == Level::Fatal)
    }
}
