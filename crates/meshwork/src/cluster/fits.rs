//! Cache of which requests fit the empty machine.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::power::draw_of;
use crate::energy::Draws;
use crate::facility::Facility;
use crate::job::{Job, Request, Time};

/// Cache of whether requests fit the empty machine. It uses hashes, since each arriving job is
/// looked up.
#[derive(Default)]
pub(super) struct Fits {
    /// Requests by hash, and whether each fits. Two requests with equal hashes are very rare.
    by_number: BTreeMap<u64, SmallVec<[(Request, bool); 1]>>,
}

impl Fits {
    #[inline(always)]
    pub(super) fn known(&self, request: &Request) -> Option<bool> {
        let alike = self.by_number.get(&number(request))?;
        alike.iter().find(|(known, _)| known == request).map(|&(_, fits)| fits)
    }

    pub(super) fn insert(&mut self, request: &Request, fits: bool) {
        self.by_number.entry(number(request)).or_default().push((request.clone(), fits));
    }
}

/// Whether some site's allocator would place a job within the power cap on the machine `empty`.
///
/// No job runs on this machine, and only nodes that are withheld from the job are held. `draws` has
/// the weights of a placement's processors and GPUs. Their weighted sum must not exceed
/// `most_held`, which is `u64::MAX` if there is no power cap.
pub(super) fn fits_on(
    empty: &mut Facility,
    job: &Job,
    now: Time,
    (draws, most_held): (Draws, u64),
) -> bool {
    (0..empty.sites().len()).any(|site| {
        let found = empty.propose_at(site, job, now);
        found.is_some_and(|proposal| {
            draw_of(draws, empty.sites()[site].site(), &proposal.placement) <= most_held
        })
    })
}

/// A hash of a request, unique for blocks of at most four sides, each below 65,536.
fn number(request: &Request) -> u64 {
    match request {
        Request::Nodes(nodes) => u64::from(*nodes),
        Request::Block(sides) => {
            sides.iter().fold(0, |number: u64, &side| number.rotate_left(16) ^ u64::from(side))
        }
        Request::Subcube(dimension) => !u64::from(*dimension),
        Request::Constrained(constraints) => u64::from(constraints.nodes).rotate_left(32),
        Request::Pieces(pieces) => pieces.cores().rotate_left(48),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_one_number_are_told_apart() {
        let requests = [
            Request::Nodes(5),
            Request::block(&[5]),
            Request::block(&[0, 5]),
            Request::Subcube(5),
            Request::block(&[5, 0, 0, 0, 0]),
        ];
        let mut fits = Fits::default();
        for (at, request) in requests.iter().enumerate() {
            assert_eq!(fits.known(request), None, "{request:?}");
            fits.insert(request, at % 2 == 0);
        }
        for (at, request) in requests.iter().enumerate() {
            assert_eq!(fits.known(request), Some(at % 2 == 0), "{request:?}");
        }
        assert_eq!(number(&requests[0]), number(&requests[1]), "two that only `==` tells apart");
    }
}
