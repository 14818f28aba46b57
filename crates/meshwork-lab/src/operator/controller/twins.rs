//! Slow variants of the replay for comparison, and tests of properties of plans.

use std::collections::BTreeMap;
use std::path::PathBuf;

use meshwork::alloc::listed::Wait;
use meshwork::geometry::NodeSet;
use meshwork::job::Cause;
use meshwork::rng::Stream;

use super::cycles::Cycles;
use super::rules::SiteRules;
use super::{Controller, ControllerReplay, GivenStarts, JobOutcome};
use crate::operator::folder::SlurmMachine;
use crate::operator::history::{JobRecord, Second, StartedBy};
use crate::slurm::desk::SlurmAnswer;

const CONFS: [&str; 4] = [
    "SchedulerParameters=bf_interval=10\n",
    "SchedulerParameters=bf_interval=30,bf_max_job_test=5\n",
    "PriorityType=priority/multifactor\nPriorityWeightAge=5000\nPriorityMaxAge=0-01:00:00\n",
    "SchedulerType=sched/builtin\n",
];

/// Machines of 64 nodes on a torus and on a tree, with each configuration.
fn machines() -> impl Iterator<Item = (String, SlurmMachine)> {
    let mut torus = "- topology: t\n  torus3d:\n    toruses:\n      - name: t\n        dims: {x: 4, y: 4, z: 4}\n        nodes: n[00-63]\n        placements:\n".to_owned();
    for [x, y, z] in [[1, 1, 1], [2, 2, 1], [2, 2, 2], [4, 2, 2], [4, 4, 2], [4, 4, 4]] {
        torus.push_str(&format!("          - dims: {{x: {x}, y: {y}, z: {z}}}\n"));
    }
    let mut tree = "- topology: t\n  tree:\n    switches:\n".to_owned();
    for leaf in 0..8 {
        let (first, last) = (8 * leaf, 8 * leaf + 7);
        tree.push_str(&format!("      - {{switch: l{leaf}, nodes: 'n[{first:02}-{last:02}]'}}\n"));
    }
    tree.push_str("      - {switch: top, children: 'l[0-7]'}\n");
    [torus, tree].into_iter().flat_map(|topology| {
        CONFS.map(|own| {
            let conf = format!(
                "{own}NodeName=n[00-63] CPUs=2\nPartitionName=p Nodes=ALL Default=YES Topology=t OverSubscribe=EXCLUSIVE\n"
            );
            let texts = [("topology.yaml", topology.clone()), ("slurm.conf", conf)];
            let texts = texts.map(|(name, text)| (PathBuf::from(name), text));
            (own.to_owned(), SlurmMachine::made(texts.to_vec()).unwrap())
        })
    })
}

/// Jobs that fill the machine. Some exceed their limits, are cancelled, or have unlisted sizes.
fn crowd(seed: u64, jobs: usize) -> Vec<JobRecord> {
    let mut stream = Stream::new(seed, 0, "crowd");
    let mut below = |most: u64| stream.below(most) as Second;
    let mut at = 1_000_000;
    (0..jobs)
        .map(|job| {
            at += below(12);
            let runs = 5 + below(90);
            let is_cancelled = below(15) == 0;
            JobRecord {
                id: job.to_string(),
                attempt: 1,
                partition: "p".to_owned(),
                submit: Some(at),
                eligible: Some(at),
                start: Some(at).filter(|_| !is_cancelled),
                end: Some(at + runs),
                limit: Some((runs / 60 + below(3)) * 60 + 7).filter(|_| below(10) > 0),
                nodes: [1, 4, 4, 8, 8, 16, 32, 64, 3][below(9) as usize],
                exclusive: true,
                priority: Some(1_000 + below(300)),
                ..JobRecord::default()
            }
        })
        .collect()
}

/// Slow variant of a replay, which tests every waiting job in every second.
fn twin(
    machine: &SlurmMachine,
    rules: &SiteRules,
    stays: &[JobRecord],
    cleanup: Second,
) -> (Vec<JobOutcome>, Vec<[Second; 4]>) {
    let mut controller = Controller::new(machine, rules, stays);
    let mut cycles = Cycles::default();
    let mut outcomes: Vec<JobOutcome> = (0..stays.len())
        .map(|job| JobOutcome { is_refused: controller.is_hopeless(job), ..JobOutcome::default() })
        .collect();
    let mut waited = vec![[0; 4]; stays.len()];
    let mut ends: BTreeMap<Second, Vec<usize>> = BTreeMap::new();
    let (mut freed, mut looked) = (Second::MIN, vec![Second::MIN; stays.len()]);
    let first = stays.iter().filter_map(JobRecord::queued).min().unwrap();
    let parameters = &rules.parameters;
    for now in first..first + 30_000 {
        for job in ends.remove(&now).unwrap_or_default() {
            controller.end(job, now);
            cycles.news();
            freed = now;
        }
        for (job, stay) in stays.iter().enumerate() {
            if stay.queued() == Some(now) && !outcomes[job].is_refused {
                controller.submit(job);
                cycles.news();
            } else if stay.queued() == Some(now) {
                cycles.news();
            }
            if stay.start.is_none() && stay.end == Some(now) && outcomes[job].start.is_none() {
                controller.withdraw(job);
                cycles.news();
                freed = now;
            }
        }
        let origin = rules.started.unwrap_or(first);
        if now > origin && (now - origin) % rules.weights.period == 0 {
            cycles.change(controller.tick(now));
        }
        let is_due = |time: Option<f64>| time.is_some_and(|time| time <= now as f64);
        let mut made = Vec::new();
        let is_full = is_due(cycles.full_at(parameters));
        if controller.waiting() > 0 && (is_full || is_due(cycles.main_at(parameters))) {
            cycles.ran_main(now as f64, is_full);
            let starts = controller.main(now, is_full, None);
            controller.ran(false);
            cycles.change(!starts.is_empty());
            made.extend(starts.into_iter().map(|own| (own, StartedBy::Main)));
        }
        let had_waiting = controller.waiting() > 0 || !made.is_empty();
        if had_waiting && is_due(cycles.backfill_at(parameters)) {
            cycles.ran_backfill(now as f64);
            controller.pairs.iter().for_each(|pair| looked[pair.job] = now);
            let starts = controller.backfill(now, None);
            controller.ran(true);
            cycles.change(!starts.is_empty());
            made.extend(starts.into_iter().map(|own| (own, StartedBy::Backfill)));
        }
        for (own, by) in made {
            let stay = &stays[own.job];
            let runs = (stay.end.unwrap() - stay.start.unwrap_or(stay.end.unwrap())).max(0);
            ends.entry(now + runs + cleanup).or_default().push(own.job);
            outcomes[own.job] =
                JobOutcome { start: Some(now), nodes: own.nodes, by, ..JobOutcome::default() };
        }
        for pair in &controller.pairs {
            let cause = match controller.ask(pair.job) {
                SlurmAnswer::Nodes(_) if looked[pair.job] >= freed => Cause::Reserved,
                SlurmAnswer::Nodes(_) => Cause::Priority,
                SlurmAnswer::Wait(Wait::Shape, _) => Cause::Shape,
                _ => Cause::Nodes,
            };
            waited[pair.job][cause as usize] += 1;
        }
    }
    assert!(controller.waiting() == 0 && controller.running.is_empty(), "all is over by then");
    (outcomes, waited)
}

#[test]
fn seconds_that_are_left_out_would_have_changed_nothing() {
    let mut causes = [0; 4];
    for (seed, (conf, machine)) in (1..).zip(machines()) {
        let (stays, cleanup) = (crowd(seed, 120), 1 + seed as Second);
        let rules = SiteRules::of(&machine);
        let replay = ControllerReplay {
            machine: &machine,
            rules: &rules,
            stays: &stays,
            cleanup: cleanup as f64,
            copy: None,
            report: &|_| {},
        };
        let (outcomes, waited) = replay.run_with_waits().unwrap();
        assert_eq!(outcomes, replay.run().unwrap());
        let (slow, slow_waited) = twin(&machine, &rules, &stays, cleanup);
        for job in 0..stays.len() {
            assert_eq!(outcomes[job], slow[job], "job {job} with {conf}");
            let fast = Cause::ALL.map(|cause| waited[job].seconds(cause));
            assert_eq!(fast, slow_waited[job], "job {job} with {conf}");
            let wait = outcomes[job].start.map(|start| start - stays[job].submit.unwrap());
            assert!(wait.is_none_or(|wait| wait == waited[job].all()), "job {job}");
            causes.iter_mut().zip(fast).for_each(|(all, own)| *all += own);
        }
        // If the starts of a replay up to some instant are given, the same starts follow after it.
        let until = 1_000_000 + 300;
        let given = Some(GivenStarts { outcomes: &outcomes, until });
        assert_eq!(replay.run_within(Second::MAX, given).unwrap().unwrap(), outcomes, "{conf}");
    }
    assert!(causes.iter().all(|&seconds| seconds > 0), "every cause occurs: {causes:?}");
}

#[test]
fn a_sum_of_waits_beyond_the_bound_ends_a_replay() {
    let (_, machine) = machines().next().unwrap();
    let (stays, rules) = (crowd(1, 120), SiteRules::of(&machine));
    let (machine, rules, stays) = (&machine, &rules, &stays[..]);
    let replay =
        ControllerReplay { machine, rules, stays, cleanup: 1.0, copy: None, report: &|_| {} };
    let wait = |(own, stay): (&JobOutcome, &JobRecord)| Some(own.start? - stay.submit?);
    let all: Second = replay.run().unwrap().iter().zip(stays).filter_map(wait).sum();
    assert!(all > 1_000 && replay.run_within(all, None).unwrap().is_some());
    assert!(replay.run_within(all - 1, None).unwrap().is_none());
}

#[test]
fn planned_jobs_do_not_share_nodes() {
    let (mut later, mut now_on) = (0, 0);
    for (seed, (_, machine)) in (1..).zip(machines()) {
        let rules = SiteRules::of(&machine);
        let (mut all, now) = (crowd(seed, 60), 1_000_400);
        // If a time limit is rounded to nothing, Slurm does not see that the job overlaps others.
        all.iter_mut().for_each(|stay| stay.limit = stay.limit.map(|own| own.max(60)));
        // Jobs run on the nodes that they get on the empty machine, one after the other.
        let mut empty = Controller::new(&machine, &rules, &all[..6]);
        let mut running: Vec<(JobRecord, NodeSet)> = Vec::new();
        for (job, stay) in all[..6].iter().enumerate() {
            if let SlurmAnswer::Nodes(nodes) = empty.ask(job) {
                empty.start(job, 0, nodes.clone(), now);
                let start = Some(now - 10 * job as Second);
                running.push((JobRecord { start, ..stay.clone() }, nodes));
            }
        }
        let waiting = &all[6..];
        let controller = Controller::at(&machine, &rules, &running, waiting, now);
        let limit = |stay: &JobRecord| stay.limit.unwrap_or(365 * 86_400);
        let mut held: Vec<(Second, Second, NodeSet)> = running
            .iter()
            .map(|(stay, nodes)| (0, stay.start.unwrap() + limit(stay), nodes.clone()))
            .collect();
        for job in controller.order() {
            let Some((start, nodes)) = controller.planned(job, false, now) else { continue };
            // Reservations are rounded down to a minute.
            let floor = |time: Second| time.div_euclid(60) * 60;
            let stay = &waiting[job - running.len()];
            let own = (floor(start), floor(start + limit(stay)), nodes);
            assert!(own.2.count() >= stay.nodes);
            for other in held.iter().filter(|other| own.0 < other.1 && other.0 < own.1) {
                let is_past = other.0 == 0 && other.1 <= start.max(now + 1);
                assert!(is_past || !other.2.meets(&own.2), "{own:?} and {other:?}");
            }
            now_on += usize::from(start == now);
            later += usize::from(start > now);
            // If it is the first job, it may even start later, because close ends of jobs count as
            // one.
            assert!(controller.planned(job, true, now).is_some());
            held.push(own);
        }
    }
    assert!(later > 100 && now_on >= 8, "{later} later, {now_on} now");
}
