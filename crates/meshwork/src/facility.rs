//! The machine together with those who decide where a job goes: sites with their allocators, the
//! sizing and the selector.
//!
//! A run has one facility; schedulers look ahead on forks of it. Feasibility is always the
//! allocator's answer, here as there.

use smallvec::SmallVec;

use crate::alloc::Claim;
use crate::form::Finds;
use crate::geometry::NodeSet;
use crate::job::{Cause, Job, Request, Time};
use crate::machine::{ClaimError, Placement, Site};
use crate::offer::{Attempt, ManagedSite, Offers, Proposal, QueueView};
use crate::rng::Stream;
use crate::select::Selector;
use crate::sizing::{Crowd, Size, Sizing, as_asked};

/// Sites with their allocators, a sizing and a selector.
pub struct Facility {
    sites: Vec<ManagedSite>,
    sizing: Box<dyn Sizing>,
    selector: Box<dyn Selector>,
    stream: Stream,
    /// How many jobs there are: kept by whoever keeps the queue, for sizings that go by it.
    pub crowd: Crowd,
    /// Whether every job gets what it asked for, as the sizing says, and whether nothing is remembered.
    is_fixed: bool,
    asks_anew: bool,
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
        let (crowd, is_fixed) = (Crowd::default(), sizing.is_fixed());
        Facility { sites, sizing, selector, stream, crowd, is_fixed, asks_anew: false }
    }

    /// Every site.
    #[must_use]
    pub fn sites(&self) -> &[ManagedSite] {
        &self.sites
    }

    /// Where the job, which waits in this queue, would go now: selector, sizing and allocator have
    /// their say.
    pub fn propose(&mut self, job: &Job, now: Time, queue: &dyn QueueView) -> Option<Proposal> {
        let Facility { sites, sizing, selector, stream, crowd, .. } = self;
        let attempt = Attempt { job, now, sizing: sizing.as_ref(), crowd: *crowd };
        // A selector has nothing to select on a machine of one site.
        if let [only] = sites.as_mut_slice() {
            return attempt.at(only, 0);
        }
        selector.select(job, &mut Offers { attempt, sites, queue }, stream)
    }

    /// What a job lacks to start now: nodes, or nodes that lie as they would have to; `None` if some site has room for it.
    /// Looking changes nothing, not even the random numbers that an allocator draws next. Whether the selector would
    /// take that site is not asked.
    ///
    /// ```
    /// use meshwork::job::{Cause, Job, Request, Time};
    /// use meshwork::scenario::Scenario;
    ///
    /// let scenario = Scenario::read(&toml::toml! {
    ///     machine = { topology = "mesh", dims = [4, 4] }
    ///     workload = { name = "lublin", jobs = 10 }
    /// })
    /// .unwrap();
    /// let mut facility = scenario.setup(0).unwrap().facility;
    /// let job = |sides: &[u32]| Job::new(1, Time::ZERO, Request::block(sides), 1.0);
    /// let two_rows = facility.propose_at(0, &job(&[4, 2]), Time::ZERO).unwrap();
    /// facility.claim(0, &two_rows.placement, Time::ZERO).unwrap();
    /// assert_eq!(facility.lacks(&job(&[4, 2]), Time::ZERO), None);
    /// assert_eq!(facility.lacks(&job(&[2, 3]), Time::ZERO), Some(Cause::Shape));
    /// assert_eq!(facility.lacks(&job(&[3, 3]), Time::ZERO), Some(Cause::Nodes));
    /// ```
    ///
    /// # Complexity
    /// Up to a question for each site and size.
    pub fn lacks(&mut self, job: &Job, now: Time) -> Option<Cause> {
        let Facility { sites, sizing, crowd, .. } = self;
        let attempt = Attempt { job, now, sizing: sizing.as_ref(), crowd: *crowd };
        let mut lacks = Cause::Nodes;
        for managed in sites {
            lacks = lacks.max(attempt.lacks(managed)?);
        }
        Some(lacks)
    }

    /// The fewest processors with which the job could ever be started on any site; `None` if none
    /// could ever hold it.
    pub(crate) fn fewest(&self, job: &Job) -> Option<u64> {
        let on = |managed: &ManagedSite| {
            let request = managed.in_form(&job.request)?;
            Some(self.sizing.fewest(&managed.demand(&request, self.crowd)))
        };
        self.sites.iter().filter_map(on).min()
    }

    /// Tells the sizing that a job has joined the queue.
    pub fn arrived(&mut self, job: &Job) {
        self.sizing.arrived(&job.request);
    }

    /// The most processors that are free on any one site.
    pub(crate) fn most_free(&self) -> u64 {
        self.sites.iter().map(|managed| u64::from(managed.site().free_nodes())).max().unwrap_or(0)
    }

    /// Where the job would go now on one site.
    pub fn propose_at(&mut self, site: usize, job: &Job, now: Time) -> Option<Proposal> {
        let Facility { sites, sizing, crowd, .. } = self;
        Attempt { job, now, sizing: sizing.as_ref(), crowd: *crowd }.at(&mut sites[site], site)
    }

    /// Where a request of a size that was settled before, in the form of the site's allocator, would
    /// go now.
    pub(crate) fn place(&mut self, site: usize, request: &Request, now: Time) -> Option<Placement> {
        self.sites[site].choose(request, now)
    }

    /// Takes the nodes of a placement and tells the allocator, as of something that somebody else has placed.
    ///
    /// # Errors
    /// What is wrong with the placement; nothing is changed then.
    pub fn claim(
        &mut self,
        site: usize,
        placement: &Placement,
        now: Time,
    ) -> Result<(), ClaimError> {
        self.claim_for(site, placement, now.into())
    }

    /// As [`claim`](Facility::claim), and tells the allocator for whom.
    ///
    /// # Errors
    /// What is wrong with the placement; nothing is changed then.
    #[inline]
    pub(crate) fn claim_for(
        &mut self,
        site: usize,
        placement: &Placement,
        claim: Claim,
    ) -> Result<(), ClaimError> {
        self.sites[site].claim(placement, claim)
    }

    /// Tells the allocator of a site when the job on nodes that were claimed ends, by its estimate.
    pub(crate) fn expect(&mut self, site: usize, placement: &Placement, end: Time) {
        self.sites[site].expect(placement, end);
    }

    /// Takes those nodes of a placement that are free.
    ///
    /// # Errors
    /// If the allocator's site and the set disagree, which is a bug.
    pub(crate) fn take_what_is_free_of(
        &mut self,
        site: usize,
        placement: &Placement,
        now: Time,
    ) -> Result<(), ClaimError> {
        self.sites[site].take_what_is_free_of(placement, now)
    }

    /// The only site, if that is all there is, every job gets what it asked for, and the allocator finds
    /// room wherever a block is free: for what there is no room, there is none while nothing is given back.
    pub(crate) fn only_complete_site(&self) -> Option<&ManagedSite> {
        match self.sites.as_slice() {
            [only] if self.sizes_are_fixed() && only.misses_no_block() => Some(only),
            _ => None,
        }
    }

    /// The only site, if that is all there is and every job gets what it asked for: the form of a request is then all that
    /// anyone needs to know of it.
    #[inline]
    pub(crate) fn only_fixed_site(&self) -> Option<&ManagedSite> {
        match self.sites.as_slice() {
            [only] if self.sizes_are_fixed() => Some(only),
            _ => None,
        }
    }

    /// From now on no nodes are named but only counted, if this is one site where any processors are as good as any others and
    /// every job gets what it asked for. For runs in which nobody looks at them.
    pub(crate) fn name_no_nodes(&mut self) {
        if self.only_fixed_site().is_some() {
            self.sites[0].name_no_nodes();
        }
    }

    /// The form in which a request is put to the allocator of the [only site](Facility::only_fixed_site), and the fewest
    /// processors with which its job could ever be started.
    pub(crate) fn only_form(&self, request: &Request) -> Option<(u64, Request)> {
        let only = self.only_fixed_site()?;
        let form = only.in_form(request)?.into_owned();
        Some((self.sizing.fewest(&only.demand(&form, self.crowd)), form))
    }

    /// As [`propose`](Facility::propose) for a job whose request has this form, on the [only
    /// site](Facility::only_fixed_site).
    #[inline]
    pub(crate) fn propose_form(&mut self, form: &Request, now: Time) -> Option<Proposal> {
        let only = &mut self.sites[0];
        let placement = only.choose(form, now)?;
        Some(Proposal { site: 0, placement, stretch: 1.0 / only.site().speed() })
    }

    /// Whether every job gets what it asked for.
    #[inline]
    #[must_use]
    pub fn sizes_are_fixed(&self) -> bool {
        self.is_fixed && !self.asks_anew
    }

    /// As [`only_complete_site`](Facility::only_complete_site), if its allocator goes by nothing but
    /// which nodes are free.
    pub(crate) fn only_plain_site(&self) -> Option<&ManagedSite> {
        self.only_complete_site().filter(|only| only.goes_by_free_nodes())
    }

    /// Where a request of the allocator's form would go on the only, [plain](Facility::only_plain_site) site if these nodes were
    /// free and no others. This facility is then good for such questions alone.
    pub(crate) fn place_where_free(
        &mut self,
        free: &NodeSet,
        request: &Request,
        now: Time,
    ) -> Option<Placement> {
        self.sites[0].place_where_free(free, request, now)
    }

    /// From now on every question is asked as if it were the first, of everyone it concerns: the slow
    /// twin of all that is remembered, for tests.
    #[doc(hidden)]
    pub fn ask_anew(&mut self) {
        self.asks_anew = true;
        self.sites.iter_mut().for_each(ManagedSite::ask_anew);
    }

    /// Takes over from an older copy for what its sites had no room.
    pub(crate) fn learn_from(&mut self, copy: &mut Facility, still_true: bool) {
        for (site, there) in self.sites.iter_mut().zip(&mut copy.sites) {
            site.learn_from(there, still_true);
        }
    }

    /// Becomes again what it was forked off, on a [plain](Facility::only_plain_site) site: only which nodes
    /// are free has changed there. For what there was no room is still known, or else suspected.
    pub(crate) fn become_like(&mut self, original: &Facility, still_true: bool) {
        self.crowd = original.crowd;
        for (site, there) in self.sites.iter_mut().zip(&original.sites) {
            site.become_like(there, still_true);
        }
    }

    /// Goes on with the random numbers of a fork from where the fork has come to.
    pub(crate) fn draw_on_from(&mut self, fork: &Facility) {
        self.stream.catch_up_with(&fork.stream);
        for (site, there) in self.sites.iter_mut().zip(&fork.sites) {
            site.draw_on_from(there);
        }
    }

    /// Gives nodes back and tells the allocator.
    pub fn release(&mut self, site: usize, placement: &Placement) {
        self.sites[site].release(placement);
    }

    /// The sizes in which the job may be started on a site, in the order in which they are tried;
    /// none if the site could never hold it. The site's speed is counted in.
    pub(crate) fn sizes(&self, site: usize, job: &Job, now: Time) -> SmallVec<[Size; 1]> {
        let managed = &self.sites[site];
        let attempt = Attempt { job, now, sizing: self.sizing.as_ref(), crowd: self.crowd };
        let mut sizes = attempt.sizes(managed);
        sizes.iter_mut().for_each(|size| size.stretch /= managed.site().speed());
        sizes
    }

    /// An independent copy of one site, to look ahead on.
    #[must_use]
    pub fn fork_site(&self, site: usize) -> SiteAhead {
        SiteAhead {
            index: site,
            managed: self.sites[site].fork(),
            sizing: self.sizing.fork(),
            crowd: self.crowd,
        }
    }

    /// An independent copy, to look ahead on.
    #[must_use]
    pub fn fork(&self) -> Facility {
        Facility {
            sites: self.sites.iter().map(ManagedSite::fork).collect(),
            sizing: self.sizing.fork(),
            selector: self.selector.fork(),
            stream: self.stream.clone(),
            crowd: self.crowd,
            is_fixed: self.is_fixed,
            asks_anew: self.asks_anew,
        }
    }
}

/// A copy of one site, to look ahead on: what if this ended, what if that were taken?
pub struct SiteAhead {
    index: usize,
    managed: ManagedSite,
    sizing: Box<dyn Sizing>,
    crowd: Crowd,
}

impl SiteAhead {
    /// An independent copy.
    #[must_use]
    pub fn fork(&self) -> SiteAhead {
        SiteAhead {
            index: self.index,
            managed: self.managed.fork(),
            sizing: self.sizing.fork(),
            crowd: self.crowd,
        }
    }

    /// The site as it would be.
    #[must_use]
    pub fn site(&self) -> &Site {
        self.managed.site()
    }

    /// A copy of a site on which every job gets what it asks for.
    pub(crate) fn of(managed: &ManagedSite) -> SiteAhead {
        let (managed, sizing) = (managed.fork(), as_asked());
        SiteAhead { index: 0, managed, sizing, crowd: Crowd::default() }
    }

    /// Whether whatever is placed on it is one block of the shape that was asked for.
    #[must_use]
    pub fn gives_blocks(&self) -> bool {
        self.managed.gives_blocks() && self.sizing.is_fixed()
    }

    /// When the allocator finds room.
    #[must_use]
    pub fn finds(&self) -> Finds {
        self.managed.finds()
    }

    /// Why a request can never be placed here, if a rule of the machine says so and not only its size: one sentence
    /// without a full stop.
    #[must_use]
    pub fn never(&self, request: &Request) -> Option<String> {
        self.managed.never(request)
    }

    /// What a job lacks to start here now: see [`Facility::lacks`].
    pub fn lacks(&mut self, job: &Job, now: Time) -> Option<Cause> {
        let attempt = Attempt { job, now, sizing: self.sizing.as_ref(), crowd: self.crowd };
        attempt.lacks(&mut self.managed)
    }

    /// The fewest processors with which a job could ever be started here; `None` if it could never be.
    #[must_use]
    pub fn fewest(&self, job: &Job) -> Option<u64> {
        let request = self.managed.in_form(&job.request)?;
        Some(self.sizing.fewest(&self.managed.demand(&request, self.crowd)))
    }

    /// Gives nodes back.
    pub fn release(&mut self, placement: &Placement) {
        self.managed.release(placement);
        // Much is given back at once when one looks ahead: what there was no room for says little.
        self.managed.forget();
    }

    /// Takes those nodes of a placement that are free.
    ///
    /// # Errors
    /// If the allocator's site and the set disagree, which is a bug.
    pub fn take_what_is_free_of(
        &mut self,
        placement: &Placement,
        now: Time,
    ) -> Result<(), ClaimError> {
        self.managed.take_what_is_free_of(placement, now)
    }

    /// Where the job would go.
    pub fn propose(&mut self, job: &Job, now: Time) -> Option<Proposal> {
        let attempt = Attempt { job, now, sizing: self.sizing.as_ref(), crowd: self.crowd };
        attempt.at(&mut self.managed, self.index)
    }
}
