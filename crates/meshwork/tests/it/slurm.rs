//! Tests of the scheduler `slurm` with cases made by hand, and with a slow reference
//! implementation.
//!
//! The reference implementation goes from second to second.

use std::sync::Arc;

use crate::common::{job, scenario, starts};
use meshwork::job::{Job, Owner, Request};
use meshwork::rng::Stream;
use meshwork::scenario::Scenario;

/// Ten processors under the scheduler `slurm`.
fn ten(parameters: &str) -> Scenario {
    scenario(&format!(
        "machine = {{ topology = 'flat', processors = 10 }}\n\
         scheduler = {{ name = 'slurm'{parameters} }}"
    ))
}

/// Job that ends exactly at its time limit.
fn exact(arrival: f64, processors: u32, runtime: f64) -> Job {
    job(arrival, Request::Nodes(processors), runtime)
}

fn of(owner: Owner, job: Job) -> Job {
    Job { owner: Some(Arc::new(owner)), ..job }
}

fn in_partition(name: &str, job: Job) -> Job {
    of(Owner { partition: Some(name.to_owned()), ..Owner::default() }, job)
}

fn of_user(name: &str, job: Job) -> Job {
    of(Owner { user: Some(name.to_owned()), ..Owner::default() }, job)
}

fn starts_of(scenario: &Scenario, jobs: &[Job]) -> Vec<f64> {
    let starts = starts(scenario.setup(0).unwrap(), jobs.to_vec());
    starts.into_iter().map(|start| start.expect("every job starts")).collect()
}

#[test]
fn the_main_scheduler_waits_for_its_delay_after_it_ran_last() {
    let jobs = [exact(0.0, 1, 50.0), exact(1.0, 1, 50.0), exact(2.0, 1, 50.0), exact(20.0, 1, 5.0)];
    assert_eq!(starts_of(&ten(""), &jobs), [0.0, 3.0, 3.0, 20.0]);
    let at_once = ten(", batch_sched_delay = 0");
    assert_eq!(starts_of(&at_once, &jobs), [0.0, 1.0, 2.0, 20.0]);
    let by_interval = ten(", batch_sched_delay = 0, sched_min_interval = 1500000");
    assert_eq!(starts_of(&by_interval, &jobs), [0.0, 1.5, 3.0, 20.0]);
}

#[test]
fn the_head_stops_the_main_scheduler_and_backfill_comes_by_its_timer() {
    // The second job cannot start before 100; the third one delays nobody.
    let jobs = [exact(0.0, 6, 100.0), exact(1.0, 6, 50.0), exact(2.0, 4, 30.0)];
    assert_eq!(starts_of(&ten(""), &jobs), [0.0, 100.0, 30.0]);
    let sooner = ten(", bf_interval = 7");
    assert_eq!(starts_of(&sooner, &jobs), [0.0, 100.0, 7.0]);
    let never = ten(", bf_interval = 'never'");
    assert_eq!(starts_of(&never, &jobs), [0.0, 100.0, 100.0]);
}

#[test]
fn reservations_are_rounded_to_the_resolution() {
    // The second job is planned for 100. Its reservation begins at 60, because times are rounded to
    // 60 seconds. So the third job, which would end at 80, has to wait for it.
    let jobs = [exact(0.0, 6, 100.0), exact(0.0, 10, 50.0), exact(0.0, 4, 50.0)];
    let finer = ten(", bf_resolution = 10, bf_interval = 30");
    assert_eq!(starts_of(&finer, &jobs), [0.0, 100.0, 0.0]);
    let jobs = [exact(0.0, 6, 100.0), exact(0.0, 10, 50.0), exact(1.0, 4, 50.0)];
    assert_eq!(starts_of(&finer, &jobs), [0.0, 100.0, 30.0]);
    assert_eq!(starts_of(&ten(""), &jobs), [0.0, 100.0, 150.0]);
}

#[test]
fn nothing_is_reserved_beyond_the_window() {
    let jobs = [exact(0.0, 6, 600.0), exact(0.0, 10, 50.0), exact(1.0, 4, 900.0)];
    assert_eq!(starts_of(&ten(", batch_sched_delay = 0"), &jobs), [0.0, 600.0, 650.0]);
    // The third job delays the second one, for which nothing is reserved beyond the window.
    let short = ten(", batch_sched_delay = 0, bf_window = 5");
    assert_eq!(starts_of(&short, &jobs), [0.0, 930.0, 30.0]);
}

#[test]
fn jobs_that_are_too_young_or_too_low_reserve_nothing_and_hold_up_nobody() {
    let jobs = [exact(0.0, 6, 100.0), exact(1.0, 10, 50.0), exact(2.0, 4, 200.0)];
    assert_eq!(starts_of(&ten(""), &jobs), [0.0, 100.0, 150.0]);
    for parameter in ["bf_min_age_reserve = 60", "bf_min_prio_reserve = 1"] {
        let free = ten(&format!(", {parameter}"));
        assert_eq!(starts_of(&free, &jobs), [0.0, 203.0, 3.0], "{parameter}");
    }
}

#[test]
fn backfill_plans_so_many_jobs_of_all_of_a_user_and_of_a_partition() {
    // Behind the second job, which blocks the main scheduler, all other jobs could start.
    let of = |user: &str, partition: &str, processors: u32| {
        let owner = Owner {
            user: Some(user.to_owned()),
            partition: Some(partition.to_owned()),
            ..Owner::default()
        };
        Job { owner: Some(Arc::new(owner)), ..exact(0.0, processors, 20.0) }
    };
    let mut jobs = vec![exact(0.0, 5, 1000.0), exact(0.0, 10, 10.0)];
    jobs.extend([of("ann", "a", 1), of("ann", "b", 1), of("ben", "a", 1), of("ben", "b", 1)]);
    let of_round = |parameter: &str| -> Vec<f64> {
        starts_of(&ten(&format!(", bf_interval = 500{parameter}")), &jobs)[2..].to_vec()
    };
    assert_eq!(of_round(""), [0.0, 0.0, 0.0, 0.0]);
    assert_eq!(of_round(", bf_max_job_test = 2"), [0.0, 500.0, 1010.0, 1010.0]);
    assert_eq!(of_round(", bf_max_job_user = 1"), [0.0, 500.0, 0.0, 500.0]);
    assert_eq!(of_round(", bf_max_job_part = 1"), [0.0, 0.0, 500.0, 500.0]);
}

#[test]
fn a_pass_considers_one_job_more_than_its_depth_and_all_now_and_then() {
    // Only the main scheduler runs, and enough processors are free for all jobs.
    let jobs: Vec<Job> = (0..6).map(|_| exact(0.0, 1, 500.0)).collect();
    let shallow = ten(", bf_interval = 'never', default_queue_depth = 2");
    assert_eq!(starts_of(&shallow, &jobs), [0.0, 0.0, 0.0, 60.0, 60.0, 60.0]);
    let sooner = ten(", bf_interval = 'never', default_queue_depth = 2, sched_interval = 20");
    assert_eq!(starts_of(&sooner, &jobs), [0.0, 0.0, 0.0, 20.0, 20.0, 20.0]);
}

#[test]
fn a_partition_is_stopped_alone_and_takes_its_nodes_with_it() {
    let machine = "machine = { topology = 'flat', processors = 10, partitions = [\n\
                   { name = 'left', nodes = '0-5', default = true }, { name = 'right', nodes = '4-9' },\n\
                   { name = 'far', nodes = '6-9' }] }\n";
    let scenario = |parameters: &str| {
        scenario(&format!(
            "{machine}scheduler = {{ name = 'slurm', bf_interval = 'never', \
             batch_sched_delay = 0{parameters} }}"
        ))
    };
    let left = |processors, runtime| in_partition("left", exact(0.0, processors, runtime));
    let right = |processors, runtime| in_partition("right", exact(0.0, processors, runtime));
    let far = |processors, runtime| in_partition("far", exact(0.0, processors, runtime));
    // The second job cannot start and stops the partition `left` with nodes 0 to 5. So only nodes 6
    // to 9 of the partition `right` are left.
    let jobs = [left(4, 100.0), left(6, 10.0), right(4, 10.0), far(4, 10.0)];
    assert_eq!(starts_of(&scenario(""), &jobs), [0.0, 100.0, 0.0, 10.0]);
    // A job of 5 nodes does not fit there, and stops the right partition too, with nodes 6 to 9.
    let jobs = [left(4, 100.0), left(6, 10.0), right(5, 10.0), far(4, 10.0)];
    assert_eq!(starts_of(&scenario(""), &jobs), [0.0, 100.0, 110.0, 120.0]);
    // With a higher tier, the jobs of the right partition come first.
    let tiers = ", partitions = [{ name = 'right', PriorityTier = 5 }]";
    assert_eq!(starts_of(&scenario(tiers), &jobs)[2..], [0.0, 10.0]);
}

#[test]
fn priorities_are_those_of_the_multifactor_plugin() {
    // One job holds all ten processors for 100 seconds. Then the other jobs run one after the
    // other, because each needs more than half of the processors.
    let first = exact(0.0, 10, 100.0);
    let order = |parameters: &str, jobs: Vec<Job>| -> Vec<f64> {
        let jobs: Vec<Job> = std::iter::once(first.clone()).chain(jobs).collect();
        let plain = ", batch_sched_delay = 0, bf_interval = 'never'";
        starts_of(&ten(&format!("{plain}{parameters}")), &jobs)[1..].to_vec()
    };
    let sizes = || vec![exact(1.0, 6, 10.0), exact(2.0, 8, 10.0), exact(3.0, 7, 10.0)];
    assert_eq!(order("", sizes()), [100.0, 110.0, 120.0]);
    assert_eq!(order(", PriorityWeightJobSize = 1000", sizes()), [120.0, 100.0, 110.0]);
    let small = ", PriorityWeightJobSize = 1000, PriorityFavorSmall = true";
    assert_eq!(order(small, sizes()), [100.0, 120.0, 110.0]);
    let partitions = ", PriorityWeightPartition = 10, partitions = [\
                      { name = 'a', PriorityJobFactor = 2 }, { name = 'b', PriorityJobFactor = 10 }]";
    let named = |names: [&str; 3]| {
        names.into_iter().zip(sizes()).map(|(name, job)| in_partition(name, job)).collect()
    };
    assert_eq!(order(partitions, named(["a", "b", "c"])), [110.0, 100.0, 120.0]);
    let qos = ", PriorityWeightQOS = 10, qos = [{ name = 'high', Priority = 7 }]";
    let queued =
        |name: &str, job: Job| of(Owner { queue: Some(name.to_owned()), ..Owner::default() }, job);
    let jobs = ["low", "low", "high"].into_iter().zip(sizes());
    let jobs = jobs.map(|(name, job)| queued(name, job)).collect();
    assert_eq!(order(qos, jobs), [110.0, 120.0, 100.0]);
}

#[test]
fn priorities_move_at_ticks_only() {
    // Ann has used the machine. From the first update of priorities on, at 300, Ben comes first.
    let jobs = |arrival: f64| {
        vec![
            of_user("ann", exact(0.0, 10, arrival + 50.0)),
            of_user("ann", exact(arrival, 10, 10.0)),
            of_user("ben", exact(arrival + 1.0, 10, 10.0)),
        ]
    };
    let shares = ", batch_sched_delay = 0, PriorityWeightFairshare = 1000, shares = [\
                  { user = 'ann', share = 1 }, { user = 'ben', share = 1 }]";
    assert_eq!(starts_of(&ten(shares), &jobs(100.0))[1..], [150.0, 160.0]);
    assert_eq!(starts_of(&ten(shares), &jobs(310.0))[1..], [370.0, 360.0]);
    let often = format!("{shares}, PriorityCalcPeriod = '1'");
    assert_eq!(starts_of(&ten(&often), &jobs(100.0))[1..], [160.0, 150.0]);
    // Age outweighs size after an update of priorities.
    let jobs = [exact(0.0, 10, 350.0), exact(1.0, 1, 10.0), exact(299.0, 10, 10.0)];
    let age = ", PriorityWeightAge = 1000, PriorityMaxAge = '5', PriorityWeightJobSize = 900";
    assert_eq!(starts_of(&ten(age), &jobs)[1..], [350.0, 360.0]);
    let size = ", PriorityWeightAge = 800, PriorityMaxAge = '5', PriorityWeightJobSize = 900";
    assert_eq!(starts_of(&ten(size), &jobs)[1..], [360.0, 350.0]);
}

#[test]
fn wrong_parameters_are_refused_in_a_sentence() {
    let refused = |parameters: &str| -> String {
        let text = format!(
            "machine = {{ topology = 'flat', processors = 10 }}\nworkload = 'lublin'\n\
             scheduler = {{ name = 'slurm', {parameters} }}"
        );
        match Scenario::read(&text.parse().unwrap()) {
            Ok(scenario) => scenario.setup(0).map(drop).unwrap_err().to_string(),
            Err(problem) => problem.to_string(),
        }
    };
    assert_eq!(
        refused("PriorityMaxAge = 'a week'"),
        "`PriorityMaxAge` is \"a week\", but must be a time above 0 as in slurm.conf: \
         minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes or \
         days-hours:minutes:seconds"
    );
    let twice = refused("qos = [{ name = 'a' }, { name = 'a', Priority = 2 }]");
    assert_eq!(twice, "`qos` lists \"a\" twice");
    let unknown = refused("bf_windows = 3");
    assert!(unknown.contains("did you mean `bf_window`"), "{unknown}");
}

/// Job with times in whole seconds.
#[derive(Clone, Copy)]
struct Simple {
    arrival: i64,
    processors: i64,
    runtime: i64,
    limit: i64,
    start: Option<i64>,
}

/// Parameters of a random case, in whole seconds.
#[derive(Debug)]
struct Settings {
    processors: i64,
    interval: i64,
    window: i64,
    resolution: i64,
    rounds_up: bool,
    most: usize,
    delay: i64,
    depth: usize,
    full: i64,
    min_age: i64,
}

/// Schedules a flat machine by the definition of `slurm`, second by second.
///
/// The plan is a list of the free processors in every second of the future.
fn second_by_second(settings: &Settings, jobs: &mut [Simple]) {
    let horizon = settings.window + jobs.iter().map(|job| job.limit).max().unwrap() + 200;
    let never = -1_000_000;
    let (mut last_main, mut first_main, mut last_backfill) = (never, None, never);
    let (mut main_due, mut full_due, mut backfill_due) = (false, false, false);
    let mut now = jobs[0].arrival;
    while jobs.iter().any(|job| job.start.is_none()) {
        let ends = |job: &Simple| job.start.is_some_and(|start| start + job.runtime == now);
        if jobs.iter().any(|job| job.arrival == now || ends(job)) {
            (main_due, backfill_due) = (true, true);
        }
        let runs =
            |job: &Simple| job.start.is_some_and(|start| start <= now && now < start + job.runtime);
        let free_of = |jobs: &[Simple]| -> i64 {
            settings.processors
                - jobs.iter().filter(|job| runs(job)).map(|job| job.processors).sum::<i64>()
        };
        let waiting_of = |jobs: &[Simple]| -> Vec<usize> {
            (0..jobs.len())
                .filter(|&at| jobs[at].arrival <= now && jobs[at].start.is_none())
                .collect()
        };
        let reserves = |job: &Simple| now - job.arrival >= settings.min_age;
        let waiting = waiting_of(jobs);
        let is_full =
            full_due && first_main.is_some_and(|first| (now - first) % settings.full == 0);
        if is_full || (main_due && last_main + settings.delay <= now) {
            (last_main, main_due) = (now, false);
            first_main = first_main.or(Some(now));
            let depth = if is_full { usize::MAX } else { settings.depth + 1 };
            full_due = waiting.len() > depth;
            for &at in waiting.iter().take(depth) {
                if jobs[at].processors <= free_of(jobs) {
                    jobs[at].start = Some(now);
                    backfill_due = true;
                } else if reserves(&jobs[at]) {
                    break;
                }
            }
        }
        if backfill_due && last_backfill + settings.interval <= now {
            (last_backfill, backfill_due) = (now, false);
            let mut free = vec![settings.processors; horizon as usize];
            for job in jobs.iter().filter(|job| runs(job)) {
                let end = job.start.unwrap() + job.limit;
                (now..end.min(now + horizon))
                    .for_each(|t| free[(t - now) as usize] -= job.processors);
            }
            for at in waiting_of(jobs).into_iter().take(settings.most) {
                let job = jobs[at];
                let fits = |from: i64| {
                    (from..from + job.limit).all(|t| free[(t - now) as usize] >= job.processors)
                };
                let last = if reserves(&job) { now + settings.window } else { now };
                let Some(start) = (now..=last).find(|&from| fits(from)) else { continue };
                let (mut begin, mut end) = (start, start + job.limit);
                if start == now && job.processors <= free_of(jobs) {
                    jobs[at].start = Some(now);
                    backfill_due = true;
                } else {
                    let step = settings.resolution;
                    begin = begin / step * step;
                    end = (end + if settings.rounds_up { step - 1 } else { 0 }) / step * step;
                    end = end.max(begin + step);
                    begin = begin.max(now);
                }
                (begin..end).for_each(|t| free[(t - now) as usize] -= job.processors);
            }
        }
        now += 1;
    }
}

#[test]
fn it_starts_jobs_when_its_definition_does() {
    let mut stream = Stream::new(7, 0, "slurm");
    let mut draw = |least: i64, most: i64| least + stream.below((most - least + 1) as u64) as i64;
    let (mut out_of_turn, mut compared) = (0, 0);
    for case in 0..150 {
        let settings = Settings {
            processors: draw(4, 20),
            interval: draw(1, 30),
            window: 60 * draw(1, 4),
            resolution: draw(1, 40),
            rounds_up: draw(0, 1) == 1,
            most: draw(1, 12) as usize,
            delay: draw(0, 5),
            depth: draw(0, 6) as usize,
            full: draw(5, 60),
            min_age: if draw(0, 2) == 0 { draw(1, 60) } else { 0 },
        };
        let mut arrival = 0;
        let mut jobs: Vec<Simple> = (0..40)
            .map(|_| {
                arrival += draw(0, 20);
                let limit = draw(1, 150);
                // Some run beyond their limits.
                let runtime = draw(1, limit + limit / 4);
                let processors = draw(1, settings.processors);
                Simple { arrival, processors, runtime, limit, start: None }
            })
            .collect();
        let scenario = scenario(&format!(
            "machine = {{ topology = 'flat', processors = {} }}\n\
             scheduler = {{ name = 'slurm', bf_interval = {}, bf_window = {}, bf_resolution = {}, \
             bf_rounding = '{}', bf_max_job_test = {}, batch_sched_delay = {}, \
             sched_min_interval = 0, default_queue_depth = {}, sched_interval = {}, \
             bf_min_age_reserve = {} }}",
            settings.processors,
            settings.interval,
            settings.window / 60,
            settings.resolution,
            if settings.rounds_up { "up" } else { "down" },
            settings.most,
            settings.delay,
            settings.depth,
            settings.full,
            settings.min_age,
        ));
        let simulated: Vec<Job> = jobs
            .iter()
            .map(|job| Job {
                estimate: job.limit as f64,
                ..exact(job.arrival as f64, job.processors as u32, job.runtime as f64)
            })
            .collect();
        let started = starts_of(&scenario, &simulated);
        second_by_second(&settings, &mut jobs);
        let expected: Vec<f64> = jobs.iter().map(|job| job.start.unwrap() as f64).collect();
        assert_eq!(started, expected, "case {case}: {settings:?}");
        out_of_turn += expected.windows(2).filter(|pair| pair[1] < pair[0]).count();
        compared += jobs.len();
    }
    assert!(compared == 6000 && out_of_turn > 300, "{out_of_turn} of {compared}");
}
