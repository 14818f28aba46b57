//! Look-ahead of selectors: the sites as they would be if some jobs started now.

use super::{Attempt, ManagedSite, SiteFit, SiteFits, fits};
use crate::alloc::{Claim, Holder};
use crate::form::Finds;
use crate::job::Job;

/// Look-ahead of selectors: all sites as they would be if some jobs started now.
///
/// A site is copied when a job is first started on it. If the allocator of the site can use any
/// free processors, only the number of free processors is copied.
pub struct Ahead<'a> {
    sites: &'a mut [ManagedSite],
    /// Attempt to start the job for which a selector chooses a site.
    ///
    /// A trial start of another job uses the instant and the rule for job sizes of this attempt.
    attempt: Attempt<'a>,
    then: Vec<Then>,
}

enum Then {
    /// The real site. The look-ahead has started no job on it.
    Same,
    /// Number of free processors left on the site, any of which a job can use.
    Free(u32),
    /// Copy of the site, on which jobs have been started.
    Other(Box<ManagedSite>),
}

impl<'a> Ahead<'a> {
    pub(super) fn new(sites: &'a mut [ManagedSite], attempt: Attempt<'a>) -> Ahead<'a> {
        let then = sites.iter().map(|_| Then::Same).collect();
        Ahead { sites, attempt, then }
    }

    /// All sites on which `job` would fit after the hypothetical starts so far.
    pub fn fits(&mut self, job: &Job) -> SiteFits {
        let Ahead { sites, attempt, then } = self;
        let attempt = Attempt { job, ..*attempt };
        fits(sites.iter_mut().zip(then).map(|(managed, then)| match then {
            Then::Same => {
                let held = managed.fit(&attempt);
                (&managed.site, managed.site.free_nodes(), held)
            }
            Then::Free(free) => {
                let held = managed.fit_among(*free, &attempt);
                (&managed.site, *free, held)
            }
            Then::Other(other) => {
                let held = other.fit(&attempt);
                (&other.site, other.site.free_nodes(), held)
            }
        }))
    }

    /// Starts a job on the site of `fit`, in the hypothetical state. Returns `false` if the site
    /// proposes no placement, or if the proposed nodes are not free.
    pub fn start(&mut self, job: &Job, fit: &SiteFit) -> bool {
        let managed = &self.sites[fit.site];
        let then = &mut self.then[fit.site];
        if managed.finds == Finds::AnyNodes {
            *then = Then::Free(fit.left());
            return true;
        }
        if matches!(then, Then::Same) {
            *then = Then::Other(Box::new(managed.fork()));
        }
        let Then::Other(other) = then else { return false };
        let attempt = Attempt { job, ..self.attempt };
        let proposal = attempt.at(other, fit.site);
        proposal.is_some_and(|proposal| {
            other.claim(&proposal.placement, Claim::new(attempt.now, Holder::Reservation)).is_ok()
        })
    }

    /// Whether no site has a free processor in its hypothetical state.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.sites.iter().zip(&self.then).all(|(managed, then)| match then {
            Then::Same => managed.site.free_nodes() == 0,
            Then::Free(free) => *free == 0,
            Then::Other(other) => other.site.free_nodes() == 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Request, Time};
    use crate::rng::Stream;
    use crate::scenario::Scenario;
    use crate::sizing::{QueueCounts, Sizing};

    fn random_sites(rng: &mut Stream) -> Vec<ManagedSite> {
        let study = toml::toml! {
            machine = { sites = [
                { topology = "flat", processors = 30 },
                { topology = "mesh", dims = [5, 4], speed = 2.0 },
                { topology = "flat", processors = 9, speed = 0.5 },
                { topology = "hypercube", dimension = 4, speed = 2.0 },
                { topology = "torus", dims = [3, 3, 3], allocator = "naive" }
            ] }
            workload = { name = "lublin" }
        };
        let facility = Scenario::read(&study).unwrap().setup(0).unwrap().facility;
        let mut sites: Vec<ManagedSite> = facility.sites().iter().map(ManagedSite::fork).collect();
        for site in &mut sites {
            for _ in 0..rng.below(6) {
                let job = random_job(rng);
                if let Some(proposal) = attempt(&job, exact().as_ref()).at(site, 0) {
                    site.claim(&proposal.placement, Time::ZERO.into()).unwrap();
                }
            }
        }
        sites
    }

    fn exact() -> Box<dyn Sizing> {
        let params = crate::sizing::FAMILY.resolve("", &"exact".into()).unwrap();
        (crate::sizing::exact::ENTRY.build)(&params, &[]).unwrap()
    }

    fn attempt<'a>(job: &'a Job, sizing: &'a dyn Sizing) -> Attempt<'a> {
        Attempt { job, now: Time::ZERO, sizing, counts: QueueCounts::default() }
    }

    fn random_job(rng: &mut Stream) -> Job {
        let request = match rng.below(3) {
            0 => Request::block(&[1 + rng.below(4) as u32, 1 + rng.below(4) as u32]),
            1 => Request::Subcube(rng.below(4) as u32),
            _ => Request::Nodes(1 + rng.below(12) as u32),
        };
        Job::new(0, Time::ZERO, request, 1.0)
    }

    /// Reference implementation of `Ahead::fits`, by copies of every site.
    fn fits_of(sites: &mut [ManagedSite], sizing: &dyn Sizing, job: &Job) -> SiteFits {
        sites
            .iter_mut()
            .enumerate()
            .filter_map(|(index, managed)| {
                let proposal = attempt(job, sizing).at(managed, index)?;
                let (nodes, free) = (managed.site.nodes(), managed.site.free_nodes());
                let (held, speed) = (proposal.placement.len(), managed.site.speed());
                Some(SiteFit { site: index, nodes, free, held, speed })
            })
            .collect()
    }

    #[test]
    fn counts_and_late_copies_agree_with_copies_of_everything() {
        let mut rng = Stream::new(9, 0, "ahead");
        let sizing = exact();
        let mut started = 0;
        for _ in 0..300 {
            let mut sites = random_sites(&mut rng);
            let before: Vec<_> = sites.iter().map(|managed| managed.site.free().clone()).collect();
            let mut twin: Vec<ManagedSite> = sites.iter().map(ManagedSite::fork).collect();
            let head = random_job(&mut rng);
            let mut ahead = Ahead::new(&mut sites, attempt(&head, sizing.as_ref()));
            for _ in 0..12 {
                let job = random_job(&mut rng);
                let fits = ahead.fits(&job);
                assert_eq!(fits, fits_of(&mut twin, sizing.as_ref(), &job));
                let full = twin.iter().all(|managed| managed.site.free_nodes() == 0);
                assert_eq!(ahead.is_full(), full);
                if fits.is_empty() {
                    continue;
                }
                let fit = fits[rng.below(fits.len() as u64) as usize];
                assert!(ahead.start(&job, &fit));
                let other = &mut twin[fit.site];
                let proposal = attempt(&job, sizing.as_ref()).at(other, fit.site).unwrap();
                other.claim(&proposal.placement, Time::ZERO.into()).unwrap();
                started += 1;
            }
            let after: Vec<_> = sites.iter().map(|managed| managed.site.free().clone()).collect();
            assert_eq!(before, after, "looking ahead changes nothing");
        }
        assert!(started > 1500, "only {started} jobs were started");
    }
}
