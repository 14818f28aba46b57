//! What a site offers a job: a site with its allocator, and the places that it proposes.

mod ahead;

pub use ahead::Ahead;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use smallvec::SmallVec;

use crate::alloc::{Allocator, AllocatorEntry, Asks, Finds};
use crate::job::{Job, Request, Time};
use crate::machine::{Placement, Site};
use crate::rng::Stream;
use crate::shape::{ShapeRule, shaped};
use crate::sizing::Sizing;

/// A site and its allocator.
pub struct ManagedSite {
    site: Site,
    allocator: Box<dyn Allocator>,
    asks: Asks,
    finds: Finds,
    stream: Stream,
    rule: ShapeRule,
    /// The form that each request takes here; shared with forks, for it does not depend on what is
    /// free.
    shapes: Rc<RefCell<BTreeMap<Request, Option<Request>>>>,
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
        let (asks, finds) = (entry.asks, entry.finds);
        ManagedSite { site, allocator, asks, finds, stream, rule, shapes: Rc::default() }
    }

    /// The site.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// When its allocator finds room.
    #[must_use]
    pub fn finds(&self) -> Finds {
        self.finds
    }

    /// Asks the allocator for a place; a request for more nodes than are free is not put to it.
    fn choose(&mut self, request: &Request, now: Time) -> Option<Placement> {
        let request = self.in_its_form(request)?;
        self.allocator.choose(&request, &self.site, now, &mut self.stream)
    }

    /// The request in the form that the allocator asks for, if so many nodes are free.
    fn in_its_form<'r>(&self, request: &'r Request) -> Option<Cow<'r, Request>> {
        let enough = |request: &Request| request.nodes() <= u64::from(self.site.free_nodes());
        if !enough(request) {
            return None;
        }
        // A request that already has the form the allocator asks for needs no look-up.
        match (self.asks, request) {
            (Asks::Nodes, Request::Nodes(_)) => Some(Cow::Borrowed(request)),
            (Asks::Block, Request::Block(sides))
                if sides.len() == self.site.grid().dimensions() =>
            {
                Some(Cow::Borrowed(request))
            }
            _ => self.shape(request).filter(enough).map(Cow::Owned),
        }
    }

    /// How many nodes the job would hold if it were started here now; `None` without room for it.
    ///
    /// The answer of [`offer`], but nothing is drawn from the allocator's stream: whoever compares
    /// sites before one of them is chosen leaves no trace.
    fn room(&mut self, sizing: &mut dyn Sizing, job: &Job, now: Time) -> Option<u32> {
        if self.finds == Finds::AnyNodes {
            return self.room_among(self.site.free_nodes(), sizing, job);
        }
        sizing.sizes(&job.request).iter().find_map(|size| {
            let request = self.in_its_form(&size.request)?;
            let mut draws = self.stream.clone();
            let placement = self.allocator.choose(&request, &self.site, now, &mut draws)?;
            Some(placement.len())
        })
    }

    /// How many of `free` nodes the job would hold, if any nodes will do here.
    fn room_among(&self, free: u32, sizing: &mut dyn Sizing, job: &Job) -> Option<u32> {
        let sizes = sizing.sizes(&job.request);
        let held = sizes
            .iter()
            .find_map(|size| self.held(&size.request).filter(|&held| held <= u64::from(free)))?;
        Some(held as u32) // no more than are free
    }

    fn shape(&self, request: &Request) -> Option<Request> {
        if let Some(known) = self.shapes.borrow().get(request) {
            return known.clone();
        }
        let shape = shaped(request, self.asks, self.site.topology(), self.rule);
        self.shapes.borrow_mut().insert(request.clone(), shape.clone());
        shape
    }

    /// How many nodes a job of this request holds on an otherwise empty site, if it ever fits.
    pub(crate) fn held(&self, request: &Request) -> Option<u64> {
        if let (Asks::Nodes, Request::Nodes(count)) = (self.asks, request) {
            return (*count <= self.site.nodes()).then_some(u64::from(*count));
        }
        self.shape(request).map(|shape| shape.nodes())
    }

    pub(crate) fn claim(&mut self, placement: &Placement, now: Time) -> Result<(), String> {
        self.site.claim(placement)?;
        self.allocator.claimed(placement, &self.site, now);
        Ok(())
    }

    pub(crate) fn release(&mut self, placement: &Placement) {
        self.site.release(placement);
        self.allocator.released(placement, &self.site);
    }

    pub(crate) fn fork(&self) -> ManagedSite {
        ManagedSite {
            site: self.site.clone(),
            allocator: self.allocator.fork(),
            asks: self.asks,
            finds: self.finds,
            stream: self.stream.clone(),
            rule: self.rule,
            shapes: Rc::clone(&self.shapes),
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
    pub(crate) job: &'a Job,
    pub(crate) now: Time,
    pub(crate) sites: &'a mut [ManagedSite],
    pub(crate) sizing: &'a mut dyn Sizing,
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
        offer(&mut self.sites[index], index, self.sizing, self.job, self.now)
    }

    /// Every site that has room for the job. Looking changes nothing, not even the random numbers that
    /// an allocator draws next.
    pub fn rooms(&mut self) -> Rooms {
        let Offers { job, now, sites, sizing, .. } = self;
        rooms(sites.iter_mut().map(|managed| {
            let held = managed.room(&mut **sizing, job, *now);
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
        Ahead::new(self.sites, self.sizing, self.now)
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

pub(crate) fn offer(
    managed: &mut ManagedSite,
    index: usize,
    sizing: &mut dyn Sizing,
    job: &Job,
    now: Time,
) -> Option<Proposal> {
    let sizes = sizing.sizes(&job.request);
    sizes.iter().find_map(|size| {
        let placement = managed.choose(&size.request, now)?;
        let stretch = size.stretch / managed.site.speed();
        Some(Proposal { site: index, placement, stretch })
    })
}
