//! References lent to Python for the duration of one call.
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

/// A slot through which a borrowed value can be accessed only while it is lent.
pub(super) struct Lent<T>(Mutex<Option<NonNull<T>>>);

// SAFETY: the pointer is dereferenced only under the mutex, and only during `lend`, in which its
// owner cannot access the value; what is lent is `Send`, or consists only of `Send` parts.
unsafe impl<T> Send for Lent<T> {}
// SAFETY: as above; the mutex admits one user at a time.
unsafe impl<T> Sync for Lent<T> {}

impl<T> Lent<T> {
    /// An empty slot.
    pub(super) fn nothing() -> Lent<T> {
        Lent(Mutex::new(None))
    }

    /// Lends a value while `act` runs.
    ///
    /// # Safety
    /// The pointer must refer to a value that is valid, and that has no other user, while `act`
    /// runs.
    unsafe fn lend<R>(&self, py: Python<'_>, value: NonNull<T>, act: impl FnOnce() -> R) -> R {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        let done = catch_unwind(AssertUnwindSafe(act));
        // A thread that uses the value may need the GIL to finish.
        py.detach(|| *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Calls a function with the lent value; a panic in it becomes an exception.
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
        // SAFETY: it is lent now, and the mutex excludes all other users.
        let value = unsafe { value.as_mut() };
        catch_unwind(AssertUnwindSafe(|| act(value))).map_err(|panic| failed(of_panic(&*panic)))
    }
}

/// Lends a cluster while `act` runs.
pub(super) fn lend_cluster<R>(
    py: Python<'_>,
    place: &Lent<meshwork::cluster::Cluster<'static>>,
    cluster: &mut meshwork::cluster::Cluster<'_>,
    act: impl FnOnce() -> R,
) -> R {
    // SAFETY: it is borrowed during this whole call. Its lifetime is that of an observer inside it,
    // which no method returns or replaces, so our closures cannot distinguish it from a longer one.
    unsafe { place.lend(py, NonNull::from(cluster).cast(), act) }
}

/// Lends the offers of a placement attempt while `act` runs.
pub(super) fn lend_offers<R>(
    py: Python<'_>,
    place: &Lent<meshwork::offer::Offers<'static>>,
    offers: &mut meshwork::offer::Offers<'_>,
    act: impl FnOnce() -> R,
) -> R {
    // SAFETY: it is borrowed during this whole call. None of our closures lets its own borrows
    // escape: they return numbers and owned placements.
    unsafe { place.lend(py, NonNull::from(offers).cast(), act) }
}
