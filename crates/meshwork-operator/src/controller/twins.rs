//! Slow variants of the replay for comparison, and tests of properties of backfill plans.

use std::collections::BTreeMap;

use meshwork::alloc::listed::{Wait, find};
use meshwork::geometry::NodeSet;
use meshwork::job::Cause;
use meshwork::rng::Stream;

use super::cycles::Cycles;
use super::plan::Planned;
use super::rules::SiteRules;
use super::{Controller, ControllerReplay, GivenStarts, JobOutcome};
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::desk::SlurmAnswer;
use meshwork_slurm::history::{JobRecord, Second, StartedBy};

const CONFS: [&str; 4] = [
    "SchedulerParameters=bf_interval=10\n",
    "SchedulerParameters=bf_interval=30,bf_max_job_test=5\n",
    "PriorityType=priority/multifactor\nPriorityWeightAge=5000\nPriorityMaxAge=0-01:00:00\n",
    "SchedulerType=sched/builtin\n",
];

/// Machines with a torus or a tree of 64 nodes, in each tested configuration of Slurm.
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
            (own.to_owned(), SlurmMachine::made(texts).unwrap())
        })
    })
}

/// Jobs that fill the machine. Some exceed limits, are cancelled, or have sizes that the machine
/// does not list.
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

/// Slow replay that tests every waiting job in every second.
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
            cycles.ran_main(now as f64, is_full, parameters);
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
        // Given the starts up to some instant, a second replay makes the same later ones.
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
        // With a time limit of 0, Slurm would not see that the job overlaps others.
        all.iter_mut().for_each(|stay| stay.limit = stay.limit.map(|own| own.max(60)));
        // Jobs run one after the other on their nodes of the empty machine.
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
            // First in the queue, the job may even start later, because close ends count as one.
            assert!(controller.planned(job, true, now).is_some());
            held.push(own);
        }
    }
    assert!(later > 100 && now_on >= 8, "{later} later, {now_on} now");
}

/// Slow backfill plan that examines every span of time anew for each job.
struct SlowPlan {
    now: Second,
    horizon: Second,
    resolution: Second,
    up: NodeSet,
    running: Vec<(Second, NodeSet)>,
    reserved: Vec<(Second, Second, NodeSet)>,
}

impl SlowPlan {
    fn floor(&self, time: Second) -> Second {
        time.div_euclid(self.resolution) * self.resolution
    }

    /// Intervals between times at which reservations begin or end, each with its unreserved nodes.
    fn spans(&self) -> Vec<(Second, Second, NodeSet)> {
        let (first, last) = (self.floor(self.now), self.floor(self.horizon).max(self.now + 1));
        let cuts = self.reserved.iter().flat_map(|own| [own.0, own.1]);
        let mut cuts: Vec<Second> = cuts.filter(|time| (first..last).contains(time)).collect();
        cuts.extend([first, last]);
        cuts.sort_unstable();
        cuts.dedup();
        let free = |begin: Second| {
            let mut free = self.up.clone();
            let covers = |own: &&(Second, Second, NodeSet)| own.0 <= begin && begin < own.1;
            self.reserved.iter().filter(covers).for_each(|own| free.subtract(&own.2));
            free
        };
        cuts.windows(2).map(|pair| (pair[0], pair[1], free(pair[0]))).collect()
    }

    /// Start and nodes of a job, as [`BackfillPlan::plan`] finds them. For a start beyond the
    /// window, the result is `Some(None)`.
    fn plan(
        &self,
        limit: Second,
        least: u32,
        find: &dyn Fn(&NodeSet) -> Option<NodeSet>,
    ) -> Option<Option<(Second, NodeSet)>> {
        let spans = self.spans();
        let mut idle = self.up.clone();
        self.running.iter().for_each(|own| idle.subtract(&own.1));
        let (mut from, mut is_tried) = (self.now, false);
        loop {
            let until = from + limit;
            let ahead: Vec<_> = spans.iter().filter(|own| own.1 > from).collect();
            let mut available = self.up.clone();
            let window = ahead.iter().take_while(|own| own.0 <= until);
            window.for_each(|own| available.intersect(&own.2));
            // The end of the first span after the window is examined too.
            let ends = 1 + ahead.iter().take_while(|own| own.0 <= until).count();
            let adds = |pair: &&[&(Second, Second, NodeSet)]| !pair[1].2.is_within(&pair[0].2);
            let later = ahead.windows(2).take(ends).find(adds).map(|pair| pair[0].1);
            if available.count() < least {
                match later {
                    Some(time) if time <= self.horizon => from = time,
                    _ => return is_tried.then_some(None),
                }
                continue;
            }
            is_tried = true;
            let (start, nodes) = match self.released(&available, &idle, least, find) {
                Some((start, nodes)) => (start.max(from), nodes),
                None => return Some(None),
            };
            if let Some(time) = later.filter(|time| start > *time) {
                from = time;
                continue;
            }
            if start > self.horizon {
                return Some(None);
            }
            let (begin, end) = (self.floor(start), self.floor(start + limit));
            let mut within = spans.iter().filter(|own| own.1 > begin && own.0 < end);
            if within.all(|own| nodes.is_within(&own.2)) {
                return Some(Some((start, nodes)));
            }
            from = if start > from { start } else { later.unwrap_or(start + 1) };
        }
    }

    /// First time at which enough nodes are released for a job, and the nodes that it gets.
    ///
    /// Ends of jobs that are close to each other count as one.
    fn released(
        &self,
        available: &NodeSet,
        idle: &NodeSet,
        least: u32,
        find: &dyn Fn(&NodeSet) -> Option<NodeSet>,
    ) -> Option<(Second, NodeSet)> {
        let attempt = |released: &NodeSet| {
            let mut free = released.clone();
            free.intersect(available);
            find(&free).filter(|_| free.count() >= least)
        };
        let mut released = idle.clone();
        if let Some(nodes) = attempt(&released) {
            return Some((self.now, nodes));
        }
        let (mut group, mut reach) = (30, None);
        for (place, (end, nodes)) in self.running.iter().enumerate() {
            if !nodes.meets(available) {
                continue;
            }
            let bound = *reach.get_or_insert(end - end.rem_euclid(30) + 30);
            released.unite(nodes);
            let next = self.running.get(place + 1).map(|own| own.0);
            if next.is_some_and(|next| next <= bound + group) {
                continue;
            }
            group *= 2;
            while next.is_some_and(|next| next > bound + group) {
                group *= 2;
            }
            if let Some(nodes) = attempt(&released) {
                return Some(((*end).max(self.now + 1), nodes));
            }
        }
        None
    }
}

#[test]
fn plans_are_those_of_the_slow_variant() {
    let flat = ["", "SchedulerParameters=bf_window=60\n"].map(|own| {
        let conf = format!(
            "{own}NodeName=n[00-63] CPUs=2\nPartitionName=p Nodes=ALL Default=YES Topology=t\n"
        );
        let texts = [("topology.yaml", "- topology: t\n  flat: true\n"), ("slurm.conf", &conf)];
        (own.to_owned(), SlurmMachine::made(texts).unwrap())
    });
    let mut counts = [0; 4];
    for (seed, (name, machine)) in (100..).zip(machines().chain(flat)) {
        let rules = SiteRules::of(&machine);
        let (all, now) = (crowd(seed, 400), 1_010_000);
        let first = [30, 3][seed as usize % 2];
        let mut empty = Controller::new(&machine, &rules, &all[..first]);
        let mut running: Vec<(JobRecord, NodeSet)> = Vec::new();
        for (job, stay) in all[..first].iter().enumerate() {
            if let SlurmAnswer::Nodes(nodes) = empty.ask(job) {
                empty.start(job, 0, nodes.clone(), now);
                let (start, limit) = (Some(now - 7 * job as Second), 60 + 97 * job as Second);
                let stay = JobRecord { start, limit: Some(limit), ..stay.clone() };
                running.push((stay, nodes));
            }
        }
        let controller = Controller::at(&machine, &rules, &running, &all[first..], now);
        let closed = controller.no_nodes();
        let mut plan = controller.plan(now, &closed);
        let end = |own: &(JobRecord, NodeSet)| own.0.start.unwrap() + own.0.limit.unwrap();
        let mut ends: Vec<(Second, NodeSet)> =
            running.iter().map(|own| (end(own), own.1.clone())).collect();
        ends.sort_by_key(|own| own.0);
        let parameters = &rules.parameters;
        let mut slow = SlowPlan {
            now,
            horizon: now + parameters.bf_window,
            resolution: parameters.bf_resolution,
            up: NodeSet::full(64),
            running: ends,
            reserved: Vec::new(),
        };
        for pair in &controller.pairs {
            let request = &controller.jobs[pair.job].requests[pair.request];
            let (site, wanted) = (controller.desks[0].site(), request.wanted());
            let fast = plan.plan(site, request, (&closed, None), &|_, _| None, |kept| {
                controller.begin(request, kept)
            });
            let find = |free: &NodeSet| find(site.rule(), &site.nodes, wanted, free);
            let slowly = slow.plan(request.limit, wanted.nodes, &find);
            let fast = fast.map(|own| match own {
                Planned::Now(nodes) => Some((now, nodes)),
                Planned::Later(start, nodes) => Some((start, nodes)),
                Planned::Never => None,
            });
            assert_eq!(fast, slowly, "job {} with {name}", pair.job);
            counts[match &slowly {
                Some(Some((start, _))) if *start == now => 0,
                Some(Some(_)) => 1,
                Some(None) => 2,
                None => 3,
            }] += 1;
            if let Some((start, nodes)) = fast.flatten() {
                plan.reserve(start, request.limit, &nodes);
                let begin = slow.floor(start);
                let end = slow.floor(start + request.limit).max(begin + slow.resolution);
                slow.reserved.push((begin, end, nodes));
            }
        }
    }
    assert!(
        counts.iter().all(|&count| count > 5),
        "starts now, later, never, untested: {counts:?}"
    );
}

#[test]
fn a_pass_that_ends_early_makes_all_starts() {
    let flat = "- topology: t\n  flat: true\n";
    let (mut starts, mut beyond) = (0, 0);
    for seed in 0..600 {
        let most = [6, 12, 25][seed as usize % 3];
        let conf = format!(
            "SchedulerParameters=bf_max_job_test={most},bf_window=90\nNodeName=n[00-63] CPUs=2\nPartitionName=p Nodes=ALL Default=YES Topology=t\n"
        );
        let texts = [("topology.yaml", flat), ("slurm.conf", &conf)];
        let machine = SlurmMachine::made(texts).unwrap();
        let rules = SiteRules::of(&machine);
        let (all, now) = (crowd(500 + seed, 150), 1_010_000);
        let mut empty = Controller::new(&machine, &rules, &all[..30]);
        let mut running: Vec<(JobRecord, NodeSet)> = Vec::new();
        for (job, stay) in all[..30].iter().enumerate() {
            // Few nodes stay idle, so that most jobs have to wait.
            if let SlurmAnswer::Nodes(nodes) = empty.ask(job)
                && !(0..8).any(|node| nodes.contains(node + 56))
            {
                empty.start(job, 0, nodes.clone(), now);
                let limit = 300 + 601 * Second::from(job as u32 % 11);
                let stay = JobRecord { start: Some(now), limit: Some(limit), ..stay.clone() };
                running.push((stay, nodes));
            }
        }
        let mut waiting = all[30..].to_vec();
        let mut stream = Stream::new(seed, 0, "limits");
        for stay in &mut waiting {
            stay.limit =
                Some(60 * (1 + stream.below(if stay.nodes > 8 { 300 } else { 90 }) as Second));
        }
        let controller = Controller::at(&machine, &rules, &running, &waiting, now);
        let mut slow = controller.clone();
        let closed = slow.no_nodes();
        let mut plan = slow.plan(now, &closed);
        let (mut tested, mut slow_starts) = (0, Vec::new());
        for (place, pair) in controller.pairs.iter().enumerate() {
            if tested >= most {
                break;
            }
            let request = &controller.jobs[pair.job].requests[0];
            let site = controller.desks[0].site();
            let planned = plan.plan(site, request, (&closed, None), &|_, _| None, |kept| {
                slow.begin(request, kept)
            });
            tested += usize::from(planned.is_some());
            match planned {
                Some(Planned::Now(nodes)) => {
                    plan.reserve(now, request.limit, &nodes);
                    plan.run(request.limit, pair.job, nodes.clone());
                    slow.hold(pair.job, 0, nodes.clone(), now);
                    slow_starts.push((pair.job, nodes));
                    beyond += usize::from(place >= most);
                }
                Some(Planned::Later(start, nodes)) => plan.reserve(start, request.limit, &nodes),
                Some(Planned::Never) | None => {}
            }
        }
        let fast = controller.clone().backfill(now, None);
        let fast: Vec<(usize, NodeSet)> =
            fast.into_iter().map(|own| (own.job, own.nodes.unwrap())).collect();
        assert_eq!(fast, slow_starts, "seed {seed}");
        starts += slow_starts.len();
    }
    assert!(starts > 100 && beyond > 5, "{starts} starts, {beyond} beyond the limit of tests");
}
