//! Reads the state of a running Slurm: first its jobs, then its nodes, then its reservations.

use std::collections::{BTreeMap, BTreeSet};

use super::SlurmCommands;
use super::ends::ExpectedEnds;
use meshwork_slurm::hostlist;
use meshwork_slurm::live::{
    NodeReservation, QueuedJob, node_arguments, queue_arguments, range_arguments, read_nodes,
    read_queue, read_ranges, read_reservations,
};

/// Seconds that are assumed for a missing time limit, and for an outage of unknown length.
pub(super) const FAR: f64 = 365.0 * 86_400.0;
/// Maximum number of job ids in one query. For more jobs, the query names their partition instead.
const MANY: usize = 200;

/// Jobs, nodes and reservations, as Slurm's commands print them at one time.
#[derive(Clone, Debug, Default)]
pub struct SiteLook {
    /// Time just before the first command, in seconds since 1970.
    pub now: f64,
    pub jobs: Vec<QueuedJob>,
    pub nodes: Vec<(String, String)>,
    pub reservations: Vec<NodeReservation>,
}

impl SiteLook {
    /// Queries Slurm for jobs, then for nodes, and, if `reservations` is true, for reservations. A
    /// node that becomes busy between two queries counts as busy.
    pub fn take(
        commands: &mut dyn SlurmCommands,
        partition: &str,
        reservations: bool,
    ) -> Result<SiteLook, String> {
        let now = commands.now();
        let token = commands.token();
        let jobs = read_queue(&commands.ask("squeue", &queue_arguments(&token))?, &token)?;
        let nodes = read_nodes(&commands.ask("sinfo", &node_arguments(partition))?);
        let reservations = if reservations {
            let says = commands.control("show reservation")?;
            // Without a valid answer, the nodes must not be treated as free of reservations.
            let is_answer = says.contains("ReservationName=") || says.contains("No reservations");
            if !is_answer {
                let says = says.lines().next().unwrap_or("nothing").trim();
                return Err(format!("scontrol says of reservations: {says}"));
            }
            read_reservations(&says)
        } else {
            Vec::new()
        };
        Ok(SiteLook { now, jobs, nodes, reservations })
    }
}

/// Minimum number of nodes of each waiting job. Slurm is queried for it once per job.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    known: BTreeMap<(String, i64), u32>,
}

impl Ranges {
    /// Queries the minimum number of nodes of each new job, and forgets jobs that are not in
    /// `jobs`.
    pub(super) fn learn(
        &mut self,
        commands: &mut dyn SlurmCommands,
        partition: &str,
        jobs: &[&QueuedJob],
    ) -> Result<(), String> {
        let keys: BTreeSet<(String, i64)> = jobs.iter().map(|job| job.key()).collect();
        self.known.retain(|key, _| keys.contains(key));
        let new: Vec<&&QueuedJob> =
            jobs.iter().filter(|job| !self.known.contains_key(&job.key())).collect();
        let wide: BTreeSet<u64> =
            new.iter().filter(|job| job.nodes > 1).map(|job| job.number).collect();
        let said = if wide.is_empty() {
            String::new()
        } else {
            let some: Vec<u64> = wide.into_iter().collect();
            let some = (some.len() <= MANY).then_some(&some[..]);
            commands.ask("squeue", &range_arguments(some, partition))?
        };
        let least: BTreeMap<String, u32> = read_ranges(&said).into_iter().collect();
        for job in new {
            let own = least.get(&job.id).copied().unwrap_or(job.nodes).clamp(1, job.nodes.max(1));
            self.known.insert(job.key(), own);
        }
        Ok(())
    }

    /// Records that a job requests a fixed number of nodes.
    pub(super) fn has_none(&mut self, job: &QueuedJob) {
        self.known.insert(job.key(), job.nodes);
    }

    pub(super) fn least(&self, job: &QueuedJob) -> u32 {
        self.known.get(&job.key()).copied().unwrap_or(job.nodes)
    }
}

/// Nodes (by number) that a job holds or is about to get, and the time span.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) id: String,
    pub(super) nodes: Vec<u32>,
    pub(super) since: f64,
    pub(super) until: f64,
}

/// Numbers of the nodes in a host list. Nodes outside of the policy's machine are left out.
pub(super) fn numbers_of(numbers: &BTreeMap<String, u32>, list: &str) -> Vec<u32> {
    let names = hostlist::names(list).unwrap_or_default();
    names.iter().filter_map(|name| numbers.get(name).copied()).collect()
}

/// Nodes that waiting jobs cannot get, by the job that has them. A running or completing job has
/// the nodes that it holds. A pending job in the partition `placed_in` has the nodes that it
/// requires. All other nodes that are not idle form the group `unusable`.
pub(super) fn claims(
    look: &SiteLook,
    numbers: &BTreeMap<String, u32>,
    ends: &ExpectedEnds,
    placed_in: Option<&str>,
) -> Vec<Claim> {
    let mut taken = vec![false; numbers.len()];
    let mut all = Vec::new();
    let mut claim = |id: &str, nodes: Vec<u32>, since: f64, until: f64| {
        let own = |node: &u32| !std::mem::replace(&mut taken[*node as usize], true);
        let nodes: Vec<u32> = nodes.into_iter().filter(own).collect();
        if !nodes.is_empty() {
            all.push(Claim { id: id.to_owned(), nodes, since, until });
        }
    };
    // Every start must be earlier than the instant of the decision.
    let before =
        |at: Option<i64>| at.map_or(look.now - 1.0, |at| (at as f64).min(look.now - 0.001));
    let far = look.now + FAR;
    for job in look.jobs.iter().filter(|job| !job.is_pending()) {
        let until = ends.end(job, look.now);
        claim(&job.id, numbers_of(numbers, &job.has), before(job.start), until);
    }
    let placed = |job: &&QueuedJob| job.is_pending() && Some(job.partition.as_str()) == placed_in;
    for job in look.jobs.iter().filter(placed) {
        let until = ends.runtime(job).map_or(far, |seconds| look.now + seconds as f64);
        claim(&job.id, numbers_of(numbers, &job.requires), before(None), until);
    }
    let idle: BTreeSet<u32> = idle(look, numbers).collect();
    let rest = (0..numbers.len() as u32).filter(|node| !idle.contains(node)).collect();
    claim("unusable", rest, before(None), far);
    all
}

/// Numbers of the idle nodes. A node that does not respond, with the state `idle*`, is not one of
/// them.
pub(super) fn idle<'a>(
    look: &'a SiteLook,
    numbers: &'a BTreeMap<String, u32>,
) -> impl Iterator<Item = u32> + 'a {
    let nodes = look.nodes.iter().filter(|(_, state)| state == "idle");
    nodes.filter_map(|(name, _)| numbers.get(name).copied())
}
