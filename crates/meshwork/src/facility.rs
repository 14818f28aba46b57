//! Facility: the sites of a machine with allocators, a sizing and a selector, which place jobs.
//!
//! A sizing decides how many processors a job gets, and a selector on which site. A run has one
//! facility. Schedulers look ahead on forks, which are independent copies.

use smallvec::SmallVec;

use crate::alloc::RecallError;
use crate::form::Finds;
use crate::geometry::NodeSet;
use crate::job::{Cause, Job, Request, Time};
use crate::machine::{ClaimError, Placement, Site};
use crate::offer::{Attempt, ManagedSite, Offers, Proposal, QueueView};
use crate::rng::Stream;
use crate::select::Selector;
use crate::sizing::{QueueCounts, Size, Sizing, as_asked};
use crate::topology::Node;

/// Facility: the sites of a machine with their allocators, a sizing and a selector.
pub struct Facility {
    sites: Vec<ManagedSite>,
    sizing: Box<dyn Sizing>,
    selector: Box<dyn Selector>,
    stream: Stream,
    /// Numbers of running and waiting jobs, for the sizing strategy; the owner of the queue updates
    /// them.
    pub counts: QueueCounts,
    is_fixed: bool,
    /// Whether caches are disabled, so that tests can compare results with and without them.
    asks_anew: bool,
}

impl Facility {
    /// Creates a facility of at least one site. The selector draws random numbers from `stream`.
    #[must_use]
    pub fn new(
        sites: Vec<ManagedSite>,
        sizing: Box<dyn Sizing>,
        selector: Box<dyn Selector>,
        stream: Stream,
    ) -> Facility {
        assert!(!sites.is_empty(), "a facility has a site");
        let (counts, is_fixed) = (QueueCounts::default(), sizing.is_fixed());
        Facility { sites, sizing, selector, stream, counts, is_fixed, asks_anew: false }
    }

    /// All sites, in the order of the study.
    #[must_use]
    pub fn sites(&self) -> &[ManagedSite] {
        &self.sites
    }

    /// State that does not follow from the held placements. It has the positions of random streams,
    /// and the memory of sizing and allocators.
    pub(crate) fn memory(&self) -> Vec<u64> {
        let mut numbers = vec![self.stream.position()];
        let mut put = |memory: Vec<u64>| {
            numbers.push(memory.len() as u64);
            numbers.extend(memory);
        };
        put(self.sizing.memory());
        for site in &self.sites {
            put(vec![site.drawn()]);
            put(site.memory());
        }
        numbers
    }

    /// Restores the state that [`memory`](Facility::memory) returned. If `is_same` is false, the
    /// held placements have changed since, and the saved memories of the allocators are ignored.
    pub(crate) fn recall(&mut self, numbers: &[u64], is_same: bool) -> Result<(), RecallError> {
        let wrong = || RecallError::Other("it is of another machine".to_owned());
        let (position, mut rest) = numbers.split_first().ok_or_else(wrong)?;
        let mut take = || {
            let (length, after) = rest.split_first().ok_or_else(wrong)?;
            let length = usize::try_from(*length).ok().filter(|length| *length <= after.len());
            let (memory, after) = after.split_at(length.ok_or_else(wrong)?);
            rest = after;
            Ok(memory)
        };
        self.stream.go_to(*position);
        self.sizing.recall(take()?)?;
        for site in &mut self.sites {
            let [drawn] = take()? else { return Err(wrong()) };
            let memory = take()?;
            if is_same {
                site.recall(memory)?;
            }
            site.draw_again_from(*drawn);
        }
        if rest.is_empty() { Ok(()) } else { Err(wrong()) }
    }

    /// Proposes site, size and placement for a job of `queue`; `None` if the job must wait.
    pub fn propose(&mut self, job: &Job, now: Time, queue: &dyn QueueView) -> Option<Proposal> {
        let Facility { sites, sizing, selector, stream, counts, .. } = self;
        let attempt = Attempt { job, now, sizing: sizing.as_ref(), counts: *counts };
        // A machine of one site needs no selector.
        if let [only] = sites.as_mut_slice() {
            return attempt.at(only, 0);
        }
        selector.select(job, &mut Offers { attempt, sites, queue }, stream)
    }

    /// The reason why a job cannot start now; `None` if the job fits on some site.
    ///
    /// The reason is a lack of nodes, or of nodes in a suitable shape. The call has no side
    /// effects, not even on the allocators' random streams. The selector is not considered, even if
    /// it would refuse the site.
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
    /// At most one allocator request for each site and size.
    pub fn lacks(&mut self, job: &Job, now: Time) -> Option<Cause> {
        let Facility { sites, sizing, counts, .. } = self;
        let attempt = Attempt { job, now, sizing: sizing.as_ref(), counts: *counts };
        let mut lacks = Cause::Nodes;
        for managed in sites {
            lacks = lacks.max(attempt.lacks(managed)?);
        }
        Some(lacks)
    }

    /// The fewest processors with which a job could ever start; `None` if no site can ever hold it.
    pub(crate) fn fewest(&self, job: &Job) -> Option<u64> {
        let on = |managed: &ManagedSite| {
            let request = managed.in_form(&job.request)?;
            Some(self.sizing.fewest(&managed.demand(&request, self.counts)))
        };
        self.sites.iter().filter_map(on).min()
    }

    /// Informs the sizing that a job has joined the queue.
    pub fn arrived(&mut self, job: &Job) {
        self.sizing.arrived(&job.request);
    }

    pub(crate) fn most_free(&self) -> u64 {
        self.sites.iter().map(|managed| u64::from(managed.site().free_nodes())).max().unwrap_or(0)
    }

    /// Proposes size and placement for a job on one site; `None` if the job does not fit there now.
    pub fn propose_at(&mut self, site: usize, job: &Job, now: Time) -> Option<Proposal> {
        let Facility { sites, sizing, counts, .. } = self;
        Attempt { job, now, sizing: sizing.as_ref(), counts: *counts }.at(&mut sites[site], site)
    }

    #[inline]
    pub(crate) fn site_mut(&mut self, site: usize) -> &mut ManagedSite {
        &mut self.sites[site]
    }

    /// Claims the nodes of any placement, and notifies the site's allocator.
    ///
    /// # Errors
    /// The placement is invalid or not free; then nothing is changed.
    pub fn claim(
        &mut self,
        site: usize,
        placement: &Placement,
        now: Time,
    ) -> Result<(), ClaimError> {
        self.sites[site].claim(placement, now.into())
    }

    /// The only site, if sizes are fixed and its allocator finds every free block. A request that
    /// cannot be placed on this site stays unplaceable until nodes are released.
    pub(crate) fn only_complete_site(&self) -> Option<&ManagedSite> {
        match self.sites.as_slice() {
            [only] if self.sizes_are_fixed() && only.misses_no_block() => Some(only),
            _ => None,
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.sizes_are_fixed() && self.sites.iter().all(ManagedSite::misses_no_block)
    }

    /// The only site of the machine; `None` if there are several sites, or if the sizing changes
    /// sizes.
    #[inline]
    pub(crate) fn only_fixed_site(&self) -> Option<&ManagedSite> {
        match self.sites.as_slice() {
            [only] if self.sizes_are_fixed() => Some(only),
            _ => None,
        }
    }

    /// Makes a machine of one site keep only the number of its free nodes, if sizes are fixed.
    ///
    /// Only runs that never look at single nodes may call this.
    pub(crate) fn name_no_nodes(&mut self) {
        if self.only_fixed_site().is_some() {
            self.sites[0].name_no_nodes();
        }
    }

    /// Fewest processors that a job needs, and its request in the form of the machine.
    ///
    /// Only for a machine of [one fixed site](Facility::only_fixed_site).
    ///
    /// The result is `None` if the site can never hold the job.
    pub(crate) fn only_form(&self, request: &Request) -> Option<(u64, Request)> {
        let only = self.only_fixed_site()?;
        let form = only.in_form(request)?.into_owned();
        Some((self.sizing.fewest(&only.demand(&form, self.counts)), form))
    }

    /// Proposes a start on the [only site](Facility::only_fixed_site).
    ///
    /// `form` is the request in the form that the site's allocator accepts.
    #[inline]
    pub(crate) fn propose_form(&mut self, form: &Request, now: Time) -> Option<Proposal> {
        let only = &mut self.sites[0];
        let placement = only.choose(form, now)?;
        Some(Proposal { site: 0, placement, stretch: 1.0 / only.site().speed() })
    }

    /// Whether every job starts with the size that it requested.
    ///
    /// The result is also `false` if caches are disabled, which only tests do.
    #[inline]
    #[must_use]
    pub fn sizes_are_fixed(&self) -> bool {
        self.is_fixed && !self.asks_anew
    }

    /// The [only site](Facility::only_complete_site), if its placements depend only on its free
    /// nodes.
    pub(crate) fn only_plain_site(&self) -> Option<&ManagedSite> {
        self.only_complete_site().filter(|only| only.goes_by_free_nodes())
    }

    /// Placement on the [plain site](Facility::only_plain_site) if exactly the nodes in `free` were
    /// free. Afterwards this facility can only be used for such queries.
    pub(crate) fn place_where_free(
        &mut self,
        free: &NodeSet,
        request: &Request,
        now: Time,
    ) -> Option<Placement> {
        self.sites[0].place_where_free(free, request, now)
    }

    /// Whether jobs share nodes. Either they share the nodes of every site, or the nodes of no
    /// site.
    #[inline]
    pub(crate) fn shares_nodes(&self) -> bool {
        self.sites[0].site().amounts().is_some()
    }

    /// Calls a function on a site, and then restores the site's free amounts of resources.
    pub(crate) fn in_trial<R>(
        &mut self,
        site: usize,
        ask: impl FnOnce(&mut ManagedSite) -> R,
    ) -> R {
        self.sites[site].site_mut().begin_trial();
        let answer = ask(&mut self.sites[site]);
        self.sites[site].site_mut().end_trial();
        answer
    }

    /// Disables all caches, for tests: every request is then evaluated in full.
    #[doc(hidden)]
    pub fn ask_anew(&mut self) {
        self.asks_anew = true;
        self.sites.iter_mut().for_each(ManagedSite::ask_anew);
    }

    /// Takes over the cache of requests that an older copy of the facility could not place.
    /// If `still_true` is false, these requests are only suspected to fail.
    pub(crate) fn learn_from(&mut self, copy: &mut Facility, still_true: bool) {
        for (site, there) in self.sites.iter_mut().zip(&mut copy.sites) {
            site.learn_from(there, still_true);
        }
    }

    /// Makes this copy of a machine equal to its original again.
    ///
    /// It is only for a [plain site](Facility::only_plain_site). Unless `still_true` is set,
    /// requests that failed on the copy are only suspected to fail.
    pub(crate) fn become_like(&mut self, original: &Facility, still_true: bool) {
        self.counts = original.counts;
        for (site, there) in self.sites.iter_mut().zip(&original.sites) {
            site.become_like(there, still_true);
        }
    }

    /// Advances each random stream to the position of the same stream in the copy `fork`.
    pub(crate) fn sync_streams_with(&mut self, fork: &Facility) {
        self.stream.catch_up_with(&fork.stream);
        for (site, there) in self.sites.iter_mut().zip(&fork.sites) {
            site.sync_streams_with(there);
        }
    }

    /// Releases the nodes of a placement and notifies the site's allocator.
    pub fn release(&mut self, site: usize, placement: &Placement) {
        self.sites[site].release(placement);
    }

    /// Sizes that a job may have on a site, in the order in which they are tried.
    ///
    /// Empty if the job never fits the site. The factor on the run time includes the site's speed.
    pub(crate) fn sizes(&self, site: usize, job: &Job, now: Time) -> SmallVec<[Size; 1]> {
        let managed = &self.sites[site];
        let attempt = Attempt { job, now, sizing: self.sizing.as_ref(), counts: self.counts };
        let mut sizes = attempt.sizes(managed);
        sizes.iter_mut().for_each(|size| size.stretch /= managed.site().speed());
        sizes
    }

    /// Returns an independent copy of one site, for look-ahead.
    #[must_use]
    pub fn fork_site(&self, site: usize) -> SiteAhead {
        SiteAhead {
            index: site,
            managed: self.sites[site].fork(),
            sizing: self.sizing.fork(),
            counts: self.counts,
        }
    }

    /// Returns an independent copy of the facility, for look-ahead.
    #[must_use]
    pub fn fork(&self) -> Facility {
        Facility {
            sites: self.sites.iter().map(ManagedSite::fork).collect(),
            sizing: self.sizing.fork(),
            selector: self.selector.fork(),
            stream: self.stream.clone(),
            counts: self.counts,
            is_fixed: self.is_fixed,
            asks_anew: self.asks_anew,
        }
    }
}

/// Copy of one site, on which nodes may be claimed and released to look ahead.
pub struct SiteAhead {
    index: usize,
    managed: ManagedSite,
    sizing: Box<dyn Sizing>,
    counts: QueueCounts,
}

impl SiteAhead {
    /// Returns an independent copy of this look-ahead site.
    #[must_use]
    pub fn fork(&self) -> SiteAhead {
        SiteAhead {
            index: self.index,
            managed: self.managed.fork(),
            sizing: self.sizing.fork(),
            counts: self.counts,
        }
    }

    /// The copied site, on which nodes may have been claimed and released since it was copied.
    #[must_use]
    pub fn site(&self) -> &Site {
        self.managed.site()
    }

    pub(crate) fn of(managed: &ManagedSite) -> SiteAhead {
        let (managed, sizing) = (managed.fork(), as_asked());
        SiteAhead { index: 0, managed, sizing, counts: QueueCounts::default() }
    }

    /// Whether every placement is a single block of exactly the requested shape and size.
    #[must_use]
    pub fn gives_blocks(&self) -> bool {
        self.managed.gives_blocks() && self.sizing.is_fixed()
    }

    /// The condition under which the site's allocator finds a placement.
    #[must_use]
    pub fn finds(&self) -> Finds {
        self.managed.finds()
    }

    /// Rule other than size that always forbids a request on this site; `None` if there is none.
    #[must_use]
    pub fn never(&self, request: &Request) -> Option<String> {
        self.managed.never(request)
    }

    /// The reason why a request for pieces does not fit now; `None` if jobs share no nodes.
    #[must_use]
    pub fn shortage(&self, request: &Request) -> Option<String> {
        self.managed.shortage(request)
    }

    /// The reason why a job cannot start on the site now. The reason has the meaning described at
    /// [`Facility::lacks`].
    pub fn lacks(&mut self, job: &Job, now: Time) -> Option<Cause> {
        let attempt = Attempt { job, now, sizing: self.sizing.as_ref(), counts: self.counts };
        attempt.lacks(&mut self.managed)
    }

    /// The fewest processors with which a job could start; `None` if the job never could.
    #[must_use]
    pub fn fewest(&self, job: &Job) -> Option<u64> {
        let request = self.managed.in_form(&job.request)?;
        Some(self.sizing.fewest(&self.managed.demand(&request, self.counts)))
    }

    /// Releases the nodes of a placement on this copy of a site.
    pub fn release(&mut self, placement: &Placement) {
        self.managed.release(placement);
        // Look-ahead releases many nodes at once, so cached denials are of little use.
        self.managed.forget();
    }

    /// Lowers free amounts, given by node, resource and amount, but not below 0.
    pub(crate) fn lower(&mut self, by: impl Iterator<Item = (Node, u16, u32)>) {
        self.managed.site_mut().lower(by);
        self.managed.forget();
    }

    /// Claims all free nodes of a placement. A failure is a bug.
    pub fn take_what_is_free_of(
        &mut self,
        placement: &Placement,
        now: Time,
    ) -> Result<(), ClaimError> {
        self.managed.take_what_is_free_of(placement, now)
    }

    /// Proposes a size and a placement for a job on this copy of a site; `None` if the job does not
    /// fit.
    pub fn propose(&mut self, job: &Job, now: Time) -> Option<Proposal> {
        let attempt = Attempt { job, now, sizing: self.sizing.as_ref(), counts: self.counts };
        attempt.at(&mut self.managed, self.index)
    }
}
