//! What came of the runs of a study.

use crate::run::runs::Runs;
use crate::study::Replications;

/// What came of the runs of a study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The runs of each scenario, by replication. Where all replications gave the same to the last digit, the
    /// first stands for them.
    pub runs: Vec<Runs>,
    /// Of each scenario, whether its one run stands for all replications.
    pub constant: Vec<bool>,
    /// Why the store takes no more, if it does not; the results are whole all the same.
    pub trouble: Option<String>,
    /// Whether it was stopped before all had run: then nothing is whole but what is stored.
    pub stopped: bool,
    /// Runs that the store had of another build of the program, and that were therefore run again.
    pub outdated: u64,
}

impl Results {
    /// Results of these runs, of each scenario by replication.
    ///
    /// Replications of a log differ only in what strategies draw. Where nothing is drawn they are the same run
    /// again and again, and would pretend that there is no doubt: there the first alone is kept.
    #[must_use]
    pub fn of(mut runs: Vec<Runs>, replications: &Replications) -> Results {
        let is_windows = matches!(replications, Replications::Windows { .. });
        let constant: Vec<bool> = runs.iter().map(|runs| !is_windows && runs.all_same()).collect();
        for (runs, _) in runs.iter_mut().zip(&constant).filter(|(_, is_constant)| **is_constant) {
            runs.keep_first();
        }
        Results { runs, constant, ..Results::default() }
    }

    /// Whether the one run of this scenario stands for all replications.
    #[must_use]
    pub fn is_constant(&self, index: usize) -> bool {
        self.constant.get(index).copied().unwrap_or(false)
    }
}
