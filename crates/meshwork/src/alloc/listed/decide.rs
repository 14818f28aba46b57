//! What is decided before and around each rule, and in which words a job is told to wait.

use std::fmt;

use super::runs::Runs;
use super::{Nodes, Wanted};
use crate::geometry::NodeSet;
use crate::topology::Node;

/// What a job is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It starts on these nodes.
    Start(NodeSet),
    /// It may start later.
    Wait(Wait, Message),
    /// It could not start on the whole machine, all of it free.
    Never(Message),
}

/// What a job waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Too few nodes are free, or one that it must have is not.
    Nodes,
    /// Enough nodes are free, but not as they would have to lie.
    Shape,
}

/// Why a job does not start, in the scheduler's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// Too few nodes are free.
    Busy,
    /// No place of the size is free.
    NoUnit,
    /// No place of the size of a segment is free.
    NoUnitForSegment,
    /// The place that was chosen has not enough in it.
    UnitTooFull,
    /// Light nodes that had to be taken first have used the place up.
    Weights,
    /// Nodes cannot be had as asked for.
    NodeConfiguration,
    /// No list has a place of the size.
    TopologyConfiguration,
    /// The partition is smaller than the job.
    PartitionConfiguration,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Message::Busy => "Requested nodes are busy",
            Message::NoUnit => "No suitable topology unit found",
            Message::NoUnitForSegment => "No suitable topology unit found for segment",
            Message::UnitTooFull => "Insufficient resources in topology unit",
            Message::Weights => {
                "Weight-based selection could not satisfy request within topology unit"
            }
            Message::NodeConfiguration => "Requested node configuration is not available",
            Message::TopologyConfiguration => "Requested topology configuration is not available",
            Message::PartitionConfiguration => {
                "Requested partition configuration not available now"
            }
        })
    }
}

/// What one attempt of a rule gives.
pub type Attempt = Result<NodeSet, Failure>;

/// Why an attempt found nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It may be found when more is free.
    Now {
        /// Why.
        message: Message,
        /// What may help.
        action: Action,
    },
    /// It is never found.
    Never(Message),
}

impl Failure {
    /// A failure that no further attempt mends.
    pub(super) fn of(message: Message) -> Failure {
        Failure::Now { message, action: Action::Break }
    }
}

/// What a further attempt leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// There is none.
    Break,
    /// These nodes.
    Without(NodeSet),
    /// The first node, in the order of all, that this attempt had selected.
    WithoutOneOf(NodeSet),
    /// The first node in the order of all.
    WithoutNext,
}

/// A rule that says which nodes a job gets.
pub trait Rule: fmt::Debug + Send + Sync {
    /// Nodes for a job, `required` among them, all of them `available`. `wanted.listed` has been seen to.
    fn attempt(
        &self,
        nodes: &Nodes,
        wanted: &Wanted,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> Attempt;

    /// The nodes that the lists name; if none of them is available, any nodes will do. `None` if the rule
    /// wants to be asked whatever is available.
    fn covered(&self) -> Option<&NodeSet> {
        None
    }

    /// The base blocks of which a job may want to share none.
    fn base_blocks(&self) -> &[NodeSet] {
        &[]
    }

    /// Whether a job that takes a single node is put to it; else such a job gets the lightest.
    fn places_single_nodes(&self) -> bool {
        false
    }

    /// Whether a job waits that finds no place on the empty machine either; else it is refused.
    fn waits_in_vain(&self, _wanted: &Wanted) -> bool {
        false
    }
}

/// Decides for one job: `available` are the nodes that it may have now, `whole` those that it might have on an
/// empty machine.
///
/// # Complexity
/// One attempt of the rule where it starts, two where it does not, and at most one more for each node.
pub fn decide(
    rule: &dyn Rule,
    nodes: &Nodes,
    wanted: &Wanted,
    available: &NodeSet,
    whole: &NodeSet,
) -> Decision {
    let (message, wait) = match try_on(rule, nodes, wanted, available) {
        Ok(chosen) => return Decision::Start(chosen),
        Err(Failure::Never(message)) => return Decision::Never(message),
        Err(Failure::Now { message, .. }) => (message, waits_for(wanted, available)),
    };
    // How many switches it touches is what a job may wait for: after a while it starts on more.
    let patient = Wanted { switches: None, ..wanted.clone() };
    match try_on(rule, nodes, &patient, whole) {
        Ok(_) => Decision::Wait(wait, message),
        Err(Failure::Never(message)) => Decision::Never(message),
        Err(Failure::Now { .. }) if rule.waits_in_vain(wanted) => Decision::Wait(wait, message),
        Err(Failure::Now { .. }) => Decision::Never(Message::NodeConfiguration),
    }
}

/// Nodes that a job gets now, if there are any, whether or not it could ever get some.
///
/// # Complexity
/// One attempt of the rule where it finds some at once, and at most one more for each node.
pub fn find(
    rule: &dyn Rule,
    nodes: &Nodes,
    wanted: &Wanted,
    available: &NodeSet,
) -> Option<NodeSet> {
    try_on(rule, nodes, wanted, available).ok()
}

fn waits_for(wanted: &Wanted, available: &NodeSet) -> Wait {
    let (required, among) = listed(wanted);
    let missing = required.is_some_and(|required| !required.is_within(available));
    let enough = match &among {
        Some(among) => among.count_shared(available),
        None => available.count(),
    };
    if missing || enough < wanted.nodes { Wait::Nodes } else { Wait::Shape }
}

/// The listed nodes as those that are required, or as those among which to choose.
fn listed(wanted: &Wanted) -> (Option<NodeSet>, Option<NodeSet>) {
    let Some(listed) = wanted.listed.as_ref().filter(|listed| !listed.is_empty()) else {
        return (None, None);
    };
    let mut listed = listed.clone();
    if wanted.contiguous
        && let (Some(first), Some(last)) = (listed.first(), listed.iter().last())
    {
        listed.insert_range(first, last - first + 1);
    }
    if listed.count() > wanted.most { (None, Some(listed)) } else { (Some(listed), None) }
}

/// Tries until the rule has found nodes or nothing is left to leave out.
fn try_on(rule: &dyn Rule, nodes: &Nodes, wanted: &Wanted, available: &NodeSet) -> Attempt {
    let (required, among) = listed(wanted);
    let mut left = available.clone();
    if let Some(among) = &among {
        left.intersect(among);
    }
    if left.count() < wanted.nodes || required.as_ref().is_some_and(|list| !list.is_within(&left)) {
        return Err(Failure::of(Message::Busy));
    }
    if wanted.most == 1 && !rule.places_single_nodes() {
        return Ok(lightest_node(nodes, required.as_ref().unwrap_or(&left)));
    }
    let rule = match rule.covered() {
        Some(covered) if !covered.meets(&left) => &Runs,
        _ => rule,
    };
    let required = required.as_ref();
    // The order in which nodes are left out is that of the first attempt, and made when it is needed.
    let mut order: Option<Vec<Node>> = None;
    let mut at = 0;
    // What is said is why the first attempt failed.
    let mut first: Option<Message> = None;
    loop {
        let (message, action) = match rule.attempt(nodes, wanted, required, &left) {
            Err(Failure::Now { message, action }) => (message, action),
            final_one => return final_one,
        };
        let failed = Err(Failure::of(*first.get_or_insert(message)));
        if action == Action::Break || left.count() <= wanted.nodes {
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
