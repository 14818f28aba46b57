//! Requests to placement rules: sizes and constraints of jobs, and properties of nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::geometry::NodeSet;
use crate::job::Time;
use crate::topology::Node;

/// Size and constraints of a job, in the form in which placement rules take them.
///
/// Nodes that the job excludes are no part of it: the caller removes them from the available nodes.
///
/// ```
/// use meshwork::alloc::listed::NodeRequest;
/// let request = NodeRequest { segment: Some(4), ..NodeRequest::of(8) };
/// assert_eq!((request.nodes, request.most, request.segments()), (8, 8, Some((2, 4))));
/// assert_eq!(NodeRequest { segment: Some(3), ..NodeRequest::of(8) }.segments(), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeRequest {
    /// Minimum number of nodes of the job.
    pub nodes: u32,
    /// Maximum number of nodes of the job; equal to `nodes` for a job of fixed size.
    pub most: u32,
    /// Number of nodes of each segment; `None` if the job is not divided into segments.
    ///
    /// Different segments may lie apart.
    pub segment: Option<u32>,
    /// Whether no two segments of the job may have nodes in the same base block (such as a rack).
    pub spread: bool,
    /// Whether all segments of the job must lie in one aggregated block (several adjacent base
    /// blocks).
    pub consolidate: bool,
    /// Maximum number of leaf switches of the job; `None` without a limit.
    pub switches: Option<u32>,
    /// Whether the job's nodes must have consecutive numbers.
    pub contiguous: bool,
    /// Nodes that the job names. If there are more than `most`, the job gets only some of them.
    pub listed: Option<NodeSet>,
    /// Estimated ends of running jobs; `None` if free boxes are not compared by these times.
    pub ends: Option<Ends>,
}

/// Estimated ends of the jobs that hold nodes, as they are known at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// For each node, the estimated end of the job on it; time 0 if there is no estimate.
    pub of: Arc<Vec<Time>>,
    /// Instant from which the remaining run times of jobs are counted.
    pub now: Time,
}

impl Ends {
    /// Estimated remaining run time of the job on a node, in units of the clock.
    ///
    /// It is 0 if no job runs on the node, if the end of the job is unknown, or if the job has run
    /// longer than estimated.
    #[must_use]
    pub fn remaining(&self, node: Node) -> f64 {
        self.of.get(node as usize).map_or(0.0, |&end| (end - self.now).max(0.0))
    }
}

impl NodeRequest {
    /// Creates a request for `nodes` nodes without constraints.
    #[must_use]
    pub fn of(nodes: u32) -> NodeRequest {
        NodeRequest { nodes, most: nodes, ..NodeRequest::default() }
    }

    /// Number of segments of the job, and number of nodes of each segment.
    ///
    /// A job without a segment size, or smaller than one segment, counts as one segment. `None` if
    /// the segment size does not divide the size of the job.
    #[must_use]
    pub fn segments(&self) -> Option<(u32, u32)> {
        match self.segment {
            Some(size) if (1..=self.nodes).contains(&size) => {
                self.nodes.is_multiple_of(size).then(|| (self.nodes / size, size))
            }
            _ => Some((1, self.nodes)),
        }
    }

    /// Whether the job is divided into segments.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.segment.is_some_and(|size| (1..=self.nodes).contains(&size))
    }
}

/// Weight and number of processors of each node of a machine.
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
    /// Nodes of each weight, with the lightest weight first.
    classes: Vec<(u32, NodeSet)>,
}

impl Nodes {
    /// Creates nodes with the given weights and numbers of processors; lighter nodes are taken
    /// first.
    ///
    /// # Panics
    /// If the lists differ in length.
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

    /// Creates `count` equal nodes, each of weight 1 with one processor.
    #[must_use]
    pub fn alike(count: u32) -> Nodes {
        Nodes::new(vec![1; count as usize], vec![1; count as usize])
    }

    /// Number of nodes of the machine.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.weights.len() as u32
    }

    /// Weight of a node; lighter nodes are taken first.
    #[must_use]
    pub fn weight(&self, node: Node) -> u32 {
        self.weights[node as usize]
    }

    /// Number of processors of a node.
    #[must_use]
    pub fn processors(&self, node: Node) -> u32 {
        self.processors[node as usize]
    }

    pub(super) fn classes(&self) -> &[(u32, NodeSet)] {
        &self.classes
    }

    pub(super) fn lightest(&self, set: &NodeSet) -> Option<u32> {
        self.classes.iter().find(|(_, class)| class.meets(set)).map(|&(weight, _)| weight)
    }
}
