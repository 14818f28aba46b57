//! The machine together with those who decide where a job goes: sites with their allocators, the
//! sizing and the selector.
//!
//! A run has one facility; schedulers look ahead on forks of it. Feasibility is always the
//! allocator's answer, here as there.

use crate::job::{Job, Time};
use crate::machine::{Placement, Site};
use crate::offer::{ManagedSite, Offers, Proposal, QueueView, offer};
use crate::rng::Stream;
use crate::select::Selector;
use crate::sizing::Sizing;

/// Sites with their allocators, a sizing and a selector.
pub struct Facility {
    sites: Vec<ManagedSite>,
    sizing: Box<dyn Sizing>,
    selector: Box<dyn Selector>,
    stream: Stream,
}

impl Facility {
    /// A facility of at least one site. The selector draws from `stream`, if it draws at all.
    #[must_use]
    pub fn new(
        sites: Vec<ManagedSite>,
        sizing: Box<dyn Sizing>,
        selector: Box<dyn Selector>,
        stream: Stream,
    ) -> Facility {
        assert!(!sites.is_empty(), "a facility has a site");
        Facility { sites, sizing, selector, stream }
    }

    /// Every site.
    #[must_use]
    pub fn sites(&self) -> &[ManagedSite] {
        &self.sites
    }

    /// Where the job, which waits in this queue, would go now: selector, sizing and allocator have
    /// their say.
    pub fn propose(&mut self, job: &Job, now: Time, queue: &dyn QueueView) -> Option<Proposal> {
        let Facility { sites, sizing, selector, stream } = self;
        // A selector has nothing to select on a machine of one site.
        if let [only] = sites.as_mut_slice() {
            return offer(only, 0, sizing.as_mut(), job, now);
        }
        let mut offers = Offers { job, now, sites, sizing: sizing.as_mut(), queue };
        selector.select(job, &mut offers, stream)
    }

    /// The fewest processors with which the job could ever be started.
    pub(crate) fn fewest(&self, job: &Job) -> u64 {
        self.sizing.fewest(&job.request)
    }

    /// The most processors that are free on any one site.
    pub(crate) fn most_free(&self) -> u64 {
        self.sites.iter().map(|managed| u64::from(managed.site().free_nodes())).max().unwrap_or(0)
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
            .map(|(nodes, stretch)| (nodes, stretch / managed.site().speed()))
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
            stream: self.stream.clone(),
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
        self.managed.site()
    }

    /// Gives nodes back.
    pub fn release(&mut self, placement: &Placement) {
        self.managed.release(placement);
    }

    /// Takes those nodes of a placement that are free.
    ///
    /// # Errors
    /// If the allocator's site and the set disagree, which is a bug.
    pub fn take_what_is_free_of(&mut self, placement: &Placement, now: Time) -> Result<(), String> {
        let site = self.managed.site();
        let part = placement.part_in(site.free(), site.grid());
        if part.is_empty() { Ok(()) } else { self.managed.claim(&part, now) }
    }

    /// Where the job would go.
    pub fn propose(&mut self, job: &Job, now: Time) -> Option<Proposal> {
        offer(&mut self.managed, self.index, self.sizing.as_mut(), job, now)
    }
}
