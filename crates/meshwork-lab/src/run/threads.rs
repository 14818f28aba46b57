//! The threads on which runs go on.

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The threads cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{threads} threads cannot be started ({why})")]
pub struct NoThreads {
    /// How many were asked for.
    pub threads: usize,
    /// The operating system's own words.
    pub why: String,
}

/// So many threads; 0 is as many as there are processors.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool, NoThreads> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| NoThreads { threads, why: error.to_string() })
}
