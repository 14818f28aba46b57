//! Tests that caches change no result of a run.
//!
//! A run in which every query is computed anew must give the same transcript: starts, placements
//! and promises.

use crate::common;
use crate::common::{Transcript, every_selector, machines, random_jobs, scenario, submissions};
use meshwork::alloc::ALLOCATORS;
use meshwork::cluster::{Cluster, Hold, Place, Reservation, StartOptions, Ticket};
use meshwork::engine::simulate;
use meshwork::form::Finds;
use meshwork::job::{Job, Request, Time};
use meshwork::machine::Placement;
use meshwork::observe::{Event, MachineState, Observer, Running};
use meshwork::sched::{SCHEDULERS, Scheduler};
use meshwork::topology::Topology;

/// Transcripts of a run with and without caches.
fn both(text: &str, jobs: &[Job]) -> [String; 2] {
    let scenario = scenario(text);
    [false, true].map(|anew| {
        let mut setup = scenario.setup(0).unwrap();
        if anew {
            setup.facility.ask_anew();
        }
        let mut transcript = Transcript::default();
        simulate(setup, submissions(jobs.to_vec()), &mut transcript).unwrap();
        transcript.text
    })
}

#[test]
fn what_is_remembered_changes_no_schedule() {
    let torus = Topology::torus(&[4, 4, 4]).unwrap();
    let mut all = machines();
    all.push(("topology = 'torus', dims = [4, 4, 4]".to_owned(), torus));
    let mut lines = 0;
    for (machine, topology) in &all {
        for allocator in ALLOCATORS.iter().filter(|a| a.works_on(topology)) {
            // Allocators with the most caching get more seeds.
            let seeds = if allocator.finds == Finds::EveryBlock { 2..4 } else { 3..4 };
            for scheduler in SCHEDULERS.iter().filter(|s| s.serves.contains(&topology.wiring())) {
                for seed in seeds.clone() {
                    let sizing = if seed == 3 { "rsr" } else { "exact" };
                    let text = format!(
                        "machine = {{ {machine} }}\nallocator = '{}'\nscheduler = '{}'\nsizing = '{}'",
                        allocator.about.name,
                        scheduler.about.name,
                        if scheduler.malleable { "exact" } else { sizing },
                    );
                    let jobs = random_jobs(topology, 40, 2.0 * seed as f64, seed);
                    let [remembering, asking] = both(&text, &jobs);
                    assert!(remembering == asking, "{text}\n{remembering}\n---\n{asking}");
                    lines += asking.lines().count();
                }
            }
        }
    }
    assert!(lines > 50_000, "only {lines} events");
}

#[test]
fn nor_does_it_on_several_sites() {
    let jobs = random_jobs(&Topology::flat(14).unwrap(), 100, 15.0, 2);
    for (_, selector) in every_selector() {
        for scheduler in common::schedulers_for_all_wirings() {
            let scheduler = scheduler.about.name;
            let text = format!("{}\n{selector}\nscheduler = '{scheduler}'", common::SITES);
            let [remembering, asking] = both(&text, &jobs);
            assert!(remembering == asking, "{text}");
        }
    }
}

/// Observer that records its reports as text, without node numbers.
///
/// If `asks` is set, it declares that it needs to know the nodes of jobs.
struct Told {
    asks: bool,
    lines: Vec<String>,
}

impl Observer for Told {
    fn asks_where_jobs_run(&self) -> bool {
        self.asks
    }

    fn elapsed(&mut self, from: Time, to: Time, state: &MachineState) {
        self.lines.push(format!("{from} {to} {state:?}"));
    }

    fn observe(&mut self, now: Time, event: &Event<'_>) {
        let run = |what: &str, run: &Running| {
            let Running { id, asked, held, stretch, expected_end, .. } = run;
            assert_eq!(run.placement.len(), *held);
            format!("{now} {what} {id:?} {asked} {held} {stretch} {expected_end}")
        };
        self.lines.push(match event {
            Event::Started(running) => run("start", running),
            Event::Finished(running) => run("end", running),
            other => format!("{now} {other:?}"),
        });
    }
}

/// Compares runs with and without an observer that needs the nodes of jobs.
///
/// Without such an observer, the engine only counts nodes.
#[test]
fn nor_does_it_matter_whether_anyone_looks_at_nodes() {
    let topology = Topology::flat(40).unwrap();
    let mut starts = 0;
    for seed in 0..6 {
        for scheduler in common::schedulers_for_all_wirings() {
            for more in ["", "measure = { metrics = ['wait', 'dispersal'] }", "sizing = 'rsr'"] {
                let text = format!(
                    "machine = {{ topology = 'flat', processors = 40 }}\nscheduler = '{}'\n{more}",
                    scheduler.about.name
                );
                let scenario = scenario(&text);
                let jobs = random_jobs(&topology, 120, 10.0, seed);
                let [asked, not_asked] = [true, false].map(|asks| {
                    let mut told = Told { asks, lines: Vec::new() };
                    let (setup, jobs) = (scenario.setup(0).unwrap(), submissions(jobs.clone()));
                    let outcome = scenario.run_on(setup, jobs, &mut told).unwrap();
                    (format!("{outcome:?}"), told.lines)
                });
                assert!(asked == not_asked, "{text}\n{asked:?}\n---\n{not_asked:?}");
                starts += asked.1.iter().filter(|line| line.contains("start")).count();
            }
        }
    }
    assert!(starts > 5_000, "only {starts} starts");
}

/// Observer that declares whether it uses [`MachineState::blocked_by_shape`].
struct Looks(bool);

impl Observer for Looks {
    fn asks_what_blocks(&self) -> bool {
        self.0
    }
}

#[test]
fn nor_does_it_matter_whether_anyone_looks_at_what_blocks() {
    let topology = Topology::mesh(&[4, 4]).unwrap();
    let mut measured = 0;
    for metrics in ["['external_fragmentation', 'wait']", "['utilization']", "'all'"] {
        let metrics = match metrics {
            "'all'" => String::new(),
            some => format!("measure = {{ metrics = {some} }}"),
        };
        for seed in 0..4 {
            let text = format!(
                "machine = {{ topology = 'mesh', dims = [4, 4] }}\nscheduler = 'easy'\n{metrics}"
            );
            let scenario = scenario(&text);
            let jobs = random_jobs(&topology, 120, 10.0, seed);
            let [looked, not_looked] = [true, false].map(|looks| {
                let (setup, jobs) = (scenario.setup(0).unwrap(), submissions(jobs.clone()));
                scenario.run_on(setup, jobs, &mut Looks(looks)).unwrap()
            });
            let vain = looked.metrics.iter().find(|m| m.name == "external_fragmentation");
            measured += usize::from(vain.is_some_and(|m| m.value > Some(0.0)));
            assert_eq!(format!("{looked:?}"), format!("{not_looked:?}"), "{text}");
        }
    }
    assert!(measured >= 6, "nodes were free in vain in {measured} runs alone");
}

/// Compares long queues on a flat machine, where jobs end early and late.
#[test]
fn nor_does_it_where_numbers_alone_matter() {
    let topology = Topology::flat(40).unwrap();
    for seed in 0..12 {
        for scheduler in ["easy", "conservative", "window"] {
            for passes in ["instant", "event"] {
                let text = format!(
                    "machine = {{ topology = 'flat', processors = 40 }}\npasses = '{passes}'
                     scheduler = '{scheduler}'"
                );
                let mut jobs = random_jobs(&topology, 300, 3.0 + seed as f64, seed);
                for job in jobs.iter_mut().skip(3).step_by(7 + 40 * (seed as usize % 2)) {
                    job.estimate = job.runtime * 0.75; // outruns it
                }
                let [remembering, asking] = both(&text, &jobs);
                assert!(remembering == asking, "{text}");
            }
        }
    }
}

/// Tests that caches change no result for arrays of equal jobs under conservative backfilling.
///
/// Other jobs come between the jobs of an array, and jobs end early, late, or take no time.
#[test]
fn nor_does_it_for_arrays_of_jobs() {
    let topology = Topology::flat(24).unwrap();
    let text = "machine = { topology = 'flat', processors = 24 }\nscheduler = 'conservative'";
    for seed in 0..16 {
        let mut jobs = random_jobs(&topology, 400, 6.0, seed);
        let size = [3, 17, 60][seed as usize % 3];
        for array in jobs.chunks_mut(size) {
            let (first, rest) = array.split_first_mut().unwrap();
            // All jobs of an array have the same estimate, and most of them end sooner.
            first.estimate = first.estimate.max(1.0) * 4.0;
            for job in rest.iter_mut().filter(|job| job.number % 11 != 3) {
                (job.request, job.arrival) = (first.request.clone(), first.arrival);
                job.estimate = first.estimate;
                job.runtime =
                    if job.number % 13 == 1 { 0.0 } else { job.runtime.min(job.estimate) };
            }
        }
        jobs.sort_by_key(|job| job.arrival);
        if seed % 4 == 3 {
            jobs[25].runtime = jobs[25].estimate * 1.5;
        }
        let [remembering, asking] = both(text, &jobs);
        assert!(remembering == asking, "{seed}");
    }
}

/// Compares schedules in which the job arrays of several users alternate.
///
/// So equal jobs form no long rows. Some jobs end late, so that the planned numbers of free nodes
/// become negative.
#[test]
fn nor_does_it_for_arrays_that_come_in_turns() {
    let topology = Topology::flat(24).unwrap();
    let text = "machine = { topology = 'flat', processors = 24 }\nscheduler = 'conservative'";
    for seed in 0..24 {
        let mut jobs = random_jobs(&topology, 400, 4.0 + (seed % 5) as f64, 100 + seed);
        let users = 1 + seed as usize % 4;
        let templates: Vec<Job> = jobs[..12 * users].to_vec();
        for (i, job) in jobs.iter_mut().enumerate() {
            // Each user has an array for a while, then another one; equal jobs come in pairs.
            let template = &templates[i / 2 % users + users * (i / 35 % 12)];
            job.request = template.request.clone();
            job.estimate = (template.estimate.max(1.0) * 4.0).round();
            let is_late = seed % 3 > 0 && i % [97, 23, 7][seed as usize % 3] == 5;
            job.runtime = if is_late { job.estimate * 1.25 } else { job.runtime.min(job.estimate) };
        }
        let [remembering, asking] = both(text, &jobs);
        assert!(remembering == asking, "{seed}");
    }
}

/// Compares the schedules of long arrays of equal jobs, many of which start at once.
///
/// Jobs that end late make the planned numbers of free nodes negative. In some cases few jobs end
/// late, in others many.
#[test]
fn nor_does_it_for_arrays_that_move_together() {
    let topology = Topology::flat(24).unwrap();
    let text = "machine = { topology = 'flat', processors = 24 }\nscheduler = 'conservative'";
    for seed in 0..48_usize {
        let mut jobs = random_jobs(&topology, 360, 6.0, 200 + seed as u64);
        let [size, late] = [[20, 45, 120][seed % 3], [usize::MAX, 61, 17, 5][seed % 4]];
        for (number, array) in jobs.chunks_mut(size).enumerate() {
            let first = array[0].clone();
            let estimate = (first.estimate.max(1.0) * 3.0).round();
            for (i, job) in array.iter_mut().enumerate().filter(|(i, _)| i % 40 != 39) {
                job.request = Request::Nodes([1, 2, 3, 7][(number + seed) % 4]);
                job.arrival = first.arrival + (seed % 5 * i / 10) as f64;
                job.estimate = estimate;
                let part = [0.25, 0.5, 1.0][i / 7 % 3];
                job.runtime = estimate * if i % late == 4 { 1.0 + 0.1 * part } else { part };
            }
        }
        jobs.sort_by_key(|job| job.arrival);
        let [remembering, asking] = both(text, &jobs);
        assert!(remembering == asking, "{seed}");
    }
}

/// Jobs of many shapes end at the same instant as others, early, or late.
#[test]
fn nor_does_it_in_long_queues() {
    for dims in ["[8, 8]", "[8, 4, 4]"] {
        for kind in ["mesh", "torus"] {
            let sides: Vec<u32> =
                dims.trim_matches(['[', ']']).split(", ").map(|s| s.parse().unwrap()).collect();
            let topology = Topology::mesh(&sides).unwrap();
            for rotation in ["never", "if_needed"] {
                for scheduler in ["easy", "conservative", "window", "reservation", "lazy"] {
                    let text = format!(
                        "machine = {{ topology = '{kind}', dims = {dims} }}\nscheduler = '{scheduler}'
                         allocator = {{ name = 'first_fit', rotation = '{rotation}' }}"
                    );
                    let mut jobs = random_jobs(&topology, 150, 12.0, 7);
                    for job in jobs.iter_mut().step_by(9) {
                        job.estimate = job.runtime * 0.75; // outruns it
                    }
                    let [remembering, asking] = both(&text, &jobs);
                    assert!(remembering == asking, "{text}");
                }
            }
        }
    }
}

/// Compares runs in which a large job fits only after many small jobs have ended, early or late.
#[test]
fn nor_does_it_where_many_small_jobs_run() {
    let topology = Topology::torus(&[8, 8, 4]).unwrap();
    for seed in 0..8_usize {
        for scheduler in ["'easy'", "'priority'", "'fair_share'"] {
            let text = format!(
                "machine = {{ topology = 'torus', dims = [8, 8, 4] }}\nscheduler = {scheduler}"
            );
            let mut jobs = random_jobs(&topology, 500, 20.0, 300 + seed as u64);
            for (i, job) in jobs.iter_mut().enumerate() {
                if i % 15 != 7 {
                    job.request = Request::block([&[1, 1, 1], &[2, 1, 1], &[2, 2, 1]][i % 3]);
                }
                let outruns = i % [1000, 40, 7][seed % 3] == 3;
                job.estimate =
                    job.runtime.max(1.0) * if outruns { 0.75 } else { 1.0 + (i % 4) as f64 };
            }
            let [remembering, asking] = both(&text, &jobs);
            assert!(remembering == asking, "{seed}: {text}");
        }
    }
}

/// Tests late jobs: they keep their nodes, so reservations of these nodes overlap later ones.
///
/// Few or many jobs are late, by little or by much, while most end early.
#[test]
fn nor_does_it_while_jobs_are_late() {
    for seed in 0..48 {
        let sides = [[6, 4, 1], [9, 5, 1], [4, 3, 3]][seed as usize % 3];
        let topology = Topology::torus(&sides).unwrap();
        let rotation = ["never", "if_needed"][seed as usize / 3 % 2];
        let text = format!(
            "machine = {{ topology = 'torus', dims = {sides:?} }}\nscheduler = 'conservative'
             allocator = {{ name = 'first_fit', rotation = '{rotation}' }}"
        );
        let load = [2.0, 6.0][seed as usize / 6 % 2];
        let mut jobs = random_jobs(&topology, 130, load, seed);
        let (each, outrun) =
            ([3, 9, 31][seed as usize % 5 % 3], [1.01, 1.5, 4.0][seed as usize % 7 % 3]);
        for job in jobs.iter_mut().step_by(each) {
            job.runtime = job.estimate * outrun;
        }
        let [remembering, asking] = both(&text, &jobs);
        assert!(remembering == asking, "{seed}: {text}");
    }
}

/// Scheduler `reservation` with `bypass_limit = 0`, but without shortcuts.
///
/// It tries every job, even if the job needs more nodes than are free and not reserved.
struct AskingEveryone {
    most: usize,
    reserved: Vec<(Ticket, Reservation)>,
}

impl AskingEveryone {
    fn kept(&self, but: Ticket) -> Vec<(usize, &Placement)> {
        let others = self.reserved.iter().filter(|(owner, _)| *owner != but);
        let kept = others.map(|(_, reservation)| match &reservation.hold {
            Hold::Nodes(placement) => (reservation.site, placement),
            Hold::Count(_) => panic!("processors are kept, and no count of them"),
        });
        kept.collect()
    }
}

impl Scheduler for AskingEveryone {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        let (mut next, mut place) = (cluster.head(), 0);
        while let Some(ticket) = next {
            next = if place < self.most {
                cluster.after(ticket)
            } else {
                cluster.next_startable(ticket)
            };
            place += 1;
            let own = self.reserved.iter().position(|(owner, _)| *owner == ticket);
            let promised = own.map(|own| Place::Promised(&self.reserved[own].1));
            if promised.is_some_and(|place| cluster.start(ticket, StartOptions::at(place)))
                || cluster.start(ticket, StartOptions::clear_of(&self.kept(ticket)))
            {
                own.map(|own| self.reserved.remove(own));
                continue;
            }
            let held = self.reserved.len();
            if own.is_none() && held < self.most && cluster.waiting().nth(held) == Some(ticket) {
                let reservation = cluster.least_busy(ticket, &self.kept(ticket));
                self.reserved.extend(reservation.map(|reservation| (ticket, reservation)));
            }
        }
    }
}

/// Tests that `reservation` may skip each job that needs more nodes than are free and unreserved.
///
/// Its starts must equal those of a scheduler that tries every job.
#[test]
fn reservations_of_counts_are_those_of_who_asks_everyone() {
    let topology = Topology::flat(40).unwrap();
    for seed in 0..12 {
        for (most, allocator) in [(1, "naive"), (3, "random"), (10, "naive")] {
            let text = format!(
                "machine = {{ topology = 'flat', processors = 40 }}\nallocator = '{allocator}'
                 scheduler = {{ name = 'reservation', reservations = {most} }}"
            );
            let scenario = scenario(&text);
            let jobs = random_jobs(&topology, 300, 3.0 + seed as f64, seed);
            let [counting, asking] = [false, true].map(|asks_everyone| {
                let mut setup = scenario.setup(0).unwrap();
                if asks_everyone {
                    setup.scheduler = Box::new(AskingEveryone { most, reserved: Vec::new() });
                }
                let mut transcript = Transcript::default();
                simulate(setup, submissions(jobs.clone()), &mut transcript).unwrap();
                transcript.text
            });
            assert!(counting == asking, "{text}\n{counting}\n---\n{asking}");
        }
    }
}
