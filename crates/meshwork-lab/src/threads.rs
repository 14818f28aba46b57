//! Threads for running simulations, and data that they share.

use crate::refused::is_refused;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{threads} threads cannot be started ({why})")]
pub struct NoThreads {
    pub threads: usize,
    pub why: String,
}

is_refused!(NoThreads);

pub(crate) enum Threads {
    /// The calling thread alone. Many runs take less time than starting another thread.
    Own,
    Pool(ThreadPool),
}

impl Threads {
    pub(crate) fn of(threads: usize) -> Result<Threads, NoThreads> {
        Ok(if threads == 1 { Threads::Own } else { Threads::Pool(pool(threads)?) })
    }

    /// Calls `work` for each number in `numbers`. Returns the results that are `Some`, in the order
    /// of the numbers.
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

/// Pool of `threads` threads; 0 uses one per processor.
pub fn pool(threads: usize) -> Result<ThreadPool, NoThreads> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| NoThreads { threads, why: error.to_string() })
}

/// Locks a mutex, even if a thread panicked while it held the lock. The data remain consistent,
/// because every single statement leaves them so.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Content of a mutex, even if a thread panicked while it held the lock.
pub(crate) fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
