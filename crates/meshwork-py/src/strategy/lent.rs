//! Lends Rust references to Python for the duration of one call.
#![allow(
    unsafe_code,
    reason = "Python keeps what it is given for as long as it likes, and Rust lends for one call: a pointer \
    that is taken away again at its end is the one thing that serves both"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError, TryLockError};

use pyo3::prelude::*;

use crate::error::{failed, of_panic};

/// Gives Python objects access to a Rust value, but only while the value is lent.
pub(super) struct Lent<T>(Mutex<Option<NonNull<T>>>);

// SAFETY: the pointer is dereferenced only under the mutex, and only during `lend`, in which its
// owner cannot access the value. All lent values are `Send`, or consist only of `Send` parts.
unsafe impl<T> Send for Lent<T> {}
// SAFETY: as for `Send`; moreover, the mutex admits one user at a time.
unsafe impl<T> Sync for Lent<T> {}

impl<T> Lent<T> {
    pub(super) fn nothing() -> Lent<T> {
        Lent(Mutex::new(None))
    }

    /// Lends a value while `act` runs.
    ///
    /// # Safety
    ///
    /// While `act` runs, the pointer must refer to a valid value that has no other user.
    unsafe fn lend<R>(&self, py: Python<'_>, value: NonNull<T>, act: impl FnOnce() -> R) -> R {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        let done = catch_unwind(AssertUnwindSafe(act));
        // A thread that uses the value may need the GIL to finish.
        py.detach(|| *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Calls `act` with the lent value. If `act` panics, a Python exception is raised.
    pub(super) fn with<R>(&self, what: &str, act: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        let lent = match self.0.try_lock() {
            Ok(lent) => lent,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(failed(format!(
                    "the {what} is in use: nobody can ask it while it asks somebody else"
                )));
            }
        };
        let Some(mut value) = *lent else {
            return Err(failed(format!(
                "the {what} can be asked only during the call that it was given to"
            )));
        };
        // SAFETY: the value is lent now, and the mutex excludes all other users.
        let value = unsafe { value.as_mut() };
        catch_unwind(AssertUnwindSafe(|| act(value))).map_err(|panic| failed(of_panic(&*panic)))
    }
}

/// Lends a cluster to a scheduler while `act` runs.
pub(super) fn lend_cluster<R>(
    py: Python<'_>,
    place: &Lent<meshwork::cluster::Cluster<'static>>,
    cluster: &mut meshwork::cluster::Cluster<'_>,
    act: impl FnOnce() -> R,
) -> R {
    // SAFETY: the cluster is borrowed during this whole call. Its lifetime is that of an observer
    // inside it, which no method returns or replaces, so the closures of this module cannot
    // distinguish it from a longer one.
    unsafe { place.lend(py, NonNull::from(cluster).cast(), act) }
}

/// Lends the sites' offers to a selector while a function runs.
pub(super) fn lend_offers<R>(
    py: Python<'_>,
    place: &Lent<meshwork::offer::Offers<'static>>,
    offers: &mut meshwork::offer::Offers<'_>,
    act: impl FnOnce() -> R,
) -> R {
    // SAFETY: the offers are borrowed during this whole call. No closure of this module lets its
    // own borrows escape: the closures return numbers and owned placements.
    unsafe { place.lend(py, NonNull::from(offers).cast(), act) }
}
