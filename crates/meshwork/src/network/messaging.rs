//! Messages of jobs: the parameters that all networks share, and the message plan of one job.

use super::pattern::{self, Destinations, Pattern, PatternContext, PatternEntry};
use super::{Cycle, NetworkError};
use crate::machine::Placement;
use crate::observe::JobId;
use crate::registry::{Kind, LARGEST, Param, Params, Words};
use crate::rng::{Stream, keyed};
use crate::topology::{Grid, Node};

pub(super) const PATTERN: Param = Param::new("pattern", Kind::Component(&pattern::FAMILY))
    .is("\"all_to_all\"")
    .help("which process of a job sends to which");

pub(super) const NUM_MESSAGES: Param = Param::new("num_messages", Kind::Integer(1, 1 << 32))
    .absent("those of one round of the pattern; 1 for `random`")
    .help("messages of each job, of which senders take turns");

pub(super) const QUOTA: Param = Param::new("quota", QUOTAS.kind())
    .is("\"exact\"")
    .help("whether `num_messages` is the number for every job, or the mean of an exponential one");

pub(super) const ITERATIONS: Param = Param::new("iterations", Kind::Integer(1, 1 << 32))
    .is("1")
    .help("how often a job sends its messages");

pub(super) const THINK_TIME: Param = Param::new("think_time", Kind::Integer(0, 1 << 40))
    .is("0")
    .help("cycles that a process computes between two messages");

pub(super) const SEND: Param = Param::new("send", NEXT_SENDS.kind()).is("\"injected\"").help(
    "whether a process goes on to its next message when one has left it, or when it has \
         arrived",
);

pub(super) const DESTINATIONS: Param =
    Param::new("destinations", DESTINATION_ORDERS.kind()).is("\"ascending\"").help(
        "order of the destinations of a process that sends to all: by rank, from its own on, or \
         random",
    );

/// The node of each process of a job, by rank (the index of a process). If jobs share nodes, each
/// piece of a job is a process, and a node may have several processes. Otherwise, a job has one
/// process on each of its nodes.
pub(super) fn process_nodes(at: &Placement, grid: &Grid) -> Vec<Node> {
    let Some(parts) = &at.parts else { return at.nodes(grid) };
    let pieces = parts.parts.iter();
    pieces.flat_map(|part| std::iter::repeat_n(part.node, part.pieces as usize)).collect()
}

/// Condition under which a process may send its next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextSend {
    /// The process waits until its previous message has left its node.
    Injected,
    /// The process waits until its previous message has arrived.
    Delivered,
}

static NEXT_SENDS: Words<NextSend, 2> =
    Words::new([("injected", NextSend::Injected), ("delivered", NextSend::Delivered)]);

/// Values of the parameter `quota`. With `exact`, every job sends `num_messages` messages a round.
/// With `exponential`, the number is random for each job, and `num_messages` is its mean.
static QUOTAS: Words<bool, 2> = Words::new([("exact", false), ("exponential", true)]);

static DESTINATION_ORDERS: Words<Destinations, 3> = Words::new([
    ("ascending", Destinations::Ascending),
    ("rotate", Destinations::Rotate),
    ("shuffle", Destinations::Shuffle),
]);

/// The parameters of messages that are common to all jobs.
#[derive(Clone)]
pub(super) struct Messaging {
    entry: &'static PatternEntry,
    pattern: Params,
    /// Whether the pattern is built in, so that its receivers need no check.
    is_standard: bool,
    destinations: Destinations,
    num_messages: Option<u64>,
    is_exponential: bool,
    iterations: u64,
    pub(super) think: Cycle,
    pub(super) send: NextSend,
    seed: u64,
    replication: u64,
}

impl Messaging {
    pub(super) fn new(params: &Params, seed: u64, replication: u64) -> Messaging {
        let pattern = params.component("pattern", &pattern::FAMILY);
        let entry: &PatternEntry = pattern.entry();
        Messaging {
            entry,
            is_standard: pattern::FAMILY.origin(entry.about.name).is_standard,
            pattern,
            destinations: params.meaning(DESTINATIONS.name, &DESTINATION_ORDERS),
            num_messages: params.get_integer("num_messages"),
            is_exponential: params.meaning(QUOTA.name, &QUOTAS),
            iterations: params.integer("iterations"),
            think: params.integer("think_time"),
            send: params.meaning(SEND.name, &NEXT_SENDS),
            seed,
            replication,
        }
    }

    /// The messages of a job with `ranks` processes. They depend on the job but not on its
    /// placement. Fails if the pattern is not defined for this number of processes.
    pub(super) fn plan(&self, job: JobId, ranks: u32) -> Result<Plan, NetworkError> {
        self.entry.serves(ranks.into())?;
        let key = keyed(self.seed, self.replication, job.0);
        if ranks < 2 {
            return Ok(Plan { pattern: None, senders: Vec::new(), quota: None, rounds: 0, key });
        }
        let mut rng = Stream::new(self.seed, self.replication, &format!("messages.{}", job.0));
        let quota = self.num_messages.map(|mean| {
            if !self.is_exponential {
                return mean;
            }
            let drawn = -libm::log(rng.unit()) * mean as f64;
            libm::ceil(drawn.min(LARGEST)) as u64
        });
        let mut order = PatternContext {
            params: &self.pattern,
            destinations: self.destinations,
            messages: quota.unwrap_or(1),
            key,
            rng: &mut rng,
        };
        let pattern = (self.entry.plan)(ranks, &mut order);
        if !self.is_standard {
            self.check(&*pattern, ranks)?;
        }
        let senders = (0..ranks).filter(|&rank| pattern.messages(rank) > 0).collect();
        let quota = quota.filter(|_| !self.entry.draws);
        Ok(Plan { pattern: Some(pattern), senders, quota, rounds: self.iterations, key })
    }

    /// Checks that each message of a pattern goes to another process of the job. This is for
    /// patterns that are not built in.
    fn check(&self, pattern: &dyn Pattern, ranks: u32) -> Result<(), NetworkError> {
        let mut messages =
            (0..ranks).flat_map(|rank| (0..pattern.messages(rank)).map(move |index| (rank, index)));
        let wrong = messages.find_map(|(rank, index)| {
            let to = pattern.to(rank, index);
            (to >= ranks || to == rank).then_some((rank, to))
        });
        let Some((rank, to)) = wrong else { return Ok(()) };
        Err(NetworkError::Other(format!(
            "the pattern `{}` sends from process {rank} to {to} in a job of {ranks}, but must send to another \
             process from 0 to {}",
            self.entry.about.name,
            ranks - 1
        )))
    }
}

/// The messages of one job: for each of its processes an ordered list, computed when needed.
pub(super) struct Plan {
    pattern: Option<Box<dyn Pattern>>,
    /// Processes that send at least one message, in ascending order.
    pub(super) senders: Vec<u32>,
    /// Number of messages of the job in a round; `None` if the pattern determines it.
    quota: Option<u64>,
    rounds: u64,
    key: u64,
}

impl Plan {
    /// Number of messages of a process in all rounds. If the job has a fixed number of messages,
    /// its senders get equal shares of it. If the shares are not whole numbers, the senders of
    /// lowest rank send one message more.
    pub(super) fn messages(&self, rank: u32) -> u64 {
        let (Some(pattern), Ok(place)) = (&self.pattern, self.senders.binary_search(&rank)) else {
            return 0;
        };
        let in_a_round = match self.quota {
            None => pattern.messages(rank),
            Some(quota) => {
                let senders = self.senders.len() as u64;
                quota / senders + u64::from((place as u64) < quota % senders)
            }
        };
        in_a_round.saturating_mul(self.rounds)
    }

    /// The process to which process `rank` sends its message number `index`.
    pub(super) fn to(&self, rank: u32, index: u64) -> u32 {
        let pattern = self.pattern.as_ref().expect("a job with messages has a pattern");
        let list = pattern.messages(rank);
        // If the job's number of messages is fixed, each round starts again at the first receiver
        // of the pattern's list.
        let in_a_round = self.quota.map_or(list, |_| self.messages(rank) / self.rounds);
        pattern.to(rank, index % in_a_round % list)
    }

    /// Random bits that choose among the possible routes of one message. The message is number
    /// `index` of process `rank`.
    pub(super) fn coins(&self, rank: u32, index: u64) -> u64 {
        keyed(self.key, rank.into(), index)
    }
}
