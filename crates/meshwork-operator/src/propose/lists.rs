//! Search space of `propose`: the placement lists of a topology, and changes of these lists.

use meshwork::rng::Stream;

use meshwork_slurm::topology::{ListedPlacement, SlurmTopology, TopologyKind, Xyz};

/// Listed box on a torus, with the positions at which it may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Box3 {
    pub dims: Xyz,
    /// Distance between neighbouring positions of the box along each axis; never 0.
    pub spacing: Xyz,
    pub seed: Xyz,
}

impl Box3 {
    fn size(&self) -> u32 {
        self.dims.iter().product()
    }

    /// Box with the sides `dims`, which may begin at every multiple of its sides.
    fn aligned(dims: Xyz) -> Box3 {
        Box3 { dims, spacing: dims, seed: [0; 3] }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopologyLists {
    /// Listed boxes of each torus.
    ///
    /// Tori that start with equal sides and boxes have equal boxes in all tried lists.
    Boxes(Vec<Vec<Box3>>),
    /// Listed sizes of aggregated blocks, ascending.
    Blocks(Vec<u32>),
}

#[derive(Clone, Debug)]
pub struct SearchSpace {
    sides: Vec<Xyz>,
    /// Index, for each torus, of the first torus with the same sides and the same listed boxes.
    alike: Vec<usize>,
    /// Possible sizes of aggregated blocks, ascending.
    sizes: Vec<u32>,
}

const MOST_CHANGES: u64 = 3;

const MOST_OF_A_SIZE: usize = 6;

impl TopologyLists {
    /// Placement lists of a topology; `None` if it has no lists that could change.
    pub fn of(topology: &SlurmTopology) -> Option<TopologyLists> {
        match &topology.kind {
            TopologyKind::Torus3d(toruses) => {
                let boxes = |own: &ListedPlacement| {
                    let spacing = [0, 1, 2].map(|axis| match own.spacing[axis] {
                        0 => own.dims[axis],
                        step => step,
                    });
                    Box3 { dims: own.dims, spacing, seed: own.seed }
                };
                let lists: Vec<Vec<Box3>> = toruses
                    .iter()
                    .map(|torus| torus.placements.iter().map(boxes).collect())
                    .collect();
                lists.iter().any(|own| !own.is_empty()).then_some(TopologyLists::Boxes(lists))
            }
            TopologyKind::Block(Some((sizes, _)), _) => Some(TopologyLists::Blocks(sizes.clone())),
            _ => None,
        }
    }

    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = match self {
            TopologyLists::Boxes(lists) => lists.iter().flatten().map(Box3::size).collect(),
            TopologyLists::Blocks(sizes) => sizes.clone(),
        };
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Number of boxes or block sizes in the lists.
    pub(super) fn entries(&self) -> usize {
        match self {
            TopologyLists::Boxes(lists) => lists.iter().map(Vec::len).sum(),
            TopologyLists::Blocks(sizes) => sizes.len(),
        }
    }

    /// Copy of the placement lists in which the entries for jobs of one size come from `other`.
    pub fn with_size_of(&self, size: u32, other: &TopologyLists) -> TopologyLists {
        match (self, other) {
            (TopologyLists::Boxes(own), TopologyLists::Boxes(other)) => {
                let torus = |(own, other): (&Vec<Box3>, &Vec<Box3>)| {
                    let of_size = |list: &[Box3]| -> Vec<Box3> {
                        list.iter().copied().filter(|one| one.size() == size).collect()
                    };
                    // Order only matters within a size.
                    let at = own.iter().position(|one| one.size() == size).unwrap_or(own.len());
                    let mut list: Vec<Box3> =
                        own.iter().copied().filter(|one| one.size() != size).collect();
                    list.splice(at..at, of_size(other));
                    list
                };
                TopologyLists::Boxes(own.iter().zip(other).map(torus).collect())
            }
            (TopologyLists::Blocks(own), TopologyLists::Blocks(other)) => {
                let mut sizes: Vec<u32> = own.iter().copied().filter(|&one| one != size).collect();
                sizes.extend(other.iter().filter(|&&one| one == size));
                sizes.sort_unstable();
                TopologyLists::Blocks(sizes)
            }
            _ => self.clone(),
        }
    }

    pub fn put_into(&self, topology: &SlurmTopology) -> SlurmTopology {
        let mut other = topology.clone();
        match (&mut other.kind, self) {
            (TopologyKind::Torus3d(toruses), TopologyLists::Boxes(lists)) => {
                for (torus, list) in toruses.iter_mut().zip(lists) {
                    let line = torus.line;
                    let placement = |&Box3 { dims, spacing, seed }: &Box3| ListedPlacement {
                        line,
                        dims,
                        spacing,
                        seed,
                    };
                    torus.placements = list.iter().map(placement).collect();
                }
            }
            (TopologyKind::Block(Some((sizes, _)), _), TopologyLists::Blocks(own)) => {
                sizes.clone_from(own);
            }
            _ => {}
        }
        other
    }
}

impl SearchSpace {
    pub fn of(topology: &SlurmTopology, lists: &TopologyLists) -> SearchSpace {
        let (mut sides, mut alike) = (Vec::new(), Vec::new());
        let mut sizes = Vec::new();
        match (&topology.kind, lists) {
            (TopologyKind::Torus3d(toruses), TopologyLists::Boxes(lists)) => {
                sides = toruses.iter().map(|torus| torus.dims).collect();
                for place in 0..lists.len() {
                    let like = |other: &usize| {
                        sides[*other] == sides[place] && lists[*other] == lists[place]
                    };
                    alike.push((0..=place).find(like).unwrap_or(place));
                }
            }
            (TopologyKind::Block(_, blocks), TopologyLists::Blocks(own)) => {
                let base = own.iter().copied().min().unwrap_or(1).max(1);
                let most = blocks.len().max(1).next_power_of_two() as u32;
                sizes = (0..31)
                    .map(|level| 1_u32 << level)
                    .take_while(|&level| level <= most)
                    .filter_map(|level| base.checked_mul(level))
                    .collect();
            }
            _ => {}
        }
        SearchSpace { sides, alike, sizes }
    }

    /// Placement lists that are tried before random changes.
    ///
    /// For boxes, these are common changes of all boxes, and changes of a single box to every shape
    /// of its size. For blocks, these are all choices among the ten smallest sizes above the base
    /// blocks.
    pub fn first(&self, from: &TopologyLists) -> Vec<TopologyLists> {
        let TopologyLists::Boxes(lists) = from else {
            let (base, above) = self.sizes.split_at(1.min(self.sizes.len()));
            let choices = 0..1_u32 << above.len().min(10);
            let choose = |choice: u32| {
                let chosen = (0..).zip(above).filter(|(place, _)| choice >> place & 1 == 1);
                TopologyLists::Blocks(
                    base.iter().chain(chosen.map(|(_, size)| size)).copied().collect(),
                )
            };
            return choices.map(choose).collect();
        };
        let each = |change: &dyn Fn(Xyz, &Box3) -> Vec<Box3>| {
            let list = |(sides, list): (&Xyz, &Vec<Box3>)| {
                distinct(list.iter().flat_map(|own| change(*sides, own)))
            };
            TopologyLists::Boxes(self.sides.iter().zip(lists).map(list).collect())
        };
        let mut first = vec![
            each(&|_, own| vec![Box3::aligned(own.dims)]),
            each(&|_, own| vec![Box3 { spacing: [1; 3], seed: [0; 3], ..*own }]),
            each(&|_, own| {
                vec![Box3 { spacing: own.dims.map(|side| side.div_ceil(2)), seed: [0; 3], ..*own }]
            }),
            each(&|sides, own| [vec![*own], turned(sides, own.dims)].concat()),
            each(&|sides, own| {
                shapes(sides, own.size()).into_iter().take(1).map(Box3::aligned).collect()
            }),
            each(&|sides, own| {
                let dims = shapes(sides, own.size()).first().copied().unwrap_or(own.dims);
                vec![Box3 { dims, spacing: [1; 3], seed: [0; 3] }]
            }),
        ];
        for (torus, list) in
            lists.iter().enumerate().filter(|(torus, _)| self.alike[*torus] == *torus)
        {
            for (place, own) in list.iter().enumerate() {
                for dims in shapes(self.sides[torus], own.size()) {
                    let mut changed = list.clone();
                    changed[place] = Box3::aligned(dims);
                    first.push(self.with(lists, torus, &changed));
                }
            }
        }
        first
    }

    pub fn near(&self, from: &TopologyLists, stream: &mut Stream) -> TopologyLists {
        let mut lists = from.clone();
        for _ in 0..=stream.below(MOST_CHANGES) {
            lists = match lists {
                TopologyLists::Boxes(lists) => self.change_boxes(&lists, stream),
                TopologyLists::Blocks(mut sizes) => {
                    if self.sizes.len() > 1 {
                        let place = 1 + stream.below(self.sizes.len() as u64 - 1) as usize;
                        let size = self.sizes[place];
                        match sizes.iter().position(|own| *own == size) {
                            Some(own) => drop(sizes.remove(own)),
                            None => sizes.push(size),
                        }
                        sizes.sort_unstable();
                    }
                    TopologyLists::Blocks(sizes)
                }
            };
        }
        lists
    }

    /// Copy of placement lists without needless boxes.
    ///
    /// Boxes that are also in the lists `own` remain, and so does at least one box of each job
    /// size.
    pub(super) fn shortened(
        &self,
        lists: &TopologyLists,
        own: &TopologyLists,
        mut is_needless: impl FnMut(&TopologyLists) -> bool,
    ) -> TopologyLists {
        let (TopologyLists::Boxes(mut now), TopologyLists::Boxes(own)) = (lists.clone(), own)
        else {
            return lists.clone();
        };
        for torus in (0..now.len()).filter(|torus| self.alike[*torus] == *torus) {
            for place in (0..now[torus].len()).rev() {
                let mut list = now[torus].clone();
                let one = list.remove(place);
                let is_last = !list.iter().any(|other| other.size() == one.size());
                if is_last || own[torus].contains(&one) {
                    continue;
                }
                let shorter = self.with(&now, torus, &list);
                if is_needless(&shorter)
                    && let TopologyLists::Boxes(shorter) = shorter
                {
                    now = shorter;
                }
            }
        }
        TopologyLists::Boxes(now)
    }

    /// Copy of `lists` with the boxes `changed` for the torus `torus` and for all tori equal to it.
    fn with(&self, lists: &[Vec<Box3>], torus: usize, changed: &[Box3]) -> TopologyLists {
        let one = |(own, list): (usize, &Vec<Box3>)| {
            if self.alike[own] == self.alike[torus] { changed.to_vec() } else { list.clone() }
        };
        TopologyLists::Boxes(lists.iter().enumerate().map(one).collect())
    }

    fn change_boxes(&self, lists: &[Vec<Box3>], stream: &mut Stream) -> TopologyLists {
        let listed: Vec<usize> = (0..lists.len()).filter(|&own| !lists[own].is_empty()).collect();
        let torus = listed[stream.below(listed.len() as u64) as usize];
        let sides = self.sides[torus];
        let mut list = lists[torus].clone();
        let place = stream.below(list.len() as u64) as usize;
        let own = list[place];
        let axis = stream.below(3) as usize;
        let of_the_size = list.iter().filter(|other| other.size() == own.size()).count();
        match stream.below(6) {
            0 => {
                let shapes = shapes(sides, own.size());
                let dims = shapes[stream.below(shapes.len() as u64) as usize];
                list[place] = Box3::aligned(dims);
            }
            1 if of_the_size < MOST_OF_A_SIZE => {
                let shapes = shapes(sides, own.size());
                let dims = shapes[stream.below(shapes.len() as u64) as usize];
                list.insert(place + stream.below(2) as usize, Box3::aligned(dims));
            }
            // Without the box, if the size stays listed.
            2 if of_the_size > 1 => {
                list.remove(place);
            }
            3 if of_the_size > 1 => {
                let other = |other: &usize| *other != place && list[*other].size() == own.size();
                let others: Vec<usize> = (0..list.len()).filter(other).collect();
                list.swap(place, others[stream.below(others.len() as u64) as usize]);
            }
            4 if own.spacing[axis] > 1 => {
                list[place].seed[axis] =
                    stream.below(u64::from(own.spacing[axis].min(sides[axis]))) as u32;
            }
            _ => {
                let side = own.dims[axis];
                let steps: Vec<u32> = (1..=side)
                    .filter(|step| sides[axis].is_multiple_of(*step) || *step == side)
                    .collect();
                list[place].spacing[axis] = steps[stream.below(steps.len() as u64) as usize];
                list[place].seed[axis] %= list[place].spacing[axis];
            }
        }
        self.with(lists, torus, &distinct(list))
    }
}

fn distinct(list: impl IntoIterator<Item = Box3>) -> Vec<Box3> {
    let mut unlike: Vec<Box3> = Vec::new();
    for own in list {
        if !unlike.contains(&own) {
            unlike.push(own);
        }
    }
    unlike
}

/// All rotations of a box that fit into a torus with the sides `sides`.
///
/// A rotated box may begin at every multiple of its sides.
fn turned(sides: Xyz, [a, b, c]: Xyz) -> Vec<Box3> {
    let ways = [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]];
    ways.into_iter()
        .filter(|own| (0..3).all(|axis| own[axis] <= sides[axis]))
        .map(Box3::aligned)
        .collect()
}

/// Sides of all boxes of a size that fit into a torus, by ascending surface.
fn shapes(sides: Xyz, size: u32) -> Vec<Xyz> {
    let mut all = Vec::new();
    for x in (1..=sides[0]).filter(|&x| size.is_multiple_of(x)) {
        for y in (1..=sides[1]).filter(|&y| (size / x).is_multiple_of(y)) {
            let z = size / x / y;
            if z <= sides[2] {
                all.push([x, y, z]);
            }
        }
    }
    all.sort_by_key(|&[x, y, z]| {
        (
            u64::from(x) * u64::from(y) + u64::from(y) * u64::from(z) + u64::from(z) * u64::from(x),
            [x, y, z],
        )
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needless_boxes_are_dropped_and_each_size_keeps_one() {
        let spaced = |dims, step| Box3 { spacing: [step; 3], ..Box3::aligned(dims) };
        let own = TopologyLists::Boxes(vec![vec![Box3::aligned([2, 2, 1])]; 2]);
        let space = SearchSpace { sides: vec![[4; 3]; 2], alike: vec![0, 0], sizes: Vec::new() };
        let list = vec![
            Box3::aligned([2, 2, 1]),
            spaced([2, 2, 1], 1),
            spaced([4, 1, 1], 1),
            spaced([4, 2, 1], 1),
            spaced([4, 2, 1], 2),
        ];
        let lists = TopologyLists::Boxes(vec![list.clone(); 2]);
        let has_row = |lists: &TopologyLists| match lists {
            TopologyLists::Boxes(lists) => lists.iter().all(|own| own.contains(&list[2])),
            TopologyLists::Blocks(_) => false,
        };
        let found = space.shortened(&lists, &own, has_row);
        let kept = vec![list[0], list[2], list[3]];
        assert_eq!(found, TopologyLists::Boxes(vec![kept; 2]));
        assert_eq!((lists.entries(), found.entries()), (10, 6));
    }
}
