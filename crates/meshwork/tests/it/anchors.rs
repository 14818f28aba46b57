//! Tests of the allocator `anchors`, which gives a job a box of a listed shape.
//!
//! The allocator is compared with a plain definition over sets of nodes. The definition can also be
//! changed to plausible misreadings of itself, which the tests must all detect.

#[path = "anchor_twins/segments.rs"]
mod segments;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::common::{positions, set};
use meshwork::alloc::listed::anchors::{Anchors, Shape, Torus};
use meshwork::alloc::listed::criteria::Criterion;
use meshwork::alloc::listed::{
    Decision, Ends, NodeRequest, Nodes, SlurmMessage, Wait, decide, find,
};
use meshwork::geometry::NodeSet;
use meshwork::job::Time;
use meshwork::rng::Stream;

/// Sides of a torus, the node at each position, and the shapes of the listed boxes.
struct Plain {
    sides: [u32; 3],
    cells: Vec<Option<u32>>,
    shapes: Vec<Shape>,
}

/// Plausible misreading of the allocator's definition, which the tests must detect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Misread {
    Nothing,
    NoCost,
    CostOfLargest,
    CostOfAllLarger,
    CostIgnoresBusy,
    CostOfCompleteOnly,
    CostAcrossShapes,
    XFastOrder,
    AscendingOrder,
    TiesToTheLast,
    EmptiestTorusFirst,
    NoTorusRule,
    EqualSizesReversed,
    WeightsIgnored,
    HolesGiven,
}

impl Plain {
    fn positions(&self, shape: &Shape, axis: usize, misread: Misread) -> Vec<u32> {
        let length = self.sides[axis];
        let mut all = vec![shape.seed[axis]];
        loop {
            let next = (all.last().unwrap() + shape.spacing[axis]) % length;
            if next == all[0] {
                break;
            }
            all.push(next);
        }
        if misread == Misread::AscendingOrder {
            all.sort_unstable();
        }
        all
    }

    /// Corners of a shape's listed boxes, in the order in which boxes are tried.
    fn corners(&self, shape: &Shape, misread: Misread) -> Vec<[u32; 3]> {
        let [xs, ys, zs] = [0, 1, 2].map(|axis| self.positions(shape, axis, misread));
        let [x, y, z] = [&xs, &ys, &zs].map(|all| all.len() as u32);
        let corner = |x: u32, y: u32, z: u32| [xs[x as usize], ys[y as usize], zs[z as usize]];
        if misread == Misread::XFastOrder {
            positions([z, y, x]).map(|[z, y, x]| corner(x, y, z)).collect()
        } else {
            positions([x, y, z]).map(|[x, y, z]| corner(x, y, z)).collect()
        }
    }

    /// Nodes of a shape's listed boxes, in the order in which boxes are tried.
    fn anchors(&self, shape: &Shape, misread: Misread) -> Vec<BTreeSet<u32>> {
        let corners = self.corners(shape, misread);
        corners.into_iter().map(|corner| self.nodes_at(corner, shape)).collect()
    }

    fn nodes_at(&self, corner: [u32; 3], shape: &Shape) -> BTreeSet<u32> {
        let cells = positions(shape.sides).map(|within| self.cell(corner, within));
        cells.filter_map(|cell| self.cells[cell]).collect()
    }

    /// Index of the cell at a position relative to the corner of a box.
    fn cell(&self, corner: [u32; 3], within: [u32; 3]) -> usize {
        let [x, y, z] = [0, 1, 2].map(|axis| (corner[axis] + within[axis]) % self.sides[axis]);
        (x + self.sides[0] * (y + self.sides[1] * z)) as usize
    }

    /// Number of positions whose node is free; a node at two positions counts twice.
    fn idle(&self, free: &BTreeSet<u32>) -> usize {
        self.cells.iter().flatten().filter(|node| free.contains(node)).count()
    }

    fn built(&self) -> Torus {
        Torus::new(self.sides, self.cells.clone(), &self.shapes).unwrap()
    }

    fn sorted(&self, misread: Misread) -> Vec<Shape> {
        let mut shapes = self.shapes.clone();
        if misread == Misread::EqualSizesReversed {
            shapes.reverse();
        }
        shapes.sort_by_key(Shape::size);
        shapes
    }
}

/// Number of larger listed boxes that would no longer be free if a job got the box `candidate`.
fn cost(
    torus: &Plain,
    shapes: &[Shape],
    size: u32,
    candidate: &BTreeSet<u32>,
    free: &BTreeSet<u32>,
    misread: Misread,
) -> u32 {
    let larger: Vec<&Shape> = shapes.iter().filter(|shape| shape.size() > size).collect();
    let counted: Vec<&Shape> = match misread {
        Misread::NoCost => Vec::new(),
        Misread::CostOfLargest => larger.last().copied().into_iter().collect(),
        Misread::CostOfAllLarger => larger,
        _ => larger.first().copied().into_iter().collect(),
    };
    let mut broken = 0;
    for shape in counted {
        for anchor in torus.anchors(shape, Misread::Nothing) {
            let is_free = misread == Misread::CostIgnoresBusy || anchor.is_subset(free);
            let is_whole =
                misread != Misread::CostOfCompleteOnly || anchor.len() as u32 == shape.size();
            broken += u32::from(is_free && is_whole && !anchor.is_disjoint(candidate));
        }
    }
    broken
}

/// Best free box of all tori, with the index of its torus and of its shape.
///
/// Of equally good boxes the earlier one wins.
fn best_anchor(
    toruses: &[Plain],
    weights: &[u32],
    free: &BTreeSet<u32>,
    size: u32,
    required: &BTreeSet<u32>,
    misread: Misread,
) -> Option<(BTreeSet<u32>, (usize, usize))> {
    struct Best {
        nodes: BTreeSet<u32>,
        weight: u32,
        cost: u32,
        idle: usize,
        entry: (usize, usize),
    }
    let mut best: Option<Best> = None;
    for (t, torus) in toruses.iter().enumerate() {
        let idle = torus.idle(free);
        let idle = if misread == Misread::EmptiestTorusFirst { usize::MAX - idle } else { idle };
        let shapes = torus.sorted(misread);
        for (p, shape) in shapes.iter().enumerate().filter(|(_, shape)| shape.size() == size) {
            for anchor in torus.anchors(shape, misread) {
                let is_whole = anchor.len() as u32 == size || misread == Misread::HolesGiven;
                if !is_whole || !anchor.is_subset(free) || !required.is_subset(&anchor) {
                    continue;
                }
                let weight = anchor.iter().map(|&node| weights[node as usize]).max().unwrap_or(0);
                let weight = if misread == Misread::WeightsIgnored { 0 } else { weight };
                let cost = cost(torus, &shapes, size, &anchor, free, misread);
                let entry = (t, p);
                let found = Best { nodes: anchor, weight, cost, idle, entry };
                let is_better = best.as_ref().is_none_or(|best| {
                    let same = best.entry == entry || misread == Misread::CostAcrossShapes;
                    if found.weight != best.weight {
                        return found.weight < best.weight;
                    }
                    if same && found.cost != best.cost {
                        return found.cost < best.cost;
                    }
                    let tie = misread == Misread::TiesToTheLast;
                    let idle = if misread == Misread::NoTorusRule { best.idle } else { found.idle };
                    idle < best.idle || tie && idle == best.idle
                });
                if is_better {
                    best = Some(found);
                }
            }
        }
    }
    best.map(|best| (best.nodes, best.entry))
}

/// Random machine of one or two tori. Some positions have no node, and some nodes have two
/// positions.
fn random_machine(rng: &mut Stream) -> (Vec<Plain>, u32) {
    let mut pick = |most: u64| rng.below(most) as u32;
    let mut toruses = Vec::new();
    let mut next = 0;
    for _ in 0..1 + pick(2) {
        let sides = [0; 3].map(|_| 1 + pick(5));
        let with_holes = pick(3) == 0;
        let first = next;
        let mut cells: Vec<Option<u32>> = (0..sides.iter().product())
            .map(|_| {
                next += 1;
                (!with_holes || pick(6) > 0).then_some(next - 1)
            })
            .collect();
        if pick(8) == 0 {
            *cells.last_mut().unwrap() = Some(first);
        }
        if pick(2) == 0 {
            // Nodes in any order.
            for i in (1..cells.len()).rev() {
                cells.swap(i, pick(i as u64 + 1) as usize);
            }
        }
        let mut shape = || {
            let dims = sides.map(|side| 1 + pick(u64::from(side)));
            let mut own = Shape::aligned(dims);
            for (axis, side) in sides.into_iter().enumerate() {
                if pick(2) == 0 {
                    own.spacing[axis] = 1 + pick(u64::from(side));
                }
                own.seed[axis] = if pick(3) == 0 { pick(u64::from(side)) } else { 0 };
            }
            own
        };
        let mut shapes: Vec<Shape> = (0..4).map(|_| shape()).collect();
        // Another shape of the same size may be listed too, as in real lists.
        for place in 0..shapes.len() {
            let [x, y, z] = shapes[place].sides;
            let turned = [z, x, y];
            if (0..3).all(|axis| turned[axis] <= sides[axis]) {
                shapes.push(Shape::aligned(turned));
            }
        }
        toruses.push(Plain { sides, cells, shapes });
    }
    (toruses, next)
}

fn built(toruses: &[Plain], count: u32) -> Anchors {
    Anchors::new(count, toruses.iter().map(Plain::built).collect(), &Criterion::SLURM)
}

/// Sizes of all listed shapes, in ascending order.
fn sizes(toruses: &[Plain]) -> BTreeSet<u32> {
    toruses.iter().flat_map(|torus| torus.shapes.iter().map(Shape::size)).collect()
}

#[test]
fn words_agree_with_sets_and_every_misreading_is_told_apart() {
    let mut rng = Stream::new(11, 0, "anchors");
    let mut untold = vec![
        Misread::NoCost,
        Misread::CostOfLargest,
        Misread::CostOfAllLarger,
        Misread::CostIgnoresBusy,
        Misread::CostOfCompleteOnly,
        Misread::CostAcrossShapes,
        Misread::XFastOrder,
        Misread::AscendingOrder,
        Misread::TiesToTheLast,
        Misread::EmptiestTorusFirst,
        Misread::NoTorusRule,
        Misread::EqualSizesReversed,
        Misread::WeightsIgnored,
        Misread::HolesGiven,
    ];
    let mut placed = 0;
    for _ in 0..150 {
        let (toruses, count) = random_machine(&mut rng);
        let anchors = built(&toruses, count);
        let heavy = rng.below(2) == 0;
        let weights: Vec<u32> =
            (0..count).map(|_| if heavy { 1 + 4 * rng.below(2) as u32 } else { 1 }).collect();
        let nodes = Nodes::new(weights.clone(), vec![2; count as usize]);
        for share in [10, 9, 7] {
            let free: BTreeSet<u32> = (0..count).filter(|_| rng.below(10) < share).collect();
            for size in sizes(&toruses) {
                let mut required = BTreeSet::new();
                if rng.below(4) == 0 {
                    required.extend(free.iter().copied().nth(rng.below(u64::from(count)) as usize));
                }
                let wanted = NodeRequest {
                    listed: (!required.is_empty()).then(|| set(count, required.iter().copied())),
                    ..NodeRequest::of(size)
                };
                let available = set(count, free.iter().copied());
                if toruses.iter().all(|torus| torus.idle(&free) == 0) {
                    continue;
                }
                let chosen = find(&anchors, &nodes, &wanted, &available);
                let chosen: Option<BTreeSet<u32>> = chosen.map(|set| set.iter().collect());
                let definition = |misread| {
                    let best = best_anchor(&toruses, &weights, &free, size, &required, misread);
                    best.map(|(nodes, _)| nodes).filter(|_| free.len() as u32 >= size)
                };
                assert_eq!(
                    chosen,
                    definition(Misread::Nothing),
                    "{size} of {:?}",
                    toruses[0].sides
                );
                placed += u32::from(chosen.is_some());
                untold.retain(|&misread| definition(misread) == chosen);
            }
        }
    }
    assert!(placed > 500, "{placed}");
    assert!(untold.is_empty(), "nothing tells {untold:?} from the definition");
}

/// Value of a criterion for a box, from the positions in the box and next to it. Lower is better.
fn worth(
    criterion: Criterion,
    torus: &Plain,
    (shape, corner): (&Shape, [u32; 3]),
    free: &BTreeSet<u32>,
    ends: &Ends,
) -> f64 {
    let all = positions(shape.sides);
    let own: BTreeSet<usize> = all.clone().map(|within| torus.cell(corner, within)).collect();
    let mut around = Vec::new();
    for within in all {
        for axis in 0..3 {
            for step in [1, torus.sides[axis] - 1] {
                let mut next = within;
                next[axis] += step;
                let cell = torus.cell(corner, next);
                if !own.contains(&cell) {
                    around.push(torus.cells[cell]);
                }
            }
        }
    }
    let around = || around.iter().flatten();
    match criterion {
        Criterion::Boundary => around().filter(|node| free.contains(node)).count() as f64,
        Criterion::NeighboursRemaining => {
            let held = around().filter(|node| !free.contains(node));
            -held.map(|&node| ends.remaining(node)).sum::<f64>()
        }
        Criterion::MostIdleTorus => -(torus.idle(free) as f64),
        Criterion::LargerSizesDestroyed => {
            let nodes = torus.nodes_at(corner, shape);
            let larger = torus.shapes.iter().filter(|other| other.size() > shape.size());
            let broken = larger.map(|other| {
                let anchors = torus.anchors(other, Misread::Nothing);
                let broken = anchors
                    .iter()
                    .filter(|anchor| anchor.is_subset(free) && !anchor.is_disjoint(&nodes));
                broken.count() as u32 * other.size()
            });
            f64::from(broken.sum::<u32>())
        }
        other => panic!("{other:?} is one of those of the scheduler"),
    }
}

#[test]
fn criteria_of_our_own_agree_with_their_definitions() {
    let mut rng = Stream::new(14, 0, "criteria");
    let all = [
        Criterion::Boundary,
        Criterion::NeighboursRemaining,
        Criterion::MostIdleTorus,
        Criterion::LargerSizesDestroyed,
    ];
    let mut decided = [0; 4];
    for _ in 0..200 {
        let (toruses, count) = random_machine(&mut rng);
        let nodes = Nodes::alike(count);
        let free: BTreeSet<u32> = (0..count).filter(|_| rng.below(10) < 8).collect();
        // Whole numbers, so that sums do not depend on order; some jobs have outrun their
        // estimates.
        let of = (0..count).map(|_| Time::new(rng.below(40) as f64)).collect();
        let ends = Ends { of: Arc::new(of), now: Time::new(9.0) };
        for (place, criterion) in all.into_iter().enumerate() {
            let criteria = [criterion, Criterion::Order];
            let built = toruses.iter().map(Plain::built).collect();
            let anchors = Anchors::new(count, built, &criteria);
            for size in sizes(&toruses) {
                let mut best: Option<(f64, (usize, usize), BTreeSet<u32>)> = None;
                let mut first = None;
                for (t, torus) in toruses.iter().enumerate() {
                    let shapes = torus.sorted(Misread::Nothing);
                    for (p, shape) in shapes.iter().enumerate().filter(|(_, s)| s.size() == size) {
                        for corner in torus.corners(shape, Misread::Nothing) {
                            let box_of = torus.nodes_at(corner, shape);
                            if box_of.len() as u32 != size || !box_of.is_subset(&free) {
                                continue;
                            }
                            first.get_or_insert_with(|| box_of.clone());
                            let worth = worth(criterion, torus, (shape, corner), &free, &ends);
                            let better = best.as_ref().is_none_or(|(least, entry, _)| {
                                // Numbers of broken boxes are compared only between boxes of one
                                // listed shape.
                                let compared = criterion != Criterion::LargerSizesDestroyed
                                    || *entry == (t, p);
                                compared && worth < *least
                            });
                            if better {
                                best = Some((worth, (t, p), box_of));
                            }
                        }
                    }
                }
                let wanted = NodeRequest { ends: Some(ends.clone()), ..NodeRequest::of(size) };
                let chosen = find(&anchors, &nodes, &wanted, &set(count, free.iter().copied()));
                let chosen: Option<BTreeSet<u32>> = chosen.map(|set| set.iter().collect());
                let best = best.map(|(_, _, nodes)| nodes);
                // If no listed node is free, jobs get runs of free nodes.
                if toruses.iter().any(|torus| torus.idle(&free) > 0) {
                    assert_eq!(chosen, best, "{criterion:?}, {size} nodes");
                }
                decided[place] += u32::from(best.is_some() && best != first);
            }
        }
    }
    assert!(decided.iter().all(|&decided| decided > 20), "{decided:?}");
}

#[test]
fn fragmentation_counts_every_anchor_that_is_not_free() {
    let mut rng = Stream::new(12, 0, "anchors");
    for _ in 0..200 {
        let (toruses, count) = random_machine(&mut rng);
        let free: BTreeSet<u32> = (0..count).filter(|_| rng.below(10) < 8).collect();
        let broken = |torus: &Plain, shape: &Shape| {
            let anchors = torus.anchors(shape, Misread::Nothing);
            let broken = anchors.iter().filter(|anchor| !anchor.is_subset(&free)).count();
            broken as u64 * u64::from(shape.size())
        };
        let sum: u64 = toruses
            .iter()
            .flat_map(|torus| torus.shapes.iter().map(|shape| broken(torus, shape)))
            .sum();
        let available = set(count, free.iter().copied());
        assert_eq!(built(&toruses, count).fragmentation(&available), sum);
    }
}

#[test]
fn boxes_overlap_where_two_of_one_size_share_a_cell() {
    let mut rng = Stream::new(13, 0, "anchors");
    let mut overlapping = 0;
    for _ in 0..300 {
        let (toruses, count) = random_machine(&mut rng);
        let anchors = built(&toruses, count);
        for (plain, torus) in toruses.iter().zip(anchors.toruses()) {
            // Cells rather than nodes: a hole is a position too.
            let cells = (0..plain.cells.len() as u32).map(Some).collect();
            let whole = Plain { sides: plain.sides, cells, shapes: plain.sorted(Misread::Nothing) };
            let boxes: Vec<(usize, u32, Vec<BTreeSet<u32>>)> = whole
                .shapes
                .iter()
                .enumerate()
                .map(|(place, shape)| (place, shape.size(), whole.anchors(shape, Misread::Nothing)))
                .collect();
            for (entry, (place, size, own)) in torus.entries().iter().zip(&boxes) {
                let meets = |others: &[BTreeSet<u32>], is_own: bool| {
                    own.iter().enumerate().any(|(i, own)| {
                        let mut others = others.iter().enumerate();
                        others.any(|(j, other)| (!is_own || i != j) && !own.is_disjoint(other))
                    })
                };
                let same = boxes.iter().filter(|(_, other, _)| other == size);
                let same = same
                    .fold(false, |any, (other, _, others)| any || meets(others, other == place));
                assert_eq!(
                    entry.overlaps_others(),
                    same,
                    "{:?} on {:?}",
                    entry.shape(),
                    plain.sides
                );
                overlapping += u32::from(same);
                let mut distinct = plain.anchors(entry.shape(), Misread::Nothing);
                assert_eq!(entry.anchors() as usize, distinct.len());
                distinct.sort();
                distinct.dedup();
                if plain.cells.iter().all(Option::is_some) {
                    let cells: BTreeSet<BTreeSet<u32>> = own.iter().cloned().collect();
                    assert_eq!(torus.distinct_boxes(*place) as usize, cells.len());
                } else {
                    assert_eq!(torus.distinct_boxes(*place) as usize, distinct.len());
                }
            }
        }
    }
    assert!(overlapping > 100);
}

/// A torus that is a ring of five nodes, with a listed box of two nodes at every position.
fn pairs() -> (Anchors, Nodes) {
    let shape = Shape { spacing: [1, 1, 1], ..Shape::aligned([2, 1, 1]) };
    let torus = Torus::new([5, 1, 1], (0..5).map(Some).collect(), &[shape]).unwrap();
    (Anchors::new(5, vec![torus], &Criterion::SLURM), Nodes::alike(5))
}

#[test]
fn segments_are_tried_again_where_boxes_overlap() {
    // A ring of 11 with boxes of 3 at every position, the first at 5; cell 6 has the lowest node.
    let mut cells: Vec<Option<u32>> = (0..11).map(Some).collect();
    cells.swap(0, 6);
    let shape = Shape { sides: [3, 1, 1], spacing: [1, 1, 1], seed: [5, 0, 0] };
    let torus = Torus::new([11, 1, 1], cells.clone(), &[shape]).unwrap();
    let anchors = Anchors::new(11, vec![torus], &Criterion::SLURM);
    let free = |free: &[usize]| set(11, free.iter().map(|&cell| cells[cell].unwrap()));
    let wanted = NodeRequest { segment: Some(3), ..NodeRequest::of(6) };
    let given = |cells: &[usize]| find(&anchors, &Nodes::alike(11), &wanted, &free(cells));
    // The box of 5 to 7 comes first and leaves no other; without cell 6 there are two.
    assert_eq!(given(&[3, 4, 5, 6, 7, 8, 9]), Some(free(&[3, 4, 5, 7, 8, 9])));
    // If no more nodes are free than requested, none is left out.
    assert_eq!(given(&[4, 5, 6, 7, 8, 9]), None);
    // Boxes that do not overlap are not retried.
    let apart = Shape { sides: [3, 1, 1], spacing: [3, 1, 1], seed: [0; 3] };
    let torus = Torus::new([9, 1, 1], (0..9).map(Some).collect(), &[apart]).unwrap();
    let anchors = Anchors::new(9, vec![torus], &Criterion::SLURM);
    let some = set(9, [0, 1, 2, 3, 5, 6, 7]);
    assert_eq!(find(&anchors, &Nodes::alike(9), &wanted, &some), None);
}

#[test]
fn what_is_refused_and_what_waits() {
    let (anchors, nodes) = pairs();
    let free = |list: &[u32]| set(5, list.iter().copied());
    let whole = NodeSet::full(5);
    let told = |wanted: &NodeRequest, available: &NodeSet| match decide(
        &anchors, &nodes, wanted, available, &whole,
    ) {
        Decision::Start(nodes) => format!("{:?}", nodes.iter().collect::<Vec<_>>()),
        Decision::Wait(wait, cause) => format!("{wait:?}: {cause}"),
        Decision::Never(cause) => format!("never: {cause}"),
    };
    assert_eq!(told(&NodeRequest::of(2), &whole), "[0, 1]");
    let no_shape = "never: Requested topology configuration is not available";
    assert_eq!(told(&NodeRequest::of(3), &whole), no_shape);
    assert_eq!(told(&NodeRequest::of(1), &whole), no_shape);
    assert_eq!(told(&NodeRequest::of(2), &free(&[0, 2])), "Shape: No suitable topology unit found");
    assert_eq!(told(&NodeRequest::of(2), &free(&[0])), "Nodes: Requested nodes are busy");
    let segments = NodeRequest { segment: Some(2), ..NodeRequest::of(4) };
    assert_eq!(
        told(&segments, &free(&[0, 1, 2, 4])),
        "Shape: No suitable topology unit found for segment"
    );
    let uneven = NodeRequest { segment: Some(2), ..NodeRequest::of(3) };
    assert_eq!(told(&uneven, &whole), no_shape);
    let listed = |nodes: &[u32], segment| NodeRequest {
        listed: Some(free(nodes)),
        segment,
        ..NodeRequest::of(2)
    };
    assert_eq!(told(&listed(&[2], None), &whole), "[1, 2]");
    assert_eq!(
        told(&listed(&[1, 4], None), &whole),
        "never: Requested node configuration is not available"
    );
    assert_eq!(
        told(&listed(&[2, 3, 4], None), &whole),
        "[2, 3]",
        "longer than the job: to choose from"
    );
    assert_eq!(told(&listed(&[2, 3], None), &free(&[0, 1, 2])), "Nodes: Requested nodes are busy");
    let short = NodeRequest { listed: Some(free(&[0, 1])), segment: Some(2), ..NodeRequest::of(4) };
    assert_eq!(told(&short, &whole), no_shape);
}
