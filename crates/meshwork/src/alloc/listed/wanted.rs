//! What a job wants of a machine of lists, and what is written down of its nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::geometry::NodeSet;
use crate::job::Time;
use crate::topology::Node;

/// What a job wants, beside when: counts and conditions. Nodes that it shall not get are no part of it: whoever
/// asks leaves them out of what is available.
///
/// ```
/// use meshwork::alloc::listed::Wanted;
/// let wanted = Wanted { segment: Some(4), ..Wanted::of(8) };
/// assert_eq!((wanted.nodes, wanted.most, wanted.segments()), (8, 8, Some((2, 4))));
/// assert_eq!(Wanted { segment: Some(3), ..Wanted::of(8) }.segments(), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The least number of nodes.
    pub nodes: u32,
    /// The largest number of nodes that it takes, where it takes more; else the same.
    pub most: u32,
    /// The size of the parts that may lie apart.
    pub segment: Option<u32>,
    /// Whether each part has base blocks of its own.
    pub spread: bool,
    /// Whether all parts lie in one aggregated block.
    pub consolidate: bool,
    /// The most leaf switches that it may touch.
    pub switches: Option<u32>,
    /// Whether its nodes must follow one another.
    pub contiguous: bool,
    /// Nodes that it must have, or if there are more than it wants, among which it must lie.
    pub listed: Option<NodeSet>,
    /// What is known of how long others will run, for those who choose by it.
    pub ends: Option<Ends>,
}

/// When jobs that hold nodes end by their estimates, as seen at an instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// That of the job on each node; the beginning of the clock where none is known.
    pub of: Arc<Vec<Time>>,
    /// The instant.
    pub now: Time,
}

impl Ends {
    /// How long the job on a node still runs, if there is one and that is known; 0 if not, and if it has outrun its
    /// estimate.
    #[must_use]
    pub fn remaining(&self, node: Node) -> f64 {
        self.of.get(node as usize).map_or(0.0, |&end| (end - self.now).max(0.0))
    }
}

impl Wanted {
    /// So many nodes, and nothing else.
    #[must_use]
    pub fn of(nodes: u32) -> Wanted {
        Wanted { nodes, most: nodes, ..Wanted::default() }
    }

    /// How many parts there are, and the size of each: one part where none is asked for, or where it would be
    /// larger than the job. `None` if the job is no whole number of them.
    #[must_use]
    pub fn segments(&self) -> Option<(u32, u32)> {
        match self.segment {
            Some(size) if (1..=self.nodes).contains(&size) => {
                self.nodes.is_multiple_of(size).then(|| (self.nodes / size, size))
            }
            _ => Some((1, self.nodes)),
        }
    }

    /// Whether the job is cut into segments.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.segment.is_some_and(|size| (1..=self.nodes).contains(&size))
    }
}

/// What is written down of the nodes of a machine, in the order of their numbers.
///
/// ```
/// use meshwork::alloc::listed::Nodes;
/// let nodes = Nodes::new(vec![5, 1, 1], vec![2, 2, 2]);
/// assert_eq!((nodes.count(), nodes.weight(0)), (3, 5));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    weights: Vec<u32>,
    processors: Vec<u32>,
    /// The nodes of each weight, lightest first.
    classes: Vec<(u32, NodeSet)>,
}

impl Nodes {
    /// Nodes with these weights (lighter ones are taken first) and numbers of processors.
    ///
    /// # Panics
    /// If the two are not equally long: both have an entry for each node.
    #[must_use]
    pub fn new(weights: Vec<u32>, processors: Vec<u32>) -> Nodes {
        assert_eq!(weights.len(), processors.len(), "one entry for each node");
        let count = weights.len() as u32;
        let mut classes: BTreeMap<u32, NodeSet> = BTreeMap::new();
        for (node, &weight) in weights.iter().enumerate() {
            classes.entry(weight).or_insert_with(|| NodeSet::empty(count)).insert(node as Node);
        }
        Nodes { weights, processors, classes: classes.into_iter().collect() }
    }

    /// So many nodes that are all alike.
    #[must_use]
    pub fn alike(count: u32) -> Nodes {
        Nodes::new(vec![1; count as usize], vec![1; count as usize])
    }

    /// How many nodes there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.weights.len() as u32
    }

    /// The weight of a node.
    #[must_use]
    pub fn weight(&self, node: Node) -> u32 {
        self.weights[node as usize]
    }

    /// The processors of a node.
    #[must_use]
    pub fn processors(&self, node: Node) -> u32 {
        self.processors[node as usize]
    }

    /// The nodes of each weight, lightest first.
    pub(super) fn classes(&self) -> &[(u32, NodeSet)] {
        &self.classes
    }

    /// The lowest weight in a set.
    pub(super) fn lightest(&self, set: &NodeSet) -> Option<u32> {
        self.classes.iter().find(|(_, class)| class.meets(set)).map(|&(weight, _)| weight)
    }
}
