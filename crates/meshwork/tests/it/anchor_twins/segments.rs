//! Tests of segmented jobs (whose nodes are requested in equal parts) on machines with listed
//! boxes.
//!
//! Segments are placed one after the other. If boxes overlap and a job does not fit, the job is
//! tried again without one of the free nodes.

use super::*;

/// Rule for the node that is left out when a job that failed is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hint {
    /// After a failure, the lowest node selected so far is left out, as in the tested allocator.
    Selected,
    /// A failed job is not tried again. This is a misreading, which the tests must detect.
    Never,
}

/// Whether boxes of the listed shape `place` overlap other listed boxes of equal size.
fn overlaps(torus: &Plain, place: usize) -> bool {
    let shapes = torus.sorted(Misread::Nothing);
    let cells = (0..torus.cells.len() as u32).map(Some).collect();
    let cells = Plain { sides: torus.sides, cells, shapes: Vec::new() };
    let own = cells.anchors(&shapes[place], Misread::Nothing);
    let same_size =
        shapes.iter().enumerate().filter(|(_, shape)| shape.size() == shapes[place].size());
    let others = same_size.flat_map(|(other, shape)| {
        let anchors = cells.anchors(shape, Misread::Nothing).into_iter().enumerate();
        anchors.map(move |(i, anchor)| ((other, i), anchor))
    });
    let others: Vec<((usize, usize), BTreeSet<u32>)> = others.collect();
    own.iter().enumerate().any(|(i, anchor)| {
        others.iter().any(|(which, other)| *which != (place, i) && !anchor.is_disjoint(other))
    })
}

fn segments(
    toruses: &[Plain],
    weights: &[u32],
    free: &BTreeSet<u32>,
    (count, size): (u32, u32),
    hint: Hint,
) -> Option<BTreeSet<u32>> {
    let mut left = free.clone();
    let order: Vec<u32> = free.iter().copied().collect();
    let mut at = 0;
    while left.len() as u32 >= count * size {
        let (mut all, mut overlapping) = (BTreeSet::new(), BTreeSet::new());
        for _ in 0..count {
            let rest = left.difference(&all).copied().collect();
            let none = BTreeSet::new();
            let best = best_anchor(toruses, weights, &rest, size, &none, Misread::Nothing);
            let Some((nodes, (torus, place))) = best else { break };
            if overlaps(&toruses[torus], place) {
                overlapping.extend(nodes.iter().copied());
            }
            all.extend(nodes);
        }
        if all.len() as u32 == count * size {
            return Some(all);
        }
        if overlapping.is_empty() || left.len() as u32 == count * size || hint == Hint::Never {
            return None;
        }
        let goes = |&place: &usize| left.contains(&order[place]) && all.contains(&order[place]);
        let place = (at..order.len()).find(goes)?;
        left.remove(&order[place]);
        at += usize::from(place == at);
    }
    None
}

#[test]
fn segments_agree_with_their_definition_and_every_misreading_is_told_apart() {
    let mut rng = Stream::new(12, 0, "segments");
    let mut untold = vec![Hint::Never];
    let mut placed = 0;
    for _ in 0..400 {
        let (mut toruses, mut count) = random_machine(&mut rng);
        // Adds a torus whose boxes do not overlap. Its boxes are of a size that the first torus
        // lists. The new torus comes before or after the first one.
        let side = toruses[0].shapes[rng.below(4) as usize].size();
        let apart = Shape::aligned([side, 1, 1]);
        let cells = (count..count + 2 * side).map(Some).collect();
        toruses.push(Plain { sides: [2 * side, 1, 1], cells, shapes: vec![apart] });
        count += 2 * side;
        if rng.below(2) == 0 {
            toruses.rotate_right(1);
        }
        if rng.below(2) == 0 {
            let cells = toruses.iter_mut().flat_map(|torus| torus.cells.iter_mut().flatten());
            cells.for_each(|node| *node = count - 1 - *node);
        }
        let anchors = built(&toruses, count);
        let weights: Vec<u32> = (0..count).map(|_| [1, 1, 1, 3][rng.below(4) as usize]).collect();
        let nodes = Nodes::new(weights.clone(), vec![2; count as usize]);
        for share in [10, 9, 8] {
            let free: BTreeSet<u32> = (0..count).filter(|_| rng.below(10) < share).collect();
            // If no node of any torus is free, the rule of flat machines applies instead.
            if toruses.iter().all(|torus| torus.idle(&free) == 0) {
                continue;
            }
            for parts in 2..5 {
                let wanted = NodeRequest { segment: Some(side), ..NodeRequest::of(parts * side) };
                let available = set(count, free.iter().copied());
                let chosen = find(&anchors, &nodes, &wanted, &available);
                let chosen: Option<BTreeSet<u32>> = chosen.map(|set| set.iter().collect());
                let definition = |hint| segments(&toruses, &weights, &free, (parts, side), hint);
                assert_eq!(chosen, definition(Hint::Selected), "{parts} of {side} in {free:?}");
                placed += u32::from(chosen.is_some());
                untold.retain(|&hint| definition(hint) == chosen);
            }
        }
    }
    assert!(placed > 500, "{placed}");
    assert!(untold.is_empty(), "nothing tells {untold:?} from the definition");
}

#[test]
fn segments_wait_where_the_machine_has_too_few_places_for_them() {
    // A torus with two boxes of 4 nodes, and a torus with one box of 4 nodes and, besides it, two
    // more nodes and two holes.
    let row = Shape::aligned([4, 1, 1]);
    let whole = Torus::new([4, 2, 1], (0..8).map(Some).collect(), &[row]).unwrap();
    let cells = (8..16).map(|node| (node < 14).then_some(node)).collect();
    let holed = Torus::new([4, 2, 1], cells, &[row, Shape::aligned([2, 1, 1])]).unwrap();
    let anchors = Anchors::new(16, vec![whole, holed], &Criterion::SLURM);
    let told = |wanted: &NodeRequest, available: &NodeSet| {
        decide(&anchors, &Nodes::alike(16), wanted, available, &set(16, 0..14))
    };
    let all = set(16, 0..14);
    let cut = |nodes, segment| NodeRequest { segment: Some(segment), ..NodeRequest::of(nodes) };
    assert_eq!(told(&cut(12, 4), &all), Decision::Start(set(16, 0..12)));
    // The six nodes of the second torus form three boxes of 2; all 14 nodes do not form four of 4.
    assert_eq!(told(&cut(6, 2), &all), Decision::Start(set(16, 8..14)));
    let no_unit = Decision::Wait(Wait::Shape, SlurmMessage::NoUnit);
    assert_eq!(told(&cut(8, 2), &all), no_unit);
    assert_eq!(told(&cut(12, 4), &set(16, 1..14)), no_unit);
    let busy = Decision::Wait(Wait::Nodes, SlurmMessage::Busy);
    assert_eq!(told(&cut(8, 2), &set(16, 8..14)), busy);
    let never = Decision::Never(SlurmMessage::TopologyConfiguration);
    assert_eq!(told(&cut(9, 3), &all), never, "no list has places of 3");
    assert_eq!(told(&NodeRequest::of(8), &all), never);
    let required = NodeRequest { listed: Some(set(16, [0, 4])), ..NodeRequest::of(4) };
    assert_eq!(told(&required, &all), Decision::Never(SlurmMessage::NodeConfiguration));
}
