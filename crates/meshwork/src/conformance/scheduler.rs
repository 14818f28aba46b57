//! Conformance test for schedulers.

use super::runs::{
    Serves, each_job_once, name, nodes_are_not_looked_at, promises_are_kept, random_jobs, scenario,
};
use super::{
    Finding, SITES, Tried, broken, component, every_machine, single_choices, with_parameters,
};
use crate::catalogue::Catalogue;
use crate::sched::{self, SchedulerEntry};
use crate::topology::{Topology, Wiring};

/// Checks a scheduler of a catalogue against the rules for schedulers.
///
/// The scheduler is tried with every allocator of the catalogue, on every small machine that both
/// support. With the default allocator, it is tried with each choice of its parameters. If it
/// supports all wirings, it is also tried on a machine of several sites. The rules are:
///
/// - Each job starts at most once, and each started job ends once. All jobs start if the scheduler
///   [declares](SchedulerEntry::serves_all) to serve all.
/// - The same seed gives the same run.
/// - With exact estimates each job starts by the instant that the scheduler has promised to it,
///   also under allocators that may overlook free blocks.
/// - A scheduler that does not [look at nodes](crate::sched::Scheduler::looks_at_nodes) starts jobs
///   at the same instants if the machine only counts free nodes, and does not record which nodes
///   are free.
/// - The scheduler does not use the handle (ticket) of a job that no longer waits. The instants at
///   which it asks to be [woken](crate::sched::Scheduler::wake_at) are in the future.
///
/// # Errors
/// The first violated rule, or an unknown scheduler.
pub fn check_scheduler(catalogue: &Catalogue, name: &str) -> Result<Tried, Finding> {
    let name = sched::FAMILY.find_in(catalogue, "", name)?.name;
    let entry = catalogue.entry::<SchedulerEntry>(name);
    let mut tried = Tried::default();
    for (machine, topology) in &every_machine() {
        if entry.serves.contains(&topology.wiring()) {
            tried += with_every_allocator(catalogue, entry, machine, topology)?;
            tried += with_every_choice(catalogue, entry, machine, topology)?;
            tried.machines += 1;
        }
    }
    if tried.machines == 0 {
        let case = "on every small machine".to_owned();
        return Err(broken(entry, case)("it serves none of them, so nothing can be tried".into()));
    }
    if entry.plans {
        tried += where_blocks_are_missed(catalogue, entry)?;
    }
    if Wiring::ALL.iter().all(|wiring| entry.serves.contains(wiring)) && !entry.malleable {
        tried += on_sites_that_differ(catalogue, entry)?;
    }
    Ok(tried)
}

fn with_every_allocator(
    catalogue: &Catalogue,
    entry: &'static SchedulerEntry,
    machine: &str,
    topology: &Topology,
) -> Result<Tried, Finding> {
    let mut tried = Tried::default();
    let serves = Serves::declared(entry.serves_all);
    let machine = format!("machine = {{ {machine} }}");
    // Schedulers that make no promises are checked elsewhere, once for each choice of parameters.
    let promising = if entry.plans { 0..2 } else { 0..0 };
    for allocator in catalogue
        .list::<crate::alloc::AllocatorEntry>()
        .iter()
        .filter(|other| other.works_on(topology))
    {
        let wrong = |seed: u64| {
            broken(entry, format!("on a {topology} with `{}`, seed {seed}", allocator.about.name))
        };
        let parts =
            [("allocator", name(allocator.about.name)), ("scheduler", name(entry.about.name))];
        let scenario = scenario(catalogue, &machine, &parts).map_err(wrong(0))?;
        let jobs = random_jobs(topology, 100, 3.0, 11);
        tried += each_job_once(&scenario, &jobs, serves).map_err(wrong(11))?;
        for seed in promising.clone() {
            let jobs = random_jobs(topology, 90, 4.0, seed);
            tried += promises_are_kept(&scenario, jobs).map_err(wrong(seed))?;
        }
    }
    Ok(tried)
}

fn with_every_choice(
    catalogue: &Catalogue,
    entry: &'static SchedulerEntry,
    machine: &str,
    topology: &Topology,
) -> Result<Tried, Finding> {
    let mut tried = Tried::default();
    let machine = format!("machine = {{ {machine} }}");
    // With some parameters a scheduler may serve fewer jobs than it does by default.
    let serves = if entry.serves_all { Serves::All } else { Serves::Any };
    for table in single_choices(entry.about.params) {
        let table = &table;
        let seed = 12;
        let case = || format!("on a {topology}{}, seed {seed}", with_parameters(table));
        let parts = [("scheduler", component(entry.about.name, table))];
        let scenario = scenario(catalogue, &machine, &parts).map_err(broken(entry, case()))?;
        let jobs = random_jobs(topology, 100, 3.0, seed);
        tried += each_job_once(&scenario, &jobs, serves).map_err(broken(entry, case()))?;
        if topology.wiring() == Wiring::Flat {
            nodes_are_not_looked_at(&scenario, &jobs).map_err(broken(entry, case()))?;
        }
        tried += promises_are_kept(&scenario, jobs).map_err(broken(entry, case()))?;
    }
    Ok(tried)
}

/// Checks promised placements, not only start times, for an allocator that may miss free blocks.
fn where_blocks_are_missed(
    catalogue: &Catalogue,
    entry: &'static SchedulerEntry,
) -> Result<Tried, Finding> {
    let Ok(topology) = Topology::mesh(&[16, 16]) else { return Ok(Tried::default()) };
    if !entry.serves.contains(&topology.wiring()) {
        return Ok(Tried::default());
    }
    let parts = [("allocator", name("frame_sliding")), ("scheduler", name(entry.about.name))];
    let wrong = || broken(entry, format!("on a {topology} with `frame_sliding`, seed 1"));
    let machine = "machine = { topology = 'mesh', dims = [16, 16] }";
    let scenario = scenario(catalogue, machine, &parts).map_err(wrong())?;
    promises_are_kept(&scenario, random_jobs(&topology, 300, 2.0, 1)).map_err(wrong())
}

fn on_sites_that_differ(
    catalogue: &Catalogue,
    entry: &'static SchedulerEntry,
) -> Result<Tried, Finding> {
    let mut tried = Tried::default();
    let serves = Serves::declared(entry.serves_all);
    for seed in 0..5 {
        let wrong = || broken(entry, format!("on five sites that differ, seed {seed}"));
        let parts = [("scheduler", name(entry.about.name))];
        let scenario = scenario(catalogue, SITES, &parts).map_err(wrong())?;
        let Ok(largest) = Topology::flat(14) else { return Ok(tried) };
        let jobs = random_jobs(&largest, 120, 8.0, seed);
        tried += each_job_once(&scenario, &jobs, serves).map_err(wrong())?;
        tried += promises_are_kept(&scenario, jobs).map_err(wrong())?;
    }
    Ok(tried)
}
