//! Constraints of a job on its nodes, in the terms of production schedulers.

use std::fmt;

/// Value of the key `exclusive` with which a job requests base blocks for itself alone.
pub(crate) const EXCLUSIVE: &str = "topo";

/// Number of processors and placement constraints, as users of production schedulers give them.
///
/// Allocators that follow a site's written list of blocks honour the constraints
/// ([`Asks::Constrained`](crate::form::Asks::Constrained)); all other allocators are asked only for
/// the count. Nodes are given by the names that they have at the site, in lists such as `n[0-3,7]`.
///
/// ```
/// use meshwork::job::{Request, Constraints};
/// let constraints = Constraints { segment: Some(4), exclude: Some("n9".to_owned()), ..Constraints::of(8) };
/// let request = Request::constrained(constraints);
/// assert_eq!((request.nodes(), request.to_string().as_str()), (8, "8 segment=4 exclude=n9"));
/// assert_eq!(Request::constrained(Constraints::of(8)), Request::Nodes(8));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct Constraints {
    /// Smallest number of processors that the job accepts.
    pub nodes: u32,
    /// Largest number of processors, which the job gets if possible; `None` for a fixed size.
    pub nodes_max: Option<u32>,
    /// Number of processors of each segment into which the job is split; `None` if it is not split.
    ///
    /// It divides the job's size. Segments may be placed apart.
    pub segment: Option<u32>,
    /// Whether no two segments share a base block.
    pub spread_segments: bool,
    /// Whether all segments lie in one block of a size that the site lists.
    pub consolidate_segments: bool,
    /// Largest number of leaf switches that the placement may touch; `None` for no limit.
    pub switches: Option<u32>,
    /// Whether the nodes must be consecutive.
    pub contiguous: bool,
    /// Whether no other job may use the base blocks of this job (`exclusive = "topo"`).
    pub whole_blocks: bool,
    /// Names of required nodes. If there are more than the job needs, it gets some of them.
    pub require: Option<String>,
    /// Names of nodes that the job must not get.
    pub exclude: Option<String>,
    /// Partition to whose nodes the job is restricted.
    pub partition: Option<String>,
}

impl Constraints {
    /// Returns the constraints of a job that only requests `nodes` processors.
    #[must_use]
    pub fn of(nodes: u32) -> Constraints {
        Constraints { nodes, ..Constraints::default() }
    }

    /// Returns the constraints as pairs of table column and cell text. The number of processors is
    /// not included.
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

/// Formats the count and the constraints, such as `8 segment=4`.
impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.nodes)?;
        self.cells().iter().try_for_each(|(name, cell)| write!(f, " {name}={cell}"))
    }
}
