//! Tests of access rules: partitions of a machine, and advance reservations of nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::common::{
    SITES, allocators_on, job, machines, observed, random_jobs, run, scenario,
    schedulers_for_all_wirings, watched,
};
use meshwork::job::{Job, Owner, Request, Time};
use meshwork::observe::{Event, JobId, Observer};
use meshwork::scenario::Scenario;
use meshwork::topology::{Node, Topology};

/// Observer that checks the invariants of every run with access rules.
///
/// No job starts outside its partition. No job starts on nodes that are reserved for other users
/// before the job's estimated end. If estimates are exact, no job starts later than promised.
struct Warden {
    topologies: Vec<Topology>,
    partitions: BTreeMap<&'static str, BTreeSet<(usize, Node)>>,
    windows: Vec<Window>,
    promises: Option<BTreeMap<JobId, Time>>,
    kept: u64,
    started: u64,
}

struct Window {
    from: f64,
    until: f64,
    nodes: BTreeSet<(usize, Node)>,
    users: &'static [&'static str],
}

impl Observer for Warden {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        match event {
            Event::Promised(id, by) => {
                if let Some(promises) = &mut self.promises {
                    promises.entry(*id).or_insert(*by);
                }
            }
            Event::Started(run) => {
                let grid = self.topologies[run.site].grid();
                let nodes: Vec<_> =
                    run.placement.nodes(grid).into_iter().map(|node| (run.site, node)).collect();
                let owner = run.job.owner.as_deref().unwrap();
                if let Some(name) = owner.partition.as_deref() {
                    let partition = &self.partitions[name];
                    for at in &nodes {
                        assert!(partition.contains(at), "job {} of {name} on {at:?}", run.id.0);
                    }
                }
                let (start, end) = (now.units(), run.expected_end.units());
                for window in &self.windows {
                    let is_theirs =
                        owner.user.as_deref().is_some_and(|user| window.users.contains(&user));
                    let meets = start < window.until && window.from < end.max(start.next_up());
                    let is_in = nodes.iter().any(|at| window.nodes.contains(at));
                    assert!(is_theirs || !meets || !is_in, "job {} at {start}", run.id.0);
                }
                self.started += 1;
                if let Some(by) = self.promises.as_ref().and_then(|all| all.get(&run.id)) {
                    assert!(now <= *by, "job {} was promised {by}, not {now}", run.id.0);
                    self.kept += 1;
                }
            }
            _ => {}
        }
    }
}

fn range(site: usize, from: u32, to: u32) -> BTreeSet<(usize, Node)> {
    (from..to).map(|node| (site, node)).collect()
}

/// Random jobs of four users, each in one of three partitions or in none.
fn owned_jobs(topology: &Topology, count: usize, load: f64, seed: u64) -> Vec<Job> {
    let mut jobs = random_jobs(topology, count, load, seed);
    for (index, job) in jobs.iter_mut().enumerate() {
        let partition = ["left", "right", "any", ""][(index * 7 + index / 5) % 4];
        let user = ["ann", "bob", "cem", "dee"][(index * 3 + index / 7) % 4];
        job.owner = Some(Arc::new(Owner {
            user: Some(user.to_owned()),
            partition: Some(partition.to_owned()).filter(|name| !name.is_empty()),
            ..Owner::default()
        }));
    }
    jobs
}

/// TOML keys for two overlapping partitions, and a third partition with all nodes.
///
/// If `windows` is set, they also state advance reservations.
fn apart(nodes: u32, windows: bool) -> String {
    let (third, half) = (nodes / 3, nodes / 2 + 1);
    let reservations = format!(
        ", reservations = [
            {{ from = 9.5, until = 21, nodes = '0-{third}', users = ['ann', 'bob'] }},
            {{ from = 18, until = 30.25, nodes = '{half}', users = ['cem'] }},
            {{ name = 'all', from = 44, until = 47, users = ['dee'] }} ]"
    );
    format!(
        "partitions = [ {{ name = 'left', nodes = '0-{}' }}, {{ name = 'right', nodes = '{third}-{}' }},
                        {{ name = 'any' }} ]{}",
        half - 1,
        nodes - 1,
        if windows { &reservations } else { "" }
    )
}

fn warden(study: &Scenario, nodes: u32, windows: bool, promises: bool) -> Warden {
    let (third, half) = (nodes / 3, nodes / 2 + 1);
    let all = range(0, 0, nodes);
    let partitions =
        [("left", range(0, 0, half)), ("right", range(0, third, nodes)), ("any", all.clone())];
    let windows = [
        Window { from: 9.5, until: 21.0, nodes: range(0, 0, third + 1), users: &["ann", "bob"] },
        Window { from: 18.0, until: 30.25, nodes: range(0, half, half + 1), users: &["cem"] },
        Window { from: 44.0, until: 47.0, nodes: all, users: &["dee"] },
    ]
    .into_iter()
    .filter(|_| windows);
    Warden {
        topologies: study.topologies(),
        partitions: partitions.into(),
        windows: windows.collect(),
        promises: promises.then(BTreeMap::new),
        kept: 0,
        started: 0,
    }
}

/// Runs all schedulers that do not resize jobs, with a few allocators on machines of every wiring.
#[test]
fn nobody_runs_where_he_may_not() {
    let (mut finished, mut kept) = (0, 0);
    for (machine, topology) in machines() {
        let nodes = topology.nodes();
        let allocators = allocators_on(&topology, 9);
        for scheduler in schedulers_for_all_wirings() {
            for (index, allocator) in allocators.iter().enumerate() {
                let windows = index % 2 == 1;
                let text = format!(
                    "machine = {{ {machine}, {} }}\nallocator = '{allocator}'\nscheduler = '{}'
                     workload = {{ name = 'swf', path = 'none.swf' }}",
                    apart(nodes, windows),
                    scheduler.about.name
                );
                let study = scenario(&text);
                let mut jobs = owned_jobs(&topology, 80, 3.0, 5);
                jobs.iter_mut().for_each(|job| job.estimate = job.runtime);
                let warden = warden(&study, nodes, windows, scheduler.plans);
                let (outcome, warden) = observed(&study, jobs.clone(), warden);
                if scheduler.serves_all {
                    assert_eq!(outcome.finished + outcome.refused, 80, "{text}");
                }
                assert!(warden.started > 10 || !scheduler.serves_all, "{text}");
                finished += outcome.finished;
                kept += warden.kept;
                assert_eq!(run(&study, jobs.clone()).1, run(&study, jobs).1, "{text}: twice");
            }
        }
    }
    assert!(finished > 3000 && kept > 800, "{finished} {kept}");
}

#[test]
fn estimates_may_be_wrong() {
    for (machine, topology) in machines().into_iter().step_by(3) {
        let nodes = topology.nodes();
        for scheduler in schedulers_for_all_wirings() {
            for windows in [false, true] {
                let text = format!(
                    "machine = {{ {machine}, {} }}\nscheduler = '{}'
                     workload = {{ name = 'swf', path = 'none.swf' }}",
                    apart(nodes, windows),
                    scheduler.about.name
                );
                let study = scenario(&text);
                let mut jobs = owned_jobs(&topology, 100, 3.0, 9);
                for (index, job) in jobs.iter_mut().enumerate() {
                    if index % 5 == 0 {
                        job.estimate = job.runtime * 0.5;
                    }
                }
                let warden = warden(&study, nodes, windows, false);
                let (outcome, _) = observed(&study, jobs, warden);
                if scheduler.serves_all {
                    assert_eq!(outcome.finished + outcome.refused, 100, "{text}");
                }
            }
        }
    }
}

#[test]
fn what_keeps_nothing_from_anyone_changes_nothing() {
    for (machine, topology) in machines() {
        for scheduler in schedulers_for_all_wirings() {
            let scheduler = scheduler.about.name;
            let mut jobs = random_jobs(&topology, 100, 3.0, 7);
            jobs.iter_mut().for_each(|job| job.arrival = job.arrival + 10.0);
            let (outcome, transcript) = run(
                &scenario(&format!("machine = {{ {machine} }}\nscheduler = '{scheduler}'")),
                jobs.clone(),
            );
            for more in [
                "partitions = [ { name = 'all', default = true } ]",
                "reservations = [ { from = 1, until = 9, users = ['ann'] } ]",
            ] {
                let text = format!("machine = {{ {machine}, {more} }}\nscheduler = '{scheduler}'");
                let (other, other_transcript) = run(&scenario(&text), jobs.clone());
                assert!(transcript == other_transcript, "{text}");
                assert_eq!(outcome, other, "{text}");
            }
        }
    }
}

/// Without reservations, jobs in a partition start as on a machine of the partition's size.
///
/// Schedulers with reservations may start jobs otherwise. In a partition they plan with sets of
/// nodes, but on a separate machine with counts of nodes.
#[test]
fn a_partition_is_a_machine_of_its_size() {
    let both = "machine = { topology = 'flat', processors = 14,
                            partitions = [ { name = 'left', nodes = '0-5' }, { name = 'right', nodes = '6-13' } ] }
                workload = { name = 'swf', path = 'none.swf' }";
    let small = Topology::flat(6).unwrap();
    for scheduler in ["fcfs", "sjf", "window", "scan"] {
        for seed in 0..3 {
            let mut jobs: Vec<Job> = random_jobs(&small, 100, 3.0, seed)
                .into_iter()
                .map(|job| Job { request: Request::Nodes(job.request.nodes() as u32), ..job })
                .collect();
            let alone = scenario(&format!(
                "machine = {{ topology = 'flat', processors = 6 }}\nscheduler = '{scheduler}'"
            ));
            let (_, expected) = run(&alone, jobs.clone());
            for job in &mut jobs {
                let partition = Some("left".to_owned());
                job.owner = Some(Arc::new(Owner { partition, ..Owner::default() }));
            }
            let (_, transcript) =
                run(&scenario(&format!("{both}\nscheduler = '{scheduler}'")), jobs);
            let started = |text: &str| -> Vec<String> {
                let starts = text.lines().filter(|line| line.contains("started"));
                starts.map(|line| line.split(" site").next().unwrap().to_owned()).collect()
            };
            assert_eq!(started(&transcript), started(&expected), "{scheduler} with seed {seed}");
        }
    }
}

#[test]
fn sites_have_partitions_together() {
    for scheduler in schedulers_for_all_wirings() {
        let machine = SITES.replacen(
            "machine = {",
            "machine = { partitions = [ { name = 'some', nodes = '2-8', default = true } ], ",
            1,
        );
        assert!(machine.contains("partitions"), "{SITES}");
        let study = scenario(&format!("{machine}\nscheduler = '{}'", scheduler.about.name));
        let topologies = study.topologies();
        let sites: Vec<u32> = topologies.iter().map(Topology::nodes).collect();
        let jobs = random_jobs(&Topology::flat(5).unwrap(), 60, 6.0, 1);
        let mut started = 0;
        watched(&study, jobs, |_, event| {
            if let Event::Started(run) = event {
                let before: u32 = sites[..run.site].iter().sum();
                for node in run.placement.nodes(topologies[run.site].grid()) {
                    assert!((2..=8).contains(&(before + node)));
                }
                started += 1;
            }
        });
        assert!(started > 10, "{}", scheduler.about.name);
    }
}

fn of(user: &str, partition: &str, arrival: f64, nodes: u32, runtime: f64) -> Job {
    let name = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let owner = Owner { user: name(user), partition: name(partition), ..Owner::default() };
    Job { owner: Some(Arc::new(owner)), ..job(arrival, Request::Nodes(nodes), runtime) }
}

fn says(transcript: &str, lines: &[&str]) {
    for line in lines {
        assert!(transcript.lines().any(|told| told.starts_with(line)), "{line}:\n{transcript}");
    }
}

#[test]
fn limits_by_hand() {
    let study = scenario(
        "machine = { topology = 'flat', processors = 8, partitions = [
            { name = 'debug', nodes = '0-3', max_nodes = 2, max_time = 10, default = true },
            { name = 'batch', nodes = '2-7' } ] }",
    );
    let jobs = vec![
        of("", "debug", 0.0, 2, 10.0),
        of("", "debug", 0.0, 3, 1.0),
        of("", "debug", 0.0, 1, 11.0),
        of("", "", 0.0, 2, 4.0),
        of("", "batch", 0.0, 7, 1.0),
        of("", "batch", 0.0, 4, 50.0),
        of("", "night", 0.0, 1, 1.0),
    ];
    let (outcome, transcript) = run(&study, jobs);
    says(
        &transcript,
        &[
            "0 started 0 ",
            "0 refused 1 ",
            "0 refused 2 ",
            "0 started 3 ",
            "0 refused 4 ",
            "0 started 5 ",
            "0 refused 6 ",
        ],
    );
    assert_eq!((outcome.finished, outcome.refused), (3, 4));
}

/// Machine of four nodes, two of which are reserved for the user Ann from 10 to 20.
#[test]
fn a_reservation_by_hand() {
    let study = |scheduler: &str| {
        scenario(&format!(
            "machine = {{ topology = 'flat', processors = 4, reservations = [
                {{ name = 'course', from = 10, until = 20, nodes = '0-1', users = ['ann', 'cem'] }} ] }}
             scheduler = '{scheduler}'"
        ))
    };
    // Bob's job of all nodes would run into the reservation. It starts when the reservation ends,
    // although nothing else happens then. His job of two nodes is not backfilled, because it would
    // delay the first job. It starts when that job ends.
    let bobs = vec![of("bob", "", 6.0, 4, 5.0), of("bob", "", 7.0, 2, 20.0)];
    let (_, transcript) = run(&study("fcfs"), bobs[..1].to_vec());
    says(&transcript, &["20 started 0 "]);
    let (_, transcript) = run(&study("easy"), bobs);
    says(&transcript, &["6 promised 0 20", "20 started 0 ", "25 started 1 "]);
    let small =
        vec![of("bob", "", 6.0, 2, 50.0), of("bob", "", 7.0, 2, 3.0), of("bob", "", 8.0, 1, 3.0)];
    let (_, transcript) = run(&study("fcfs"), small);
    // The first job gets the nodes that are not reserved. The second ends as the reservation
    // begins. The third would run into the reservation, and waits until it ends.
    says(&transcript, &["6 started 0 ", "7 started 1 ", "20 started 2 "]);
    // Ann's job may start on the reserved nodes during the reservation, although Bob's job came
    // first. Cem's job may still run when the reservation ends.
    let both =
        vec![of("bob", "", 12.0, 4, 1.0), of("ann", "", 13.0, 2, 5.0), of("cem", "", 18.0, 2, 9.0)];
    let (_, transcript) = run(&study("easy"), both);
    says(&transcript, &["12 promised 0 20", "13 started 1 ", "20 started 0 ", "21 started 2 "]);
    // A job that outruns its estimate keeps its nodes.
    let mut late = vec![of("bob", "", 6.0, 4, 8.0), of("ann", "", 11.0, 2, 1.0)];
    late[0].estimate = 4.0;
    let (_, transcript) = run(&study("easy"), late);
    says(&transcript, &["6 started 0 ", "14 started 1 "]);
}

#[test]
fn what_is_wrong_is_said_in_a_sentence() {
    for (more, rest, part) in [
        ("partitions = [ { nodes = '0-3' } ]", "", "`machine.partitions[0].name` is missing"),
        (
            "partitions = [ { name = 'a', nodes = '9-12', default = true } ]",
            "",
            "`machine.partitions[0].nodes` names node 12, but the machine has the nodes 0 to 11",
        ),
        (
            "partitions = [ { name = 'a', nodes = '20-30', default = true } ]",
            "",
            "names node 30, but the machine has the nodes 0 to 11",
        ),
        (
            "partitions = [ { name = 'a', nodes = '0,3:2x2', default = true } ]",
            "",
            "the block 0,3:2x2, which does not lie on the 4 × 3 mesh",
        ),
        ("partitions = [ { name = 'a' }, { name = 'a' } ]", "", "there are two partitions \"a\""),
        (
            "partitions = [ { name = 'a', default = true }, { name = 'b', default = true } ]",
            "",
            "but another partition is the default already",
        ),
        (
            "partitions = [ { name = 'a', max_nodes = 0 } ]",
            "",
            "`machine.partitions[0].max_nodes` is 0, but must be",
        ),
        (
            "partitions = [ { name = 'a', max_time = -3 } ]",
            "",
            "`machine.partitions[0].max_time` is -3",
        ),
        ("partitions = [ { name = 'a' } ]", "", "the jobs of the workload `lublin` name none"),
        (
            "partitions = [ { name = 'a', default = true } ]",
            "scheduler = 'equipartition'",
            "the scheduler `equipartition` divides the whole machine",
        ),
        (
            "reservations = [ { from = 5, until = 4, users = ['a'] } ]",
            "",
            "`machine.reservations[0].until` is 4, but must be after 5",
        ),
        (
            "reservations = [ { from = 5, until = 9 } ]",
            "",
            "`machine.reservations[0].users` is missing",
        ),
        (
            "reservations = [ { from = 5, until = 9, users = [7] } ]",
            "",
            "must be a list of texts in quotes",
        ),
        (
            "reservations = [ { from = 5, until = 9, users = ['a'], nodes = '12' } ]",
            "",
            "names node 12",
        ),
        ("partition = [ { name = 'a' } ]", "", "unknown key `partition`"),
    ] {
        let text = format!(
            "machine = {{ topology = 'mesh', dims = [4, 3], {more} }}\nworkload = {{ name = 'lublin', jobs = 10 }}\n{rest}"
        );
        let refused = Scenario::read(&text.parse().unwrap()).unwrap_err();
        assert!(refused.message.contains(part), "{text}: {refused}");
    }
    // The printed form can be read again.
    let study = scenario(
        "machine = { topology = 'mesh', dims = [4, 3], partitions = [ { name = 'a', default = true, nodes = '0,0:2x3' } ],
                     reservations = [ { from = 5, until = 9, users = ['a'] } ] }",
    );
    assert_eq!(Scenario::read(study.table()).unwrap().table(), study.table());
}
