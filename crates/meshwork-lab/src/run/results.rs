use crate::run::runs::ScenarioRuns;
use crate::study::Replications;

/// Results of the runs of a study, with the errors of the store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// By scenario and replication. Only the first run is kept if all replications are identical.
    pub runs: Vec<ScenarioRuns>,
    /// For each scenario, whether a single run stands for all replications.
    pub constant: Vec<bool>,
    /// After an error of the store, runs are not stored, but all results are here.
    pub store_error: Option<String>,
    /// In a study that was stopped early, only the store has all finished runs.
    pub stopped: bool,
    /// Number of runs made again because the store had them only from another build of the program.
    pub outdated: u64,
}

impl Results {
    /// Collects the runs of each scenario, by replication.
    ///
    /// Without random choices of strategies, replications of a log repeat the same run, and an
    /// interval over them would suggest a false certainty: only the first run is kept.
    #[must_use]
    pub fn of(mut runs: Vec<ScenarioRuns>, replications: &Replications) -> Results {
        let is_windows = matches!(replications, Replications::Windows { .. });
        let constant: Vec<bool> = runs.iter().map(|runs| !is_windows && runs.all_same()).collect();
        for (runs, _) in runs.iter_mut().zip(&constant).filter(|(_, is_constant)| **is_constant) {
            runs.keep_first();
        }
        Results { runs, constant, ..Results::default() }
    }

    #[must_use]
    pub fn is_constant(&self, index: usize) -> bool {
        self.constant.get(index).copied().unwrap_or(false)
    }
}
