//! Tests of every selector of sites: common rules, and the definition of each selector.

use std::collections::BTreeSet;

use crate::common::{
    SITES, every_selector, job, random_jobs, run, scenario, schedulers_for_all_wirings,
};
use meshwork::facility::Facility;
use meshwork::job::{Job, Request, Time};
use meshwork::offer::QueueView;
use meshwork::rng::Stream;
use meshwork::topology::Topology;
use proptest::prelude::*;

/// Waiting jobs behind the head of the queue.
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

fn nodes(count: u32) -> Job {
    job(0.0, Request::Nodes(count), 1.0)
}

/// Machine of flat sites. Each is given by its number of processors, and by four times its speed.
fn flat_sites(selector: &str, sites: &[(u32, u32)]) -> Facility {
    let sites: Vec<String> = sites
        .iter()
        .map(|&(free, quarters)| {
            let speed = f64::from(quarters) / 4.0;
            format!("{{ topology = 'flat', processors = {free}, speed = {speed:?} }}")
        })
        .collect();
    let workload = "workload = { name = 'table', path = 'not read' }";
    let text = format!("machine = {{ sites = [{}] }}\n{selector}\n{workload}", sites.join(", "));
    scenario(&text).setup(0).unwrap().facility
}

/// Slow definitions of the selectors, on counts of free processors.
///
/// Speeds are multiplied by 4, so that they are integers.
struct Definition<'a> {
    lookahead: &'a str,
    speeds: Vec<u32>,
}

impl Definition<'_> {
    fn fits(&self, free: &[u32], wanted: u32) -> Vec<usize> {
        (0..free.len()).filter(|&site| free[site] >= wanted).collect()
    }

    fn best(&self, free: &[u32], wanted: u32) -> Option<usize> {
        let key = |&site: &usize| (free[site] - wanted, u32::MAX - self.speeds[site], site);
        self.fits(free, wanted).into_iter().min_by_key(key)
    }

    fn fastest(&self, free: &[u32], wanted: u32) -> Option<usize> {
        let key = |&site: &usize| (u32::MAX - self.speeds[site], site);
        self.fits(free, wanted).into_iter().min_by_key(key)
    }

    /// Jobs that can start behind the first waiting job, after this one has started on site `on`.
    ///
    /// Returns their number and their capacity, which is processors times the speed of the site.
    fn others(&self, free: &[u32], wanted: u32, on: usize, queue: &[u32]) -> (u32, u64) {
        let mut free = free.to_vec();
        free[on] -= wanted;
        let (mut jobs, mut capacity) = (0, 0);
        for &other in queue {
            match self.best(&free, other) {
                Some(site) => {
                    jobs += 1;
                    capacity += u64::from(other) * u64::from(self.speeds[site]);
                    if self.lookahead != "independent" {
                        free[site] -= other;
                    }
                }
                None if self.lookahead == "stop" => break,
                None => {}
            }
        }
        (jobs, capacity)
    }

    fn pick(
        &self,
        selector: &str,
        free: &[u32],
        wanted: u32,
        queue: &[u32],
        was_empty: bool,
    ) -> Option<usize> {
        let (best, fastest) = (self.best(free, wanted)?, self.fastest(free, wanted)?);
        let others = |on| self.others(free, wanted, on, queue);
        Some(match selector {
            "first_fit" => self.fits(free, wanted)[0],
            "best_fit" => best,
            // All sites are free here, so all are equally loaded.
            "fastest_first" | "least_loaded" => fastest,
            "adaptive" => {
                if others(best).0 > others(fastest).0 {
                    best
                } else {
                    fastest
                }
            }
            "intelligent" => {
                let total =
                    |on: usize| u64::from(wanted) * u64::from(self.speeds[on]) + others(on).1;
                // Score > 1, without divisions.
                let is_above_one = u64::from(self.speeds[fastest]) * total(fastest)
                    > u64::from(self.speeds[best]) * total(best);
                match was_empty {
                    true if self.speeds[best] >= self.speeds[fastest] => best,
                    true => fastest,
                    false if is_above_one => fastest,
                    false => best,
                }
            }
            other => panic!("{other} has no definition here"),
        })
    }
}

proptest! {
    #[test]
    fn each_is_its_definition(
        sites in prop::collection::vec((1_u32..20, 1_u32..9), 2..6),
        wanted in 1_u32..20,
        queue in prop::collection::vec(1_u32..20, 0..12),
        was_empty in any::<bool>(),
    ) {
        let (free, speeds): (Vec<u32>, Vec<u32>) = sites.iter().copied().unzip();
        let others = Others { jobs: queue.iter().map(|&n| nodes(n)).collect(), was_empty };
        for (name, text) in every_selector() {
            if name == "random" {
                continue;
            }
            let lookahead = text.rsplit('\'').nth(1).unwrap();
            let definition = Definition { lookahead, speeds: speeds.clone() };
            let expected = definition.pick(name, &free, wanted, &queue, was_empty);
            let mut facility = flat_sites(&text, &sites);
            let picked = facility.propose(&nodes(wanted), Time::ZERO, &others);
            prop_assert_eq!(picked.map(|proposal| proposal.site), expected, "{}", text);
        }
    }

    /// If all speeds are equal, `fastest_first` takes the first site on which the job fits.
    ///
    /// For a job that was just submitted, `intelligent` then chooses by best fit.
    #[test]
    fn with_equal_speeds_all_but_the_fit_is_the_same(
        free in prop::collection::vec(1_u32..20, 2..6),
        wanted in 1_u32..20,
        queue in prop::collection::vec(1_u32..20, 0..12),
    ) {
        let sites: Vec<(u32, u32)> = free.iter().map(|&free| (free, 4)).collect();
        let others = Others { jobs: queue.iter().map(|&n| nodes(n)).collect(), was_empty: true };
        let pick = |selector: &str| {
            let mut facility = flat_sites(&format!("selector = '{selector}'"), &sites);
            facility.propose(&nodes(wanted), Time::ZERO, &others)
        };
        prop_assert_eq!(pick("fastest_first"), pick("first_fit"));
        prop_assert_eq!(pick("intelligent"), pick("best_fit"));
    }
}

#[test]
fn with_equal_speeds_fastest_first_gives_the_transcript_of_first_fit() {
    let equal = ["1.25", "0.75", "1.125"].iter().fold(SITES.to_owned(), |text, speed| {
        text.replace(&format!("speed = {speed}"), "speed = 1")
    });
    assert_eq!(equal.matches("speed = 1 ").count(), 4);
    for scheduler in schedulers_for_all_wirings() {
        let with = |selector: &str| {
            let text =
                format!("{equal}\nselector = '{selector}'\nscheduler = '{}'", scheduler.about.name);
            run(&scenario(&text), random_jobs(&Topology::flat(14).unwrap(), 200, 8.0, 2)).1
        };
        assert_eq!(with("fastest_first"), with("first_fit"), "{}", scheduler.about.name);
    }
}

#[test]
fn with_one_site_every_selector_gives_the_same_transcript() {
    for site in
        ["topology = 'flat', processors = 14, speed = 1.5", "topology = 'mesh', dims = [4, 3]"]
    {
        for scheduler in schedulers_for_all_wirings() {
            let mut transcripts = BTreeSet::new();
            for (_, selector) in every_selector() {
                let text = format!(
                    "machine = {{ sites = [ {{ {site} }} ] }}\n{selector}\nscheduler = '{}'",
                    scheduler.about.name
                );
                let jobs = random_jobs(&Topology::flat(12).unwrap(), 100, 4.0, 3);
                transcripts.insert(run(&scenario(&text), jobs).1);
            }
            assert_eq!(transcripts.len(), 1, "{} on {site}", scheduler.about.name);
        }
    }
}

#[test]
fn every_selector_works_with_every_scheduler_on_sites_of_every_kind() {
    let mut different = BTreeSet::new();
    for (_, selector) in every_selector() {
        for scheduler in schedulers_for_all_wirings() {
            let text = format!("{SITES}\n{selector}\nscheduler = '{}'", scheduler.about.name);
            let jobs = || random_jobs(&Topology::flat(14).unwrap(), 150, 8.0, 4);
            let (outcome, transcript) = run(&scenario(&text), jobs());
            let count = |word: &str| {
                transcript.lines().filter(|line| line.split(' ').nth(1) == Some(word)).count()
            };
            assert_eq!(count("arrived") + count("refused"), 150, "{text}");
            let all_start = count("started") == count("arrived");
            assert!(all_start || !scheduler.serves_all, "{text}");
            assert_eq!(outcome.finished as usize, count("finished"), "{text}");
            for site in 0..5 {
                assert!(transcript.contains(&format!(" site {site} ")), "{text}: site {site}");
            }
            assert_eq!(transcript, run(&scenario(&text), jobs()).1, "{text}");
            different.insert(transcript);
        }
    }
    assert!(different.len() > 15, "only {} different transcripts", different.len());
}

/// For each site, a drawing of its free nodes, and the placement that it proposes for each job.
fn state(facility: &Facility, jobs: &[Job]) -> Vec<String> {
    let mut fork = facility.fork();
    let free = facility.sites().iter().map(|managed| managed.site().drawing());
    let mut state: Vec<String> = free.collect();
    for site in 0..facility.sites().len() {
        for job in jobs {
            state.push(format!("{:?}", fork.propose_at(site, job, Time::ZERO)));
        }
    }
    state
}

#[test]
fn a_selector_that_looks_ahead_changes_nothing_it_looked_at() {
    for (_, selector) in every_selector() {
        let mut rng = Stream::new(3, 0, "states");
        let mut facility = scenario(&format!("{SITES}\n{selector}")).setup(0).unwrap().facility;
        let probes = random_jobs(&Topology::flat(14).unwrap(), 10, 8.0, 5);
        let mut held = Vec::new();
        for step in 0..120 {
            let jobs = random_jobs(&Topology::flat(14).unwrap(), 12, 8.0, 100 + step);
            let was_empty = rng.below(3) == 0;
            let others = Others { jobs: jobs[1..].to_vec(), was_empty };
            let before = state(&facility, &probes);
            let proposal = facility.propose(&jobs[0], Time::ZERO, &others);
            assert_eq!(state(&facility, &probes), before, "{selector}");
            if let Some(proposal) = proposal.filter(|_| rng.below(3) > 0) {
                facility.claim(proposal.site, &proposal.placement, Time::ZERO).unwrap();
                held.push(proposal);
            } else if !held.is_empty() {
                let over = held.swap_remove(rng.below(held.len() as u64) as usize);
                facility.release(over.site, &over.placement);
            }
        }
    }
}

#[test]
fn a_random_selector_takes_every_room_alike() {
    let mut facility = flat_sites("selector = 'random'", &[(4, 4), (9, 8), (4, 1), (8, 4)]);
    let nobody = Others { jobs: Vec::new(), was_empty: true };
    let mut taken = [0_u32; 4];
    for _ in 0..9_000 {
        taken[facility.propose(&nodes(4), Time::ZERO, &nobody).unwrap().site] += 1;
        let proposal = facility.propose(&nodes(9), Time::ZERO, &nobody);
        assert_eq!(proposal.map(|proposal| proposal.site), Some(1), "there is one room");
    }
    // Each site is expected 2,250 times, with a standard deviation of 41.
    assert!(taken.iter().all(|&n| (2_080..2_420).contains(&n)), "{taken:?}");
}

#[test]
fn situation_a_is_a_submission_to_a_queue_that_was_empty() {
    // For a job of 5 processors, the second site is the better fit, and the first is faster.
    let text = "selector = 'intelligent'
        machine = { sites = [ { topology = 'flat', processors = 16, speed = 2.0 },
                              { topology = 'flat', processors = 6, speed = 1.5 } ] }";
    let sites = |jobs: Vec<Job>| -> Vec<String> {
        let (_, transcript) = run(&scenario(text), jobs);
        let started = transcript.lines().filter(|line| line.contains("started"));
        started.map(|line| line.split(' ').nth(4).unwrap().to_owned()).collect()
    };
    let at = |arrival: f64, count: u32, runtime: f64| job(arrival, Request::Nodes(count), runtime);
    // Jobs that have just arrived go to the fastest site.
    assert_eq!(sites(vec![at(0.0, 5, 10.0), at(0.0, 16, 10.0)]), ["0", "0"]);
    // Equal jobs that have waited for both sites, which become free at 5. If the head takes the
    // site of best fit, the second job can start at once, and 2 / 1.5 × 10 / (7.5 + 32) is below 1.
    let blocked = || vec![at(0.0, 16, 10.0), at(0.0, 6, 7.5)];
    let waited = [blocked(), vec![at(1.0, 5, 10.0), at(1.0, 16, 10.0)]].concat();
    assert_eq!(sites(waited), ["0", "1", "1", "0"]);
}
