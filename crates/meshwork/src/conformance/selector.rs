//! Conformance test for selectors.

use super::runs::{Serves, each_job_once, name, random_jobs, scenario};
use super::{Finding, SITES, Tried, broken, component, variants, with_parameters};
use crate::catalogue::Catalogue;
use crate::facility::Facility;
use crate::job::{Job, Time};
use crate::offer::QueueView;
use crate::rng::Stream;
use crate::select::{self, SelectorEntry};
use crate::topology::{Topology, Wiring};
const SEED: u64 = 3;
const STEPS: u64 = 120;

/// Checks a selector of a catalogue against the rules for selectors.
///
/// The selector is tried with every choice of its parameters, on a machine of five different sites.
/// It changes none of the sites that it considers, its proposals can be claimed, and its fork gives
/// the same answers. Under every scheduler that supports all wirings each job starts once and ends
/// once, and the same seed gives the same run.
///
/// # Errors
/// The first violated rule, or an unknown selector.
pub fn check_selector(catalogue: &Catalogue, name: &str) -> Result<Tried, Finding> {
    let name = select::FAMILY.find_in(catalogue, "", name)?.name;
    let entry = catalogue.entry::<SelectorEntry>(name);
    let mut tried = Tried::default();
    // The jobs are drawn for the largest flat site.
    let Ok(largest) = Topology::flat(14) else { return Ok(tried) };
    for table in &variants(entry.about.params) {
        let case = format!("on five sites that differ{}", with_parameters(table));
        let selector = ("selector", component(entry.about.name, table));
        let wrong = |more: String| broken(entry, format!("{case}{more}"));
        let alone = scenario(catalogue, SITES, std::slice::from_ref(&selector))
            .map_err(wrong(String::new()))?;
        let facility = alone.setup(0).map_err(|error| wrong(String::new())(error.to_string()))?;
        tried.questions += states(facility.facility, &largest)
            .map_err(|(step, sentence)| wrong(format!(", step {step} of seed {SEED}"))(sentence))?;
        for scheduler in catalogue.list::<crate::sched::SchedulerEntry>() {
            if scheduler.malleable || !Wiring::ALL.iter().all(|w| scheduler.serves.contains(w)) {
                continue;
            }
            let under = || wrong(format!(" under `{}`, seed 4", scheduler.about.name));
            let parts = [selector.clone(), ("scheduler", self::name(scheduler.about.name))];
            let scenario = scenario(catalogue, SITES, &parts).map_err(under())?;
            let jobs = random_jobs(&largest, 150, 8.0, 4);
            tried += each_job_once(&scenario, &jobs, Serves::declared(scheduler.serves_all))
                .map_err(under())?;
        }
        tried.machines += 1;
    }
    Ok(tried)
}

struct Others<'a> {
    jobs: &'a [Job],
    was_empty: bool,
}

impl QueueView for Others<'_> {
    fn others(&self) -> Box<dyn Iterator<Item = &Job> + '_> {
        Box::new(self.jobs.iter())
    }

    fn was_empty(&self) -> bool {
        self.was_empty
    }
}

/// Checks states of a random history; returns the number of states, or an error and its step.
fn states(mut facility: Facility, largest: &Topology) -> Result<u64, (u64, String)> {
    let mut rng = Stream::new(SEED, 0, "states");
    let probes = random_jobs(largest, 10, 8.0, 5);
    let mut held = Vec::new();
    for step in 0..STEPS {
        let jobs = random_jobs(largest, 12, 8.0, 100 + step);
        let queue = Others { jobs: &jobs[1..], was_empty: rng.below(3) == 0 };
        let before = state(&facility, &probes);
        let forked = facility.fork().propose(&jobs[0], Time::ZERO, &queue);
        let proposal = facility.propose(&jobs[0], Time::ZERO, &queue);
        if forked != proposal {
            return Err((step, "its fork takes another place than it does".to_owned()));
        }
        if state(&facility, &probes) != before {
            return Err((step, "it changes what it looks at".to_owned()));
        }
        if let Some(proposal) = proposal.filter(|_| rng.below(3) > 0) {
            facility
                .claim(proposal.site, &proposal.placement, Time::ZERO)
                .map_err(|error| (step, format!("it takes what cannot be claimed: {error}")))?;
            held.push(proposal);
        } else if !held.is_empty() {
            let over = held.swap_remove(rng.below(held.len() as u64) as usize);
            facility.release(over.site, &over.placement);
        }
    }
    Ok(STEPS)
}

/// State that a selector must not change: the free nodes, and the proposal for each job on each
/// site.
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
