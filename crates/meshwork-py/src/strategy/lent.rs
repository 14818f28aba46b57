//! What is lent to Python for the length of one call.
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

/// A place in which a borrowed value can be reached while it is lent, and not before or after.
pub(super) struct Lent<T>(Mutex<Option<NonNull<T>>>);

// SAFETY: the pointer is followed only under the mutex, and only between the two ends of `lend`, during which its
// owner cannot touch what it points to; what is lent is itself `Send`, or made of nothing but such.
unsafe impl<T> Send for Lent<T> {}
// SAFETY: as above: under the mutex there is one user at a time.
unsafe impl<T> Sync for Lent<T> {}

impl<T> Lent<T> {
    /// With nothing lent.
    pub(super) fn nothing() -> Lent<T> {
        Lent(Mutex::new(None))
    }

    /// Lends something while `act` goes on.
    ///
    /// # Safety
    /// The pointer is to a value that is valid, and that nobody else uses, while `act` goes on.
    unsafe fn lend<R>(&self, py: Python<'_>, value: NonNull<T>, act: impl FnOnce() -> R) -> R {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        let done = catch_unwind(AssertUnwindSafe(act));
        // Whoever is inside may need the lock of the interpreter to come out.
        py.detach(|| *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Does something with what is lent; what unwinds in it becomes an exception.
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
        // SAFETY: it is lent now, and the mutex keeps everybody else away.
        let value = unsafe { value.as_mut() };
        catch_unwind(AssertUnwindSafe(|| act(value))).map_err(|panic| failed(of_panic(&*panic)))
    }
}

/// Lends a cluster.
pub(super) fn lend_cluster<R>(
    py: Python<'_>,
    place: &Lent<meshwork::cluster::Cluster<'static>>,
    cluster: &mut meshwork::cluster::Cluster<'_>,
    act: impl FnOnce() -> R,
) -> R {
    // SAFETY: it is borrowed for all of this call. Its lifetime is that of an observer inside it, which no method of
    // it gives away or replaces, so that none of our closures can tell it from a longer one.
    unsafe { place.lend(py, NonNull::from(cluster).cast(), act) }
}

/// Lends the offers of an attempt.
pub(super) fn lend_offers<R>(
    py: Python<'_>,
    place: &Lent<meshwork::offer::Offers<'static>>,
    offers: &mut meshwork::offer::Offers<'_>,
    act: impl FnOnce() -> R,
) -> R {
    // SAFETY: it is borrowed for all of this call. What it borrows itself leaves it in none of our closures: they
    // give numbers and placements of their own.
    unsafe { place.lend(py, NonNull::from(offers).cast(), act) }
}
