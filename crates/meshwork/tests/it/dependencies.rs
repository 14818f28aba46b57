//! Tests of jobs with predecessors: they are submitted only when their predecessors have ended.
//!
//! Their submission times are checked under every scheduler, and compared with a schedule made by
//! hand.

use std::collections::BTreeMap;

use crate::common::{Given, SITES, Transcript, machines, read, refusal};
use meshwork::job::{Job, Owner, Time};
use meshwork::observe::recorder::{OwnerAttribute, OwnerClass};
use meshwork::observe::{Event, Observer};
use meshwork::rng::Stream;
use meshwork::scenario::{Outcome, Scenario};
use meshwork::sched::SCHEDULERS;
use meshwork::workload::Submission;
use meshwork::workload::table::Row;

/// Scenario of 8 flat processors; the arguments are further keys of the workload and the study.
fn flat(workload: &str, more: &str) -> Scenario {
    read(&format!(
        "machine = {{ topology = 'flat', processors = 8 }}\n{more}\n\
         [workload]\nname = 'table'\npath = 'jobs.csv'\n{workload}"
    ))
}

/// Submissions, starts and ends by job number. A job that never ran ends when it is refused.
#[derive(Default)]
struct Course {
    submitted: BTreeMap<u64, Vec<f64>>,
    started: BTreeMap<u64, Vec<f64>>,
    ended: BTreeMap<u64, Vec<f64>>,
}

impl Observer for Course {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        let now = now.units();
        let note = |times: &mut BTreeMap<u64, Vec<f64>>, job: &Job| {
            times.entry(job.number).or_default().push(now);
        };
        match event {
            Event::Arrived(_, job) => {
                assert_eq!(job.arrival.units().total_cmp(&now), std::cmp::Ordering::Equal);
                note(&mut self.submitted, job);
            }
            Event::Refused(_, job) => {
                note(&mut self.submitted, job);
                note(&mut self.ended, job);
            }
            Event::TurnedAway(_, job) => note(&mut self.ended, job),
            Event::Started(run) => note(&mut self.started, &run.job),
            Event::Finished(run) => note(&mut self.ended, &run.job),
            _ => {}
        }
    }
}

fn course(scenario: &Scenario, given: &Given) -> Course {
    let mut course = Course::default();
    scenario.run(0, given, &mut course).unwrap_or_else(|error| panic!("{error}"));
    course
}

/// Random jobs, of which about half have a predecessor. Sometimes the predecessor does not exist.
///
/// Times are multiples of a tenth, so that several events often share an instant.
fn rows(count: u64, nodes: u64, seed: u64) -> Vec<Row> {
    let mut stream = Stream::new(seed, 0, "dependencies");
    let mut submit = 0.0;
    (0..count)
        .map(|i| {
            submit += stream.below(30) as f64 * 0.1;
            // Most ask for few nodes, some for more than exist.
            let nodes = if stream.below(20) == 0 { 1000 } else { 1 + stream.below(nodes) };
            let follows = match stream.below(8) {
                0..4 if i > 0 => Some(10 + 3 * stream.below(i)),
                4 => Some(7),
                _ => None,
            };
            let runtime = stream.below(60) as f64 * 0.1;
            Row {
                line: i + 2,
                job: Some(10 + 3 * i),
                submit: Some(submit.into()),
                runtime: Some(runtime),
                estimate: Some(runtime + stream.below(3) as f64),
                nodes: Some(nodes as u32),
                after: follows,
                think: Some(stream.below(4) as f64 * 0.7),
                ..Row::default()
            }
        })
        .collect()
}

/// Checks submission and start of each job.
///
/// A job is submitted when its predecessor has ended and the think time has passed.
fn check(rows: &[Row], course: &Course, held: bool, all: bool, what: &str) {
    let mut followed = 0;
    for row in rows {
        let number = row.job.unwrap();
        let Some(submitted) = course.submitted.get(&number) else {
            assert!(!all, "{what}: job {number} was never submitted");
            continue;
        };
        let log = row.submit.unwrap().at;
        let lead = row.after.filter(|&lead| (lead - 1) % 3 == 0 && lead > 9);
        let expected = match lead {
            Some(lead) => {
                followed += 1;
                let due = course.ended[&lead][0] + row.think.unwrap();
                if held { due.max(log) } else { due }
            }
            None => log,
        };
        assert!((submitted[0] - expected).abs() < 1e-12, "{what}: job {number}");
        if let Some(start) = course.started.get(&number) {
            assert!(start[0] >= expected, "{what}: job {number}");
        }
        assert!(!all || course.ended.contains_key(&number), "{what}: job {number} never ends");
    }
    assert!(!all || followed > rows.len() / 4, "{what}: {followed} followed others");
}

#[test]
fn no_job_starts_before_the_end_of_the_one_it_follows_and_the_think_time() {
    let mut tried = 0;
    let one = |(machine, _)| format!("machine = {{ {machine} }}");
    let sites: Vec<String> = machines().into_iter().map(one).chain([SITES.to_owned()]).collect();
    for (at, site) in sites.iter().enumerate() {
        let machine: toml::Table = site.parse().unwrap();
        for scheduler in SCHEDULERS {
            for (replay, passes) in
                [("closed", "instant"), ("held", "instant"), ("closed", "event")]
            {
                let mut table: toml::Table = format!(
                    "passes = '{passes}'\nscheduler = '{}'\n[workload]\nname = 'table'\npath = 'x'\n\
                     dependencies = {{ of = 'log', replay = '{replay}' }}",
                    scheduler.about.name
                )
                .parse()
                .unwrap();
                table.extend(machine.clone());
                let Ok(scenario) = Scenario::read(&table) else { continue };
                let given = Given { rows: rows(150, 6, at as u64), ..Given::default() };
                let course = course(&scenario, &given);
                let what = format!("{} on {site}, {replay}, {passes}", scheduler.about.name);
                check(&given.rows, &course, replay == "held", scheduler.serves_all, &what);
                tried += 1;
            }
        }
    }
    assert!(tried > 200, "{tried}");
}

/// Submissions and starts under first come, first served on 8 processors, instant by instant.
fn by_hand(rows: &[Row], held: bool) -> BTreeMap<u64, (f64, Option<f64>)> {
    let number = |row: &Row| row.job.unwrap();
    let submit = |row: &Row| row.submit.unwrap().at;
    let there = |lead: u64| rows.iter().any(|row| number(row) == lead);
    let lead = |row: &Row| row.after.filter(|&lead| there(lead));
    let mut order: Vec<&Row> = rows.iter().collect();
    order.sort_by(|a, b| submit(a).total_cmp(&submit(b)));
    // Jobs still to be submitted, with the time if it is known.
    let mut to_come: Vec<(&Row, Option<f64>)> =
        order.iter().map(|row| (*row, lead(row).is_none().then(|| submit(row)))).collect();
    let (mut queue, mut running): (Vec<&Row>, Vec<(f64, &Row)>) = (Vec::new(), Vec::new());
    let mut seen = BTreeMap::new();
    let mut free = 8;
    loop {
        let ends = running.iter().map(|(end, _)| *end);
        let Some(now) = ends.chain(to_come.iter().filter_map(|(_, at)| *at)).min_by(f64::total_cmp)
        else {
            return seen;
        };
        let release = |to_come: &mut Vec<(&Row, Option<f64>)>, of: u64| {
            for (row, at) in to_come.iter_mut().filter(|(row, _)| lead(row) == Some(of)) {
                let due = now + row.think.unwrap();
                *at = Some(if held { due.max(submit(row)) } else { due });
            }
        };
        for (_, row) in running.extract_if(.., |(end, _)| *end <= now).collect::<Vec<_>>() {
            free += row.nodes.unwrap();
            release(&mut to_come, number(row));
        }
        // Jobs of the log come before dependent ones; a refused job may release others at once.
        while let Some(place) = [false, true].iter().find_map(|follows| {
            to_come.iter().position(|(row, at)| *at == Some(now) && lead(row).is_some() == *follows)
        }) {
            let (row, _) = to_come.remove(place);
            seen.insert(number(row), (now, None));
            if row.nodes.unwrap() > 8 {
                release(&mut to_come, number(row));
            } else {
                queue.push(row);
            }
        }
        while let Some(head) = queue.first()
            && head.nodes.unwrap() <= free
        {
            free -= head.nodes.unwrap();
            seen.get_mut(&number(head)).unwrap().1 = Some(now);
            running.push((now + head.runtime.unwrap(), queue.remove(0)));
        }
    }
}

#[test]
fn first_come_first_served_is_as_worked_out_by_hand() {
    for seed in 0..40 {
        for replay in ["closed", "held"] {
            let given = Given { rows: rows(80, 8, 100 + seed), ..Given::default() };
            let keys = format!("dependencies = {{ of = 'log', replay = '{replay}' }}");
            let course = course(&flat(&keys, ""), &given);
            let expected = by_hand(&given.rows, replay == "held");
            assert_eq!(expected.len(), 80);
            for (number, (submitted, started)) in expected {
                assert_eq!(course.submitted[&number], [submitted], "{seed} {replay} {number}");
                let own = course.started.get(&number).map(|starts| starts[0]);
                assert_eq!(own, started, "{seed} {replay} {number}");
            }
        }
    }
}

fn transcript(scenario: &Scenario, given: &Given) -> (Outcome, String) {
    let mut transcript = Transcript::default();
    let outcome = scenario.run(0, given, &mut transcript).unwrap();
    (outcome, transcript.text)
}

#[test]
fn where_no_job_follows_another_a_replay_is_open() {
    let mut rows = rows(200, 8, 5);
    rows.iter_mut().for_each(|row| row.after = row.after.filter(|&lead| lead < 10));
    assert!(rows.iter().any(|row| row.after.is_some()), "some follow jobs that are not there");
    let given = Given { rows, ..Given::default() };
    let open = transcript(&flat("", ""), &given);
    for keys in ["'none'", "'log'", "{ of = 'log', replay = 'held' }", "'user'"] {
        assert_eq!(transcript(&flat(&format!("dependencies = {keys}"), ""), &given), open);
    }
}

/// Row of a table of jobs, with an optional predecessor and the think time after this predecessor.
fn row(job: u64, submit: f64, runtime: f64, nodes: f64, follows: Option<(u64, f64)>) -> Row {
    Row {
        job: Some(job),
        submit: Some(submit.into()),
        runtime: Some(runtime),
        nodes: Some(nodes as u32),
        after: follows.map(|(lead, _)| lead),
        think: follows.map(|(_, think)| think),
        ..Row::default()
    }
}

#[test]
fn jobs_that_wait_for_one_another_are_refused_by_their_numbers() {
    let sentence = |pairs: &[(u64, u64)]| {
        let mut rows = vec![row(1, 0.0, 1.0, 1.0, None)];
        rows.extend(pairs.iter().map(|&(job, lead)| row(job, 1.0, 1.0, 1.0, Some((lead, 0.0)))));
        let scenario = flat("dependencies = 'log'", "");
        let given = Given { rows, ..Given::default() };
        scenario.run(0, &given, &mut ()).unwrap_err().to_string()
    };
    let begin = "`workload.dependencies` is given, but";
    assert_eq!(sentence(&[(2, 1), (3, 3)]), format!("{begin} job 3 follows itself"));
    assert_eq!(
        sentence(&[(2, 1), (5, 4), (4, 6), (6, 5), (7, 6)]),
        format!("{begin} job 4 follows job 6 follows job 5 follows job 4")
    );
    let ring: Vec<(u64, u64)> =
        (10..30).map(|job| (job, if job == 29 { 10 } else { job + 1 })).collect();
    assert_eq!(
        sentence(&ring),
        format!(
            "{begin} job 10 follows job 11 follows job 12 and so on: 20 jobs follow one another in a circle"
        )
    );
}

#[test]
fn a_job_follows_all_parts_of_one_that_is_split() {
    // A request of 6 processors is split into two parts of 3. On 8 processors both parts can start
    // at once, but beside a job of 4 they start one after the other.
    let rows = vec![
        row(1, 0.0, 10.0, 4.0, None),
        row(2, 0.0, 2.0, 6.0, None),
        row(3, 0.0, 1.0, 1.0, Some((2, 5.0))),
    ];
    let given = Given { rows, ..Given::default() };
    let course = course(&flat("split_above = 0.4\ndependencies = 'log'", ""), &given);
    // The first job is split into parts of 3 and 1, the second into two parts of 3. Three of these
    // parts (3 + 1 + 3) run at once, and the last part of 3 waits.
    assert_eq!(course.ended[&2], [2.0, 4.0]);
    assert_eq!(course.submitted[&3], [9.0]);
}

#[test]
fn a_job_whose_lead_is_cut_off_comes_as_in_the_log() {
    let rows = vec![
        row(1, 0.0, 10.0, 4.0, None),
        row(2, 20.0, 2.0, 6.0, Some((1, 90.0))),
        row(3, 30.0, 2.0, 6.0, Some((2, 3.0))),
    ];
    let given = Given { rows, ..Given::default() };
    let all = course(&flat("dependencies = 'log'", ""), &given);
    assert_eq!((all.submitted[&2][0], all.submitted[&3][0]), (100.0, 105.0));
    let cut = course(&flat("from = 5\ndependencies = 'log'", ""), &given);
    assert_eq!((cut.submitted[&2][0], cut.submitted[&3][0]), (20.0, 25.0));
    let scaled =
        course(&flat("arrival_scale = 2\nruntime_scale = 3\ndependencies = 'log'", ""), &given);
    // Job 1 ends at 30, and job 2 follows after 2 · 90. Job 2 runs for 6, and job 3 follows after 2
    // · 3.
    assert_eq!((scaled.submitted[&2][0], scaled.submitted[&3][0]), (210.0, 222.0));
}

#[test]
fn a_job_that_is_turned_away_releases_those_that_follow_it() {
    let mesh = "machine = { topology = 'mesh', dims = [4, 2] }\nscheduler = 'giving_up'\n\
                [workload]\nname = 'table'\npath = 'x'\ndependencies = 'log'";
    let block =
        |row: Row, sides: [u32; 2]| Row { nodes: None, block: Some(sides[..].into()), ..row };
    let rows = vec![
        block(row(1, 0.0, 10.0, 1.0, None), [4, 1]),
        block(row(2, 1.0, 2.0, 1.0, None), [4, 2]),
        row(3, 0.0, 1.0, 1.0, Some((2, 0.5))),
    ];
    let given = Given { rows, ..Given::default() };
    let course = course(&read(mesh), &given);
    assert!(!course.started.contains_key(&2));
    assert_eq!((course.ended[&2][0], course.submitted[&3][0]), (1.0, 1.5));
}

#[test]
fn an_interrupted_job_releases_nobody_before_its_end() {
    // The only node fails at 4 for 3 units: the job restarts at 7 and ends at 17.
    let scenario = read(
        "machine = { topology = 'flat', processors = 1 }\nfailures = { trace = 'down.csv' }\n\
         [workload]\nname = 'table'\npath = 'x'\ndependencies = 'log'",
    );
    let rows = vec![row(1, 0.0, 10.0, 1.0, None), row(2, 0.0, 1.0, 1.0, Some((1, 2.0)))];
    let course = course(&scenario, &Given { rows, text: "node,down,up\n0,4,7\n" });
    assert_eq!((course.ended[&1][0], course.submitted[&2][0]), (17.0, 19.0));
}

/// An SWF log with one line for each item. An item gives job number, submission, wait, run time,
/// user, group, program, queue, partition, predecessor and think time.
const LOG: &str = "; Version: 2.2
1 0 50 100 4 -1 -1 4 -1 -1 1 7 2 70 1 5 -1 -1
2 200 0 100 4 -1 -1 4 -1 -1 1 7 2 -1 3 5 1 50
3 1500 0 100 4 -1 -1 4 -1 -1 1 7 3 -1 3 -1 2 -9
4 1500 0 100 4 -1 -1 4 -1 -1 1 8 3 8 -1 -1 0 -1
5 3000 0 100 4 -1 -1 4 -1 -1 1 7 2 -1 3 -1 -1 -1
";

fn of_log(keys: &str) -> Scenario {
    read(&format!(
        "machine = {{ topology = 'flat', processors = 8 }}\n\
         [workload]\nname = 'swf'\npath = 'log.swf'\n{keys}"
    ))
}

#[test]
fn fields_12_to_18_of_a_log() {
    let given = Given { text: LOG, ..Given::default() };
    let log = course(&of_log("dependencies = 'log'"), &given);
    // Job 2 follows the end of job 1 at 100 after 50. Job 3 follows the end of job 2 at 250 at
    // once, since its think time is negative. The other jobs arrive as in the log.
    let expected = [(1, 0.0), (2, 150.0), (3, 250.0), (4, 1500.0), (5, 3000.0)];
    for (number, at) in expected {
        assert_eq!(log.submitted[&number], [at]);
    }
    // In the log, the jobs end at 150, 300, 1600, 1600 and 3100. So the user's think times are 50
    // before the second job, 1200 before the third, and 1400 before the last.
    for (keys, expected) in [
        ("'user'", [0.0, 150.0, 1450.0, 1500.0, 3000.0]),
        ("{ of = 'user', session = 1400 }", [0.0, 150.0, 1450.0, 1500.0, 2950.0]),
        ("{ of = 'user', session = 1199 }", [0.0, 150.0, 1500.0, 1500.0, 3000.0]),
        ("{ of = 'user', replay = 'held' }", [0.0, 200.0, 1500.0, 1500.0, 3000.0]),
    ] {
        let of_users = course(&of_log(&format!("dependencies = {keys}")), &given);
        let submitted: Vec<f64> = of_users.submitted.values().map(|at| at[0]).collect();
        assert_eq!(submitted, expected, "{keys}");
    }
    let mut scenario = of_log("").table().clone();
    scenario["measure"] = toml::toml! {
        metrics = ["wait"]
        by_queue = true
        by_application = true
        by_partition = true
    }
    .into();
    let outcome = Scenario::read(&scenario).unwrap().run(0, &given, &mut ()).unwrap();
    let classes = |classes: &[OwnerClass]| {
        classes.iter().map(|class| (class.name.clone(), class.jobs)).collect::<Vec<_>>()
    };
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(
        classes(&outcome.by_owner[&OwnerAttribute::Queue]),
        [(name("1"), 1), (name("3"), 3), (None, 1)]
    );
    assert_eq!(classes(&outcome.by_owner[&OwnerAttribute::Partition]), [(name("5"), 2), (None, 3)]);
    assert_eq!(
        classes(&outcome.by_owner[&OwnerAttribute::Application]),
        [(name("8"), 1), (name("70"), 1), (None, 3)]
    );
    assert_eq!(outcome.by_owner.len(), 3);
}

#[test]
fn a_table_infers_from_its_waits() {
    let owner = |user: &str| Owner { user: Some(user.to_owned()), ..Owner::default() };
    let of = |row: Row, user: &str, wait: Option<f64>| Row { wait, owner: owner(user), ..row };
    let rows = vec![
        of(row(1, 0.0, 10.0, 1.0, None), "a", Some(5.0)),
        of(row(2, 0.0, 10.0, 1.0, None), "a", None),
        // Job 3 follows job 1, which ends at 15, and not job 2, which ends at 10. The given
        // predecessor 9 is not used.
        of(row(3, 18.0, 1.0, 1.0, Some((9, 1.0))), "a", None),
        of(row(4, 18.0, 1.0, 1.0, None), "b", None),
        row(5, 18.0, 1.0, 1.0, None),
    ];
    let given = Given { rows, ..Given::default() };
    let scenario = flat("dependencies = { of = 'user', session = 5 }", "");
    let follows: Vec<(u64, u64, f64)> = scenario
        .jobs(0, &given)
        .unwrap()
        .filter_map(|item| match item.unwrap() {
            Submission::Following(own) => {
                assert_eq!(own.ends, 1);
                Some((own.job.number, own.after.number, own.after.think))
            }
            _ => None,
        })
        .collect();
    assert_eq!(follows, [(3, 1, 3.0)]);
}

#[test]
fn copies_of_a_user_follow_their_own_jobs() {
    // Three times the load by users: every job three times, each copy with its own dependencies.
    let owner = |user: u64| Owner { user: Some(user.to_string()), ..Owner::default() };
    let rows: Vec<Row> = (0..40)
        .map(|i| {
            let follows = (i % 2 == 1).then_some((i, 1.0));
            let job = row(i + 1, i as f64 * 10.0, 4.0, 2.0, follows);
            Row { owner: owner(i / 2), ..job }
        })
        .collect();
    let work = 40.0 * 8.0;
    let load = 3.0 * work / (8.0 * 390.0);
    let given = Given { rows, ..Given::default() };
    let keys = format!("scale = {{ load = {load}, by = 'users' }}\ndependencies = 'log'");
    let course = course(&flat(&keys, ""), &given);
    assert_eq!(course.submitted.len(), 120, "each copy has a number of its own");
    for (number, at) in &course.submitted {
        let lead = number - 1;
        if (number - 1) % 41 % 2 == 1 && course.submitted.contains_key(&lead) {
            assert!((at[0] - course.ended[&lead][0] - 1.0).abs() < 1e-9, "{number}");
        }
    }
}

#[test]
fn what_cannot_be_linked_is_refused() {
    let refused = |workload: &str| {
        let text =
            format!("machine = {{ topology = 'flat', processors = 8 }}\nworkload = {workload}");
        refusal(&text)
    };
    assert_eq!(
        refused("{ name = 'lublin', jobs = 10, dependencies = 'log' }"),
        "`workload.dependencies` is given, but the workload `lublin` does not say after which others its jobs come"
    );
    let unknown = refused("{ name = 'swf', path = 'x', dependencies = 'users' }");
    assert!(unknown.contains("did you mean `user`"), "{unknown}");
    let log = "1 0 -1 5 4 -1 -1 4 9 -1 1 -1 -1 -1 -1 -1 2.5 -1\n";
    let given = Given { text: log, ..Given::default() };
    assert_eq!(
        of_log("dependencies = 'log'").run(0, &given, &mut ()).unwrap_err().to_string(),
        "log.swf:1: field 17 (preceding job) is `2.5`, but must be a whole number up to 1000000000000000"
    );
    // Dependencies are not read unless requested.
    assert!(of_log("").run(0, &given, &mut ()).is_ok());
}
