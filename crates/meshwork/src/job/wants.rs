//! What a job wants of its processors beside how many they are.

use std::fmt;

/// The word by which a job asks that its base blocks have no other job.
pub(crate) const EXCLUSIVE: &str = "topo";

/// So many processors, and conditions on which they may be: what users of a production scheduler ask for beside a
/// count.
///
/// Allocators that go by what a site has written down honour them ([`Asks::Wants`](crate::form::Asks::Wants));
/// all others are asked for the count alone. Nodes are named as the site names them, in lists such as `n[0-3,7]`.
///
/// ```
/// use meshwork::job::{Request, Wants};
/// let wants = Wants { segment: Some(4), exclude: Some("n9".to_owned()), ..Wants::of(8) };
/// let request = Request::wanting(wants);
/// assert_eq!((request.nodes(), request.to_string().as_str()), (8, "8 segment=4 exclude=n9"));
/// assert_eq!(Request::wanting(Wants::of(8)), Request::Nodes(8));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Wants {
    /// The least number of processors.
    pub nodes: u32,
    /// The largest number, where it takes more than the least if it can; at least `nodes`.
    pub nodes_max: Option<u32>,
    /// The size of the segments that may lie apart; the job's size is a multiple of it.
    pub segment: Option<u32>,
    /// Whether each segment has base blocks of its own.
    pub spread_segments: bool,
    /// Whether all segments lie in one block of a listed size.
    pub consolidate_segments: bool,
    /// The most leaf switches that it may touch.
    pub switches: Option<u32>,
    /// Whether its nodes must follow one another.
    pub contiguous: bool,
    /// Whether no other job may be in its base blocks, as `exclusive = "topo"` asks for.
    pub whole_blocks: bool,
    /// Nodes that it must have, or if there are more than it wants, among which it must lie.
    pub require: Option<String>,
    /// Nodes that it must not have.
    pub exclude: Option<String>,
    /// The partition whose nodes it may have.
    pub partition: Option<String>,
}

impl Wants {
    /// So many processors, and nothing else.
    #[must_use]
    pub fn of(nodes: u32) -> Wants {
        Wants { nodes, ..Wants::default() }
    }

    /// What is wanted beside the count, by the names of the columns of a table, as a table has it.
    #[must_use]
    pub fn cells(&self) -> Vec<(&'static str, String)> {
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let flag = |flag: bool| flag.then(|| "true".to_owned());
        let all = [
            ("nodes_max", number(self.nodes_max)),
            ("segment", number(self.segment)),
            ("spread_segments", flag(self.spread_segments)),
            ("consolidate_segments", flag(self.consolidate_segments)),
            ("switches", number(self.switches)),
            ("contiguous", flag(self.contiguous)),
            ("exclusive", self.whole_blocks.then(|| EXCLUSIVE.to_owned())),
            ("require", self.require.clone()),
            ("exclude", self.exclude.clone()),
            ("partition", self.partition.clone()),
        ];
        all.into_iter().filter_map(|(name, cell)| Some((name, cell?))).collect()
    }
}

/// The count, and what else is wanted.
impl fmt::Display for Wants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.nodes)?;
        self.cells().iter().try_for_each(|(name, cell)| write!(f, " {name}={cell}"))
    }
}
