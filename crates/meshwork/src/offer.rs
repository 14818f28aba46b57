//! What a site offers a job: a site with its allocator, and the places that it proposes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

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
        if request.nodes() > u64::from(self.site.free_nodes()) {
            return None;
        }
        // A request that already has the form the allocator asks for needs no look-up.
        let shape = match (self.asks, request) {
            (Asks::Nodes, Request::Nodes(_)) | (Asks::Subcube, Request::Subcube(_)) => None,
            (Asks::Block, Request::Block(sides))
                if sides.len() == self.site.grid().dimensions() =>
            {
                None
            }
            _ => Some(self.shape(request)?),
        };
        let shape = shape.as_ref().unwrap_or(request);
        if shape.nodes() > u64::from(self.site.free_nodes()) {
            return None;
        }
        self.allocator.choose(shape, &self.site, now, &mut self.stream)
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

/// What a selector may ask: which site would take the job now, and where.
pub struct Offers<'a> {
    pub(crate) job: &'a Job,
    pub(crate) now: Time,
    pub(crate) sites: &'a mut [ManagedSite],
    pub(crate) sizing: &'a mut dyn Sizing,
}

impl Offers<'_> {
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
