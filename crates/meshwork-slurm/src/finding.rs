//! The findings of the lint: what Slurm refuses, or accepts with an unintended meaning.

/// The file that a finding of the lint is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Topology,
    /// The file `slurm.conf`.
    Conf,
    /// The file `gres.conf`.
    Gres,
}

/// The severity of a finding of the lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Slurm would not start.
    Fatal,
    /// Slurm would start, but behave differently than intended.
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFinding {
    pub source: Source,
    /// The line of the file, from 1; `None` for the file as a whole.
    pub line: Option<usize>,
    pub level: Level,
    /// The problem, in one sentence.
    pub says: String,
    /// The messages that Slurm logs, line by line. Empty if Slurm logs none, or they are not known.
    pub slurm: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintFindings(pub Vec<LintFinding>);

/// Error of a reader of configuration files. Its reason is in the findings, as a fatal finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fatal;

impl LintFindings {
    /// Adds a fatal finding about the topology file: Slurm would not start with it.
    pub fn fatal(&mut self, line: usize, says: impl Into<String>, slurm: &[&str]) -> Fatal {
        self.add(Source::Topology, Some(line), Level::Fatal, says.into(), slurm);
        Fatal
    }

    /// Adds a warning about something in the topology file that Slurm accepts silently.
    pub fn warn(&mut self, line: usize, says: impl Into<String>) {
        self.add(Source::Topology, Some(line), Level::Warning, says.into(), &[]);
    }

    /// Adds a warning about something in the topology file that Slurm logs before it starts.
    pub fn warn_logged(&mut self, line: usize, says: impl Into<String>, slurm: &[&str]) {
        self.add(Source::Topology, Some(line), Level::Warning, says.into(), slurm);
    }

    /// Adds a warning about one line of `slurm.conf`, or about the whole file.
    pub fn warn_conf(&mut self, line: Option<usize>, says: impl Into<String>) {
        self.add(Source::Conf, line, Level::Warning, says.into(), &[]);
    }

    /// Adds a warning about one line of `gres.conf`, or about the whole file.
    pub fn warn_gres(&mut self, line: Option<usize>, says: impl Into<String>) {
        self.add(Source::Gres, line, Level::Warning, says.into(), &[]);
    }

    /// Adds a fatal finding about `slurm.conf`: Slurm would not start with it.
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
        self.0.push(LintFinding { source, line, level, says, slurm });
    }

    /// The first fatal finding, with which Slurm would not start; `None` if there is none.
    #[must_use]
    pub fn first_fatal(&self) -> Option<&LintFinding> {
        self.0.iter().find(|finding| finding.level == Level::Fatal)
    }
}
