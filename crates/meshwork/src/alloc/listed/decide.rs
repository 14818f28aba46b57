//! Decisions on jobs by placement rules, and the reasons why jobs wait.

use std::fmt;

use super::runs::Runs;
use super::{NodeRequest, Nodes};
use crate::geometry::NodeSet;
use crate::job::Inside;
use crate::topology::Node;

/// Decision of a placement rule on a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The job starts on the given nodes.
    Start(NodeSet),
    /// The job does not start now, but may start later.
    Wait(Wait, SlurmMessage),
    /// The job can never start, even with all nodes of the machine free.
    Never(SlurmMessage),
}

/// Reason why a job waits: too few nodes are free, or the free nodes do not lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Too few nodes are free, or a required node is not free.
    Nodes,
    /// Enough nodes are free, but they do not lie together as the job requires.
    Shape,
}

/// Reason why a job does not start, in the words of Slurm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlurmMessage {
    /// Too few nodes are free, or a required node is not free.
    Busy,
    /// No listed unit (such as a block or a ring) that has the size of the job is free.
    NoUnit,
    /// No free listed unit (such as a block) has the right size for one of the segments of the job.
    NoUnitForSegment,
    /// Too few nodes are free in the topology unit chosen for the job.
    ///
    /// In a tree, too few nodes are free below every switch.
    UnitTooFull,
    /// The nodes of low weight, which must be taken first, lie in more blocks than the job may use.
    Weights,
    /// The job could not start even on the empty machine, or it names nodes that do not exist.
    NodeConfiguration,
    /// No listed block, box, ring or switch of the topology can ever hold the job.
    ///
    /// None has the size of the job, the segment size does not divide the size of the job, or the
    /// nodes that the job requires lie apart.
    TopologyConfiguration,
    /// The partition is smaller than the job.
    PartitionConfiguration,
}

impl SlurmMessage {
    /// Sentence that Slurm shows as the reason of a waiting job.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            SlurmMessage::Busy => "Requested nodes are busy",
            SlurmMessage::NoUnit => "No suitable topology unit found",
            SlurmMessage::NoUnitForSegment => "No suitable topology unit found for segment",
            SlurmMessage::UnitTooFull => "Insufficient resources in topology unit",
            SlurmMessage::Weights => {
                "Weight-based selection could not satisfy request within topology unit"
            }
            SlurmMessage::NodeConfiguration => "Requested node configuration is not available",
            SlurmMessage::TopologyConfiguration => {
                "Requested topology configuration is not available"
            }
            SlurmMessage::PartitionConfiguration => {
                "Requested partition configuration not available now"
            }
        }
    }
}

impl fmt::Display for SlurmMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Result of one attempt of a placement rule: the selected nodes, or a failure.
pub type RuleResult = Result<NodeSet, Failure>;

/// Failure of one attempt of a placement rule to place a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The attempt has failed, but a later one may succeed when more nodes are free.
    Now {
        /// Reason of the failure, in the words of Slurm.
        message: SlurmMessage,
        /// Nodes to leave out of the next attempt, if one is made.
        action: Action,
    },
    /// No attempt can succeed, even with all nodes free.
    Never(SlurmMessage),
}

impl Failure {
    pub(super) fn of(message: SlurmMessage) -> Failure {
        Failure::now(message, Action::Break)
    }

    pub(super) fn now(message: SlurmMessage, action: Action) -> Failure {
        Failure::Now { message, action }
    }
}

/// Consequence of a failed attempt to place a job: another attempt without some nodes, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// No further attempt is made.
    Break,
    /// The given nodes are left out of the next attempt.
    Without(NodeSet),
    /// Of the nodes in this set, the one with the fewest processors is left out of the next
    /// attempt.
    ///
    /// If the set is empty, the action is [`WithoutNext`](Action::WithoutNext).
    WithoutOneOf(NodeSet),
    /// Of all available nodes, the one with the fewest processors is left out of the next attempt.
    WithoutNext,
}

/// Placement rule: selects the nodes of a job from listed units, such as blocks and rings.
pub trait Rule: fmt::Debug + Send + Sync {
    /// Selects nodes for a job from the set `available`, including all nodes in `required`.
    ///
    /// Both sets are derived from `request.listed`, which the rule itself need not read.
    fn attempt(
        &self,
        nodes: &Nodes,
        request: &NodeRequest,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> RuleResult;

    /// All nodes in the blocks or switches that the rule uses; `None` if it does not depend on any.
    fn covered(&self) -> Option<&NodeSet> {
        None
    }

    /// Base blocks of the machine. A job may request whole base blocks that it shares with no other
    /// job.
    fn base_blocks(&self) -> &[NodeSet] {
        &[]
    }

    /// Leaves or blocks of the machine, one of which may have to hold all pieces of a job.
    fn parts(&self, inside: Inside) -> Vec<NodeSet> {
        if inside == Inside::Block { self.base_blocks().to_vec() } else { Vec::new() }
    }

    /// Whether the rule itself places jobs of one node; otherwise such a job gets the lightest free
    /// node.
    fn places_single_nodes(&self) -> bool {
        false
    }

    /// Whether the job can surely start if enough nodes in `among` are available, wherever they
    /// lie.
    fn needs_only_count(&self, _nodes: &Nodes, _request: &NodeRequest, _among: &NodeSet) -> bool {
        false
    }

    /// Whether a job that could not start even on the empty machine waits; otherwise it is
    /// rejected.
    fn waits_in_vain(&self, _wanted: &NodeRequest) -> bool {
        false
    }
}

/// Decides by a placement rule whether a job starts now, and on which nodes, or later, or never.
///
/// `available` has the nodes that are free now. `whole` has the nodes that would be free on the
/// empty machine.
///
/// # Complexity
/// One series of attempts if the job starts now, otherwise two. A series has one attempt of the
/// rule, and at most one more for each node.
pub fn decide(
    rule: &dyn Rule,
    nodes: &Nodes,
    request: &NodeRequest,
    available: &NodeSet,
    whole: &NodeSet,
) -> Decision {
    let (message, wait) = match try_on(rule, nodes, request, available) {
        Ok(chosen) => return Decision::Start(chosen),
        Err(Failure::Never(message)) => return Decision::Never(message),
        Err(Failure::Now { message, .. }) => (message, waits_for(request, available)),
    };
    // A limit on switches only delays a job: after a while the job starts on more switches.
    let patient = NodeRequest { switches: None, ..request.clone() };
    match try_on(rule, nodes, &patient, whole) {
        Ok(_) => Decision::Wait(wait, message),
        Err(Failure::Never(message)) => Decision::Never(message),
        Err(Failure::Now { .. }) if rule.waits_in_vain(request) => Decision::Wait(wait, message),
        Err(Failure::Now { .. }) => Decision::Never(SlurmMessage::NodeConfiguration),
    }
}

/// Selects nodes for a job now, if possible, without checking whether the job could ever start.
///
/// # Complexity
/// One attempt of the rule. If it fails, at most one more attempt for each node.
pub fn find(
    rule: &dyn Rule,
    nodes: &Nodes,
    request: &NodeRequest,
    available: &NodeSet,
) -> Option<NodeSet> {
    try_on(rule, nodes, request, available).ok()
}

fn waits_for(request: &NodeRequest, available: &NodeSet) -> Wait {
    let (required, among) = listed(request);
    let missing = required.is_some_and(|required| !required.is_within(available));
    let enough = match &among {
        Some(among) => among.count_shared(available),
        None => available.count(),
    };
    if missing || enough < request.nodes { Wait::Nodes } else { Wait::Shape }
}

/// Nodes that the job requires, and nodes among which it must choose; one of the two is `None`.
///
/// If the job names more nodes than its maximum size, it chooses among them. Otherwise, it requires
/// all nodes that it names. If its nodes must be consecutive, all nodes between the named ones are
/// added.
fn listed(request: &NodeRequest) -> (Option<NodeSet>, Option<NodeSet>) {
    let Some(listed) = request.listed.as_ref().filter(|listed| !listed.is_empty()) else {
        return (None, None);
    };
    let mut listed = listed.clone();
    if request.contiguous
        && let (Some(first), Some(last)) = (listed.first(), listed.iter().last())
    {
        listed.insert_range(first, last - first + 1);
    }
    if listed.count() > request.most { (None, Some(listed)) } else { (Some(listed), None) }
}

/// Repeats attempts, each with fewer nodes than the one before, until one succeeds or none is left.
fn try_on(
    rule: &dyn Rule,
    nodes: &Nodes,
    request: &NodeRequest,
    available: &NodeSet,
) -> RuleResult {
    let (required, among) = listed(request);
    let mut left = available.clone();
    if let Some(among) = &among {
        left.intersect(among);
    }
    if left.count() < request.nodes || required.as_ref().is_some_and(|list| !list.is_within(&left))
    {
        return Err(Failure::of(SlurmMessage::Busy));
    }
    if request.most == 1 && !rule.places_single_nodes() {
        return Ok(lightest_node(nodes, required.as_ref().unwrap_or(&left)));
    }
    let rule = match rule.covered() {
        Some(covered) if !covered.meets(&left) => &Runs,
        _ => rule,
    };
    let required = required.as_ref();
    // Nodes are left out in their order at the first attempt.
    let mut order: Option<Vec<Node>> = None;
    let mut at = 0;
    // The reported reason is that of the first attempt.
    let mut first: Option<SlurmMessage> = None;
    loop {
        let (message, action) = match rule.attempt(nodes, request, required, &left) {
            Err(Failure::Now { message, action }) => (message, action),
            final_one => return final_one,
        };
        let failed = Err(Failure::of(*first.get_or_insert(message)));
        if action == Action::Break || left.count() <= request.nodes {
            return failed;
        }
        if let Action::Without(gone) = &action {
            if !gone.meets(&left) || required.is_some_and(|list| list.meets(gone)) {
                return failed;
            }
            left.subtract(gone);
            continue;
        }
        let order = order.get_or_insert_with(|| in_order_of_processors(nodes, required, &left));
        let hint = match &action {
            Action::WithoutOneOf(selected) if !selected.is_empty() => Some(selected),
            _ => None,
        };
        let goes =
            |node: &Node| left.contains(*node) && hint.is_none_or(|hint| hint.contains(*node));
        let Some(found) = order[at..].iter().position(goes) else { return failed };
        left.remove(order[at + found]);
        at += if hint.is_some() { usize::from(found == 0) } else { found + 1 };
        if at == order.len() {
            return failed;
        }
    }
}

fn lightest_node(nodes: &Nodes, among: &NodeSet) -> NodeSet {
    let mut chosen = NodeSet::empty(nodes.count());
    let first = nodes.classes().iter().find_map(|(_, class)| {
        let mut class = class.clone();
        class.intersect(among);
        class.first()
    });
    first.into_iter().for_each(|node| chosen.insert(node));
    chosen
}

fn in_order_of_processors(nodes: &Nodes, required: Option<&NodeSet>, left: &NodeSet) -> Vec<Node> {
    let is_free = |node: &Node| required.is_none_or(|list| !list.contains(*node));
    let mut order: Vec<Node> = left.iter().filter(is_free).collect();
    order.sort_by_key(|&node| nodes.processors(node));
    order
}
