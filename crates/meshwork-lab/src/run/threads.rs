//! The threads on which runs go on.

use std::ops::Range;

use rayon::prelude::*;
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

/// Where runs go on.
pub(crate) enum Threads {
    /// On the thread that asks for them, where they want no more than one: to start another and to wake it takes longer than many
    /// a run.
    Own,
    /// On others.
    Pool(ThreadPool),
}

impl Threads {
    /// So many threads; 0 is as many as there are processors.
    pub(crate) fn of(threads: usize) -> Result<Threads, NoThreads> {
        Ok(if threads == 1 { Threads::Own } else { Threads::Pool(pool(threads)?) })
    }

    /// What the work gives for each of these numbers, in their order, where it gives something.
    pub(crate) fn map<T: Send>(
        &self,
        numbers: Range<usize>,
        work: impl Fn(usize) -> Option<T> + Sync + Send,
    ) -> Vec<T> {
        match self {
            Threads::Own => numbers.filter_map(work).collect(),
            Threads::Pool(pool) => {
                pool.install(|| numbers.into_par_iter().with_max_len(1).filter_map(work).collect())
            }
        }
    }
}

/// So many threads; 0 is as many as there are processors.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool, NoThreads> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| NoThreads { threads, why: error.to_string() })
}
