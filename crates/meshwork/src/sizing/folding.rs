//! Folding: running a job on half of its processors, possibly repeatedly, which slows it down.

use smallvec::{SmallVec, smallvec};

use super::{Demand, Size};
use crate::form::Asks;
use crate::job::{Constraints, Request};
use crate::registry::{Param, Params, Words};

/// Rule for the longer run time of a job on fewer processors than it requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// The run time doubles with each halving, even where half of an odd side is rounded up.
    Folds,
    /// The run time is multiplied by the ratio of requested to granted processors.
    Ratio,
}

impl Stretch {
    /// Parameter `stretch` of sizings that fold jobs: how much longer a folded job runs.
    pub const PARAM: Param = Param::new("stretch", STRETCHES.kind()).is("\"folds\"").help(
        "how much longer a folded job runs: twice for each halving, also where half of an odd \
             side is rounded up, or by the ratio of the processors",
    );

    /// Reads the parameter `stretch`.
    #[must_use]
    pub fn read(params: &Params) -> Stretch {
        params.meaning(Stretch::PARAM.name, &STRETCHES)
    }
}

static STRETCHES: Words<Stretch, 2> =
    Words::new([("folds", Stretch::Folds), ("ratio", Stretch::Ratio)]);

/// Folds (halves) a size once; `None` if it cannot be halved.
///
/// - The dimension of a subcube is lowered by 1.
/// - The side of a square is halved, so that the job takes four times as long.
/// - The longest side of a block is halved; among equal sides, the first one.
/// - A number of processors is halved.
///
/// Halves are rounded up. A single processor or pieces (parts of nodes) cannot be halved.
///
/// From Chang & Mohapatra, An adaptive job allocation method for multicomputer systems, section 3.
///
/// ```
/// use meshwork::form::Asks;
/// use meshwork::job::Request;
/// use meshwork::sizing::Size;
/// use meshwork::sizing::folding::{Stretch, folded};
/// let size = Size { request: Request::block(&[5, 3]), stretch: 1.0 };
/// let once = folded(&size, Asks::Block, Stretch::Folds).unwrap();
/// assert_eq!(once, Size { request: Request::block(&[3, 3]), stretch: 2.0 });
/// let twice = folded(&once, Asks::Block, Stretch::Folds).unwrap();
/// assert_eq!(twice, Size { request: Request::block(&[2, 3]), stretch: 4.0 });
/// ```
#[must_use]
pub fn folded(size: &Size, asks: Asks, stretch: Stretch) -> Option<Size> {
    let before = size.request.nodes();
    if before <= 1 {
        return None;
    }
    let request = match &size.request {
        Request::Nodes(count) => Request::Nodes(count.div_ceil(2)),
        Request::Subcube(dimension) => Request::Subcube(dimension - 1),
        Request::Constrained(constraints) => Request::constrained(Constraints {
            nodes: constraints.nodes.div_ceil(2),
            ..(**constraints).clone()
        }),
        // Half of the pieces would be another program.
        Request::Pieces(_) => return None,
        Request::Block(sides) if asks == Asks::Square => {
            Request::Block(sides.iter().map(|side| side / 2).collect())
        }
        Request::Block(sides) => {
            let mut sides = sides.clone();
            let longest = (0..sides.len()).rev().max_by_key(|&d| sides[d])?;
            sides[longest] = sides[longest].div_ceil(2);
            Request::Block(sides)
        }
    };
    let slower = match stretch {
        Stretch::Ratio => before as f64 / request.nodes() as f64,
        Stretch::Folds if asks == Asks::Square => 4.0,
        Stretch::Folds => 2.0,
    };
    Some(Size { request, stretch: size.stretch * slower })
}

/// Requested size of a job, with its requested run time.
pub(super) fn whole(demand: &Demand<'_>) -> Size {
    Size { request: demand.request.clone(), stretch: 1.0 }
}

/// Sizes with which a job may start, largest first: the requested size, and its folded sizes.
///
/// Each fold halves the size. There are at most `most` folds.
pub(super) fn all_folds(demand: &Demand<'_>, most: u64, stretch: Stretch) -> SmallVec<[Size; 1]> {
    let mut sizes: SmallVec<[Size; 1]> = smallvec![whole(demand)];
    while (sizes.len() as u64) <= most
        && let Some(size) = sizes.last().and_then(|size| folded(size, demand.asks, stretch))
    {
        sizes.push(size);
    }
    sizes
}

/// Requested size of a job, folded (halved) to at most 2 to the power of `dimension` processors.
pub(super) fn within(demand: &Demand<'_>, dimension: u32, stretch: Stretch) -> Size {
    let mut size = whole(demand);
    while size.request.size_class() > dimension
        && let Some(smaller) = folded(&size, demand.asks, stretch)
    {
        size = smaller;
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(request: Request, asks: Asks, stretch: Stretch) -> Option<(Request, f64)> {
        let folded = folded(&Size { request, stretch: 1.0 }, asks, stretch)?;
        Some((folded.request, folded.stretch))
    }

    #[test]
    fn each_family_folds_by_its_rule() {
        for (request, asks, folds, ratio, to) in [
            (Request::Nodes(7), Asks::Nodes, 2.0, 7.0 / 4.0, Request::Nodes(4)),
            (Request::Nodes(8), Asks::Nodes, 2.0, 2.0, Request::Nodes(4)),
            (Request::Subcube(3), Asks::Subcube, 2.0, 2.0, Request::Subcube(2)),
            (Request::block(&[8, 8]), Asks::Square, 4.0, 4.0, Request::block(&[4, 4])),
            (Request::block(&[4, 4]), Asks::Block, 2.0, 2.0, Request::block(&[2, 4])),
            (Request::block(&[3, 5]), Asks::Block, 2.0, 5.0 / 3.0, Request::block(&[3, 3])),
            (Request::block(&[1, 2, 2]), Asks::Block, 2.0, 2.0, Request::block(&[1, 1, 2])),
        ] {
            let found = fold(request.clone(), asks, Stretch::Folds);
            assert_eq!(found, Some((to.clone(), folds)), "{request}");
            assert_eq!(fold(request, asks, Stretch::Ratio), Some((to, ratio)));
        }
    }

    #[test]
    fn one_processor_cannot_be_folded() {
        for (request, asks) in [
            (Request::Nodes(1), Asks::Nodes),
            (Request::Subcube(0), Asks::Subcube),
            (Request::block(&[1, 1]), Asks::Square),
            (Request::block(&[1, 1, 1]), Asks::Block),
        ] {
            assert_eq!(fold(request, asks, Stretch::Folds), None);
        }
    }

    #[test]
    fn a_job_folded_to_one_processor_runs_as_often_longer_as_it_was_folded() {
        let request = Request::Subcube(7);
        let counts = super::super::QueueCounts::default();
        let demand = Demand { request: &request, asks: Asks::Subcube, nodes: 256, counts };
        let sizes = all_folds(&demand, u64::MAX, Stretch::Folds);
        assert_eq!(sizes.len(), 8);
        assert_eq!(sizes[7], Size { request: Request::Subcube(0), stretch: 128.0 });
        assert_eq!(within(&demand, 0, Stretch::Folds), sizes[7]);
        assert_eq!(within(&demand, 7, Stretch::Folds), sizes[0]);
    }
}
