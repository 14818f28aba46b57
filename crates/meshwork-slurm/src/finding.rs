//! The findings of the lint: configurations that Slurm refuses or silently misinterprets.

/// The file that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Topology,
    /// `slurm.conf`.
    Conf,
    /// `gres.conf`.
    Gres,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Slurm does not start.
    Fatal,
    /// Slurm starts, but behaves differently than intended.
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFinding {
    pub source: Source,
    /// The line, from 1; `None` for the file as a whole.
    pub line: Option<usize>,
    pub level: Level,
    /// The problem, in a sentence.
    pub says: String,
    /// Slurm's log messages, line by line; empty if it logs none or they are not known.
    pub slurm: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintFindings(pub Vec<LintFinding>);

/// A marker that a fatal finding has been added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fatal;

impl LintFindings {
    /// Adds a finding with which Slurm does not start.
    pub fn fatal(&mut self, line: usize, says: impl Into<String>, slurm: &[&str]) -> Fatal {
        self.add(Source::Topology, Some(line), Level::Fatal, says.into(), slurm);
        Fatal
    }

    /// Adds a warning about something that Slurm silently accepts.
    pub fn warn(&mut self, line: usize, says: impl Into<String>) {
        self.add(Source::Topology, Some(line), Level::Warning, says.into(), &[]);
    }

    /// Adds a warning about something that Slurm logs before it starts.
    pub fn warn_logged(&mut self, line: usize, says: impl Into<String>, slurm: &[&str]) {
        self.add(Source::Topology, Some(line), Level::Warning, says.into(), slurm);
    }

    /// Adds a warning about `slurm.conf`.
    pub fn warn_conf(&mut self, line: Option<usize>, says: impl Into<String>) {
        self.add(Source::Conf, line, Level::Warning, says.into(), &[]);
    }

    /// Adds a warning about `gres.conf`.
    pub fn warn_gres(&mut self, line: Option<usize>, says: impl Into<String>) {
        self.add(Source::Gres, line, Level::Warning, says.into(), &[]);
    }

    /// Adds a finding on `slurm.conf` with which Slurm does not start.
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

    /// The first finding with which Slurm does not start.
    #[must_use]
    pub fn first_fatal(&self) -> Option<&LintFinding> {
        self.0.iter().find(|finding| finding.level == Level::Fatal)
    }
}
