//! Order in which the islands of a node (such as sockets) provide cores and GPUs for a piece of a
//! job.

use smallvec::SmallVec;

use crate::job::Piece;
use crate::registry::{About, Family, abouts, named};

/// Free cores and GPUs of an island of a node, such as a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IslandFree {
    /// Index of the island within its node.
    pub number: usize,
    /// Number of free cores of the island.
    pub cores: u32,
    /// Number of GPUs, on this island, with a free share at least as large as the piece requests.
    pub gpus: u32,
}

/// Indices of the islands of a node, in the order in which they are used.
pub type IslandOrder = SmallVec<[usize; 8]>;

/// Rule for the order in which islands of a node (such as sockets) provide cores and GPUs.
pub trait IslandRule: Sync {
    /// Returns the indices of all islands, in the order in which they provide resources for the
    /// piece.
    fn islands(&self, free: &[IslandFree], piece: &Piece) -> IslandOrder;
}

/// Registry entry of a rule that orders the islands of a node.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct WithinEntry {
    /// Name and description of the rule.
    pub about: About,
    /// The rule that orders the islands of a node, such as its sockets.
    pub choice: &'static dyn IslandRule,
}

impl WithinEntry {
    /// Creates the registry entry of a rule that orders the islands of a node.
    #[must_use]
    pub const fn new(about: About, choice: &'static dyn IslandRule) -> WithinEntry {
        WithinEntry { about, choice }
    }
}

named!(WithinEntry);

/// All rules that the key `within` can name. Each orders the islands of a node.
pub static WITHIN: &[&WithinEntry] = &[&LOWEST, &TOGETHER, &SPREAD];

/// The family of rules that order the islands of a node. A study selects a rule by its name.
pub static FAMILY: Family =
    Family { kind: "choice within a node", key: "name", entries: || abouts(WITHIN), common: &[] };

static LOWEST: WithinEntry = WithinEntry::new(
    About::new("lowest", "the lowest numbers: island 0 first")
        .definition(
            "GPUs with the lowest numbers that are wholly free; of those that several pieces \
             share, the one with the least left that suffices. Cores come from the islands of \
             the GPUs, then from island 0 on.",
        )
        .complexity("O(g) for g GPUs and islands of the node.")
        .source("general"),
    &Lowest,
);

struct Lowest;

impl IslandRule for Lowest {
    fn islands(&self, free: &[IslandFree], _piece: &Piece) -> IslandOrder {
        free.iter().map(|island| island.number).collect()
    }
}

static TOGETHER: WithinEntry = WithinEntry::new(
    About::new("together", "one island if it holds the piece, the fullest of those")
        .definition(
            "If an island holds the whole piece, it goes to the one with the fewest free GPUs \
             of those, then the fewest free cores, the first of equals. Else islands give what \
             they have, those with most free GPUs and cores first.",
        )
        .complexity("O(i log i) for i islands of the node.")
        .source("best fit, over the islands of a node"),
    &Together,
);

struct Together;

impl IslandRule for Together {
    fn islands(&self, free: &[IslandFree], piece: &Piece) -> IslandOrder {
        let mut islands: SmallVec<[IslandFree; 8]> = free.iter().copied().collect();
        islands.sort_by_key(|island| {
            let holds = island.cores >= piece.cpu && island.gpus >= piece.gpu;
            let (gpus, cores) = (u64::from(island.gpus), u64::from(island.cores));
            let room = (gpus << 32) | cores;
            (!holds, if holds { room } else { u64::MAX - room })
        });
        islands.iter().map(|island| island.number).collect()
    }
}

static SPREAD: WithinEntry = WithinEntry::new(
    About::new("spread", "the island with most free GPUs, then most free cores, for each piece")
        .definition(
            "Each piece goes to the island with most free GPUs, then most free cores, the first \
             of equals, and on from there in this order.",
        )
        .complexity("O(i log i) for i islands of the node.")
        .source("worst fit, over the islands of a node"),
    &Spread,
);

struct Spread;

impl IslandRule for Spread {
    fn islands(&self, free: &[IslandFree], _piece: &Piece) -> IslandOrder {
        let mut islands: SmallVec<[IslandFree; 8]> = free.iter().copied().collect();
        islands.sort_by_key(|island| std::cmp::Reverse((island.gpus, island.cores)));
        islands.iter().map(|island| island.number).collect()
    }
}
