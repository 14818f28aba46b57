//! What a site offers a job: a site with its allocator, and the places that it proposes.

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
use crate::sizing::{Crowd, Demand, Size, Sizing};

/// A site and its allocator.
pub struct ManagedSite {
    site: Site,
    allocator: Box<dyn Allocator>,
    asks: Asks,
    finds: Finds,
    gives_blocks: bool,
    /// What may be wrong with what its allocator gives, and how errors name that.
    gives: Gives,
    origin: Origin,
    stream: Stream,
    rule: ShapeRule,
    /// The form that each request takes here; shared with forks, for it does not depend on what is
    /// free.
    shapes: Arc<Mutex<BTreeMap<Request, Option<Request>>>>,
    /// For what there was no room: the head of a queue is asked for again at every arrival behind it,
    /// and jobs of one shape one after the other.
    denied: Denied,
    /// Whether its nodes are all alike, and its allocator the one that such a site has unless another is asked for.
    is_uniform: bool,
    /// Whether nodes are only counted and not named.
    counts_only: bool,
}

/// What a placement is, by what an allocator declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    /// One block with the requested sides, or with these turned.
    Block {
        /// Whether blocks are turned.
        turns: bool,
    },
    /// As many nodes as are asked for.
    AsMany,
    /// As many, or more.
    AtLeast,
}

impl Gives {
    fn declared(entry: &AllocatorEntry, allocator: &dyn Allocator, finds: Finds) -> Gives {
        // A parameter that changes the form in which an allocator asks may change what it gives.
        if entry.contiguous && allocator.asks().is_none() {
            let declares = entry.about.params.iter().any(|p| p.name == Rotation::PARAM.name);
            return Gives::Block { turns: declares || allocator.rotation() != Rotation::Never };
        }
        if finds == Finds::AnyNodes { Gives::AsMany } else { Gives::AtLeast }
    }
}

/// Whether both have the same sides, in any order.
fn are_turned(sides: &Dims, others: &Dims) -> bool {
    let (mut sides, mut others) = (sides.clone(), others.clone());
    sides.sort_unstable();
    others.sort_unstable();
    sides == others
}

impl ManagedSite {
    /// An empty site with its allocator, which draws from `stream` if it draws at all.
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
            gives_blocks: entry.contiguous,
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

    /// The site.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The form in which its allocator wants a request.
    #[must_use]
    pub fn asks(&self) -> Asks {
        self.asks
    }

    /// When its allocator finds room.
    #[must_use]
    pub fn finds(&self) -> Finds {
        self.finds
    }

    /// Whether what its allocator gives is always one block of the shape that was asked for.
    #[must_use]
    pub fn gives_blocks(&self) -> bool {
        self.gives_blocks
    }

    /// How errors name its allocator.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether nodes are only counted: what it gives then is what it was asked for.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        self.counts_only
    }

    /// Whether a placement has the size of a request in its allocator's form, and the shape, where the allocator
    /// declares to keep it; a block may be turned if it was not the allocator that chose its place.
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

    /// Asks the allocator for a place; a request for more nodes than are free is not put to it. The
    /// request has the form that the allocator asks for.
    #[inline(always)]
    pub(crate) fn choose(&mut self, request: &Request, now: Time) -> Option<Placement> {
        if self.counts_only {
            let sides = Dims::from_slice(&[self.site.count_with_room(request)?]);
            return Some(Block { base: 0, sides }.into());
        }
        self.choose_nodes(request, now)
    }

    fn choose_nodes(&mut self, request: &Request, now: Time) -> Option<Placement> {
        if request.nodes() > u64::from(self.site.free_nodes()) {
            return None;
        }
        if self.has_no_room(request, now) {
            return None;
        }
        let placement = self.allocator.choose(Ask::new(request, &self.site, now, &mut self.stream));
        if placement.is_none() {
            self.denied.note(request);
        }
        placement
    }

    /// From now on its nodes are only counted, if they are all alike: what it chooses has the right number of nodes, but
    /// names none of them. For runs in which nobody looks at them.
    pub(crate) fn name_no_nodes(&mut self) {
        self.counts_only = self.is_uniform && self.site.free_nodes() == self.site.nodes();
    }

    /// What it would choose now; nothing is drawn from the allocator's stream.
    pub(crate) fn look(&mut self, request: &Request, now: Time) -> Option<Placement> {
        let before = self.stream.position();
        let placement = self.choose(request, now);
        self.draw_again_from(before);
        placement
    }

    /// How far the allocator's stream has come.
    pub(crate) fn drawn(&self) -> u64 {
        self.stream.position()
    }

    /// Goes back, or on, to a position of the allocator's stream.
    pub(crate) fn draw_again_from(&mut self, position: u64) {
        // Most allocators draw nothing: for them this is a comparison.
        if self.stream.position() != position {
            self.stream.go_to(position);
        }
    }

    /// Why its allocator can [never](Allocator::never) place a request, if a rule of the machine says so.
    pub(crate) fn never(&self, request: &Request) -> Option<String> {
        let form = self.in_form(request);
        self.allocator.never(form.as_deref().unwrap_or(request))
    }

    /// Tells the allocator when the job on nodes that were claimed ends, by its estimate.
    pub(crate) fn expect(&mut self, placement: &Placement, end: Time) {
        if !self.counts_only {
            self.allocator.expected(placement, end);
        }
    }

    /// How long the processors of a placement are held before its job begins to run.
    pub(crate) fn setup_time(&self, placement: &Placement) -> f64 {
        if self.counts_only { 0.0 } else { self.allocator.setup_time(placement) }
    }

    /// What its allocator [remembers](Allocator::memory).
    pub(crate) fn memory(&self) -> Vec<u64> {
        self.allocator.memory()
    }

    /// Lets its allocator [recall](Allocator::recall) that.
    pub(crate) fn recall(&mut self, memory: &[u64]) -> Result<(), RecallError> {
        self.denied.forget();
        self.allocator.recall(memory, &self.site)
    }

    /// Whether it follows from what has been asked, or from something smaller that is asked now, that
    /// there is no room.
    fn has_no_room(&mut self, request: &Request, now: Time) -> bool {
        // The first question since something was given back is put as it is: many ask no other.
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

    /// Whether it is known, without asking anyone, that there is no room for a request of the
    /// allocator's form.
    pub(crate) fn is_denied(&self, request: &Request) -> bool {
        request.nodes() > u64::from(self.site.free_nodes()) || self.denied.is_known(request)
    }

    /// Takes over from an older copy of the site for what that had no room: as known, if no more is
    /// free here than was there, and else as suspected.
    pub(crate) fn learn_from(&mut self, copy: &mut ManagedSite, still_true: bool) {
        self.denied.learn_from(std::mem::take(&mut copy.denied), still_true);
    }

    /// Becomes what it was forked off, whose allocator goes by nothing but which nodes are free. What it knows
    /// to have no room stays known, if that is still true, or else is suspected; what the original knows is true
    /// here too as long as no more becomes free.
    pub(crate) fn become_like(&mut self, original: &ManagedSite, still_true: bool) {
        self.site.become_like(&original.site);
        if !still_true {
            self.denied.released();
        }
        self.denied.learn_all_of(&original.denied);
    }

    /// Whether its allocator goes by nothing but which nodes are free, and misses no block.
    pub(crate) fn goes_by_free_nodes(&self) -> bool {
        self.misses_no_block() && self.allocator.goes_by_free_nodes()
    }

    /// Where a job would go if it gets what it asks for, these nodes are free and no others; for an
    /// allocator that goes by nothing else. The copy on which this is asked is of no use for anything
    /// else.
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

    /// Remembers nothing from now on.
    pub(crate) fn ask_anew(&mut self) {
        self.denied = Denied::forgetful();
    }

    /// Forgets for what there was no room.
    pub(crate) fn forget(&mut self) {
        self.denied.forget();
    }

    /// Whether its allocator finds room wherever a block is free.
    pub(crate) fn misses_no_block(&self) -> bool {
        self.finds == Finds::EveryBlock
    }

    /// How many nodes the job would hold if it were started here now; `None` without room for it.
    ///
    /// The answer of [`Attempt::at`], but nothing is drawn from the allocator's stream: whoever
    /// compares sites before one of them is chosen leaves no trace.
    fn room(&mut self, attempt: &Attempt<'_>) -> Option<u32> {
        let free = self.site.free_nodes();
        if self.finds == Finds::AnyNodes {
            return self.room_among(free, attempt);
        }
        attempt.sizes(self).iter().find_map(|size| {
            if size.request.nodes() > u64::from(free)
                || self.has_no_room(&size.request, attempt.now)
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

    /// How many of `free` nodes the job would hold, if any nodes will do here.
    fn room_among(&self, free: u32, attempt: &Attempt<'_>) -> Option<u32> {
        let sizes = attempt.sizes(self);
        let mut held = sizes.iter().map(|size| size.request.nodes());
        held.find(|&held| held <= u64::from(free)).map(|held| held as u32)
    }

    /// The request in the form that the allocator asks for; `None` if the site could never hold it.
    #[inline]
    pub(crate) fn in_form<'r>(&self, request: &'r Request) -> Option<Cow<'r, Request>> {
        // A request that already has the form needs no look-up.
        let has_form = match (self.asks, request) {
            (Asks::Nodes | Asks::Wants | Asks::BlockOrNodes, Request::Nodes(_))
            | (Asks::Wants, Request::Wanting(_))
            | (Asks::Subcube, Request::Subcube(_)) => true,
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

    /// What a sizing is told of a request in the allocator's form.
    #[inline]
    pub(crate) fn demand<'r>(&self, request: &'r Request, crowd: Crowd) -> Demand<'r> {
        Demand { request, asks: self.asks, nodes: self.site.nodes(), crowd }
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

    /// Goes on with the random numbers of a fork from where the fork has come to.
    pub(crate) fn draw_on_from(&mut self, fork: &ManagedSite) {
        self.stream.catch_up_with(&fork.stream);
    }

    pub(crate) fn fork(&self) -> ManagedSite {
        ManagedSite {
            site: self.site.clone(),
            allocator: self.allocator.fork(),
            asks: self.asks,
            finds: self.finds,
            gives_blocks: self.gives_blocks,
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

/// Where and how a job could be started now.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The index of the site.
    pub site: usize,
    /// The nodes.
    pub placement: Placement,
    /// How many times longer the job runs there than it asked for, its site's speed included.
    pub stretch: f64,
}

/// An attempt to start a job: which one, when, and who decides its size.
#[derive(Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) job: &'a Job,
    pub(crate) now: Time,
    pub(crate) sizing: &'a dyn Sizing,
    pub(crate) crowd: Crowd,
}

impl Attempt<'_> {
    /// The sizes in which the job may be started on a site, in the order in which they are tried.
    #[inline]
    pub(crate) fn sizes(&self, managed: &ManagedSite) -> SmallVec<[Size; 1]> {
        let Some(request) = managed.in_form(&self.job.request) else { return SmallVec::new() };
        self.sizing.sizes(&managed.demand(&request, self.crowd))
    }

    /// What the job lacks to be started on a site now: nodes, or nodes that lie as they would have to. Looking leaves
    /// no trace.
    pub(crate) fn lacks(&self, managed: &mut ManagedSite) -> Option<Cause> {
        if managed.room(self).is_some() {
            return None;
        }
        let form = managed.in_form(&self.job.request);
        let fewest = form.map(|form| self.sizing.fewest(&managed.demand(&form, self.crowd)));
        let is_enough = fewest.is_some_and(|fewest| fewest <= managed.site.free_nodes().into());
        Some(if is_enough { Cause::Shape } else { Cause::Nodes })
    }

    /// Where the job would go on a site, in the first size for which its allocator finds room.
    pub(crate) fn at(&self, managed: &mut ManagedSite, index: usize) -> Option<Proposal> {
        self.sizes(managed).iter().find_map(|size| {
            let placement = managed.choose(&size.request, self.now)?;
            let stretch = size.stretch / managed.site.speed();
            Some(Proposal { site: index, placement, stretch })
        })
    }
}

/// A site that has room for a job now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// The index of the site.
    pub site: usize,
    /// How many of its processors there are.
    pub nodes: u32,
    /// How many of them are free.
    pub free: u32,
    /// How many of those the job would hold.
    pub held: u32,
    /// The site's speed.
    pub speed: f64,
}

impl Room {
    /// How many processors the job would leave free.
    #[must_use]
    pub fn left(&self) -> u32 {
        self.free - self.held
    }

    /// The computing capacity that the job would consume: processors times their speed.
    #[must_use]
    pub fn capacity(&self) -> f64 {
        f64::from(self.held) * self.speed
    }
}

/// The sites that have room for a job, in their own order.
pub type Rooms = SmallVec<[Room; 8]>;

/// The queue in which a job waits, as whoever looks for a place for it may see it.
pub trait QueueView {
    /// The other jobs that wait, in order of arrival.
    fn others(&self) -> Box<dyn Iterator<Item = &Job> + '_>;

    /// Whether no job waited when the present instant began: all that wait were submitted at it.
    fn was_empty(&self) -> bool;
}

/// What a selector may ask: which site would take the job now, and where; what else waits; and what
/// would come next.
pub struct Offers<'a> {
    pub(crate) attempt: Attempt<'a>,
    pub(crate) sites: &'a mut [ManagedSite],
    pub(crate) queue: &'a dyn QueueView,
}

impl<'a> Offers<'a> {
    /// How many sites there are.
    #[must_use]
    pub fn sites(&self) -> usize {
        self.sites.len()
    }

    /// A site, to look at.
    #[must_use]
    pub fn site(&self, index: usize) -> &Site {
        &self.sites[index].site
    }

    /// Where the job would go on this site, if its allocator finds room.
    pub fn at(&mut self, index: usize) -> Option<Proposal> {
        self.attempt.at(&mut self.sites[index], index)
    }

    /// Every site that has room for the job. Looking changes nothing, not even the random numbers that
    /// an allocator draws next.
    pub fn rooms(&mut self) -> Rooms {
        rooms(self.sites.iter_mut().map(|managed| {
            let held = managed.room(&self.attempt);
            (&managed.site, managed.site.free_nodes(), held)
        }))
    }

    /// The queue in which the job waits.
    #[must_use]
    pub fn queue(&self) -> &'a dyn QueueView {
        self.queue
    }

    /// The sites as they would be if this and then that were started now.
    #[must_use]
    pub fn ahead(&mut self) -> Ahead<'_> {
        Ahead::new(self.sites, self.attempt)
    }
}

/// Those sites on which the job would hold something.
fn rooms<'s>(sites: impl Iterator<Item = (&'s Site, u32, Option<u32>)>) -> Rooms {
    sites
        .enumerate()
        .filter_map(|(index, (site, free, held))| {
            let held = held?;
            Some(Room { site: index, nodes: site.nodes(), free, held, speed: site.speed() })
        })
        .collect()
}
