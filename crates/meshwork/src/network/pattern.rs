//! Communication patterns: which processes of a job send to which others, and in which order.

use super::NetworkError;
use crate::registry::{About, Family, Params, abouts, named};
use crate::rng::{Stream, keyed};

/// Registry entry of a communication pattern.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct PatternEntry {
    /// Name, definition and parameters of the pattern.
    pub about: About,
    /// Whether the job sends `num_messages` messages to receivers drawn at random.
    ///
    /// Otherwise the pattern is a fixed list of messages.
    pub draws: bool,
    /// Whether the number of processes must be a power of two.
    pub in_powers_of_two: bool,
    /// Makes the messages of a job with a given number of processes. The pattern must be defined
    /// for this number, which is at least 2.
    pub plan: fn(u32, &mut PatternContext<'_>) -> Box<dyn Pattern>,
}

impl PatternEntry {
    /// Creates the entry of a pattern that is a fixed list of messages for any number of processes.
    #[must_use]
    pub const fn new(
        about: About,
        plan: fn(u32, &mut PatternContext<'_>) -> Box<dyn Pattern>,
    ) -> PatternEntry {
        PatternEntry { about, draws: false, in_powers_of_two: false, plan }
    }

    /// Sets whether the job sends `num_messages` messages to receivers drawn at random.
    #[must_use]
    pub const fn draws(mut self, draws: bool) -> PatternEntry {
        self.draws = draws;
        self
    }

    /// Sets whether the pattern requires a number of processes that is a power of two.
    #[must_use]
    pub const fn in_powers_of_two(mut self, in_powers_of_two: bool) -> PatternEntry {
        self.in_powers_of_two = in_powers_of_two;
        self
    }

    /// Checks that the pattern is defined for a given number of processes.
    ///
    /// # Errors
    /// [`NetworkError::Pattern`] if the pattern is not defined for it.
    pub fn serves(&self, processes: u64) -> Result<(), NetworkError> {
        if !self.in_powers_of_two || processes.is_power_of_two() {
            return Ok(());
        }
        Err(NetworkError::Pattern { pattern: self.about.name.to_owned(), processes })
    }
}

named!(PatternEntry);

/// Inputs of a pattern: its parameters, the order of messages, and the source of random draws.
pub struct PatternContext<'a> {
    /// Parameters of the pattern.
    pub params: &'a Params,
    /// Order of the receivers, if a process sends to several others.
    pub destinations: Destinations,
    /// Number of messages to draw, for patterns with random receivers.
    pub messages: u64,
    /// Key from which the random orders of receivers are derived.
    pub key: u64,
    /// The random stream of the job, identical for every allocator.
    pub rng: &'a mut Stream,
}

/// The order in which a process sends to several other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destinations {
    /// Receivers in ascending order of rank (the index of a process): 0, 1, 2, …
    Ascending,
    /// Receivers in ascending order of rank, from the sender's next rank up to the last, then from
    /// rank 0.
    Rotate,
    /// Each sender has a random order of receivers of its own.
    Shuffle,
}

/// The messages of one round of a pattern: an ordered list for each process.
pub trait Pattern: Send {
    /// Number of messages that process `rank` sends in a round.
    fn messages(&self, rank: u32) -> u64;

    /// The receiver of message number `index` of process `rank`.
    fn to(&self, rank: u32, index: u64) -> u32;
}

/// All communication patterns of this crate.
pub static PATTERNS: &[&PatternEntry] = &[
    &ALL_TO_ALL,
    &ONE_TO_ALL,
    &RANDOM,
    &NEAR_NEIGHBOUR,
    &RING,
    &FFT,
    &DIVIDE_AND_CONQUER,
    &NAS_MULTIGRID,
];

/// The family of communication patterns, from which a study selects one by name.
pub static FAMILY: Family =
    Family { kind: "pattern", key: "name", entries: || abouts(PATTERNS), common: &[] };

const PAPER: &str = "Al-Kerboly, section III";
const LO: &str = "after Lo, Windisch, Liu & Nitzberg, IEEE TPDS 8(7), 1997; the reading is ours";

static ALL_TO_ALL: PatternEntry = PatternEntry::new(
    About::new("all_to_all", "every process sends to every other one")
        .definition(
            "Each of p processes sends one message to every other one, in the order of \
             `destinations`.",
        )
        .complexity("p (p − 1) messages in a round.")
        .source(PAPER),
    |ranks, order| Box::new(ToOthers::new(ranks, None, order)),
);

static ONE_TO_ALL: PatternEntry = PatternEntry::new(
    About::new("one_to_all", "one process, drawn for each job, sends to every other one")
        .definition(
            "One process, drawn for each job, sends one message to every other one, in \
             the order of `destinations`.",
        )
        .complexity("p − 1 messages in a round of p processes.")
        .source(PAPER),
    |ranks, order| {
        let root = order.rng.below(u64::from(ranks)) as u32;
        Box::new(ToOthers::new(ranks, Some(root), order))
    },
);

static RANDOM: PatternEntry = PatternEntry::new(
    About::new(
        "random",
        "random senders to random others: one message for each job, or as many as \
             `num_messages` says",
    )
    .definition(
        "Each message has a sender drawn from all processes, and a receiver drawn from all others.",
    )
    .complexity("`num_messages` messages in a round; 1 where that is left out.")
    .source(PAPER),
    |ranks, order| {
        let mut lists = vec![Vec::new(); ranks as usize];
        for _ in 0..order.messages {
            let from = order.rng.below(u64::from(ranks)) as u32;
            let other = order.rng.below(u64::from(ranks) - 1) as u32;
            lists[from as usize].push(other + u32::from(other >= from));
        }
        Box::new(Lists { lists })
    },
)
.draws(true);

static NEAR_NEIGHBOUR: PatternEntry = PatternEntry::new(
    About::new(
        "near_neighbour",
        "to the neighbours right, left, below and above in a square of processes, \
             filled row by row",
    )
    .aliases(&["near_neighbor"])
    .definition(
        "The p processes fill a square of side ⌈√p⌉ row by row. Each sends to its neighbours \
         right, left, below and above, in this order, where there are any.",
    )
    .complexity("At most 4 p messages in a round of p processes.")
    .source(LO),
    |ranks, _| Box::new(lists(ranks, |rank| Square::of(ranks).around(rank, 1))),
);

static RING: PatternEntry = PatternEntry::new(
    About::new("ring", "every process to the next one, the last to the first")
        .definition("Process i sends to process i + 1, the last one to the first.")
        .complexity("p messages in a round of p processes.")
        .source(LO),
    |ranks, _| Box::new(lists(ranks, |rank| vec![(rank + 1) % ranks])),
);

static FFT: PatternEntry = PatternEntry::new(
    About::new(
        "fft",
        "the butterfly: to the process whose number differs in bit 0, then in bit 1, and so on",
    )
    .aliases(&["butterfly"])
    .definition(
        "Process i sends to the process whose number differs in bit 0, then in bit \
             1, and so on. The number of processes has to be a power of two.",
    )
    .complexity("p log₂ p messages in a round of p processes.")
    .source(LO),
    |ranks, _| {
        let stages = ranks.trailing_zeros();
        Box::new(lists(ranks, |rank| (0..stages).map(|bit| rank ^ 1 << bit).collect()))
    },
)
.in_powers_of_two(true);

static DIVIDE_AND_CONQUER: PatternEntry = PatternEntry::new(
    About::new(
        "divide_and_conquer",
        "a process hands half of its share to another one, a quarter to the next, \
             and so on; each returns its result to whom it came from",
    )
    .definition(
        "A binomial tree with process 0 at its root: a process sends to those \
             whose number is its own plus a power of two below its lowest set bit, the \
             largest first, and at last to its parent.",
    )
    .complexity("2 (p − 1) messages in a round of p processes.")
    .source("binomial tree; the reading is ours"),
    |ranks, _| Box::new(lists(ranks, |rank| tree(ranks, rank))),
);

static NAS_MULTIGRID: PatternEntry = PatternEntry::new(
    About::new(
        "nas_multigrid",
        "neighbours in a square of processes at distance 1, 2, 4, … of those that \
             are left on each level, and back again",
    )
    .definition(
        "The p processes fill a square of side ⌈√p⌉ row by row. On level l, those \
             whose coordinates are multiples of 2ˡ send to their neighbours at \
             distance 2ˡ; the levels go up from 0 to the coarsest and down again.",
    )
    .complexity(
        "O(p) messages in a round of p processes: each level has a quarter of \
             those of the level below.",
    )
    .source(LO),
    |ranks, _| {
        let square = Square::of(ranks);
        let levels = u32::BITS - (square.width.max(2) - 1).leading_zeros();
        Box::new(lists(ranks, |rank| {
            let (x, y) = (rank % square.width, rank / square.width);
            let stays = |level: &u32| (x | y).trailing_zeros() >= *level;
            let cycle = (0..levels).chain((0..levels.saturating_sub(1)).rev());
            cycle.filter(stays).flat_map(|level| square.around(rank, 1 << level)).collect()
        }))
    },
);

/// The processes to which process `rank` sends in a binomial tree. The children of the process in
/// the tree come first, beginning with the child of the largest subtree. The parent comes last.
fn tree(ranks: u32, rank: u32) -> Vec<u32> {
    // The root has children at all distances that are powers of two. Any other process has children
    // only at the powers of two below the lowest set bit of its rank.
    let below = if rank == 0 { ranks.next_power_of_two() } else { 1 << rank.trailing_zeros() };
    let steps = (0..below.trailing_zeros()).rev();
    let mut list: Vec<u32> =
        steps.map(|bit| rank + (1 << bit)).filter(|&child| child < ranks).collect();
    if rank > 0 {
        list.push(rank & (rank - 1));
    }
    list
}

/// The processes of a job laid out in rows, as nearly square as possible; the last row may be
/// short.
#[derive(Clone, Copy)]
struct Square {
    ranks: u32,
    width: u32,
}

impl Square {
    fn of(ranks: u32) -> Square {
        let root = ranks.isqrt();
        Square { ranks, width: root + u32::from(root * root < ranks) }
    }

    /// The processes that are `distance` places to the right, left, below and above a given
    /// process. Places outside the layout are left out.
    fn around(self, rank: u32, distance: u32) -> Vec<u32> {
        let Square { ranks, width } = self;
        let x = rank % width;
        let right = (x + distance < width).then(|| rank + distance);
        let left = x.checked_sub(distance).map(|_| rank - distance);
        let below = rank.checked_add(distance * width);
        let above = rank.checked_sub(distance * width);
        [right, left, below, above].into_iter().flatten().filter(|&to| to < ranks).collect()
    }
}

struct Lists {
    lists: Vec<Vec<u32>>,
}

fn lists(ranks: u32, list: impl Fn(u32) -> Vec<u32>) -> Lists {
    Lists { lists: (0..ranks).map(list).collect() }
}

impl Pattern for Lists {
    fn messages(&self, rank: u32) -> u64 {
        self.lists[rank as usize].len() as u64
    }

    fn to(&self, rank: u32, index: u64) -> u32 {
        self.lists[rank as usize][index as usize]
    }
}

/// Messages from every process, or from one root process, to all others.
///
/// Receivers are computed instead of stored, because the number of all-to-all messages is about
/// the square of the number of processes.
struct ToOthers {
    ranks: u32,
    root: Option<u32>,
    destinations: Destinations,
    key: u64,
}

impl ToOthers {
    fn new(ranks: u32, root: Option<u32>, order: &PatternContext<'_>) -> ToOthers {
        ToOthers { ranks, root, destinations: order.destinations, key: order.key }
    }
}

impl Pattern for ToOthers {
    fn messages(&self, rank: u32) -> u64 {
        if self.root.is_none_or(|root| root == rank) { u64::from(self.ranks) - 1 } else { 0 }
    }

    fn to(&self, rank: u32, index: u64) -> u32 {
        let index = index as u32;
        let skipping = |index: u32| index + u32::from(index >= rank);
        match self.destinations {
            Destinations::Ascending => skipping(index),
            Destinations::Rotate => {
                ((u64::from(rank) + u64::from(index) + 1) % u64::from(self.ranks)) as u32
            }
            Destinations::Shuffle => {
                skipping(shuffled(index, self.ranks - 1, keyed(self.key, rank.into(), 0)))
            }
        }
    }
}

/// Value of `index` under a random permutation of the numbers below `count`. No list is stored.
/// Four rounds of a Feistel network permute the numbers of *b* bits, where *b* is the smallest even
/// number of bits that can represent all numbers below `count`. The four rounds are repeated until
/// the result is below `count`.
fn shuffled(index: u32, count: u32, key: u64) -> u32 {
    let half = (u32::BITS - (count - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut number = u64::from(index);
    loop {
        for round in 0..4 {
            let (high, low) = (number >> half, number & mask);
            number = low << half | (high ^ keyed(key, round, low)) & mask;
        }
        if number < u64::from(count) {
            return number as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn plan(name: &str, ranks: u32, destinations: Destinations, messages: u64) -> Box<dyn Pattern> {
        let mut rng = Stream::new(1, 0, "pattern");
        let params = &FAMILY.resolve("", &name.into()).unwrap();
        let mut order = PatternContext { params, destinations, messages, key: 7, rng: &mut rng };
        let entry: &PatternEntry = params.entry();
        (entry.plan)(ranks, &mut order)
    }

    fn list(pattern: &dyn Pattern, rank: u32) -> Vec<u32> {
        (0..pattern.messages(rank)).map(|index| pattern.to(rank, index)).collect()
    }

    /// Sender and receiver of every message of a pattern, in no particular order.
    fn pairs(pattern: &dyn Pattern, ranks: u32) -> Vec<(u32, u32)> {
        let mut pairs: Vec<(u32, u32)> = (0..ranks)
            .flat_map(|rank| list(pattern, rank).into_iter().map(move |to| (rank, to)))
            .collect();
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn every_pattern_sends_to_others_within_the_job() {
        for entry in PATTERNS {
            for ranks in 2..40_u32 {
                let mut rng = Stream::new(1, 0, "pattern");
                let destinations = Destinations::Shuffle;
                let params = &FAMILY.resolve("", &entry.about.name.into()).unwrap();
                let mut order =
                    PatternContext { params, destinations, messages: 9, key: 7, rng: &mut rng };
                let is_served = entry.about.name != "fft" || ranks.is_power_of_two();
                match entry.serves(ranks.into()) {
                    Ok(()) => {
                        assert!(is_served);
                        let pairs = pairs(&*(entry.plan)(ranks, &mut order), ranks);
                        assert!(!pairs.is_empty(), "{} of {ranks}", entry.about.name);
                        assert!(pairs.iter().all(|&(from, to)| from != to && to < ranks));
                    }
                    Err(error) => {
                        assert!(!is_served);
                        assert!(error.to_string().ends_with(&format!("and a job has {ranks}")));
                    }
                }
            }
        }
    }

    #[test]
    fn all_to_all_has_every_pair_once_in_each_order() {
        for destinations in [Destinations::Ascending, Destinations::Rotate, Destinations::Shuffle] {
            for ranks in 2..20 {
                let pairs = pairs(&*plan("all_to_all", ranks, destinations, 1), ranks);
                let distinct: BTreeSet<(u32, u32)> = pairs.iter().copied().collect();
                assert_eq!(
                    (pairs.len(), distinct.len()),
                    ((ranks * (ranks - 1)) as usize, pairs.len())
                );
            }
        }
        let first = |destinations| list(&*plan("all_to_all", 5, destinations, 1), 2);
        assert_eq!(first(Destinations::Ascending), [0, 1, 3, 4]);
        assert_eq!(first(Destinations::Rotate), [3, 4, 0, 1]);
        let large = plan("all_to_all", 300, Destinations::Shuffle, 1);
        assert_ne!(list(&*large, 0)[..20], list(&*large, 1)[..20], "each sender has its own order");
    }

    #[test]
    fn the_patterns_by_hand() {
        let of = |name, ranks, rank| list(&*plan(name, ranks, Destinations::Ascending, 3), rank);
        assert_eq!(of("ring", 5, 4), [0]);
        assert_eq!(of("fft", 8, 5), [4, 7, 1]);
        // Processes in rows: 0 1 2, 3 4 5, 6 7.
        assert_eq!(of("near_neighbour", 8, 4), [5, 3, 7, 1]);
        assert_eq!(of("near_neighbour", 8, 5), [4, 2]);
        assert_eq!(of("divide_and_conquer", 8, 0), [4, 2, 1]);
        assert_eq!(of("divide_and_conquer", 8, 4), [6, 5, 0]);
        assert_eq!(of("divide_and_conquer", 6, 4), [5, 0]);
        assert_eq!(of("divide_and_conquer", 8, 7), [6]);
        // On 4 × 4 processes: level 0, level 1 where both coordinates are even, and level 0 again.
        assert_eq!(of("nas_multigrid", 16, 0), [1, 4, 2, 8, 1, 4]);
        assert_eq!(of("nas_multigrid", 16, 5), [6, 4, 9, 1, 6, 4, 9, 1]);
        let one = plan("one_to_all", 7, Destinations::Ascending, 1);
        let senders: Vec<u32> = (0..7).filter(|&rank| one.messages(rank) > 0).collect();
        assert_eq!(senders.len(), 1);
        assert_eq!(list(&*one, senders[0]).len(), 6);
        assert_eq!(pairs(&*plan("random", 7, Destinations::Ascending, 11), 7).len(), 11);
    }
}
