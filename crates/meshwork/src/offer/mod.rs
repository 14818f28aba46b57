//! Sites with their allocators, and the placements that the allocators propose for a job.

mod ahead;
mod denied;

pub(crate) use denied::{Denied, implies};

pub use ahead::Ahead;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use crate::alloc::{self, Allocator, AllocatorEntry, Ask, Claim, Holder, RecallError, takes_any};
use crate::form::{Asks, Finds};
use crate::geometry::NodeSet;
use crate::geometry::orientation::Rotation;
use crate::job::{Cause, Dims, Job, Request, Time};
use crate::machine::{Block, ClaimError, Placement, Site};
use crate::registry::Origin;
use crate::rng::Stream;
use crate::shape::{ShapeRule, shaped};
use crate::sizing::{Demand, QueueCounts, Size, Sizing};

/// Site with its allocator.
pub struct ManagedSite {
    site: Site,
    allocator: Box<dyn Allocator>,
    asks: Asks,
    finds: Finds,
    /// Size and shape that the allocator declares for its placements. Each placement is checked
    /// against them.
    gives: Gives,
    origin: Origin,
    stream: Stream,
    rule: ShapeRule,
    /// Cache of requests, each converted to the kind of request that the allocator accepts.
    ///
    /// The value is `None` if the site cannot hold the request. Copies of the site share this
    /// cache.
    shapes: Arc<Mutex<BTreeMap<Request, Option<Request>>>>,
    denied: Denied,
    /// Whether nodes are interchangeable: the allocator is the default one of a flat machine.
    is_uniform: bool,
    /// Whether placements have only a number of nodes, and do not say which nodes these are.
    counts_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    /// Each placement is one block with the requested sides, possibly rotated.
    Block {
        /// Whether the sides of a placed block may be in another order than the requested sides.
        turns: bool,
    },
    AsMany,
    AtLeast,
}

impl Gives {
    fn declared(entry: &AllocatorEntry, allocator: &dyn Allocator, finds: Finds) -> Gives {
        // A parameter that changes the requested form may change the form of placements.
        if entry.contiguous && allocator.asks().is_none() {
            let declares = entry.about.params.iter().any(|p| p.name == Rotation::PARAM.name);
            return Gives::Block { turns: declares || allocator.rotation() != Rotation::Never };
        }
        if finds == Finds::AnyNodes { Gives::AsMany } else { Gives::AtLeast }
    }
}

fn are_turned(sides: &Dims, others: &Dims) -> bool {
    let (mut sides, mut others) = (sides.clone(), others.clone());
    sides.sort_unstable();
    others.sort_unstable();
    sides == others
}

impl ManagedSite {
    /// Creates a site with its allocator, which draws random numbers from `stream`.
    #[must_use]
    pub fn new(
        site: Site,
        allocator: Box<dyn Allocator>,
        entry: &AllocatorEntry,
        stream: Stream,
        rule: ShapeRule,
    ) -> ManagedSite {
        let asks = allocator.asks().unwrap_or(entry.asks);
        let finds = allocator.finds().unwrap_or(entry.finds);
        let is_uniform = takes_any(entry, site.topology()) && finds == Finds::AnyNodes;
        ManagedSite {
            site,
            asks,
            finds,
            gives: Gives::declared(entry, allocator.as_ref(), finds),
            origin: alloc::FAMILY.origin(entry.about.name),
            allocator,
            stream,
            rule,
            shapes: Arc::default(),
            denied: Denied::new(finds == Finds::EveryBlock),
            is_uniform,
            counts_only: false,
        }
    }

    /// The managed site, with its topology and its free nodes.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The kind of requests that the site's allocator accepts, such as blocks or numbers of nodes.
    #[must_use]
    pub fn asks(&self) -> Asks {
        self.asks
    }

    /// The condition under which the site's allocator finds a placement.
    #[must_use]
    pub fn finds(&self) -> Finds {
        self.finds
    }

    /// Whether placements are always one block of the requested shape.
    #[must_use]
    pub fn gives_blocks(&self) -> bool {
        matches!(self.gives, Gives::Block { .. })
    }

    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether the site only counts free nodes. Its placements then do not say which nodes are
    /// held, and always have the requested size.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        self.counts_only
    }

    /// Whether a placement has the size and, if the allocator always keeps shapes, the shape of a
    /// request.
    ///
    /// If `is_promised` is set, the placement may come from a reservation instead of the allocator.
    /// Its block may then be rotated.
    #[inline]
    pub(crate) fn gives_what_is_asked(
        &self,
        request: &Request,
        placement: &Placement,
        is_promised: bool,
    ) -> bool {
        let (asked, held) = (request.nodes(), u64::from(placement.len()));
        match self.gives {
            Gives::AsMany => held == asked,
            Gives::AtLeast => held >= asked,
            Gives::Block { turns } => match (&placement.blocks[..], request) {
                ([block], Request::Block(sides)) => {
                    block.sides == *sides
                        || ((turns || is_promised) && are_turned(&block.sides, sides))
                }
                ([_], _) => held == asked,
                _ => false,
            },
        }
    }

    /// Placement that the allocator chooses for a request; `None` if there is none.
    ///
    /// The allocator is not queried if an earlier failure implies that the request fails.
    #[inline(always)]
    pub(crate) fn choose(&mut self, request: &Request, now: Time) -> Option<Placement> {
        if self.counts_only {
            let sides = Dims::from_slice(&[self.site.count_if_free(request)?]);
            return Some(Block { base: 0, sides }.into());
        }
        self.choose_nodes(request, now)
    }

    fn choose_nodes(&mut self, request: &Request, now: Time) -> Option<Placement> {
        if request.nodes() > u64::from(self.site.free_nodes()) {
            return None;
        }
        if self.cannot_place(request, now) {
            return None;
        }
        let placement = self.allocator.choose(Ask::new(request, &self.site, now, &mut self.stream));
        if placement.is_none() {
            self.denied.note(request);
        }
        placement
    }

    /// Chooses a placement in a trial. If `is_less_free` is set, no more nodes are free than before
    /// the trial, so requests that are known to fail still fail.
    pub(crate) fn choose_in_trial(
        &mut self,
        request: &Request,
        now: Time,
        is_less_free: bool,
    ) -> Option<Placement> {
        let is_denied = is_less_free && self.denied.is_known(request);
        if is_denied || request.nodes() > u64::from(self.site.free_nodes()) {
            return None;
        }
        self.allocator.choose(Ask::new(request, &self.site, now, &mut self.stream))
    }

    /// The site, whose free nodes the caller may change temporarily, for a trial.
    pub(crate) fn site_mut(&mut self) -> &mut Site {
        &mut self.site
    }

    /// Switches to counting free nodes, if all nodes are free and interchangeable. Only a run that
    /// never looks at single nodes may call this.
    pub(crate) fn name_no_nodes(&mut self) {
        self.counts_only = self.is_uniform && self.site.free_nodes() == self.site.nodes();
    }

    /// The allocator's present choice for a request, without drawing from its random stream.
    pub(crate) fn look(&mut self, request: &Request, now: Time) -> Option<Placement> {
        let before = self.stream.position();
        let placement = self.choose(request, now);
        self.draw_again_from(before);
        placement
    }

    pub(crate) fn drawn(&self) -> u64 {
        self.stream.position()
    }

    /// Moves the allocator's random stream to a position, forward or backward.
    pub(crate) fn draw_again_from(&mut self, position: u64) {
        // Most allocators draw nothing, and then this costs one comparison.
        if self.stream.position() != position {
            self.stream.go_to(position);
        }
    }

    /// Rule by which the machine can [never](Allocator::never) hold a request, if there is such a
    /// rule.
    pub(crate) fn never(&self, request: &Request) -> Option<String> {
        let form = self.in_form(request);
        self.allocator.never(form.as_deref().unwrap_or(request))
    }

    /// Reason why a request for pieces does not fit now.
    ///
    /// `None` if the request is not for pieces, or if jobs share no nodes.
    pub(crate) fn shortage(&self, request: &Request) -> Option<String> {
        let amounts = self.site.amounts()?;
        match self.in_form(request)?.as_ref() {
            Request::Pieces(pieces) => Some(alloc::parts::shortage(pieces, amounts)),
            _ => None,
        }
    }

    /// Passes to the allocator the estimated end of the job that has claimed a placement.
    pub(crate) fn expect(&mut self, placement: &Placement, end: Time) {
        if !self.counts_only {
            self.allocator.expected(placement, end);
        }
    }

    /// Time from a job's start until it begins to run, during which it holds its processors.
    pub(crate) fn setup_time(&self, placement: &Placement) -> f64 {
        if self.counts_only { 0.0 } else { self.allocator.setup_time(placement) }
    }

    pub(crate) fn memory(&self) -> Vec<u64> {
        self.allocator.memory()
    }

    pub(crate) fn recall(&mut self, memory: &[u64]) -> Result<(), RecallError> {
        self.denied.forget();
        self.allocator.recall(memory, &self.site)
    }

    /// Whether the request is known to have no placement, or contains another request that has
    /// none.
    ///
    /// A contained request that failed before the last release of nodes is tried again.
    fn cannot_place(&mut self, request: &Request, now: Time) -> bool {
        // The first request after a release is tried as it is, since often no other follows.
        if self.denied.is_without_knowledge() {
            return false;
        }
        if self.denied.is_known(request) {
            return true;
        }
        while let Some(smaller) = self.denied.suspect(request) {
            let mut draws = self.stream.clone();
            if self.allocator.choose(Ask::new(&smaller, &self.site, now, &mut draws)).is_none() {
                self.denied.note(&smaller);
                return true;
            }
        }
        false
    }

    /// Whether a request needs more nodes than are free, or is cached as one that cannot be placed
    /// now.
    pub(crate) fn is_denied(&self, request: &Request) -> bool {
        request.nodes() > u64::from(self.site.free_nodes()) || self.denied.is_known(request)
    }

    /// Whether a request, as converted for the allocator, is cached as unplaceable.
    #[inline]
    pub(crate) fn is_known_denied(&self, request: &Request) -> bool {
        self.denied.is_known(request)
    }

    /// Takes over the list of requests that an older copy of the site could not place.
    ///
    /// Unless `still_true` is set, these requests are only suspected to fail.
    pub(crate) fn learn_from(&mut self, copy: &mut ManagedSite, still_true: bool) {
        self.denied.learn_from(std::mem::take(&mut copy.denied), still_true);
    }

    /// Makes this copy of the site `original` equal to it again.
    ///
    /// The allocator must depend only on the free nodes. Requests that failed on the copy become
    /// suspected to fail, or stay known to fail if `still_true` is set. Requests that failed on the
    /// original are added.
    pub(crate) fn become_like(&mut self, original: &ManagedSite, still_true: bool) {
        self.site.become_like(&original.site);
        if !still_true {
            self.denied.released();
        }
        self.denied.learn_all_of(&original.denied);
    }

    /// Whether the allocator depends only on the free nodes, and finds every free block.
    pub(crate) fn goes_by_free_nodes(&self) -> bool {
        self.misses_no_block() && self.allocator.goes_by_free_nodes()
    }

    /// Placement that the allocator finds if exactly the nodes in `free` are free. The allocator
    /// must depend on nothing else. `self` must be a copy of a site, and must serve no other kind
    /// of query afterwards.
    pub(crate) fn place_where_free(
        &mut self,
        free: &NodeSet,
        request: &Request,
        now: Time,
    ) -> Option<Placement> {
        self.site.set_free(free);
        if u64::from(self.site.free_nodes()) < request.nodes() {
            return None;
        }
        self.allocator.choose(Ask::new(request, &self.site, now, &mut self.stream))
    }

    /// Stops caching requests that cannot be placed, for tests.
    pub(crate) fn ask_anew(&mut self) {
        self.denied = Denied::forgetful();
    }

    pub(crate) fn forget(&mut self) {
        self.denied.forget();
    }

    pub(crate) fn misses_no_block(&self) -> bool {
        self.finds == Finds::EveryBlock
    }

    /// Number of nodes that [`Attempt::at`] would give a job now. Random streams are not advanced.
    fn fit(&mut self, attempt: &Attempt<'_>) -> Option<u32> {
        let free = self.site.free_nodes();
        if self.finds == Finds::AnyNodes {
            return self.fit_among(free, attempt);
        }
        attempt.sizes(self).iter().find_map(|size| {
            if size.request.nodes() > u64::from(free)
                || self.cannot_place(&size.request, attempt.now)
            {
                return None;
            }
            let (mut draws, now) = (self.stream.clone(), attempt.now);
            let ask = Ask::new(&size.request, &self.site, now, &mut draws);
            let placement = self.allocator.choose(ask);
            if placement.is_none() {
                self.denied.note(&size.request);
            }
            Some(placement?.len())
        })
    }

    /// Number of nodes that a job would hold if `free` nodes of the site were free, wherever they
    /// lie.
    fn fit_among(&self, free: u32, attempt: &Attempt<'_>) -> Option<u32> {
        let sizes = attempt.sizes(self);
        let mut held = sizes.iter().map(|size| size.request.nodes());
        held.find(|&held| held <= u64::from(free)).map(|held| held as u32)
    }

    /// Converts a request to the allocator's form; `None` if the site cannot hold it.
    #[inline]
    pub(crate) fn in_form<'r>(&self, request: &'r Request) -> Option<Cow<'r, Request>> {
        // A request that has the allocator's form already needs no look-up.
        let has_form = match (self.asks, request) {
            (Asks::Nodes | Asks::Constrained | Asks::BlockOrNodes, Request::Nodes(_))
            | (Asks::Constrained, Request::Constrained(_))
            | (Asks::Subcube, Request::Subcube(_))
            | (Asks::Pieces, Request::Pieces(_)) => true,
            (Asks::Block | Asks::BlockOrNodes, Request::Block(sides)) => {
                sides.len() == self.site.grid().dimensions()
            }
            _ => false,
        };
        if has_form {
            let fits = (1..=u64::from(self.site.nodes())).contains(&request.nodes());
            return fits.then_some(Cow::Borrowed(request));
        }
        self.shape(request).map(Cow::Owned)
    }

    #[inline]
    pub(crate) fn demand<'r>(&self, request: &'r Request, counts: QueueCounts) -> Demand<'r> {
        Demand { request, asks: self.asks, nodes: self.site.nodes(), counts }
    }

    fn shape(&self, request: &Request) -> Option<Request> {
        let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = shapes.get(request) {
            return known.clone();
        }
        let shape = shaped(request, self.asks, self.site.topology(), self.rule);
        shapes.insert(request.clone(), shape.clone());
        shape
    }

    pub(crate) fn claim(&mut self, placement: &Placement, claim: Claim) -> Result<(), ClaimError> {
        if self.counts_only {
            return self.site.claim_count(placement.len());
        }
        self.site.claim(placement)?;
        self.denied.claimed();
        self.allocator.claimed(placement, &self.site, claim);
        Ok(())
    }

    pub(crate) fn take_what_is_free_of(
        &mut self,
        placement: &Placement,
        now: Time,
    ) -> Result<(), ClaimError> {
        if self.goes_by_free_nodes() {
            self.site.take_what_is_free_of(placement);
            self.denied.claimed();
            return Ok(());
        }
        if self.site.amounts().is_some() {
            self.site.take_what_is_free_of(placement);
            self.denied.claimed();
            return Ok(());
        }
        let part = placement.part_in(self.site.free(), self.site.grid());
        if part.is_empty() {
            return Ok(());
        }
        self.claim(&part, Claim::new(now, Holder::Reservation))
    }

    pub(crate) fn release(&mut self, placement: &Placement) {
        if self.counts_only {
            self.site.release_count(placement.len());
            return;
        }
        self.site.release(placement);
        self.denied.released();
        self.allocator.released(placement, &self.site);
    }

    /// Advances the site's random stream to the position of the stream of a copy of the site.
    pub(crate) fn sync_streams_with(&mut self, fork: &ManagedSite) {
        self.stream.catch_up_with(&fork.stream);
    }

    pub(crate) fn fork(&self) -> ManagedSite {
        ManagedSite {
            site: self.site.clone(),
            allocator: self.allocator.fork(),
            asks: self.asks,
            finds: self.finds,
            gives: self.gives,
            origin: self.origin,
            stream: self.stream.clone(),
            rule: self.rule,
            shapes: Arc::clone(&self.shapes),
            denied: self.denied.clone(),
            is_uniform: self.is_uniform,
            counts_only: self.counts_only,
        }
    }
}

/// Site and placement on which a job could be started now.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Index of the site.
    pub site: usize,
    /// The nodes on which the job's processes run, in the order of their ranks.
    pub placement: Placement,
    /// Run time on this placement, divided by the requested run time. Both the size of the
    /// placement and the speed of the site count.
    pub stretch: f64,
}

#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) job: &'a Job,
    pub(crate) now: Time,
    pub(crate) sizing: &'a dyn Sizing,
    pub(crate) counts: QueueCounts,
}

impl Attempt<'_> {
    /// Sizes of the job on a site, in the order in which they are tried.
    #[inline]
    pub(crate) fn sizes(&self, managed: &ManagedSite) -> SmallVec<[Size; 1]> {
        let Some(request) = managed.in_form(&self.job.request) else { return SmallVec::new() };
        self.sizing.sizes(&managed.demand(&request, self.counts))
    }

    /// Reason why the job cannot start on a site now; `None` if it can. Has no side effects.
    pub(crate) fn lacks(&self, managed: &mut ManagedSite) -> Option<Cause> {
        if managed.fit(self).is_some() {
            return None;
        }
        let form = managed.in_form(&self.job.request);
        let fewest = form.map(|form| self.sizing.fewest(&managed.demand(&form, self.counts)));
        let is_enough = fewest.is_some_and(|fewest| fewest <= managed.site.free_nodes().into());
        Some(if is_enough { Cause::Shape } else { Cause::Nodes })
    }

    /// Proposes the first size of the job for which the site's allocator finds a placement.
    pub(crate) fn at(&self, managed: &mut ManagedSite, index: usize) -> Option<Proposal> {
        self.sizes(managed).iter().find_map(|size| {
            let placement = managed.choose(&size.request, self.now)?;
            let stretch = size.stretch / managed.site.speed();
            Some(Proposal { site: index, placement, stretch })
        })
    }
}

/// Site on which a job fits now, described for a selector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteFit {
    /// Index of the site.
    pub site: usize,
    /// Number of processors of the site.
    pub nodes: u32,
    /// Number of free processors of the site.
    pub free: u32,
    /// Number of processors that the job would hold.
    pub held: u32,
    /// Speed of the site, relative to the machine of the workload.
    pub speed: f64,
}

impl SiteFit {
    /// Number of processors that the job would leave free on the site.
    #[must_use]
    pub fn left(&self) -> u32 {
        self.free - self.held
    }

    /// Computing capacity that the job would occupy: its processors times the site's speed.
    #[must_use]
    pub fn capacity(&self) -> f64 {
        f64::from(self.held) * self.speed
    }
}

/// Sites on which a job fits now, in the order of the study.
pub type SiteFits = SmallVec<[SiteFit; 8]>;

/// Queue in which a job waits, described for a selector.
pub trait QueueView {
    /// The waiting jobs except the one for which a site is chosen, in order of arrival.
    fn others(&self) -> Box<dyn Iterator<Item = &Job> + '_>;

    /// Whether all waiting jobs arrived at the present instant.
    fn was_empty(&self) -> bool;
}

/// Information for a selector: the sites on which the job fits, the queue, and the look-ahead.
pub struct Offers<'a> {
    pub(crate) attempt: Attempt<'a>,
    pub(crate) sites: &'a mut [ManagedSite],
    pub(crate) queue: &'a dyn QueueView,
}

impl<'a> Offers<'a> {
    /// Number of sites of the machine.
    #[must_use]
    pub fn sites(&self) -> usize {
        self.sites.len()
    }

    /// The site with the given index.
    #[must_use]
    pub fn site(&self, index: usize) -> &Site {
        &self.sites[index].site
    }

    /// The proposed start of the job on a site; `None` if it does not fit now.
    pub fn at(&mut self, index: usize) -> Option<Proposal> {
        self.attempt.at(&mut self.sites[index], index)
    }

    /// All sites on which the job fits now; has no side effects, not even on random streams.
    pub fn fits(&mut self) -> SiteFits {
        fits(self.sites.iter_mut().map(|managed| {
            let held = managed.fit(&self.attempt);
            (&managed.site, managed.site.free_nodes(), held)
        }))
    }

    /// The queue in which the job waits.
    #[must_use]
    pub fn queue(&self) -> &'a dyn QueueView {
        self.queue
    }

    /// Look-ahead on the sites as they would be if some jobs were started now.
    #[must_use]
    pub fn ahead(&mut self) -> Ahead<'_> {
        Ahead::new(self.sites, self.attempt)
    }
}

/// Collects the sites on which a job fits. An item of `sites` has a site, its number of free
/// processors, and the number of processors that the job would hold there, or `None` if it does not
/// fit.
fn fits<'s>(sites: impl Iterator<Item = (&'s Site, u32, Option<u32>)>) -> SiteFits {
    sites
        .enumerate()
        .filter_map(|(index, (site, free, held))| {
            let held = held?;
            Some(SiteFit { site: index, nodes: site.nodes(), free, held, speed: site.speed() })
        })
        .collect()
}
