//! The machine together with those who decide where a job goes: sites with their allocators, the
//! sizing and the selector.
//!
//! The engine has one facility; schedulers look ahead on forks of it. Feasibility is always the
//! allocator's answer, here as there.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::alloc::{Allocator, AllocatorEntry, Asks, Finds};
use crate::job::{Job, Request, Time};
use crate::machine::{Placement, Site};
use crate::rng::Stream;
use crate::select::Selector;
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
            (Asks::Nodes, Request::Nodes(_)) => None,
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
    fn held(&self, request: &Request) -> Option<u64> {
        if let (Asks::Nodes, Request::Nodes(count)) = (self.asks, request) {
            return (*count <= self.site.nodes()).then_some(u64::from(*count));
        }
        self.shape(request).map(|shape| shape.nodes())
    }

    fn claim(&mut self, placement: &Placement, now: Time) -> Result<(), String> {
        self.site.claim(placement)?;
        self.allocator.claimed(placement, &self.site, now);
        Ok(())
    }

    fn release(&mut self, placement: &Placement) {
        self.site.release(placement);
        self.allocator.released(placement, &self.site);
    }

    fn fork(&self) -> ManagedSite {
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
    job: &'a Job,
    now: Time,
    sites: &'a mut [ManagedSite],
    sizing: &'a mut dyn Sizing,
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

fn offer(
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

/// Sites with their allocators, a sizing and a selector.
pub struct Facility {
    sites: Vec<ManagedSite>,
    sizing: Box<dyn Sizing>,
    selector: Box<dyn Selector>,
}

impl Facility {
    /// A facility of at least one site.
    #[must_use]
    pub fn new(
        sites: Vec<ManagedSite>,
        sizing: Box<dyn Sizing>,
        selector: Box<dyn Selector>,
    ) -> Facility {
        assert!(!sites.is_empty(), "a facility has a site");
        Facility { sites, sizing, selector }
    }

    /// Every site.
    #[must_use]
    pub fn sites(&self) -> &[ManagedSite] {
        &self.sites
    }

    /// Where the job would go now: selector, sizing and allocator have their say.
    pub fn propose(&mut self, job: &Job, now: Time) -> Option<Proposal> {
        let Facility { sites, sizing, selector } = self;
        // A selector has nothing to select on a machine of one site.
        if let [only] = sites.as_mut_slice() {
            return offer(only, 0, sizing.as_mut(), job, now);
        }
        selector.select(job, &mut Offers { job, now, sites, sizing: sizing.as_mut() })
    }

    /// The fewest processors with which the job could ever be started.
    pub(crate) fn fewest(&self, job: &Job) -> u64 {
        self.sizing.fewest(&job.request)
    }

    /// The most processors that are free on any one site.
    pub(crate) fn most_free(&self) -> u64 {
        self.sites.iter().map(|managed| u64::from(managed.site.free_nodes())).max().unwrap_or(0)
    }

    /// Where the job would go now on one site.
    pub fn propose_at(&mut self, site: usize, job: &Job, now: Time) -> Option<Proposal> {
        offer(&mut self.sites[site], site, self.sizing.as_mut(), job, now)
    }

    /// Takes the nodes of a placement and tells the allocator.
    ///
    /// # Errors
    /// One sentence that says what is wrong with the placement; nothing is changed then.
    pub fn claim(&mut self, site: usize, placement: &Placement, now: Time) -> Result<(), String> {
        self.sites[site].claim(placement, now)
    }

    /// Gives nodes back and tells the allocator.
    pub fn release(&mut self, site: usize, placement: &Placement) {
        self.sites[site].release(placement);
    }

    /// The fewest nodes with which the job can be started on a site, and how many times longer it
    /// then runs: for allocators that only count.
    pub(crate) fn counts(&mut self, site: usize, job: &Job) -> Option<(u64, f64)> {
        let managed = &mut self.sites[site];
        let sizes = self.sizing.sizes(&job.request);
        sizes
            .iter()
            .find_map(|size| Some((managed.held(&size.request)?, size.stretch)))
            .map(|(nodes, stretch)| (nodes, stretch / managed.site.speed()))
    }

    /// An independent copy of one site, to look ahead on.
    #[must_use]
    pub fn fork_site(&self, site: usize) -> SiteAhead {
        SiteAhead { index: site, managed: self.sites[site].fork(), sizing: self.sizing.fork() }
    }

    /// An independent copy, to look ahead on.
    #[must_use]
    pub fn fork(&self) -> Facility {
        Facility {
            sites: self.sites.iter().map(ManagedSite::fork).collect(),
            sizing: self.sizing.fork(),
            selector: self.selector.fork(),
        }
    }
}

/// A copy of one site, to look ahead on: what if this ended, what if that were taken?
pub struct SiteAhead {
    index: usize,
    managed: ManagedSite,
    sizing: Box<dyn Sizing>,
}

impl SiteAhead {
    /// The site as it would be.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.managed.site
    }

    /// Gives nodes back.
    pub fn release(&mut self, placement: &Placement) {
        self.managed.release(placement);
    }

    /// Takes those nodes of a placement that are free.
    ///
    /// # Errors
    /// If the allocator's site and the set disagree, which is a bug.
    pub fn take_what_is_free_of(
        &mut self,
        placement: &Placement,
        now: Time,
    ) -> Result<(), String> {
        let site = &self.managed.site;
        let part = placement.part_in(site.free(), site.grid());
        if part.is_empty() { Ok(()) } else { self.managed.claim(&part, now) }
    }

    /// Where the job would go.
    pub fn propose(&mut self, job: &Job, now: Time) -> Option<Proposal> {
        offer(&mut self.managed, self.index, self.sizing.as_mut(), job, now)
    }
}
