//! Tests of `meshwork ops explain` and `ops defrag`.
//!
//! The answers are compared with exhaustive search and with plans of a real Slurm.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;

use crate::common::backlog::completed;
use crate::common::{Numbers, Scratch, call, fed, meshwork, put, skip};
use meshwork::geometry::NodeSet;
use meshwork_lab::slurm::folder::{Folder, SlurmMachine, asked};
use meshwork_operator::defrag::{Cost, DefragTarget, defrag};
use meshwork_operator::explain::{WaitReason, explain};
use meshwork_operator::places::places;
use meshwork_operator::state::{HeldBack, MachineState, RunningJob};
use meshwork_slurm::desk::{SlurmAllocator, SlurmAnswer};
use meshwork_slurm::history::{History, JobRecord};
use meshwork_slurm::sacct::LocalClock;
use serde_json::{Value as Json, json};

const TORUS: &str = "- topology: t
  torus3d:
    toruses:
      - name: t
        dims: {x: 4, y: 3, z: 1}
        nodes: n[00-11]
        placements:
          - dims: {x: 1, y: 1, z: 1}
          - dims: {x: 2, y: 1, z: 1}
            anchor_spacing: {x: 1, y: 1, z: 1}
          - dims: {x: 2, y: 2, z: 1}
            anchor_spacing: {x: 2, y: 1, z: 1}
          - dims: {x: 4, y: 2, z: 1}
";
const RINGS: &str = "- topology: t\n  ring:\n    rings:\n      - {ring: a, nodes: 'n[00-05]'}\n      - {ring: b, nodes: 'n[11,10,09,08,07,06]'}\n";
const BLOCKS: &str = "- topology: t\n  block:\n    block_sizes: [4]\n    blocks:\n      - {block: a, nodes: 'n[00-03]'}\n      - {block: b, nodes: 'n[04-07]'}\n      - {block: c, nodes: 'n[08-11]'}\n";

fn machine(folder: &Path, topology: &str) -> SlurmMachine {
    let file = folder.join("topology.yaml");
    fs::write(&file, topology).unwrap();
    SlurmMachine::read(&file, None).unwrap()
}

fn stay(id: &impl ToString, nodes: u32) -> JobRecord {
    JobRecord {
        id: id.to_string(),
        attempt: 1,
        nodes,
        exclusive: true,
        submit: Some(0),
        ..JobRecord::default()
    }
}

/// Random running jobs of the given sizes, and one waiting job of `size` nodes.
fn state(machine: &SlurmMachine, numbers: &mut Numbers, sizes: &[u32], size: u32) -> MachineState {
    let mut desk: SlurmAllocator<usize> = SlurmAllocator::new(machine.site("").clone());
    let mut running: Vec<(usize, JobRecord, NodeSet)> = Vec::new();
    for job in 0..40 {
        let own = stay(&job, sizes[numbers.below(sizes.len() as u64) as usize]);
        if let SlurmAnswer::Nodes(nodes) = desk.allocate(&job, &asked(&own)) {
            running.push((job, own, nodes));
        }
        if numbers.below(3) == 0 && !running.is_empty() {
            let (gone, ..) = running.remove(numbers.below(running.len() as u64) as usize);
            desk.release(&gone);
        }
    }
    let running = running.into_iter().map(|(job, stay, nodes)| RunningJob {
        stay: JobRecord { start: Some(0), ..stay },
        nodes,
        until: Some(100 + 10 * job as i64),
    });
    let running = running.collect();
    let waiting = vec![stay(&"w", size)];
    MachineState {
        machine: machine.clone(),
        now: 50,
        running,
        waiting,
        past: None,
        clock: LocalClock::utc(),
    }
}

/// Whether `job` could start if only the running jobs with the given indices ran.
fn starts_beside(state: &MachineState, running: &[usize], job: &JobRecord) -> bool {
    let mut desk: SlurmAllocator<usize> = SlurmAllocator::new(state.machine.site("").clone());
    for &place in running {
        desk.hold(&place, &asked(&state.running[place].stay), state.running[place].nodes.clone());
    }
    matches!(desk.ask(&asked(job)), SlurmAnswer::Nodes(_))
}

#[test]
fn what_would_let_a_job_start_is_what_trying_everything_says() {
    let folder = Scratch::new();
    let (mut waited, mut exact) = (0, 0);
    for (topology, sizes) in
        [(TORUS, &[1, 2, 4, 8][..]), (RINGS, &[1, 2, 3, 5]), (BLOCKS, &[1, 2, 3, 4])]
    {
        let machine = machine(&folder, topology);
        let mut numbers = Numbers(1);
        for _ in 0..60 {
            let size = sizes[1 + numbers.below(3) as usize];
            let state = state(&machine, &mut numbers, sizes, size);
            let job = &state.waiting[0];
            let explained = explain(&state, "w").unwrap();
            let all: Vec<usize> = (0..state.running.len()).collect();
            let fits = starts_beside(&state, &all, job);
            assert_eq!(
                fits,
                matches!(explained.reason, WaitReason::Turn),
                "{:?}",
                explained.reason
            );
            if fits {
                continue;
            }
            waited += 1;
            let free = 12 - state.running.iter().map(|holder| holder.nodes.count()).sum::<u32>();
            assert_eq!(free < size, matches!(explained.reason, WaitReason::Nodes(_)));
            // Ends of single running jobs that would each let the waiting job start.
            let ends: Vec<usize> = all
                .iter()
                .copied()
                .filter(|&gone| {
                    let rest: Vec<usize> =
                        all.iter().copied().filter(|&place| place != gone).collect();
                    starts_beside(&state, &rest, job)
                })
                .collect();
            assert_eq!(explained.ends, ends);
            // Size of the smallest set of ends that would let the job start, over all sets of ends.
            let fewest = (0_u32..1 << all.len())
                .filter(|gone| {
                    let rest: Vec<usize> =
                        all.iter().copied().filter(|place| gone >> place & 1 == 0).collect();
                    starts_beside(&state, &rest, job)
                })
                .map(u32::count_ones)
                .min();
            if topology != BLOCKS {
                assert_eq!(explained.nearest.first().map(|near| near.jobs.len() as u32), fewest);
            }
            // Backfill plans the start of a job at an instant at which a running job reaches its
            // time limit, and at which the job finds nodes. Limits that are close together count as
            // one, at the last of them.
            let mut times: Vec<i64> =
                state.running.iter().filter_map(|holder| holder.until).collect();
            times.sort_unstable();
            let starts_at = |time: i64| {
                let is_left = |&place: &usize| state.running[place].until > Some(time);
                let rest: Vec<usize> = all.iter().copied().filter(is_left).collect();
                starts_beside(&state, &rest, job)
            };
            let first = times.iter().copied().find(|&time| starts_at(time));
            let planned = explained.alone.map(|(time, _)| time);
            assert_eq!(planned.is_some(), first.is_some());
            if let (Some(planned), Some(first)) = (planned, first) {
                assert!(planned >= first && times.contains(&planned) && starts_at(planned));
                exact += usize::from(planned == first);
            }
        }
    }
    assert!(waited > 60 && 2 * exact > waited, "{waited}, {exact} at the first end");
}

#[test]
fn plans_of_moves_are_the_cheapest_of_all_and_each_step_is_legal() {
    let folder = Scratch::new();
    let mut moved = 0;
    for (topology, sizes) in [(TORUS, &[1, 2, 4][..]), (RINGS, &[1, 2, 3]), (BLOCKS, &[1, 2, 4])] {
        let machine = machine(&folder, topology);
        let site = machine.site("");
        let mut numbers = Numbers(3);
        for round in 0..300 {
            let size = sizes[2];
            let state = state(&machine, &mut numbers, &sizes[..2], size);
            let exempt: BTreeSet<String> =
                state.running.iter().take(round % 2).map(|holder| holder.stay.id.clone()).collect();
            let cost = [Cost::Moves, Cost::Nodes, Cost::NodeSeconds][round % 3];
            let target =
                DefragTarget { size, exempt: exempt.clone(), cost, ..DefragTarget::default() };
            // Search exhaustively: try every place, and never stop early.
            let mut best: Option<i64> = None;
            for (_, place) in places(site, size, None) {
                let mut jobs: Vec<&RunningJob> =
                    state.running.iter().filter(|holder| holder.nodes.meets(&place)).collect();
                if jobs.iter().any(|holder| exempt.contains(&holder.stay.id)) {
                    continue;
                }
                jobs.sort_by_key(|holder| std::cmp::Reverse(holder.nodes.count()));
                let mut held: Vec<(String, NodeSet)> = state
                    .running
                    .iter()
                    .map(|holder| (holder.stay.id.clone(), holder.nodes.clone()))
                    .collect();
                let (mut sum, mut is_clear) = (0, true);
                for holder in jobs {
                    let mut desk: SlurmAllocator<usize> = SlurmAllocator::new(site.clone());
                    for (number, (_, nodes)) in held.iter().enumerate() {
                        desk.hold(&number, &asked(&holder.stay), nodes.clone());
                    }
                    match desk.ask_without(&asked(&holder.stay), Some(&place)) {
                        SlurmAnswer::Nodes(nodes) => {
                            held.iter_mut()
                                .filter(|(id, _)| *id == holder.stay.id)
                                .for_each(|own| own.1 = nodes.clone());
                        }
                        _ => is_clear = false,
                    }
                    sum += match cost {
                        Cost::Moves => 1,
                        Cost::Nodes => i64::from(holder.nodes.count()),
                        Cost::NodeSeconds => i64::from(holder.nodes.count()) * 50,
                    };
                }
                if is_clear {
                    best = Some(best.map_or(sum, |best| best.min(sum)));
                }
            }
            let plans = defrag(&state, &target, 3).unwrap_or_default();
            assert_eq!(plans.first().map(|plan| plan.cost), best);
            for plan in &plans {
                let mut held: Vec<NodeSet> =
                    state.running.iter().map(|holder| holder.nodes.clone()).collect();
                for step in &plan.steps {
                    moved += 1;
                    assert!(!exempt.contains(&state.running[step.job].stay.id));
                    assert_eq!(held[step.job], step.from);
                    assert!(
                        !held.iter().any(|nodes| nodes.meets(&step.to))
                            && !plan.nodes.meets(&step.to)
                    );
                    held[step.job] = step.to.clone();
                }
                assert!(!held.iter().any(|nodes| nodes.meets(&plan.nodes)));
            }
        }
    }
    assert!(moved > 60, "{moved}");
}

#[test]
fn what_place_shows_is_a_state() {
    let folder = Scratch::new();
    machine(&folder, TORUS);
    let asked = "{\"op\":\"allocate\",\"id\":7,\"nodes\":1}\n{\"op\":\"show\"}\n{\"op\":\"allocate\",\"id\":\"b\",\"nodes\":1}\n{\"op\":\"show\"}\n";
    let answers = fed(&folder, &["place", "--slurm", "topology.yaml"], asked);
    put(&folder, "answers.json", answers.out);
    let ask = |words: &str| call(&folder, &format!("ops {words} --topology topology.yaml"));
    ask("defrag answers.json --shape 4x2x1 --json").succeeded();
    let state = MachineState::of_place(
        SlurmMachine::read(&folder.join("topology.yaml"), None).unwrap(),
        &folder.join("answers.json"),
    )
    .unwrap();
    let held: Vec<&str> = state.running.iter().map(|own| own.stay.id.as_str()).collect();
    assert_eq!(held, ["7", "b"], "the last answer counts");
    for words in ["explain answers.json b", "explain answers.json --all"] {
        let said = ask(words).refused();
        let says = "error: answers.json: no job waits in an answer of `meshwork place --slurm`";
        said.err_begins(says);
    }
    put(&folder, "none.json", "{\"id\":7}\n");
    let said = ask("defrag none.json --shape 4x2x1").ended(2);
    said.err_is(
        "error: none.json: no line is an answer of `meshwork place --slurm` to {\"op\":\"show\"}\n",
    );
}

#[test]
fn questions_that_cannot_be_answered_get_one_sentence() {
    let folder = Scratch::new();
    let machine = machine(&folder, TORUS);
    let runs = |id: &str, list: &str, nodes| JobRecord {
        start: Some(1000),
        end: Some(2000),
        limit: Some(1200),
        submit: Some(900),
        nodelist: list.to_owned(),
        line: 7,
        ..stay(&id, nodes)
    };
    let mut stays = vec![runs("a", "n[00-01]", 2), runs("b", "n[06-07]", 2), runs("c", "n08", 1)];
    stays.push(JobRecord { submit: Some(1100), ..stay(&"w", 8) });
    Folder::write(&folder.join("site"), &machine, &History { stays }, &json!({})).unwrap();
    let record = |list: &str| {
        format!(
            "JobId=7 JobName=x y JobState=RUNNING StartTime=100 TimeLimit=1:00 NumNodes=1 NodeList={list}\n"
        )
    };
    put(&folder, "jobs.txt", record("x1"));
    put(&folder, "flat.yaml", FLAT);
    let conf = "NodeName=x[1-16] CPUs=1\nPartitionName=p Nodes=ALL Default=YES\n";
    put(&folder, "x.conf", conf);
    put(&folder, "empty.txt", "");
    put(&folder, "other.txt", "NodeName=n1 State=IDLE\n");
    for (words, says) in [
        (
            "defrag site --shape 8",
            "site: of a site the instant is needed: --at TIME, in seconds since 1970 or as 2026-01-31T23:59:59",
        ),
        ("explain site z", "site: there is no job z in this history of 4 jobs, from a to w"),
        (
            "explain site w --at 5",
            "site: the history says nothing of 1970-01-01 00:00:05 UTC: it goes from 1970-01-01 00:15:00 to 1970-01-01 00:33:20",
        ),
        ("explain site a --at 1200", "job a runs, and does not wait"),
        ("explain site z --at 1200", "no job z waits at 1970-01-01 00:20:00 UTC"),
        (
            "defrag site --at 1200 --shape 3x1x1",
            "site/topology.yaml: no place of 3x1x1 is listed (listed: 1x1x1, 2x1x1, 2x2x1, 4x2x1)",
        ),
        (
            "defrag site --at 1200 --shape 2x2",
            "--shape: `2x2` is no shape of a place in a machine of Slurm: give three sides, as 8x8x4, or a number of nodes",
        ),
        ("defrag site --at 1200 --shape 8 --exempt z", "--exempt: no job z runs in this state"),
        (
            "defrag site --at 1200 --shape 8 --exempt a,b,c",
            "every place of the target holds a job that may not be moved",
        ),
        (
            "defrag jobs.txt --shape 8 --topology flat.yaml --conf x.conf",
            "flat.yaml: this topology is flat: any nodes will do here, so no move makes a shape",
        ),
        (
            "explain jobs.txt 7",
            "jobs.txt: the machine of this state is needed: --topology topology.yaml, or --conf slurm.conf alone for a \
             machine without a topology file",
        ),
        (
            "explain jobs.txt 7 --topology topology.yaml",
            "jobs.txt, line 1: the machine has no node x1: is this the state of another machine?",
        ),
        (
            "explain empty.txt 7 --topology topology.yaml",
            "empty.txt: no job runs or waits in this state",
        ),
        (
            "explain other.txt 7 --topology topology.yaml",
            "other.txt, line 1: this is no record of `scontrol show job -o`, which begins with JobId=, nor of `squeue --json`",
        ),
    ] {
        call(&folder, &format!("ops {words}")).ended(2).err_is(&format!("error: {says}\n"));
    }
    // Without a topology file, the machine of a slurm.conf is flat.
    let alone = conf.replace("Default=YES", "Default=YES OverSubscribe=EXCLUSIVE");
    put(&folder, "alone.conf", alone);
    let waits =
        "JobId=8 JobName=x JobState=PENDING Reason=None NumNodes=16 TimeLimit=1:00 SubmitTime=50\n";
    put(&folder, "two.txt", record("x1") + waits);
    let said = call(&folder, "ops explain two.txt 8 --conf alone.conf --json");
    let json = said.json();
    assert_eq!((&json["reason"], &json["free"]), (&json!("nodes"), &json!(15)), "{json:#}");
    let explain = |more: &str| call(&folder, &format!("ops explain site w --json{more}"));
    let json = explain(" --at 1200").json();
    // A date works too, in any zone. The default is the instant at which the job began to wait.
    for same in ["1970-01-01T00:20:00", "1970-01-01T01:20:00+01:00"] {
        let own = explain(&format!(" --at {same}")).json();
        assert_eq!((&own["now"], &own["starts"]), (&json["now"], &json["starts"]), "{same:?}");
    }
    let zone = ["--at", "1970-01-01 01:20:00", "--time-zone", "Europe/Berlin"];
    let own =
        meshwork(&folder, &[&["ops", "explain", "site", "w", "--json"], &zone[..]].concat()).json();
    assert_eq!((&own["now"], &own["starts"]), (&json["now"], &json["starts"]));
    assert_eq!(explain("").json()["now"], json!(1100));
    explain(" --at yesterday").err_has("must be a number from 0 to 1e15, or a date, as 2026");
    assert_eq!((&json["reason"], &json["free"]), (&json!("nodes"), &json!(7)), "{json:#}");
    assert_eq!(json["starts"]["at"], json!(2200));
    call(&folder, "ops defrag site --at 1200 --shape 2x2x1 --json").ended(0);
}

#[test]
fn planned_starts_are_those_of_a_real_slurm() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/placement/sites/site1");
    if !from.is_dir() {
        return skip("logs", "there are no real histories beside the project");
    }
    let mut jobs = String::new();
    let packed = fs::read(from.join("snapshot2/show_job.txt.gz")).unwrap();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut jobs).unwrap();
    let folder = Scratch::with("jobs.txt", &jobs);
    let file = |name: &str| from.join(name).display().to_string();
    // Starts that backfill plans for the first three jobs of 16 nodes: the job, the start in
    // seconds since 1970, and the nodes.
    for (job, at, nodes) in [
        ("1109", 1_795_272_906, "n[32-39,48-55]"),
        ("1114", 1_795_273_026, "n[32-39,48-55]"),
        ("1115", 1_795_273_062, "n[40-47,56-63]"),
    ] {
        let said = meshwork(
            &folder,
            &[
                "ops",
                "explain",
                "jobs.txt",
                job,
                "--nodes",
                &file("snapshot2/show_nodes.txt"),
                "--topology",
                &file("topology.yaml"),
                "--conf",
                &file("slurm.conf"),
                "--json",
            ],
        );
        let json: Json = said.json();
        assert_eq!(json["starts"], json!({ "at": at, "nodes": nodes }), "{job}");
    }
}

/// Reasons of a waiting job as text and as JSON, from Slurm's records.
fn explained(records: &str, nodes: &str, words: &str) -> (String, Json) {
    let folder = Scratch::new();
    machine(&folder, TORUS);
    put(&folder, "jobs.txt", records);
    put(&folder, "nodes.txt", nodes);
    both(&folder, &format!("jobs.txt --topology topology.yaml --nodes nodes.txt {words}"))
}

/// Slurm's records of a running job on one node, and of waiting jobs.
///
/// Each item has a waiting job's id, priority, number of nodes, and further fields.
fn records(waiting: &[(u32, u32, u32, &str)]) -> String {
    let mut text = "JobId=1 JobName=x JobState=RUNNING Reason=None StartTime=2026-07-01T12:00:00 EndTime=2026-07-01T13:00:00 \
                    TimeLimit=01:00:00 NumNodes=1 NodeList=n00 SubmitTime=2026-07-01T11:00:00\n"
        .to_owned();
    for (id, priority, nodes, more) in waiting {
        text.push_str(&format!(
            "JobId={id} JobName=x Priority={priority} JobState=PENDING {more} TimeLimit=02:00:00 NumNodes={nodes}-{nodes} \
             SubmitTime=2026-07-01T11:30:00 LastSchedEval=2026-07-01T12:10:00\n"
        ));
    }
    text
}

#[test]
fn times_of_a_running_machine_are_those_of_its_own_clock() {
    let jobs = records(&[(2, 9, 8, "Reason=Resources EligibleTime=2026-07-01T11:30:00")]);
    let (text, json) = explained(&jobs, "NodeName=n11 State=IDLE\n", "2");
    assert!(text.contains("job 2 waits at 2026-07-01 12:10:00 local time: "), "{text}");
    assert!(!text.contains("UTC"), "{text}");
    assert_eq!(json["time"], json!("2026-07-01 12:10:00 local time"));
    // If a time zone is given, the JSON has instants, in seconds since 1970.
    let zone = "2 --time-zone Europe/Berlin";
    let (text, json) = explained(&jobs, "NodeName=n11 State=IDLE\n", zone);
    assert!(text.contains("job 2 waits at 2026-07-01 12:10:00 +02:00: "), "{text}");
    assert_eq!(json["now"], json!(1_782_900_600));
    // Seconds since 1970 need no zone.
    let epoch = "JobId=1 JobState=RUNNING StartTime=1782900000 TimeLimit=01:00:00 NumNodes=1 NodeList=n00\n\
                 JobId=2 JobState=PENDING Reason=Resources SubmitTime=1782900600 TimeLimit=01:00:00 NumNodes=12\n";
    let (text, _) = explained(epoch, "", "2");
    assert!(text.contains("job 2 waits at 2026-07-01 10:10:00 UTC: "), "{text}");
}

#[test]
fn what_slurm_does_not_consider_is_told_slurms_own_reason() {
    for (more, kind, says) in [
        ("Reason=JobHeldUser Dependency=(null)", "held", "it is held, until somebody releases it"),
        ("Reason=JobHeldAdmin", "held", "it is held, until somebody releases it (JobHeldAdmin)"),
        ("Reason=job_requeued_in_held_state", "held", "it is held"),
        ("Reason=Dependency Dependency=afterok:1(unfulfilled)", "dependency", "follows other jobs"),
        ("Reason=None Dependency=afterok:1(unfulfilled)", "dependency", "follows other jobs"),
        ("Reason=DependencyNeverSatisfied", "dependency", "(DependencyNeverSatisfied)"),
        ("Reason=QOSMaxJobsPerUserLimit", "limit", "a limit (QOSMaxJobsPerUserLimit)"),
        ("Reason=AssocGrpNodeLimit", "limit", "a limit (AssocGrpNodeLimit)"),
        ("Reason=MaxNodePerAccount", "limit", "a limit (MaxNodePerAccount)"),
        ("Reason=JobArrayTaskLimit", "limit", "a limit (JobArrayTaskLimit)"),
        ("Reason=BeginTime EligibleTime=2026-07-01T15:00:00", "begin_time", "may not start yet"),
        ("Reason=Priority EligibleTime=2026-07-01T15:00:00", "begin_time", "(BeginTime)"),
        ("Reason=Reservation", "reservation", "its reservation has not begun (Reservation)"),
        ("Reason=Licenses", "other", "(Licenses)"),
    ] {
        // The first job in the queue needs all free nodes; the second job could start at once.
        let jobs = records(&[(2, 9, 8, more), (3, 5, 8, "Reason=Priority")]);
        let (text, json) = explained(&jobs, "", "2");
        assert_eq!(json["reason"], json!(kind), "{more}: {text}");
        assert!(text.contains(says) && !text.contains("nodes are kept"), "{more}: {text}");
        assert!(!text.contains("starts by limits"), "{text}");
        // No nodes are kept for job 2, so job 3 waits only for its turn.
        let (_, json) = explained(&jobs, "", "3");
        assert_eq!(json["reason"], json!("turn"), "{more}: {json:#}");
    }
    // Other jobs wait for nodes or for their turn, whatever reason Slurm gave last.
    for reason in ["None", "Priority", "Resources", "No_suitable_topology_unit_found"] {
        let jobs = records(&[(2, 9, 8, &format!("Reason={reason}")), (3, 5, 8, "Reason=Priority")]);
        let (_, json) = explained(&jobs, "", "3");
        assert_eq!(json["reason"], json!("priority"), "{reason}: {json:#}");
    }
}

#[test]
fn nodes_of_reservations_and_of_the_future_are_not_free() {
    let jobs = records(&[(2, 9, 4, "Reason=Resources")]);
    for (state, free) in [
        ("IDLE", 11),
        ("IDLE+PLANNED", 11),
        ("IDLE+RESERVED", 9),
        ("FUTURE", 9),
        ("IDLE+MAINTENANCE+RESERVED", 9),
        ("DOWN*", 9),
        ("IDLE*", 9),
    ] {
        let (_, json) = explained(
            &jobs,
            &format!("NodeName=n10 State={state}\nNodeName=n11 State={state}\n"),
            "2",
        );
        assert_eq!(json["free"], json!(free), "{state}: {json:#}");
    }
}

/// Answer of `ops explain` as text and as JSON.
fn both(folder: &Path, words: &str) -> (String, Json) {
    let said = call(folder, &format!("ops explain {words}")).succeeded();
    (said.out, call(folder, &format!("ops explain {words} --json")).json())
}

#[test]
fn a_long_reason_is_cut_in_the_queue_and_whole_below_it() {
    let folder = Scratch::new();
    machine(&folder, TORUS);
    let long = "Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions";
    let reason = format!("Reason={long} EligibleTime=2026-07-01T11:30:00");
    put(&folder, "jobs.txt", records(&[(2, 9, 8, &reason)]));
    let (text, json) = both(&folder, "--all jobs.txt --topology topology.yaml");
    let says = json["jobs"][0]["slurm"].as_str().unwrap();
    let cut: String = says.chars().take(40).collect();
    assert!(says.len() > 80 && text.contains(&format!("  {cut}…\n")), "{text}");
    assert_eq!(text.matches(says).count(), 1, "{text}");
}

#[test]
fn a_queue_is_a_table_with_a_reason_for_each_job() {
    let folder = Scratch::new();
    machine(&folder, TORUS);
    let jobs = records(&[
        (2, 9, 8, "Reason=None EligibleTime=2026-07-01T11:30:00"),
        (3, 5, 8, "Reason=None EligibleTime=2026-07-01T11:30:00"),
        (4, 4, 1, "Reason=None EligibleTime=2026-07-01T11:30:00"),
        (5, 3, 8, "Reason=JobHeldUser EligibleTime=2026-07-01T11:30:00"),
        (6, 2, 8, "Reason=QOSGrpNodeLimit EligibleTime=2026-07-01T11:30:00"),
    ]);
    put(&folder, "jobs.txt", jobs);
    let (text, json) = both(&folder, "--all jobs.txt --topology topology.yaml");
    let of = |key: &str| -> Vec<&str> {
        json["jobs"].as_array().unwrap().iter().map(|own| own[key].as_str().unwrap_or("")).collect()
    };
    assert_eq!(of("job"), ["2", "3", "4", "5", "6"]);
    // Job 2 starts in the next pass, job 3 lacks nodes, and job 4 is behind job 3.
    assert_eq!(
        of("slurm"),
        ["Priority", "Resources", "Priority", "JobHeldUser", "QOSGrpNodeLimit"]
    );
    // The jobs 2 and 4 could start at once, and job 3 could if no nodes were kept for job 2.
    assert_eq!(of("reason"), ["turn", "priority", "turn", "held", "limit"]);
    // The reason of each job is the one that it has alone.
    for (job, reason) in of("job").into_iter().zip(of("reason")) {
        let words = format!("ops explain jobs.txt {job} --topology topology.yaml --json");
        let alone = call(&folder, &words).json();
        assert_eq!(alone["reason"], json!(reason), "job {job}");
    }
    let counts = json!({ "JobHeldUser": 1, "Priority": 2, "QOSGrpNodeLimit": 1, "Resources": 1 });
    assert_eq!(json["reasons"], counts);
    assert!(text.contains("Slurm's reason") && text.contains("QOSGrpNodeLimit"), "{text}");
}

#[test]
fn a_queue_of_squeue_in_json_is_that_of_scontrol() {
    let folder = Scratch::new();
    machine(&folder, TORUS);
    let old = json!({ "jobs": [
        { "job_id": 1, "user_name": "ada", "job_state": "RUNNING", "submit_time": 1_782_890_000,
          "start_time": 1_782_900_000, "time_limit": 60, "node_count": 8, "nodes": "n[00-07]", "shared": "none" },
        { "job_id": 2, "user_name": "bo", "job_state": "PENDING", "submit_time": 1_782_900_600, "eligible_time": 1_782_900_600,
          "start_time": 0, "time_limit": 120, "node_count": 8, "nodes": "", "priority": 9, "state_reason": "Resources" },
    ]});
    let set = |number: i64| json!({ "set": true, "infinite": false, "number": number });
    let new = json!({ "jobs": [
        { "job_id": 1, "user_name": "ada", "job_state": ["RUNNING"], "submit_time": set(1_782_890_000),
          "start_time": set(1_782_900_000), "time_limit": set(60), "node_count": set(8), "nodes": "n[00-07]", "exclusive": ["true"] },
        { "job_id": 2, "user_name": "bo", "job_state": ["PENDING"], "submit_time": set(1_782_900_600),
          "eligible_time": set(1_782_900_600), "start_time": { "set": false, "infinite": false, "number": 0 },
          "time_limit": set(120), "node_count": set(8), "nodes": "", "priority": set(9), "state_reason": "Resources" },
    ]});
    let text = "JobId=1 UserId=ada(7) JobState=RUNNING SubmitTime=1782890000 StartTime=1782900000 TimeLimit=01:00:00 NumNodes=8 NodeList=n[00-07] Exclusive=NODE\n\
                JobId=2 UserId=bo(8) JobState=PENDING Reason=Resources SubmitTime=1782900600 EligibleTime=1782900600 TimeLimit=02:00:00 NumNodes=8 Priority=9\n";
    let explained = |text: &str| -> Json {
        put(&folder, "jobs.txt", text);
        call(&folder, "ops explain jobs.txt 2 --topology topology.yaml --json").succeeded().json()
    };
    let own = explained(text);
    assert_eq!((&own["reason"], &own["starts"]["at"]), (&json!("nodes"), &json!(1_782_903_600)));
    for other in [old, new] {
        assert_eq!(explained(&other.to_string()), own);
    }
}

#[test]
fn a_limit_of_the_tables_is_a_reason_before_free_nodes() {
    let folder = Scratch::new();
    let conf = "AccountingStorageEnforce=limits\nNodeName=n[0-3] CPUs=1\nPartitionName=p Nodes=ALL Default=YES\n";
    put(&folder, "slurm.conf", conf);
    let own = |id: usize, submit: i64, start: i64| JobRecord {
        state: String::new(),
        user: "ada".to_owned(),
        qos: "q".to_owned(),
        start: Some(start),
        end: Some(start + 600),
        nodelist: "n0".to_owned(),
        ..completed(id, submit, 600, 900, 1)
    };
    let reason = |second: JobRecord, table: &str| {
        let machine = SlurmMachine::flat(&folder.join("slurm.conf")).unwrap();
        let machine = machine.with_tables([("qos.txt", table.to_owned())]);
        let stays = vec![own(1, 1_000, 1_000), second];
        let (path, history) = (folder.to_owned(), History { stays });
        let state = MachineState::of_history(Folder { path, machine, history }, 1_100).unwrap();
        explain(&state, "2").unwrap().reason
    };
    let limit = HeldBack { kind: "limit", says: "QOSMaxJobsPerUserLimit".to_owned() };
    let started = own(2, 1_010, 1_600);
    // Accounting keeps the reason of the submission, so the tables decide even if it names a limit.
    let told = |reason: &str| JobRecord {
        start: None,
        end: None,
        nodelist: String::new(),
        reason: reason.to_owned(),
        ..started.clone()
    };
    for second in [started.clone(), told("QOSMaxJobsPerUserLimit")] {
        let table = "Name|Priority|MaxJobsPU\nq|0|1\n";
        assert_eq!(reason(second.clone(), table), WaitReason::HeldBack(limit.clone()));
        assert_eq!(reason(second, "Name|Priority|MaxJobsPU\nq|0|2\n"), WaitReason::Turn);
    }
    // There is no table of associations, so the record is all that is known of their limits.
    let recorded = HeldBack { kind: "limit", says: "AssocMaxJobsLimit".to_owned() };
    let second = told("AssocMaxJobsLimit");
    let table = "Name|Priority|MaxJobsPU\nq|0|2\n";
    assert_eq!(reason(second, table), WaitReason::HeldBack(recorded));
}

#[test]
fn a_job_on_parts_of_nodes_is_told_what_it_lacks() {
    let folder = Scratch::new();
    let conf = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\n\
                NodeName=g[0-2] CPUs=8 RealMemory=9000 Gres=gpu:4\n\
                PartitionName=p Nodes=g[0-2] Default=YES\n";
    let row = |id: u32, nodes: &str, cpus: u32, options: &str| {
        let (start, end) = if nodes.is_empty() { ("", "") } else { ("2", "900") };
        format!("{id},1,{id},{start},{end},900,1,{nodes},{cpus},,a,p,,,{options} --mem=100\n")
    };
    let jobs = [
        "id,attempt,submit,start,end,limit,nodes,nodelist,processors,by,user,partition,qos,switches,options\n"
            .to_owned(),
        row(1, "g0", 1, "-n1 --gpus-per-node=2"),
        row(2, "g1", 1, "-n1 --gpus-per-node=3"),
        row(3, "g2", 2, "-n2 --gpus-per-node=1"),
        row(4, "", 1, "-n1 --gpus-per-node=4"),
        row(5, "", 1, "-N1 -n1 --exclusive"),
        row(6, "", 1, "-n30"),
        row(7, "", 16, "-N2 --ntasks-per-node=8"),
        row(8, "", 1, "-n1 --gpus-per-node=1"),
    ];
    for (name, text) in [
        ("slurm.conf", conf),
        ("gres.conf", "NodeName=g[0-2] Name=gpu File=/dev/g[0-3]\n"),
        ("topology.yaml", "- topology: t\n  cluster_default: true\n  flat: true\n"),
        ("jobs.csv", &jobs.concat()),
    ] {
        put(&folder, name, text);
    }
    let ask = |job: &str| -> Json {
        meshwork(&folder, &["ops", "explain", ".", job, "--at", "9", "--json"]).ended(0).json()
    };
    let four = ask("4");
    assert_eq!(four["reason"], "nodes");
    assert_eq!(four["short"], "enough in total, but 3 + 2 + 1 free GPUs are not 4 on one node");
    assert_eq!(four["ends_that_would_do"], json!(["1", "2", "3"]));
    let whole = ask("5");
    assert_eq!(whole["short"], "1 free node is needed, and none is free");
    assert_eq!((&whole["reason"], &whole["free"]), (&json!("nodes"), &json!(0)));
    assert_eq!((&ask("6")["reason"], &ask("6")["short"]), (&json!("never"), &json!(null)));
    let two = "it asks for 16 cores";
    let wide = ask("7");
    assert_eq!(wide["ends_that_would_do"], json!([]), "{wide}");
    let short = wide["short"].as_str().unwrap();
    assert!(
        short == "2 nodes with 8 CPUs and 100 MB free are needed, and none has them"
            || short.starts_with(two),
        "{short}"
    );
    assert_ne!(ask("8")["reason"], "nodes");
    let said = call(&folder, "ops explain . 4 --at 9");
    let sentence =
        "enough in total, but 3 + 2 + 1 free GPUs are not 4 on one node (Requested nodes are busy)";
    said.out_has(sentence);
    said.out_has("could start now if job 1 or job 2 or job 3 ended");
}

/// Machine that allocates whole nodes.
///
/// Rows of `jobs` are `id, submit, eligible, start, end, nodes, nodelist, by, priority`, where `by`
/// is the scheduler that started the job.
fn site_of(conf: &str, topology: &str, events: &str, jobs: &[&str]) -> Scratch {
    let folder = Scratch::new();
    let head = "id,attempt,submit,eligible,start,end,limit,nodes,nodelist,by,user,partition,qos,priority\n";
    let row = |job: &&str| {
        let cells: Vec<&str> = job.split(',').map(str::trim).collect();
        let [id, submit, eligible, start, end, nodes, nodelist, by, priority] = cells[..] else {
            panic!("{job}")
        };
        format!(
            "{id},1,{submit},{eligible},{start},{end},900,{nodes},{nodelist},{by},ada,p,q,{priority}\n"
        )
    };
    let table = head.to_owned() + &jobs.iter().map(row).collect::<String>();
    let conf = format!("{conf}PartitionName=p Nodes=ALL Default=YES\n");
    for (name, text) in [
        ("slurm.conf", &*conf),
        ("topology.yaml", topology),
        ("events.txt", events),
        ("qos.txt", "Name|Priority\nq|1\n"),
        ("jobs.csv", &table),
    ] {
        put(&folder, name, text);
    }
    folder
}

const FLAT: &str = "- topology: t\n  cluster_default: true\n  flat: true\n";

/// Waiting jobs with their reasons in Slurm's words, from `ops explain --all`.
fn reasons_at(folder: &Path, at: u32) -> Vec<(String, String)> {
    let said =
        meshwork(folder, &["ops", "explain", ".", "--all", "--at", &at.to_string(), "--json"])
            .ended(0);
    let table = said.json();
    let text = |value: &Json| value.as_str().unwrap().to_owned();
    let jobs = table["jobs"].as_array().unwrap();
    jobs.iter().map(|own| (text(&own["job"]), text(&own["slurm"]))).collect()
}

#[test]
fn a_begin_time_is_the_reason_until_a_pass_after_it() {
    let nodes = "NodeName=n[0-3] CPUs=1\n";
    let jobs = ["1,100,100,101,400,4,n[0-3],main,", "2,110,200,401,500,4,n[0-3],main,"];
    let folder = site_of(nodes, FLAT, "", &jobs);
    let reason = |at: u32| reasons_at(&folder, at)[0].1.clone();
    assert_eq!((reason(150), reason(200)), ("BeginTime".to_owned(), "BeginTime".to_owned()));
    assert_eq!(reason(210), "Resources");
}

/// Within one second, a pass precedes the submissions if its starts were possible without them.
///
/// The submitted jobs then find the nodes taken.
#[test]
fn a_pass_with_recorded_starts_precedes_the_submissions_of_its_second() {
    let nodes = "NodeName=n[0-3] CPUs=1\n";
    let jobs = [
        "1,100,100,101,398,4,n[0-3],main,",
        "2,110,110,400,500,4,n[0-3],main,",
        "3,400,400,501,600,4,n[0-3],main,",
    ];
    let folder = site_of(nodes, FLAT, "", &jobs);
    assert_eq!(reasons_at(&folder, 401), [("3".to_owned(), "Resources".to_owned())]);
}

/// At an instant of a history, the priorities of jobs are computed from the tables of the history.
///
/// The recorded priority of job 2 is not used, because it was raised after this instant.
#[test]
fn priorities_of_a_history_come_from_its_tables() {
    let conf = "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityMaxAge=0-1\n\
                PriorityWeightQOS=1000\nNodeName=n[0-3] CPUs=1\n";
    let jobs = [
        "1,100,100,101,9000,4,n[0-3],main,1000",
        "2,200,200,9001,9100,4,n[0-3],main,9999",
        "3,150,150,9200,9300,4,n[0-3],main,1014",
    ];
    let folder = site_of(conf, FLAT, "Cluster|NodeName|TimeStart\nc||50\n", &jobs);
    let order: Vec<String> = reasons_at(&folder, 2_000).into_iter().map(|own| own.0).collect();
    assert_eq!(order, ["3", "2"]);
}

const ROW: &str = "- topology: t
  cluster_default: true
  torus3d:
    toruses:
      - name: t
        dims: {x: 8, y: 1, z: 1}
        nodes: n[0-7]
        placements:
          - dims: {x: 1, y: 1, z: 1}
          - dims: {x: 4, y: 1, z: 1}
";
const WHOLE: &str = "NodeName=n[0-7] CPUs=1\nPartitionName=DEFAULT OverSubscribe=EXCLUSIVE\n";

/// Row of eight nodes. Job 1 holds n3, and job 2 of four nodes waits from 110 to 200.
fn row(events: &str) -> Scratch {
    let jobs = ["1,100,100,100,200,1,n3,main,", "2,110,110,200,300,4,n[0-3],main,"];
    site_of(WHOLE, ROW, events, &jobs)
}

#[test]
fn nodes_that_are_down_in_a_history_are_not_free() {
    let explain = |folder: &Path, at: &str| {
        meshwork(folder, &["ops", "explain", ".", "2", "--at", at, "--json"]).ended(0).json()
    };
    let defrag = |folder: &Path| call(folder, "ops defrag . --at 150 --shape 4x1x1").out;
    let free = row("");
    assert_eq!(explain(&free, "150")["reason"], "turn");
    assert!(defrag(&free).contains("4x1x1 on n[4-7] is free"));
    let drained = row("NodeName|TimeStart|TimeEnd|State\nn6|120|180|DRAIN\nn7|120|180|DRAIN\n");
    let json = explain(&drained, "150");
    assert_eq!((&json["reason"], &json["free"]), (&json!("shape"), &json!(5)), "{json:#}");
    let down: Vec<&Json> =
        json["nearest"].as_array().unwrap().iter().map(|own| &own["down"]).collect();
    assert_eq!(down, [0, 2], "{json:#}");
    assert!(!defrag(&drained).contains("n[4-7]"), "{}", defrag(&drained));
    assert_eq!(explain(&drained, "190")["reason"], "turn", "the nodes are back");
    let one = row("NodeName|TimeStart|TimeEnd|State\nn7|120|180|DOWN\n");
    call(&one, "ops explain . 2 --at 150").out_has("in the way: 1 node that is down or reserved");
}

#[test]
fn nodes_of_a_reservation_in_a_history_are_not_free() {
    let folder = row("");
    let table = "ReservationName=r StartTime=120 EndTime=180 Nodes=n[6-7] NodeCnt=2\n";
    put(&folder, "reservations.txt", table);
    let json = call(&folder, "ops explain . 2 --at 150 --json").json();
    assert_eq!((&json["reason"], &json["free"]), (&json!("shape"), &json!(5)), "{json:#}");
    assert_eq!(
        call(&folder, "ops explain . --all --at 150 --json").json()["jobs"][0]["reason"],
        "shape"
    );
}

/// Tests the reason of a job that waits because no free nodes have a suitable shape.
///
/// `ops explain` must give it in the same words with `--all` and for a single job.
#[test]
fn a_missing_shape_is_the_reason_of_the_first_job_in_the_queue_too() {
    let jobs = [
        "1,100,100,100,900,1,n3,main,",
        "2,100,100,100,900,1,n6,main,",
        "3,110,110,900,950,4,n[0-3],main,",
        "4,115,115,910,950,4,n[4-7],main,",
        "5,116,116,,,9,,,",
    ];
    let folder = site_of(WHOLE, ROW, "", &jobs);
    let expected =
        [("3", "No suitable topology unit found"), ("4", "Priority"), ("5", "PartitionNodeLimit")];
    let expected = expected.map(|(job, says)| (job.to_owned(), says.to_owned()));
    assert_eq!(reasons_at(&folder, 150), expected);
    call(&folder, "ops explain . 3 --at 150").out_has("(No suitable topology unit found)");
    call(&folder, "ops explain . --all --at 150").out_has("Slurm's reason (modelled)");
}

#[test]
fn an_instant_shortly_after_a_history_is_its_last_second() {
    let folder = row("");
    let explain = |job: &str, at: &str| {
        meshwork(&folder, &["ops", "explain", ".", job, "--at", at, "--json"])
    };
    let said = explain("2", "400");
    let warning =
        "warning: .: the history ends at 1970-01-01 00:05:00 UTC, so the answer is for that second";
    said.err_begins(warning);
    let says = "no job 2 waits at 1970-01-01 00:05:00 UTC: it ran from 1970-01-01 00:03:20 UTC to";
    said.err_has(says);
    assert!(explain("2", "9000").err.contains("the history says nothing of"));
    let says =
        "no job 2 waits at 1970-01-01 00:01:45 UTC: it is submitted at 1970-01-01 00:01:50 UTC";
    assert!(explain("2", "105").err.contains(says));
    assert!(explain("2", "205").err.contains("job 2 runs, and does not wait\n"));
}

/// Records of a log in the Standard Workload Format name no nodes.
#[test]
fn a_state_without_node_lists_is_refused() {
    let jobs = ["1,100,100,100,200,1,,main,", "2,110,110,200,300,4,,main,"];
    let folder = site_of(WHOLE, ROW, "", &jobs);
    for words in
        ["ops explain . 2 --at 150", "ops when . 2 --at 150", "ops defrag . --shape 4 --at 150"]
    {
        let said = call(&folder, words);
        let says =
            "no node list of 1 running job at 1970-01-01 00:02:30 UTC, so it is not known which";
        assert_eq!(said.status, Some(2), "{words}: {}", said.out);
        assert!(said.err.contains(says), "{words}: {}", said.err);
    }
}

#[test]
fn what_the_model_leaves_out_is_said_beside_the_answer() {
    let folder = row("");
    let conf = folder.join("slurm.conf");
    let text = fs::read_to_string(&conf).unwrap() + "PreemptType=preempt/partition_prio\n";
    for (text, warns) in [(text.clone(), true), (text.replace("PreemptType", "#"), false)] {
        fs::write(&conf, text).unwrap();
        for verb in ["explain", "when"] {
            let said = meshwork(&folder, &["ops", verb, ".", "2", "--at", "150"]).ended(0);
            assert_eq!(
                said.err.contains("warning: .: the model leaves out"),
                warns,
                "{}",
                said.err
            );
        }
    }
}
