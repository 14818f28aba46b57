//! Cache of requests that an allocator cannot place now.

use crate::job::Request;

/// Requests that an allocator cannot place now (denials), so that none is tried again in vain.
///
/// If an allocator that finds every free block cannot place a block, it cannot place a larger one,
/// until nodes are released. After a release, denials are only suspected. A suspected request that
/// is contained in a new request is then tried first. Suspected requests are useful, and kept, only
/// if more than one request was denied between two releases. Queries take **O(k)** for at most 64
/// requests of each kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Denied {
    known: Vec<Request>,
    suspected: Vec<Request>,
    /// Whether the allocator that denied the requests finds every free block.
    every_block: bool,
    /// Whether the cache stays empty, for tests.
    forgetful: bool,
}

/// Maximum number of requests in the list of known denials, and in that of suspected ones.
const MAX_KEPT: usize = 64;

impl Denied {
    pub(crate) fn new(every_block: bool) -> Denied {
        Denied { every_block, ..Denied::default() }
    }

    pub(crate) fn forgetful() -> Denied {
        Denied { forgetful: true, ..Denied::default() }
    }

    pub(crate) fn is_known(&self, request: &Request) -> bool {
        self.known.iter().any(|known| self.follows(known, request))
    }

    pub(crate) fn is_without_knowledge(&self) -> bool {
        self.known.is_empty()
    }

    /// Removes and returns a request contained in `request` that failed before the last release.
    ///
    /// The caller tries the returned request first. If it has no placement, the caller
    /// [notes](Denied::note) this, and `request` has no placement either.
    pub(crate) fn suspect(&mut self, request: &Request) -> Option<Request> {
        let follows = |other: &Request| other != request && self.follows(other, request);
        let at = self.suspected.iter().position(follows)?;
        Some(self.suspected.swap_remove(at))
    }

    pub(crate) fn note(&mut self, request: &Request) {
        if self.forgetful {
            return;
        }
        let every_block = self.every_block;
        let covered = |other: &Request| implies(request, other, every_block);
        self.known.retain(|other| !covered(other));
        self.suspected.retain(|other| !covered(other));
        if self.known.len() == MAX_KEPT {
            self.known.remove(0);
        }
        self.known.push(request.clone());
    }

    /// Discards the list of refused requests after a claim, unless the allocator finds every free
    /// block.
    #[inline]
    pub(crate) fn claimed(&mut self) {
        if !self.every_block && !self.is_without_knowledge() {
            self.known.clear();
        }
    }

    /// Records a release of nodes. Requests known to fail are then only suspected to fail, or
    /// dropped.
    #[inline]
    pub(crate) fn released(&mut self) {
        if self.is_without_knowledge() {
            return; // the common case if few jobs wait
        }
        if self.every_block && self.known.len() > 1 {
            let kept = self.known.len().min(MAX_KEPT.saturating_sub(self.suspected.len()));
            self.suspected.extend(self.known.drain(..).take(kept));
        } else {
            self.known.clear();
        }
    }

    /// Adds the failed requests of another cache to this one.
    ///
    /// If `still_true` is false, they may succeed by now, and are only suspected to fail.
    pub(crate) fn learn_from(&mut self, other: Denied, still_true: bool) {
        if !self.every_block {
            return;
        }
        if still_true {
            other.known.iter().for_each(|request| self.note(request));
        }
        let known = if still_true { Vec::new() } else { other.known };
        for request in other.suspected.into_iter().chain(known) {
            if self.suspected.len() < MAX_KEPT && !self.suspected.contains(&request) {
                self.suspected.push(request);
            }
        }
    }

    pub(crate) fn learn_all_of(&mut self, other: &Denied) {
        for request in &other.known {
            if !self.is_known(request) {
                self.note(request);
            }
        }
    }

    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.suspected.clear();
    }

    fn follows(&self, denied: &Request, request: &Request) -> bool {
        implies(denied, request, self.every_block)
    }
}

/// Whether `request` has no placement if the smaller request `denied` has none. Sides are compared
/// without rotation, because in each tried orientation the smaller block lies in the larger one.
pub(crate) fn implies(denied: &Request, request: &Request, every_block: bool) -> bool {
    match (denied, request) {
        (Request::Block(inner), Request::Block(outer)) if every_block => {
            inner.len() == outer.len() && inner.iter().zip(outer).all(|(a, b)| a <= b)
        }
        (Request::Subcube(inner), Request::Subcube(outer)) if every_block => inner <= outer,
        _ => denied == request,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_contains_a_block_without_room_has_none() {
        let block = |sides: &[u32]| Request::block(sides);
        let mut denied = Denied::new(true);
        denied.note(&block(&[3, 2]));
        denied.note(&Request::Subcube(2));
        assert!(denied.is_known(&block(&[3, 2])) && denied.is_known(&block(&[4, 2])));
        assert!(!denied.is_known(&block(&[2, 3])) && !denied.is_known(&block(&[4, 1])));
        assert!(denied.is_known(&Request::Subcube(3)) && !denied.is_known(&Request::Subcube(1)));
        denied.claimed();
        assert!(denied.is_known(&block(&[3, 2])), "less is free than before");
        denied.released();
        assert!(!denied.is_known(&block(&[4, 2])));
        assert_eq!(denied.suspect(&block(&[4, 2])), Some(block(&[3, 2])));
        assert_eq!(denied.suspect(&block(&[4, 2])), None, "named once");
        denied.note(&block(&[4, 2]));
        denied.released();
        assert!(denied.is_without_knowledge());
        assert_eq!(denied.suspect(&block(&[4, 3])), None, "it was the only question");
    }

    #[test]
    fn who_may_miss_a_block_is_believed_for_what_was_asked_and_until_something_changes() {
        let mut denied = Denied::new(false);
        denied.note(&Request::block(&[3, 2]));
        assert!(!denied.is_known(&Request::block(&[4, 2])));
        assert!(denied.is_known(&Request::block(&[3, 2])));
        denied.claimed();
        assert!(!denied.is_known(&Request::block(&[3, 2])));
        assert_eq!(denied.suspect(&Request::block(&[3, 2])), None);
    }
}
