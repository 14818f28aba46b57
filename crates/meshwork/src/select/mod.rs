//! Selectors: strategies that choose the site on which a job starts.

pub mod adaptive;
pub mod best_fit;
pub mod fastest_first;
pub mod first_fit;
pub mod intelligent;
pub mod least_loaded;
mod lookahead;
pub mod random;

use crate::job::Job;
use crate::offer::{Offers, Proposal, SiteFit};
use crate::registry::{About, Family, Params, Problem, abouts, named};
use crate::rng::Stream;

/// Strategy that chooses the site on which a job starts.
pub trait Selector: Send {
    /// Proposes one of the sites for `job`; `None` if the job must wait.
    ///
    /// Called at each attempt to start a job that the scheduler has picked. Leaves the sites
    /// unchanged; `rng` is the selector's own stream of random numbers.
    fn select(&mut self, job: &Job, offers: &mut Offers<'_>, rng: &mut Stream) -> Option<Proposal>;

    /// Returns an independent copy of the selector, for look-ahead.
    fn fork(&self) -> Box<dyn Selector>;
}

/// Selector that picks a site by the wrapped function, among all sites on which the job fits.
#[derive(Clone, Copy)]
struct Best(fn(&[SiteFit]) -> Option<SiteFit>);

impl Selector for Best {
    fn select(&mut self, _: &Job, offers: &mut Offers<'_>, _: &mut Stream) -> Option<Proposal> {
        let fit = (self.0)(&offers.fits())?;
        offers.at(fit.site)
    }

    fn fork(&self) -> Box<dyn Selector> {
        Box::new(*self)
    }
}

const SHIH: &str = "Shih, Huang & Chung, Improving processor allocation in heterogeneous computing \
                    grid through considering both speed heterogeneity and resource fragmentation, \
                    section 2";

/// Registry entry of a selector.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SelectorEntry {
    /// Name, definition and parameters of the selector.
    pub about: About,
    /// Builds the selector from its parameters.
    pub build: fn(&Params) -> Result<Box<dyn Selector>, Problem>,
}

impl SelectorEntry {
    /// Creates the registry entry of a selector.
    #[must_use]
    pub const fn new(
        about: About,
        build: fn(&Params) -> Result<Box<dyn Selector>, Problem>,
    ) -> SelectorEntry {
        SelectorEntry { about, build }
    }

    /// Replaces the description of the selector.
    #[must_use]
    pub const fn described(mut self, about: About) -> SelectorEntry {
        self.about = about;
        self
    }
}

named!(SelectorEntry);

/// Registry entries of all selectors of this crate.
pub static SELECTORS: &[&SelectorEntry] = &[
    &first_fit::ENTRY,
    &best_fit::ENTRY,
    &fastest_first::ENTRY,
    &adaptive::ENTRY,
    &intelligent::ENTRY,
    &least_loaded::ENTRY,
    &random::ENTRY,
];

/// Registry family of all selectors. A study selects a selector by name.
pub static FAMILY: Family =
    Family { kind: "selector", key: "name", entries: || abouts(SELECTORS), common: &[] };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::scattered::naive;
    use crate::job::{Request, Time};
    use crate::machine::Site;
    use crate::offer::{Attempt, ManagedSite, QueueView};
    use crate::registry::entry;
    use crate::shape::ShapeRule;
    use crate::sizing::{QueueCounts, SIZINGS, Sizing};
    use crate::topology::Topology;

    /// Flat sites for tests, with chosen speeds and free processors, and the other jobs in the
    /// queue.
    pub(super) struct Sites {
        sites: Vec<ManagedSite>,
        sizing: Box<dyn Sizing>,
        others: Others,
    }

    struct Others {
        jobs: Vec<Job>,
        was_empty: bool,
    }

    impl QueueView for Others {
        fn others(&self) -> Box<dyn Iterator<Item = &Job> + '_> {
            Box::new(self.jobs.iter())
        }

        fn was_empty(&self) -> bool {
            self.was_empty
        }
    }

    pub(super) fn job(nodes: u32) -> Job {
        let request = Request::Nodes(nodes);
        Job::new(0, Time::ZERO, request, 1.0)
    }

    fn params(family: &'static Family, name: &str) -> Params {
        family.resolve("x", &toml::Value::String(name.to_owned())).unwrap()
    }

    impl Sites {
        pub(super) fn new(sites: &[(f64, u32)], others: &[u32], was_empty: bool) -> Sites {
            let managed = |&(speed, processors): &(f64, u32)| {
                let topology = Topology::flat(processors).unwrap();
                let allocator = naive::ENTRY.build;
                let allocator = allocator(&params(&crate::alloc::FAMILY, "naive"), &topology);
                let stream = Stream::new(1, 0, "allocator");
                ManagedSite::new(
                    Site::new(topology, speed),
                    allocator.unwrap(),
                    &naive::ENTRY,
                    stream,
                    ShapeRule::Squarest,
                )
            };
            let exact = params(&crate::sizing::FAMILY, "exact");
            Sites {
                sites: sites.iter().map(managed).collect(),
                sizing: (entry(SIZINGS, "exact").build)(&exact, &[]).unwrap(),
                others: Others { jobs: others.iter().map(|&n| job(n)).collect(), was_empty },
            }
        }

        pub(super) fn offers<'a>(&'a mut self, job: &'a Job) -> Offers<'a> {
            let (sizing, counts) = (self.sizing.as_ref(), QueueCounts::default());
            let attempt = Attempt { job, now: Time::ZERO, sizing, counts };
            Offers { attempt, sites: &mut self.sites, queue: &self.others }
        }
    }

    fn picked(selector: &str, sites: &mut Sites, nodes: u32) -> Option<usize> {
        let value: toml::Table = format!("selector = {selector}").parse().unwrap();
        let params = FAMILY.resolve("selector", &value["selector"]).unwrap();
        let mut selector = (entry(SELECTORS, params.name()).build)(&params).unwrap();
        let job = job(nodes);
        let mut rng = Stream::new(1, 0, "selector");
        selector.select(&job, &mut sites.offers(&job), &mut rng).map(|proposal| proposal.site)
    }

    /// Speed and free processors of the sites A, B and C of the worked example of `intelligent`.
    pub(super) const ABC: [(f64, u32); 3] = [(1.0, 10), (2.0, 16), (1.5, 6)];

    #[test]
    fn each_picks_by_its_own_measure() {
        let mut abc = Sites::new(&ABC, &[], true);
        for (selector, site) in [
            ("'first_fit'", 0),
            ("'best_fit'", 2),
            ("'fastest_first'", 1),
            ("'adaptive'", 1),
            ("'intelligent'", 1),
            ("'least_loaded'", 1),
        ] {
            assert_eq!(picked(selector, &mut abc, 5), Some(site), "{selector}");
            assert_eq!(picked(selector, &mut abc, 12), Some(1), "{selector}: only B has room");
            assert_eq!(picked(selector, &mut abc, 17), None, "{selector}: no site has room");
        }
        let any = picked("'random'", &mut abc, 5);
        assert!(any.is_some_and(|site| site < 3));
        assert_eq!(picked("'random'", &mut abc, 17), None);
    }

    #[test]
    fn ties_go_to_the_faster_and_then_to_the_first() {
        let mut sites = Sites::new(&[(1.0, 8), (2.0, 8), (2.0, 8), (1.0, 8)], &[], true);
        for selector in ["best_fit", "fastest_first", "adaptive", "intelligent", "least_loaded"] {
            assert_eq!(picked(&format!("'{selector}'"), &mut sites, 3), Some(1), "{selector}");
        }
        assert_eq!(picked("'first_fit'", &mut sites, 3), Some(0));
    }

    #[test]
    fn adaptive_counts_the_jobs_that_start_next() {
        // With the head on B, the job of 16 fits nowhere; with it on C, both others start.
        let mut abc = Sites::new(&ABC, &[16, 6], false);
        assert_eq!(picked("'adaptive'", &mut abc, 5), Some(2));
        // Past the job of 16, the job of 6 starts on C if the head is on B: one job against two.
        assert_eq!(picked("{ name = 'adaptive', lookahead = 'skip' }", &mut abc, 5), Some(2));
        // The other job starts for either choice: a tie, so the fastest site.
        let mut abc = Sites::new(&ABC, &[4], false);
        assert_eq!(picked("'adaptive'", &mut abc, 5), Some(1));
        // One job of 11 fills B in any case. Independently, all three other jobs start if the head
        // is on C, and only two if it is on B.
        let mut abc = Sites::new(&ABC, &[11, 11, 16], false);
        for (lookahead, site) in [("stop", 1), ("skip", 1), ("independent", 2)] {
            let selector = format!("{{ name = 'adaptive', lookahead = '{lookahead}' }}");
            assert_eq!(picked(&selector, &mut abc, 5), Some(site), "{lookahead}");
        }
    }
}
