//! What a site offers a job: a site with its allocator, and the places that it proposes.

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
use crate::sizing::{Crowd, Demand, Size, Sizing};

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

    /// Asks the allocator for a place; a request for more nodes than are free is not put to it. The
    /// request has the form that the allocator asks for.
    pub(crate) fn choose(&mut self, request: &Request, now: Time) -> Option<Placement> {
        if request.nodes() > u64::from(self.site.free_nodes()) {
            return None;
        }
        self.allocator.choose(request, &self.site, now, &mut self.stream)
    }

    /// The request in the form that the allocator asks for; `None` if the site could never hold it.
    #[inline]
    pub(crate) fn in_form<'r>(&self, request: &'r Request) -> Option<Cow<'r, Request>> {
        // A request that already has the form needs no look-up.
        let has_form = match (self.asks, request) {
            (Asks::Nodes, Request::Nodes(_)) | (Asks::Subcube, Request::Subcube(_)) => true,
            (Asks::Block, Request::Block(sides)) => sides.len() == self.site.grid().dimensions(),
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
        if let Some(known) = self.shapes.borrow().get(request) {
            return known.clone();
        }
        let shape = shaped(request, self.asks, self.site.topology(), self.rule);
        self.shapes.borrow_mut().insert(request.clone(), shape.clone());
        shape
    }

    pub(crate) fn claim(&mut self, placement: &Placement, now: Time) -> Result<(), String> {
        self.site.claim(placement)?;
        self.allocator.claimed(placement, &self.site, now);
        Ok(())
    }

    pub(crate) fn take_what_is_free_of(
        &mut self,
        placement: &Placement,
        now: Time,
    ) -> Result<(), String> {
        let part = placement.part_in(self.site.free(), self.site.grid());
        if part.is_empty() { Ok(()) } else { self.claim(&part, now) }
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

    /// Where the job would go on a site, in the first size for which its allocator finds room.
    pub(crate) fn at(&self, managed: &mut ManagedSite, index: usize) -> Option<Proposal> {
        self.sizes(managed).iter().find_map(|size| {
            let placement = managed.choose(&size.request, self.now)?;
            let stretch = size.stretch / managed.site.speed();
            Some(Proposal { site: index, placement, stretch })
        })
    }
}

/// What a selector may ask: which site would take the job now, and where.
pub struct Offers<'a> {
    pub(crate) attempt: Attempt<'a>,
    pub(crate) sites: &'a mut [ManagedSite],
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
        self.attempt.at(&mut self.sites[index], index)
    }
}
