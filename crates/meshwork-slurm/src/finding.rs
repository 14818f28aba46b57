//! Findings of the lint: what Slurm refuses, or accepts with an unintended meaning.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Topology,
    Conf,
    Gres,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Fatal,
    /// Slurm would start, but would behave differently than the user intends.
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFinding {
    pub source: Source,
    /// Number of the line, counted from 1; `None` if the finding is on the whole file.
    pub line: Option<usize>,
    pub level: Level,
    pub says: String,
    /// Messages that Slurm would log about the problem, as far as they are known.
    pub slurm: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintFindings(pub Vec<LintFinding>);

/// Error that has no text: Slurm would not start with the checked files.
///
/// A fatal finding describes the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fatal;

impl LintFindings {
    pub fn fatal(&mut self, line: usize, says: impl Into<String>, slurm: &[&str]) -> Fatal {
        self.add(Source::Topology, Some(line), Level::Fatal, says.into(), slurm);
        Fatal
    }

    /// Adds a warning about a part of the topology file that Slurm accepts without a message.
    pub fn warn(&mut self, line: usize, says: impl Into<String>) {
        self.add(Source::Topology, Some(line), Level::Warning, says.into(), &[]);
    }

    /// Adds a warning about a part of the topology file.
    ///
    /// Slurm logs the messages `slurm` about this part, and starts nevertheless.
    pub fn warn_logged(&mut self, line: usize, says: impl Into<String>, slurm: &[&str]) {
        self.add(Source::Topology, Some(line), Level::Warning, says.into(), slurm);
    }

    pub fn warn_conf(&mut self, line: Option<usize>, says: impl Into<String>) {
        self.add(Source::Conf, line, Level::Warning, says.into(), &[]);
    }

    pub fn warn_gres(&mut self, line: Option<usize>, says: impl Into<String>) {
        self.add(Source::Gres, line, Level::Warning, says.into(), &[]);
    }

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

    pub fn first_fatal(&self) -> Option<&LintFinding> {
        self.0.iter().find(|finding| finding.level == Level::Fatal)
    }
}
