use crate::run::runs::ScenarioRuns;
use crate::study::Replications;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Runs by scenario and replication.
    ///
    /// If all replications of a scenario are identical, only its first run is included.
    pub runs: Vec<ScenarioRuns>,
    pub constant: Vec<bool>,
    /// Error of the store. Later runs were not stored, but their results are in memory.
    pub store_error: Option<String>,
    pub stopped: bool,
    /// Number of runs that were repeated, because another build of the program had made them.
    pub outdated: u64,
}

impl Results {
    /// Collects the runs of each scenario. If all replications are identical, only one run is kept.
    ///
    /// An interval over identical runs would suggest a false certainty.
    pub fn of(mut runs: Vec<ScenarioRuns>, replications: &Replications) -> Results {
        let is_windows = matches!(replications, Replications::Windows { .. });
        let constant: Vec<bool> = runs.iter().map(|runs| !is_windows && runs.all_same()).collect();
        for (runs, _) in runs.iter_mut().zip(&constant).filter(|(_, is_constant)| **is_constant) {
            runs.keep_first();
        }
        Results { runs, constant, ..Results::default() }
    }

    pub fn is_constant(&self, index: usize) -> bool {
        self.constant.get(index).copied().unwrap_or(false)
    }
}
