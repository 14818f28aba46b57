//! Jobs of a history in the controller model: requests, owners and limits.

use std::collections::BTreeMap;
use std::sync::Arc;

use meshwork::alloc::listed::{NodeRequest, find};
use meshwork::alloc::shared::SharedLookup;
use meshwork::geometry::NodeSet;

use super::parts::{PartsDesk, PartsRequest};
use super::rules::{KINDS, SiteRules};
use meshwork_lab::inputs::published::SlurmPieces;
use meshwork_lab::slurm::folder::{SlurmMachine, asked};
use meshwork_slurm::desk::SlurmRequest;
use meshwork_slurm::history::{JobRecord, Second};
use meshwork_slurm::site::SlurmSite;
use meshwork_slurm::topology::Structure;

/// Time limit, in seconds, that is assumed for a job without one.
const NO_LIMIT: Second = 365 * 86_400;

#[derive(Clone, Debug)]
pub(super) struct ResolvedRequest {
    pub(super) partition: usize,
    pub(super) asked: Arc<SlurmRequest>,
    /// Time limit of the job, in seconds.
    pub(super) limit: Second,
    /// Kind of the request. Requests of one kind differ at most in their time limits.
    pub(super) kind: usize,
    found: Arc<RequestLookup>,
    pub(super) parts: Option<Arc<PartsRequest>>,
}

#[derive(Debug)]
struct RequestLookup {
    wanted: NodeRequest,
    /// Nodes on which the job could run if all nodes were free.
    may: NodeSet,
    /// Whether the job could not even start if its partition were empty.
    is_hopeless: bool,
    /// Whether the job can start as soon as enough nodes in `may` are free, no matter which.
    needs_only_count: bool,
}

impl RequestLookup {
    fn of(machine: &SlurmMachine, site: &SlurmSite, asked: &SlurmRequest) -> RequestLookup {
        let list =
            |list: &Option<String>| list.as_ref().map(|list| machine.nodes(list)).transpose();
        let (required, excluded) = (list(&asked.require), list(&asked.exclude));
        let is_unknown = required.is_err() || excluded.is_err();
        let mut wanted = asked.wanted.clone();
        wanted.listed = required.unwrap_or(None);
        let (mut may, mut whole) = (site.up.clone(), site.whole.clone());
        if let Ok(Some(excluded)) = &excluded {
            may.subtract(excluded);
            if !matches!(site.structure, Structure::Torus3d(..)) {
                whole.subtract(excluded);
            }
        }
        let patient = NodeRequest { switches: None, ..wanted.clone() };
        let is_hopeless = is_unknown
            || wanted.nodes == 0
            || wanted.nodes > site.whole.count()
            || find(site.rule(), &site.nodes, &patient, &whole).is_none();
        let needs_only_count =
            !asked.whole_blocks && site.rule().needs_only_count(&site.nodes, &wanted, &may);
        RequestLookup { wanted, may, is_hopeless, needs_only_count }
    }

    /// Stores the result of a lookup of parts of nodes; `parts` is `None` if the request can never
    /// be met.
    fn set_parts(&mut self, parts: Option<&SharedLookup>) {
        self.is_hopeless = !parts.is_some_and(SharedLookup::is_ever);
        if let Some(parts) = parts {
            self.wanted.nodes = parts.min_nodes();
            self.may.clone_from(parts.pool());
        }
    }
}

impl ResolvedRequest {
    pub(super) fn wanted(&self) -> &NodeRequest {
        &self.found.wanted
    }

    pub(super) fn may(&self) -> &NodeSet {
        &self.found.may
    }

    pub(super) fn needs_only_count(&self) -> bool {
        self.found.needs_only_count && self.parts.is_none()
    }

    pub(super) fn is_hopeless(&self) -> bool {
        self.found.is_hopeless
    }
}

#[derive(Clone, Debug)]
pub(super) struct ControlledJob {
    pub(super) user: usize,
    pub(super) account: usize,
    /// Association of the job, then all associations above it.
    pub(super) chain: Vec<usize>,
    pub(super) qos: Option<usize>,
    pub(super) nodes: u64,
    /// Number of processors that count in the job's priority until backfill considers the job.
    ///
    /// It is the number of requested nodes, or 1 if the job requests a range of node counts.
    pub(super) asked_processors: u64,
    pub(super) processors: u64,
    /// Requested memory in MiB.
    pub(super) memory: u64,
    pub(super) gpus: u64,
    /// Time limit of the job, in seconds.
    pub(super) limit: Second,
    pub(super) eligible: Second,
    /// Position in the order of submission, which decides between equal priorities.
    pub(super) rank: u64,
    pub(super) requests: Vec<ResolvedRequest>,
    pub(super) nice: f64,
    pub(super) reservation: String,
    /// Number of the heterogeneous job of which this job is a component.
    pub(super) group: Option<u64>,
    /// Number of the job array to which the job belongs, and the array's limit on running tasks.
    pub(super) array: Option<(u64, u32)>,
    /// Last recorded priority of the job, and the time at which it started or left the queue.
    pub(super) last_priority: Option<(f64, Second)>,
}

impl ControlledJob {
    /// Amounts of the job that count against limits, in the order of [`LimitOf::all`].
    ///
    /// [`LimitOf::all`]: super::rules::LimitOf::all
    pub(super) fn amounts(&self) -> [u64; KINDS] {
        [1, self.nodes, self.processors, self.memory, self.gpus]
    }
}

/// Jobs of a history in the controller model, and number of different kinds of requests.
pub(super) fn jobs(
    machine: &SlurmMachine,
    rules: &SiteRules,
    stays: &[JobRecord],
    parts: Option<&PartsDesk>,
) -> (Vec<ControlledJob>, usize) {
    type Known<'s> = Vec<(SlurmRequest, &'s str, ResolvedRequest)>;
    let mut known: BTreeMap<(usize, u32), Known<'_>> = BTreeMap::new();
    let (mut users, mut accounts) = (BTreeMap::new(), BTreeMap::new());
    let mut kinds = 0;
    let mut ranks: Vec<usize> = (0..stays.len()).collect();
    ranks.sort_by_cached_key(|&place| number(&stays[place]));
    let mut rank = vec![0; stays.len()];
    (0..).zip(&ranks).for_each(|(own, &place)| rank[place] = own);
    let mut arrays: BTreeMap<u64, Second> = BTreeMap::new();
    for stay in stays.iter().filter(|own| own.throttle.is_some() && own.attempt == 1) {
        let queued = stay.queued().unwrap_or(0);
        let first = arrays.entry(number(stay).1).or_insert(queued);
        *first = queued.min(*first);
    }
    let raised = at_once(stays);
    let mut jobs = Vec::with_capacity(stays.len());
    for (place, stay) in stays.iter().enumerate() {
        let names = if stay.partitions.is_empty() { &stay.partition } else { &stay.partitions };
        let named: Vec<usize> = names
            .split(',')
            .filter_map(|name| rules.partitions.iter().position(|own| own.name == name))
            .collect();
        // A partition without rules counts as the default one.
        let named = if named.is_empty() { vec![rules.default_partition] } else { named };
        let limit = stay.limit.or(rules.partitions[named[0]].default_time).unwrap_or(NO_LIMIT);
        let limit = limit.max(1);
        let mut requests = Vec::new();
        for partition in named {
            let known = known.entry((partition, stay.nodes)).or_default();
            let own = asked(stay);
            let options = if parts.is_some() { stay.options.as_str() } else { "" };
            let is_alike = |known: &&(SlurmRequest, &str, ResolvedRequest)| {
                known.0 == own && known.1 == options
            };
            let request = match known.iter().find(is_alike) {
                Some((_, _, alike)) => ResolvedRequest { limit, ..alike.clone() },
                None => {
                    let site = machine.site(&rules.partitions[partition].name);
                    let mut found = RequestLookup::of(machine, site, &own);
                    let parts = parts.map(|desk| desk.request(partition, stay));
                    if let Some(parts) = &parts {
                        found.set_parts(parts.as_ref().map(|own| &own.lookup));
                    }
                    let (parts, found) = (parts.flatten().map(Arc::new), Arc::new(found));
                    let (asked, kind) = (Arc::new(own.clone()), kinds);
                    kinds += 1;
                    let request = ResolvedRequest { partition, asked, limit, kind, found, parts };
                    known.push((own, options, request.clone()));
                    request
                }
            };
            requests.push(request);
        }
        let site = machine.site(&rules.partitions[requests[0].partition].name);
        let whole = u64::from(stay.nodes)
            * site.whole.first().map_or(1, |node| u64::from(site.nodes.processors(node)));
        let count = users.len();
        let user = *users.entry(stay.user.as_str()).or_insert(count);
        let count = accounts.len();
        let account = *accounts.entry(stay.account.as_str()).or_insert(count);
        let [memory, gpus] = match rules.enforces_limits {
            true => SlurmPieces::of_options(&stay.options).map_or([0; 2], |own| own.totals()),
            false => [0; 2],
        };
        jobs.push(ControlledJob {
            memory,
            gpus,
            user,
            account,
            chain: chain(rules, stay),
            qos: rules.qos.iter().position(|own| own.name == stay.qos),
            nodes: u64::from(stay.least.unwrap_or(stay.nodes)),
            // A job with a range of node counts has one task, unless it states the number.
            asked_processors: stay.least.map_or(u64::from(stay.nodes), |_| 1),
            processors: if stay.processors > 0 { u64::from(stay.processors) } else { whole },
            limit,
            // The array was eligible before its limit admitted the task.
            eligible: arrays
                .get(&number(stay).1)
                .filter(|_| stay.throttle.is_some() && stay.attempt == 1)
                .copied()
                .unwrap_or_else(|| stay.queued().unwrap_or(0)),
            rank: rank[place],
            requests,
            nice: stay.nice as f64,
            reservation: stay.reservation.clone(),
            group: stay.id.contains('+').then(|| number(stay).1),
            array: stay.throttle.map(|most| {
                let array = number(stay).1;
                (array, most.max(raised.get(&array).copied().unwrap_or(0)))
            }),
            last_priority: stay.priority.map(|own| own as f64).zip(stay.start.or(stay.end)),
        });
    }
    (jobs, kinds)
}

/// Largest number of tasks that ran at once, for each array with a limit on running tasks. If it
/// exceeds the recorded limit, the limit was raised.
fn at_once(stays: &[JobRecord]) -> BTreeMap<u64, u32> {
    let mut changes: Vec<(u64, Second, i32)> = Vec::new();
    for stay in stays.iter().filter(|own| own.throttle.is_some()) {
        let span = stay.start.zip(stay.end).filter(|(start, end)| start < end);
        let (array, span) = (number(stay).1, span.into_iter());
        changes.extend(span.flat_map(|(start, end)| [(array, start, 1), (array, end, -1)]));
    }
    changes.sort_unstable();
    let (mut most, mut now) = (BTreeMap::new(), (0, 0));
    for (array, _, change) in changes {
        now = if now.0 == array { (array, now.1 + change) } else { (array, change) };
        let most = most.entry(array).or_insert(0);
        *most = (now.1.max(0) as u32).max(*most);
    }
    most
}

fn number(stay: &JobRecord) -> (Option<Second>, u64, u64) {
    let mut parts =
        stay.id.split(|c: char| !c.is_ascii_digit()).map(|own| own.parse().unwrap_or(0));
    (stay.submit, parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

fn chain(rules: &SiteRules, stay: &JobRecord) -> Vec<usize> {
    let of = |own: &super::rules::Association| own.account == stay.account && own.user == stay.user;
    let mut next = rules.associations.iter().position(of);
    let mut chain = Vec::new();
    while let Some(own) = next {
        chain.push(own);
        next = rules.associations[own].parent;
    }
    chain
}
