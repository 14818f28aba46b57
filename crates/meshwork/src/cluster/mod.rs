//! The machine and its queue while a run goes on: what a scheduler may see and do, and the only
//! place that changes a machine.

mod access;
mod arrivals;
mod breach;
mod candidates;
mod careers;
mod closures;
mod earliest;
mod ends;
mod fits;
mod forms;
mod free_sets;
mod least_busy;
mod outlook;
mod power;
mod preempt;
mod profile;
mod queue;
mod reservation;
mod reshape;
mod service;
mod space;
mod starts;
mod waits;

pub(crate) use breach::{Breach, By};
pub use candidates::{Candidates, Hopeful};
pub use outlook::Outlook;
pub use preempt::Preempted;
pub(crate) use profile::Profile;
pub use queue::Ticket;
pub use reservation::{Guard, Hold, Reservation};
pub use reshape::{Reshape, ReshapeError};
pub use service::{Hopeless, MAX_IDLE_STEPS, MAX_INTERRUPTIONS};
pub(crate) use space::{Planned, Space};
pub use starts::{Place, StartOptions};

// The names of jobs, for schedulers.
pub use crate::network::RunKey;
pub use crate::observe::JobId;

use std::cell::OnceCell;
use std::sync::Arc;

use slab::Slab;

use closures::Closures;
use ends::{End, Ends};
use fits::Fits;
use forms::Forms;
use queue::Queue;

use crate::facility::Facility;
use crate::form::Finds;
use crate::job::{Job, Time};
use crate::machine::Site;
use crate::network::{Network, NetworkError};
use crate::observe::{Event, Observer, Running, State};
use crate::sizing::Size;

/// The machine and its queue, lent to the scheduler for one instant.
///
/// A scheduler asks for a start and learns at once whether it happened: selector, sizing and
/// allocator have had their say, the nodes are claimed and the job runs.
pub struct Cluster<'a> {
    now: Time,
    facility: Facility,
    network: Box<dyn Network>,
    observer: Box<dyn Observer + 'a>,
    kill_at_estimate: bool,
    queue: Queue,
    running: Slab<Box<Running>>,
    /// The room of jobs that have ended, for those that arrive: a job stands in one place from its arrival to the instant after
    /// its end, for it is large.
    #[expect(clippy::vec_box, reason = "it is the boxes that are kept")]
    spare: Vec<Box<Running>>,
    /// Running jobs by the end that their estimates promise; kept once someone has asked for them, for
    /// most schedulers never do.
    ends: OnceCell<Ends>,
    arrivals: Vec<Ticket>,
    departures: Vec<Departure>,
    /// Whether each request fits the empty machine, where it has no one form.
    fits: Fits,
    /// The forms of requests, where each has one.
    forms: Forms,
    empty: Facility,
    arrived: u64,
    /// The most processors free on any one site, or as many as may be held besides: with a long queue most
    /// questions are hopeless, and a look at this is all they cost.
    most_free: u64,
    /// How many processors may be held at once, under a cap on what the machine takes.
    most_held: u64,
    /// How often anything has been claimed or given back, and how often given back.
    changes: u64,
    releases: u64,
    without: Option<starts::Without>,
    state: State,
    /// Whether an observer looks at what blocks the oldest waiting job.
    watches_what_blocks: bool,
    /// What jobs wait for, where an observer asks.
    waits: Option<waits::Waits>,
    /// What is out of service, where nodes fail.
    service: Option<Box<service::Service>>,
    /// The numbers of jobs that were turned away in this pass, where somebody follows them.
    turned_away: Option<Vec<u64>>,
    /// Which nodes are kept from whom, where they are not for everyone.
    gate: Option<Arc<access::Gate>>,
    seen: access::Seen,
    /// What processors take, where somebody asks.
    power: Option<Box<power::Power>>,
    breach: Option<Box<Breach>>,
    /// Why the network cannot run a job, if it cannot.
    unfit: Option<NetworkError>,
}

/// A job that ended at this instant, or was interrupted.
#[derive(Clone, Debug)]
pub struct Departure {
    /// The job, as it ran.
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
            most_held: u64::MAX,
            facility,
            state: State { nodes, links: network.links() as u64, ..State::default() },
            network,
            watches_what_blocks: observer.asks_what_blocks(),
            observer,
            kill_at_estimate,
            queue: Queue::default(),
            running: Slab::new(),
            spare: Vec::new(),
            ends: OnceCell::new(),
            arrivals: Vec::new(),
            departures: Vec::new(),
            fits: Fits::default(),
            forms: Forms::default(),
            arrived: 0,
            changes: 0,
            releases: 0,
            without: None,
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

    /// The present instant.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// How many jobs have arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// How many jobs wait.
    #[must_use]
    pub fn waiting_jobs(&self) -> usize {
        self.queue.len()
    }

    /// How many jobs run.
    #[must_use]
    pub fn running_jobs(&self) -> u64 {
        self.facility.crowd.running
    }

    /// The job that has waited longest.
    #[must_use]
    pub fn head(&self) -> Option<Ticket> {
        self.queue.first()
    }

    /// The waiting job that arrived next after this one.
    #[must_use]
    pub fn after(&self, ticket: Ticket) -> Option<Ticket> {
        self.queue.after(ticket)
    }

    /// The next waiting job after this one of which it is not clear, without asking anyone, that it
    /// cannot start. Who goes on from one to the next asks for [all of them](Cluster::hopeful) sooner.
    #[must_use]
    pub fn next_hopeful(&self, ticket: Ticket) -> Option<Ticket> {
        let Some(site) = self.facility.only_complete_site().filter(|_| self.most_free > 0) else {
            return self.next_small_enough(ticket);
        };
        let kinds = self.kinds();
        let open = kinds
            .firsts(self.most_free)
            .filter(|(_, form)| !site.is_denied(self.forms.request(*form)));
        open.filter_map(|(_, form)| kinds.next_that(form, ticket, |_| true)).min()
    }

    /// The next waiting job after this one that, at its smallest, is small enough for what is free on some site.
    #[must_use]
    pub(super) fn next_small_enough(&self, ticket: Ticket) -> Option<Ticket> {
        if self.most_free == 0 {
            return None;
        }
        self.queue.next_that(ticket, |glance| glance.fewest <= self.most_free)
    }

    /// Whether the machine is one site on which every job gets what it asked for, and whose allocator
    /// finds room wherever a block is free: what cannot start then cannot until something is given
    /// back.
    pub(crate) fn misses_no_block(&self) -> bool {
        self.facility.only_complete_site().is_some()
    }

    /// The waiting jobs, in order of arrival.
    pub fn waiting(&self) -> impl Iterator<Item = Ticket> + '_ {
        std::iter::successors(self.head(), |&ticket| self.after(ticket))
    }

    /// A waiting job. If it has started, or was turned away, what comes back is no job of the run, which ends with an
    /// error after this pass.
    #[must_use]
    pub fn job(&self, ticket: Ticket) -> &Job {
        self.queue.job(ticket)
    }

    /// The jobs that joined the queue at this instant, those among them that were interrupted.
    #[must_use]
    pub fn arrivals(&self) -> &[Ticket] {
        &self.arrivals
    }

    /// The jobs that ended at this instant, or were interrupted.
    #[must_use]
    pub fn departures(&self) -> &[Departure] {
        &self.departures
    }

    /// The jobs without a promise, for whoever keeps a plan from pass to pass: those that have just joined the queue,
    /// or all that wait if the plan is made anew, as it has to be when the cluster [is
    /// disturbed](Cluster::is_disturbed).
    pub(crate) fn to_plan(&self) -> Vec<Ticket> {
        if self.is_disturbed() { self.waiting().collect() } else { self.arrivals.clone() }
    }

    /// The jobs that have ended since such a plan was made.
    pub(crate) fn ended_since_plan(&self) -> &[Departure] {
        if self.is_disturbed() { &[] } else { &self.departures }
    }

    /// The running jobs, in the order in which their estimates promise that they end; a node that is out of service is
    /// held by one that [stands in](Running::is_stand_in) until the node is expected back.
    pub fn running(&self) -> impl Iterator<Item = (RunKey, &Running)> {
        self.ends().iter().map(|end| (end.key, self.ran(end)))
    }

    /// Whether a job runs that should have ended by its estimate.
    pub(crate) fn runs_late(&self) -> bool {
        self.ends().first().is_some_and(|end| end.at <= self.now)
    }

    fn ends(&self) -> &Ends {
        let all = || self.running.iter().map(|(slot, ran)| End::of(slot, ran)).collect();
        self.ends.get_or_init(all)
    }

    /// The job that ends then.
    fn ran(&self, end: &End) -> &Running {
        &self.running[end.key.slot as usize]
    }

    /// A running job.
    #[must_use]
    pub fn run(&self, key: RunKey) -> Option<&Running> {
        let running: &Running = self.running.get(key.slot as usize)?;
        (running.id == key.id).then_some(running)
    }

    /// A site, to look at.
    #[must_use]
    pub fn site(&self, index: usize) -> &Site {
        self.facility.sites()[index].site()
    }

    /// All sites with their allocators, to look at and to fork.
    #[must_use]
    pub fn facility(&self) -> &Facility {
        &self.facility
    }

    /// What the running jobs leave free from now on, to plan on.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        let running = self.ends().iter().map(|end| self.ran(end));
        let headroom = self.is_capped().then(|| self.headroom());
        let gate = self.gate.as_ref().filter(|gate| !gate.is_open());
        let closures = Closures::new(self.closures(), gate.cloned());
        Outlook::new(self.now, &self.facility, running, closures, headroom)
    }

    /// Whether nothing but the running jobs is in the way of those that wait: no window is planned in which processors are
    /// missing, all are for everyone, and as many may be held as there are.
    pub(super) fn is_unbounded(&self) -> bool {
        let is_open = self.gate.as_ref().is_none_or(|gate| gate.is_open());
        is_open && self.closures().is_empty() && !self.is_capped()
    }

    /// Whether the machine is one site where only the number of processors matters, no window is planned in which some
    /// are missing, all may be held, and every job gets what it asked for.
    pub(crate) fn counts_alone(&self) -> bool {
        let sites = self.facility.sites();
        self.is_unbounded()
            && self.facility.sizes_are_fixed()
            && sites.len() == 1
            && sites[0].finds() == Finds::AnyNodes
    }

    /// What a waiting job would hold if it started now on the only site, where it gets what it asked for
    /// and only the number of processors matters.
    pub(crate) fn count_now(&self, ticket: Ticket) -> Option<Reservation> {
        let job = self.queue.job(ticket);
        let Size { request, stretch } = self.facility.sizes(0, job, self.now).into_iter().next()?;
        let (span, hold) = (job.estimate * stretch, Hold::Count(request));
        Some(Reservation { at: self.now, span, stretch, site: 0, hold })
    }

    /// Tells observers that a waiting job was promised a start by this instant.
    pub fn promise(&mut self, ticket: Ticket, by: Time) {
        self.queue.glance(ticket);
        self.observer.observe(self.now, &Event::Promised(ticket.id, by));
    }

    /// Takes a waiting job out of the queue unserved; its ticket is good no more.
    pub fn turn_away(&mut self, ticket: Ticket) {
        let Some(room) = self.queue.remove(ticket) else { return };
        let mut job = room.job;
        self.facility.crowd.waiting -= 1;
        if let Some(service) = &mut self.service {
            job = service.turns_away(ticket.id, job);
        }
        if let Some(turned_away) = &mut self.turned_away {
            turned_away.push(job.number);
        }
        self.observer.observe(self.now, &Event::TurnedAway(ticket.id, &job));
    }

    /// From now on keeps the numbers of jobs that are turned away.
    pub(crate) fn note_turned_away(&mut self) {
        self.turned_away = Some(Vec::new());
    }

    /// The numbers of the jobs that were turned away since this was asked last.
    pub(crate) fn take_turned_away(&mut self) -> impl Iterator<Item = u64> {
        self.turned_away.iter_mut().flat_map(std::mem::take)
    }

    /// When the next job finishes, if that is before this instant, and which.
    #[inline(always)]
    pub(crate) fn next_finish(
        &mut self,
        by: Option<Time>,
    ) -> Result<Option<(Time, RunKey)>, NetworkError> {
        self.network.next_finish(by)
    }

    /// Lets time pass; nothing has happened since the last instant.
    #[inline(always)]
    pub(crate) fn elapse(&mut self, to: Time) {
        if to > self.now {
            self.state.waiting = self.queue.len() as u64;
            self.state.running = self.facility.crowd.running;
            if self.watches_what_blocks {
                self.state.blocked_by_shape = self.is_blocked_by_shape();
            }
            if self.waits.is_some() {
                self.tell_waits(to);
            }
            if self.power.is_some() {
                self.pass_with_power(to);
            }
            self.observer.elapsed(self.now, to, &self.state);
            self.now = to;
        }
        self.arrivals.clear();
        while let Some(Departure { ran }) = self.departures.pop() {
            self.spare.push(ran);
        }
    }

    /// Whether the oldest waiting job asks for no more processors than are free on some site.
    fn is_blocked_by_shape(&self) -> bool {
        self.queue.first().is_some_and(|head| {
            let asked = self.queue.job(head).request.nodes();
            let sites = self.facility.sites();
            sites.iter().any(|m| u64::from(m.site().free_nodes()) >= asked)
        })
    }

    /// Ends this job, which finishes now, and all others that do, or only the first; `false` if there is none.
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
            self.facility.crowd.running -= 1;
            if let Some(ends) = self.ends.get_mut() {
                ends.remove(&End::of(key.slot as usize, &ran));
            }
            self.give_back(&ran);
            if let Some(service) = &mut self.service {
                service.careers.ends(&mut ran);
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

    /// A job that runs no more gives its processors back.
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

    pub(crate) fn tell(&mut self, event: &Event<'_>) {
        self.observer.observe(self.now, event);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.observer.is_done()
    }

    /// Why the network cannot run a job that was started in this pass, if it cannot.
    pub(crate) fn take_unfit(&mut self) -> Option<NetworkError> {
        self.unfit.take()
    }
}
