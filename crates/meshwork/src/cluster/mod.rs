//! The machine and its queue during a run. Only schedulers change them, and only through this
//! module.

mod access;
mod adopt;
mod arrivals;
mod breach;
mod candidates;
mod interruptions;
mod closures;
mod earliest;
mod ends;
mod fits;
mod forms;
mod least_busy;
mod memory;
mod outlook;
mod power;
mod preempt;
mod profile;
mod queue;
mod reservation;
mod reshape;
mod service;
mod starts;
mod waits;

pub(crate) use breach::{Breach, Culprit};
pub use candidates::{Candidates, Startable};
pub use ends::BusyNodes;
pub use memory::{MemoryReader, MemoryWriter};
pub(crate) use outlook::Outlook;
pub use preempt::Preempted;
pub(crate) use profile::Profile;
pub use queue::Ticket;
pub use reservation::{Guard, Hold, Reservation};
pub use reshape::{Reshape, ReshapeError};
pub use service::{MAX_IDLE_STEPS, MAX_INTERRUPTIONS, Unsatisfiable};
pub use starts::{Place, StartOptions};

// Job identifiers and the errors of memories, for schedulers.
pub use crate::alloc::RecallError;
pub use crate::network::RunKey;
pub use crate::observe::{JobId, Running};

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use slab::Slab;

use closures::Closures;
use ends::{End, Ends, OutOfService};
use fits::Fits;
use forms::Forms;
use queue::Queue;

use crate::energy::Draws;
use crate::facility::Facility;
use crate::form::Finds;
use crate::job::{Job, Request, Time};
use crate::machine::{Placement, Site};
use crate::network::{Network, NetworkError};
use crate::observe::{Event, MachineState, Observer};
use crate::sizing::Size;

/// The machine and its queue, lent to the scheduler for one instant.
pub struct Cluster<'a> {
    now: Time,
    facility: Facility,
    network: Box<dyn Network>,
    observer: Box<dyn Observer + 'a>,
    kill_at_estimate: bool,
    queue: Queue,
    running: Slab<Box<Running>>,
    out: Slab<OutOfService>,
    /// Memory of the records of finished jobs. It is reused for jobs that start.
    #[expect(clippy::vec_box, reason = "it is the boxes that are kept")]
    recycled: Vec<Box<Running>>,
    /// Running jobs and outages by expected end, built on first use.
    ends: OnceCell<Ends>,
    arrivals: Vec<Ticket>,
    departures: Vec<Departure>,
    /// Cache for requests with several possible sizes or shapes: whether they fit the empty
    /// machine.
    fits: Fits,
    /// Cache for requests with one possible size and shape.
    forms: Forms,
    empty: Facility,
    arrived: u64,
    /// Maximum number of nodes with which a job could start now. Most attempts to start a job fail
    /// at once because the job needs more.
    most_free: u64,
    /// Weights with which held processors and GPUs count towards the power cap.
    ///
    /// If GPUs do not count, each processor counts 1.
    draws: Draws,
    /// Maximum weighted number of processors and GPUs that may be held at once under the power cap.
    ///
    /// The weights are in `draws`. `u64::MAX` without a power cap.
    most_held: u64,
    /// Number of processors requested by the job that started last.
    last_asked: u64,
    /// Number of claims and releases of nodes so far, by which outdated caches are recognized.
    ///
    /// The field `releases` counts releases alone.
    changes: u64,
    releases: u64,
    without: Option<starts::Without>,
    /// Number of guards created so far that protect parts of nodes.
    guards: Cell<u64>,
    /// Requests that did not fit beside a guard that protects parts of nodes.
    ///
    /// The first number is the number of the guard. The second one is the count of releases at the
    /// time of the denials, which hold only until the next release.
    denied_beside: (u64, u64, Vec<Request>),
    state: MachineState,
    watches_what_blocks: bool,
    waits: Option<waits::Waits>,
    /// Outages, and histories of interrupted jobs. `None` if no node fails and no job is preempted.
    service: Option<Box<service::Service>>,
    /// Numbers of the jobs that were turned away and not reported yet. `None` if they are not
    /// recorded.
    turned_away: Option<Vec<u64>>,
    /// Access rules; `None` if every node is open to every job.
    gate: Option<Arc<access::Gate>>,
    seen: access::Seen,
    power: Option<Box<power::Power>>,
    breach: Option<Box<Breach>>,
    /// Error of the network for a job that was started in this scheduling pass. It ends the run.
    unfit: Option<NetworkError>,
}

/// A job that ended or was interrupted at the current instant.
#[derive(Clone, Debug)]
pub struct Departure {
    /// The record of the job, with its nodes, its start and its end.
    pub ran: Box<Running>,
}

impl<'a> Cluster<'a> {
    pub(crate) fn new(
        facility: Facility,
        network: Box<dyn Network>,
        kill_at_estimate: bool,
        observer: Box<dyn Observer + 'a>,
    ) -> Cluster<'a> {
        let nodes = facility.sites().iter().map(|m| u64::from(m.site().nodes())).sum();
        Cluster {
            now: Time::ZERO,
            empty: facility.fork(),
            most_free: facility.most_free(),
            draws: Draws::COUNT,
            most_held: u64::MAX,
            facility,
            state: MachineState { nodes, links: network.links() as u64, ..MachineState::default() },
            network,
            watches_what_blocks: observer.asks_what_blocks(),
            observer,
            kill_at_estimate,
            queue: Queue::default(),
            running: Slab::new(),
            out: Slab::new(),
            last_asked: 0,
            recycled: Vec::new(),
            ends: OnceCell::new(),
            arrivals: Vec::new(),
            departures: Vec::new(),
            fits: Fits::default(),
            forms: Forms::default(),
            arrived: 0,
            changes: 0,
            releases: 0,
            without: None,
            guards: Cell::new(0),
            denied_beside: (0, 0, Vec::new()),
            waits: None,
            service: None,
            turned_away: None,
            gate: None,
            seen: access::Seen::default(),
            power: None,
            breach: None,
            unfit: None,
        }
    }

    /// The current simulated time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    pub(crate) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Number of waiting jobs.
    #[must_use]
    pub fn waiting_jobs(&self) -> usize {
        self.queue.len()
    }

    /// Number of running jobs.
    #[must_use]
    pub fn running_jobs(&self) -> u64 {
        self.facility.counts.running
    }

    /// The first waiting job in queue order.
    #[must_use]
    pub fn head(&self) -> Option<Ticket> {
        self.queue.first()
    }

    /// The next waiting job behind `ticket` in queue order.
    #[must_use]
    pub fn after(&self, ticket: Ticket) -> Option<Ticket> {
        self.queue.after(ticket)
    }

    /// The next waiting job behind `ticket` that is not known to be blocked.
    ///
    /// [`startable`](Cluster::startable) is faster if all such jobs are needed.
    #[must_use]
    pub fn next_startable(&self, ticket: Ticket) -> Option<Ticket> {
        let Some(site) = self.facility.only_complete_site().filter(|_| self.most_free > 0) else {
            return self.next_small_enough(ticket);
        };
        let form_queues = self.form_queues();
        let open = form_queues
            .firsts(self.most_free)
            .filter(|(_, form)| !site.is_denied(self.forms.request(*form)));
        open.filter_map(|(_, form)| form_queues.next_that(form, ticket, |_| true)).min()
    }

    pub(super) fn next_small_enough(&self, ticket: Ticket) -> Option<Ticket> {
        if self.most_free == 0 {
            return None;
        }
        self.queue.next_that(ticket, |key| key.fewest <= self.most_free)
    }

    /// Whether the machine is a single site with fixed job sizes whose allocator finds every free
    /// block.
    pub(crate) fn misses_no_block(&self) -> bool {
        self.facility.only_complete_site().is_some()
    }

    pub(crate) fn no_site_misses_blocks(&self) -> bool {
        self.facility.is_complete()
    }

    /// The waiting jobs in queue order.
    pub fn waiting(&self) -> impl Iterator<Item = Ticket> + '_ {
        std::iter::successors(self.head(), |&ticket| self.after(ticket))
    }

    /// The waiting job of a ticket.
    ///
    /// If the job has left the queue, the result is a placeholder. The run then ends with an error
    /// after this scheduling pass.
    #[must_use]
    pub fn job(&self, ticket: Ticket) -> &Job {
        self.queue.job(ticket)
    }

    /// Whether the job of a ticket still waits.
    #[must_use]
    pub fn is_waiting(&self, ticket: Ticket) -> bool {
        self.queue.has(ticket)
    }

    /// Jobs that joined the queue at the current instant, including requeued jobs.
    #[must_use]
    pub fn arrivals(&self) -> &[Ticket] {
        &self.arrivals
    }

    /// Number of processors that were requested by the job that started last. If jobs share nodes
    /// and this job has whole nodes, the cores of these nodes count.
    pub(crate) fn last_asked(&self) -> u64 {
        self.last_asked
    }

    /// Jobs that ended or were interrupted at the current instant.
    #[must_use]
    pub fn departures(&self) -> &[Departure] {
        &self.departures
    }

    /// Waiting jobs without a reservation in a plan that a scheduler keeps between scheduling
    /// passes.
    ///
    /// If the cluster [is disturbed](Cluster::is_disturbed), the plan must be rebuilt, and they are
    /// all waiting jobs. Otherwise they are the [arrivals](Cluster::arrivals).
    #[must_use]
    pub fn to_plan(&self) -> Vec<Ticket> {
        if self.is_disturbed() { self.waiting().collect() } else { self.arrivals.clone() }
    }

    /// Jobs that ended since the last scheduling pass. Empty if the scheduler must rebuild its
    /// plan.
    pub(crate) fn ended_since_plan(&self) -> &[Departure] {
        if self.is_disturbed() { &[] } else { &self.departures }
    }

    /// The running jobs in the order of their expected ends.
    pub fn running(&self) -> impl Iterator<Item = (RunKey, &Running)> {
        let jobs = self.ends().iter().filter(|end| !end.is_outage);
        jobs.map(|end| (end.key(), &*self.running[end.slot as usize]))
    }

    /// Nodes that running jobs hold or that are out of service, sorted by when they should be free.
    pub fn busy_nodes(&self) -> impl Iterator<Item = BusyNodes<'_>> {
        self.ends().iter().map(|end| {
            let (site, until, placement) = (end.site as usize, end.at, self.held_at(end));
            let (since, job) = match end.is_outage {
                true => (self.out[end.slot as usize].since, None),
                false => (self.running[end.slot as usize].start, Some(end.key())),
            };
            BusyNodes { site, placement, since, until, job }
        })
    }

    pub(crate) fn runs_late(&self) -> bool {
        self.ends().first().is_some_and(|end| end.at <= self.now)
    }

    fn ends(&self) -> &Ends {
        let all = || {
            let out = self.out.iter().map(|(slot, out)| End::of_outage(slot, out));
            self.running.iter().map(|(slot, ran)| End::of(slot, ran)).chain(out).collect()
        };
        self.ends.get_or_init(all)
    }

    fn held_at(&self, end: &End) -> &Placement {
        ends::held_at(&self.running, &self.out, end)
    }

    /// The running job with the given key; `None` if the job no longer runs.
    #[must_use]
    pub fn run(&self, key: RunKey) -> Option<&Running> {
        let running: &Running = self.running.get(key.slot as usize)?;
        (running.id == key.id).then_some(running)
    }

    /// The site with the given index.
    #[must_use]
    pub fn site(&self, index: usize) -> &Site {
        self.facility.sites()[index].site()
    }

    /// All sites and their allocators. They can be inspected, and forked to try something out.
    #[must_use]
    pub fn facility(&self) -> &Facility {
        &self.facility
    }

    pub(crate) fn outlook(&self) -> Outlook {
        let headroom = self.is_capped().then(|| (self.headroom(), self.draws));
        let gate = self.gate.as_ref().filter(|gate| !gate.is_open());
        let closures = Closures::new(self.closures(), gate.cloned());
        Outlook::new(self.now, &self.facility, self.busy_nodes(), closures, headroom)
    }

    /// Whether jobs can be delayed only by running jobs and current outages. If so, there is no
    /// planned outage, access rule or power cap.
    pub(crate) fn is_unbounded(&self) -> bool {
        let is_open = self.gate.as_ref().is_none_or(|gate| gate.is_open());
        is_open && self.closures().is_empty() && !self.is_capped()
    }

    /// Whether only the numbers of free nodes decide which jobs can start.
    ///
    /// This is so on a single site where any free nodes will do, sizes are fixed, and there are no
    /// planned outages, access rules or power cap.
    pub(crate) fn counts_alone(&self) -> bool {
        let sites = self.facility.sites();
        self.is_unbounded()
            && self.facility.sizes_are_fixed()
            && sites.len() == 1
            && sites[0].finds() == Finds::AnyNodes
    }

    /// Reservation of a number of nodes for a waiting job, from now on. Only for machines on which
    /// [only counts matter](Cluster::counts_alone).
    pub(crate) fn count_now(&self, ticket: Ticket) -> Option<Reservation> {
        let job = self.queue.job(ticket);
        let Size { request, stretch } = self.facility.sizes(0, job, self.now).into_iter().next()?;
        let (span, hold) = (job.estimate * stretch, Hold::Count(request));
        Some(Reservation { at: self.now, span, stretch, site: 0, hold })
    }

    /// Tells observers that the scheduler promised a waiting job a start at `by` or earlier.
    pub fn promise(&mut self, ticket: Ticket, by: Time) {
        self.queue.scan_key(ticket);
        self.observer.observe(self.now, &Event::Promised(ticket.id, by));
    }

    /// Turns a waiting job away: it leaves the queue without a start. Its ticket becomes invalid.
    pub fn turn_away(&mut self, ticket: Ticket) {
        let Some(mut job) = self.queue.remove(ticket) else { return };
        self.facility.counts.waiting -= 1;
        if let Some(service) = &mut self.service {
            job = service.turns_away(ticket.id, job);
        }
        if let Some(turned_away) = &mut self.turned_away {
            turned_away.push(job.number);
        }
        self.observer.observe(self.now, &Event::TurnedAway(ticket.id, &job));
    }

    pub(crate) fn note_turned_away(&mut self) {
        self.turned_away = Some(Vec::new());
    }

    pub(crate) fn take_turned_away(&mut self) -> impl Iterator<Item = u64> {
        self.turned_away.iter_mut().flat_map(std::mem::take)
    }

    /// The running job that finishes next, and when it finishes. `None` if that is later than `by`.
    #[inline(always)]
    pub(crate) fn next_finish(
        &mut self,
        by: Option<Time>,
    ) -> Result<Option<(Time, RunKey)>, NetworkError> {
        self.network.next_finish(by)
    }

    /// Advances the clock to `to`. No event may lie between now and `to`.
    #[inline(always)]
    pub(crate) fn elapse(&mut self, to: Time) {
        if to > self.now {
            self.state.waiting = self.queue.len() as u64;
            self.state.running = self.facility.counts.running;
            if self.watches_what_blocks {
                self.state.blocked_by_shape = self.is_blocked_by_shape();
            }
            if self.waits.is_some() {
                self.report_waits(to);
            }
            if self.power.is_some() {
                self.pass_with_power(to);
            }
            self.observer.elapsed(self.now, to, &self.state);
            self.now = to;
        }
        self.arrivals.clear();
        while let Some(Departure { ran }) = self.departures.pop() {
            self.recycled.push(ran);
        }
    }

    /// Whether some site has at least as many free nodes as the oldest waiting job requests.
    fn is_blocked_by_shape(&self) -> bool {
        self.queue.first().is_some_and(|head| {
            let asked = self.queue.job(head).request.nodes();
            let sites = self.facility.sites();
            sites.iter().any(|m| u64::from(m.site().free_nodes()) >= asked)
        })
    }

    /// Ends the job `first`. Unless `only_one` is set, also ends all other jobs that finish now.
    /// Returns whether any job ended.
    #[inline(always)]
    pub(crate) fn depart(
        &mut self,
        first: Option<RunKey>,
        only_one: bool,
    ) -> Result<bool, NetworkError> {
        let mut next = first;
        while let Some(key) = next {
            let mut ran = self.running.remove(key.slot as usize);
            ran.messages = self.network.finish(self.now, key);
            self.facility.counts.running -= 1;
            if let Some(ends) = self.ends.get_mut() {
                ends.remove(&End::of(key.slot as usize, &ran));
            }
            self.give_back(&ran);
            if let Some(service) = &mut self.service {
                service.interruptions.ends(&mut ran);
            }
            self.observer.observe(self.now, &Event::Finished(&ran));
            self.departures.push(Departure { ran });
            if only_one {
                break;
            }
            let then = self.network.next_finish(Some(self.now))?;
            next = then.filter(|(at, _)| *at == self.now).map(|(_, key)| key);
        }
        if self.service.is_some() && !self.departures.is_empty() {
            self.take_drained();
        }
        self.count_free();
        Ok(!self.departures.is_empty())
    }

    #[inline(always)]
    fn give_back(&mut self, ran: &Running) {
        self.facility.release(ran.site, &ran.placement);
        self.changes += 1;
        self.releases += 1;
        self.state.held -= u64::from(ran.held);
        self.state.asked -= ran.asked;
        self.state.surplus -= u64::from(ran.held).saturating_sub(ran.asked);
        if self.power.is_some() {
            self.leave_idle(ran.id, ran.site, &ran.placement);
        }
    }

    pub(crate) fn notify(&mut self, event: &Event<'_>) {
        self.observer.observe(self.now, event);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.observer.is_done()
    }

    pub(crate) fn take_unfit(&mut self) -> Option<NetworkError> {
        self.unfit.take()
    }
}
