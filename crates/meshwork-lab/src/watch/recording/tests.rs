//! Tests that an unpacked and replayed recording gives the machine states of its run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use meshwork::job::{Cause, Job, Request, Time};
use meshwork::machine::{Block, Placement};
use meshwork::observe::JobId;
use tempfile::TempDir;

use super::columns::tests::unpacked;
use super::*;
use crate::run::event::NOBODY;
use crate::run::store::load;
use crate::tests::{study, synthetic};
use crate::watch::live::tests::all;
use crate::watch::{EventKind, Live, RunEvent, Scene};
use crate::{Options, Study, run};
use meshwork::catalogue::Catalogue;
use meshwork::topology::Node;

/// Events of a recording, decoded as a page decodes them.
fn told(recording: &Recording) -> Vec<RunEvent> {
    let json = serde_json::to_value(recording).unwrap();
    let columns = unpacked(&json);
    let (mut event, mut start, mut placed, mut block) = (0, 0, 0, 0);
    let mut all = Vec::new();
    for (&at, &count) in columns.at.iter().zip(&columns.count) {
        for _ in 0..count {
            let job = columns.job[event] as usize;
            let asked = |job: usize| {
                Job::new(
                    columns.number[job] as u64,
                    Time::new(at),
                    Request::Nodes(recording.asked[columns.request[job] as usize].nodes as u32),
                    1.0,
                )
            };
            let mut placement = || {
                let blocks = columns.blocks[placed] as usize;
                placed += 1;
                block += blocks;
                let blocks = (block - blocks..block).map(|i| Block {
                    base: columns.base[i],
                    sides: recording.shapes[columns.shape[i] as usize].as_slice().into(),
                });
                Placement { blocks: blocks.collect(), parts: None }
            };
            let what = match columns.kind[event] {
                0 => EventKind::Arrived(asked(job)),
                1 => EventKind::Refused(asked(job)),
                2 => EventKind::TurnedAway,
                3 => {
                    start += 1;
                    let site = columns.site[start - 1] as usize;
                    EventKind::Started { site, placement: placement() }
                }
                4 => EventKind::Moved { placement: placement() },
                5 => EventKind::Finished,
                6 => EventKind::Interrupted,
                kind => {
                    start += 1;
                    let (site, node) = (columns.site[start - 1] as usize, job as Node);
                    if kind == 7 {
                        EventKind::Down { site, node }
                    } else {
                        EventKind::Up { site, node }
                    }
                }
            };
            event += 1;
            let is_nobody = matches!(what, EventKind::Down { .. } | EventKind::Up { .. });
            let id = if is_nobody { NOBODY } else { JobId(job as u64) };
            all.push(RunEvent { at: Time::new(at), id, what });
        }
    }
    assert_eq!((event, block), (columns.kind.len(), columns.base.len()), "nothing is left over");
    all
}

/// State of all nodes and of the queue, in a form that can be compared.
///
/// A node has the number of the job that holds it, 0 if it is free, or `u64::MAX` if it is out of
/// service. A waiting job has its number and its requested number of nodes.
fn seen(scene: &Scene) -> (Vec<u64>, Vec<(u64, u64)>) {
    let number = |id: JobId| scene.running()[&id].job.number;
    let owners = scene.topologies().iter().enumerate().flat_map(|(site, topology)| {
        let nodes = 0..topology.grid().nodes();
        let nobody = move |node| if scene.is_down(site, node) { u64::MAX } else { 0 };
        nodes.map(move |node| scene.owner(site, node).map_or_else(|| nobody(node), number))
    });
    let waiting = scene.waiting().values().map(|job| (job.number, job.request.nodes()));
    (owners.collect(), waiting.collect())
}

fn scene_at(happenings: &[RunEvent], topologies: &[Topology], instant: Time) -> Scene {
    let mut scene = Scene::new(topologies.to_vec());
    for happening in happenings.iter().take_while(|happening| happening.at <= instant) {
        scene.apply(happening);
    }
    scene
}

fn lived(study: &Study) -> (Vec<RunEvent>, Vec<Topology>) {
    let (point, mut live) = Live::start(study, 0, 0).unwrap();
    let (all, outcome) = all(&mut live);
    outcome.unwrap();
    (all, point.scenario.topologies())
}

fn stored(head: &str, tail: &str) -> (TempDir, Study) {
    let folder = tempfile::tempdir().unwrap();
    let text = synthetic(&format!("{head}\nmeasure = {{ jobs = 120 }}"), 0.8, tail);
    let study = Study::parse("a.toml", &text, folder.path(), &[]).unwrap();
    let finished = run(&study, &options(folder.path())).unwrap();
    assert_eq!(finished.failures, [""; 0]);
    (folder, study)
}

fn options(folder: &Path) -> Options<'static> {
    Options { out: Some(folder.to_owned()), threads: 1, ..Options::default() }
}

fn recorded(folder: &Path, window: RecordingWindow) -> Result<Recording, RecordingError> {
    recording_of(&load(folder).unwrap().records[0], folder, window)
}

fn recording_of(
    record: &RunRecord,
    folder: &Path,
    window: RecordingWindow,
) -> Result<Recording, RecordingError> {
    let subject = Subject { catalogue: &Catalogue::standard(), record, title: "", scenario: 1 };
    Recording::of(subject, folder, window)
}

const MACHINES: [&str; 7] = [
    "machine = { topology = 'mesh', dims = [8, 6] }",
    "machine = { topology = 'torus', dims = [4, 3, 4] }\nallocator = 'first_fit'",
    "machine = { topology = 'hypercube', dimension = 6 }",
    "machine = { topology = 'flat', processors = 40 }",
    "machine = { topology = 'mesh', dims = [8, 6] }\nscheduler = 'equipartition'",
    "machine.sites = [ { topology = 'mesh', dims = [4, 4], speed = 2.0 }, \
     { topology = 'flat', processors = 12 } ]",
    "machine = { topology = 'mesh', dims = [8, 6] }\nscheduler = 'easy'\n\
     failures = { mtbf = 300, repair = 10, maintenance = [{ from = 30, until = 40, nodes = '0,0:2x2' }] }",
];

#[test]
fn at_every_instant_it_shows_what_the_run_showed() {
    for machine in MACHINES {
        let (folder, study) = stored(machine, "");
        let recording = recorded(folder.path(), RecordingWindow::default()).unwrap();
        let told = told(&recording);
        let (lived, topologies) = lived(&study);
        assert_eq!(told.len(), lived.len(), "{machine}");
        let words: Vec<String> = topologies.iter().map(Topology::to_string).collect();
        assert!(recording.sites.iter().map(|site| &site.words).eq(&words));
        assert_eq!(recording.notes, [""; 0], "it is whole");
        for instant in lived.iter().map(|happening| happening.at).step_by(7) {
            let (ours, theirs) = [&told, &lived].map(|h| scene_at(h, &topologies, instant)).into();
            assert_eq!(seen(&ours), seen(&theirs), "{machine}, at {instant}");
        }
    }
}

#[test]
fn speeds_are_those_of_the_run() {
    let (folder, _) = stored(MACHINES[5], "");
    let recording = recorded(folder.path(), RecordingWindow::default()).unwrap();
    assert_eq!(recording.sites.iter().map(|site| site.speed).collect::<Vec<_>>(), [2.0, 1.0]);
    assert_eq!(recording.sites[0].wiring, "mesh");
    assert_eq!(recording.sites[1].sides, [12]);
}

#[test]
fn a_window_shows_what_the_whole_shows() {
    for machine in MACHINES {
        let (folder, study) = stored(machine, "");
        let (lived, topologies) = lived(&study);
        let middle = lived[lived.len() / 2].at;
        let window = RecordingWindow { from: middle.units(), jobs: 20 };
        let recording = recorded(folder.path(), window).unwrap();
        assert!(recording.notes[0].starts_with("Shown is a part of the run, from time "));
        assert!(recording.jobs() >= 20);
        let told = told(&recording);
        let until = Time::new(recording.until);
        assert!(middle < until && until < lived.last().unwrap().at);
        let inside = lived.iter().map(|h| h.at).filter(|&at| at >= middle && at <= until);
        for instant in inside {
            let (ours, theirs) = [&told, &lived].map(|h| scene_at(h, &topologies, instant)).into();
            assert_eq!(seen(&ours), seen(&theirs), "{machine}, at {instant}");
        }
    }
}

#[test]
fn a_window_behind_the_run_is_refused() {
    let (folder, _) = stored(MACHINES[0], "");
    let sentence =
        recorded(folder.path(), RecordingWindow { from: 1e9, jobs: 5 }).unwrap_err().to_string();
    assert!(sentence.starts_with("the run ended at time "), "{sentence}");
    assert!(sentence.contains("and so has no time 1,000,000,000 to be shown"), "{sentence}");
}

#[test]
fn a_run_whose_model_is_gone_is_read_from_its_job_output() {
    for format in if cfg!(feature = "parquet") { &["csv", "parquet"][..] } else { &["csv"] } {
        // For moved or interrupted jobs, the output has only the last placement.
        let stay = |machine: &&&str| {
            ["equipartition", "failures"].iter().all(|word| !machine.contains(word))
        };
        for machine in MACHINES.iter().filter(stay) {
            let head = format!("record = false\n{machine}");
            let (folder, study) = stored(&head, &format!("[output]\njobs = ['{format}']"));
            let mut record = load(folder.path()).unwrap().records.remove(0);
            record.model_version += 1;
            let recording =
                recording_of(&record, folder.path(), RecordingWindow::default()).unwrap();
            assert!(recording.notes[0].contains("so this is its per-job output"));
            let told = told(&recording);
            let (lived, topologies) = lived(&study);
            let last = Time::new(recording.until);
            assert_eq!(last, lived.last().unwrap().at);
            let finished: Vec<JobId> = lived
                .iter()
                .filter(|happening| happening.what == EventKind::Finished)
                .map(|happening| happening.id)
                .collect();
            assert_eq!(told.len(), 3 * finished.len());
            for instant in lived.iter().map(|h| h.at).step_by(5) {
                let ours = seen(&scene_at(&told, &topologies, instant)).0;
                let theirs = seen(&scene_at(&lived, &topologies, instant)).0;
                // Unfinished jobs are not in the per-job output.
                let is_known = |number: &u64| finished.contains(&JobId(number - 1));
                let theirs: Vec<u64> =
                    theirs.iter().map(|n| if *n > 0 && is_known(n) { *n } else { 0 }).collect();
                assert_eq!(ours, theirs, "{machine}, {format}, at {instant}");
            }
        }
    }
}

#[test]
fn without_either_there_is_a_sentence() {
    let (folder, _) = stored(&format!("record = false\n{}", MACHINES[0]), "");
    let mut record = load(folder.path()).unwrap().records.remove(0);
    record.model_version = 0;
    let sentence = recording_of(&record, folder.path(), RecordingWindow::default()).unwrap_err();
    assert_eq!(
        sentence.to_string(),
        format!(
            "it was run by version 0 of the model, and this is version {}; and it has no per-job output \
             either, which `[output] jobs = \"csv\"` would have written",
            meshwork::scenario::MODEL_VERSION
        )
    );
}

fn seen_of(folder: &Path, window: RecordingWindow) -> (Recording, Timeline) {
    let record = &load(folder).unwrap().records[0];
    Recording::with_timeline(
        Subject { catalogue: &Catalogue::standard(), record, title: "", scenario: 1 },
        folder,
        window,
    )
    .unwrap()
}

fn kept_file(folder: &Path) -> PathBuf {
    kept::path(folder, &load(folder).unwrap().records[0].key)
}

#[test]
fn what_was_kept_is_what_a_simulation_gives() {
    for machine in MACHINES {
        let (folder, study) = stored(machine, "");
        let (lived, _) = lived(&study);
        let middle = lived[lived.len() / 2].at.units();
        let windows = [
            RecordingWindow::default(),
            RecordingWindow { from: middle, jobs: 20 },
            RecordingWindow { from: 0.0, jobs: 7 },
        ];
        let kept = windows.map(|window| seen_of(folder.path(), window));
        std::fs::remove_file(kept_file(folder.path())).unwrap();
        let again = windows.map(|window| seen_of(folder.path(), window));
        for (kept, again) in kept.iter().zip(&again) {
            assert_eq!(kept.0, again.0, "{machine}");
            assert_eq!(kept.1, Timeline { whole: true, ..kept.1.clone() }, "{machine}");
        }
        assert_eq!(kept[0].1, again[0].1, "{machine}");
        assert_eq!(kept[0].1, kept[2].1, "the window does not matter to it");
        assert!(!again[2].1.whole && again[2].1.until < kept[2].1.until, "{machine}");
    }
}

#[test]
fn a_kept_run_is_not_simulated_again() {
    let (folder, _) = stored(MACHINES[1], "");
    let mut record = load(folder.path()).unwrap().records.remove(0);
    record.model_version += 1;
    let recording = recording_of(&record, folder.path(), RecordingWindow::default()).unwrap();
    assert_eq!(recording.notes, [""; 0]);
    assert_eq!(recording, recorded(folder.path(), RecordingWindow::default()).unwrap());
}

#[test]
fn what_is_not_whole_is_not_taken() {
    let (folder, _) = stored(MACHINES[5], "");
    let path = kept_file(folder.path());
    let whole = std::fs::read(&path).unwrap();
    let key = load(folder.path()).unwrap().records[0].key.clone();
    let events = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let mut events = 0;
        kept::replay(folder.path(), &key, &mut |_| {
            events += 1;
            true
        })
        .map(|()| events)
    };
    let all = events(&whole).unwrap();
    assert!(all > 300, "{all}");
    let last = whole.len() - 45;
    for cut in (0..last).step_by(61).chain(last..whole.len()) {
        assert!(events(&whole[..cut]).is_err(), "cut at {cut}");
    }
    for at in (0..whole.len()).step_by(97) {
        let mut other = whole.clone();
        other[at] ^= 1;
        assert!(events(&other).is_err(), "another bit at {at}");
    }
    assert!(events(&[&whole[..], &whole[..]].concat()).is_err());
    let empty = events(b"").unwrap_err().to_string();
    assert!(empty.ends_with("this recording cannot be read (it ends too soon)"));
    let other = String::from_utf8_lossy(&whole).find(&key).unwrap();
    assert_eq!(other, "meshwork recording 1\n".len());
    std::fs::write(kept::path(folder.path(), &"0".repeat(key.len())), &whole).unwrap();
    let strange = kept::replay(folder.path(), &"0".repeat(key.len()), &mut |_| true);
    assert!(strange.unwrap_err().to_string().contains("it is of another run"));
    std::fs::write(&path, &whole[..100]).unwrap();
    assert!(recorded(folder.path(), RecordingWindow::default()).unwrap().jobs() >= 120);
}

fn kept_files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join(kept::RECORDINGS)).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_study_says_what_is_kept() {
    // Without `record`, the last seed of each compared scheduler is recorded.
    let sweep = "[sweep]\nscheduler = ['fcfs', 'sjf', 'easy']\nseed = [1, 2]\n";
    let count = |record: &str| {
        let head = format!("{record}\nreplications = 2\n{}", MACHINES[2]);
        kept_files(stored(&head, sweep).0.path()).len()
    };
    assert_eq!([count(""), count("record = true"), count("record = false")], [3, 6, 0]);
}

#[test]
fn a_run_is_run_again_for_a_recording_that_is_asked_for() {
    for (record, comes_back) in [("record = true", true), ("", false)] {
        let (folder, study) = stored(&format!("{record}\n{}", MACHINES[0]), "");
        std::fs::remove_file(kept_file(folder.path())).unwrap();
        assert_eq!(run(&study, &options(folder.path())).unwrap().failures, [""; 0]);
        assert_eq!(kept_file(folder.path()).is_file(), comes_back, "{record}");
        assert_eq!(load(folder.path()).unwrap().records.len(), 1);
    }
}

#[test]
fn what_a_killed_run_left_is_removed_and_never_taken() {
    let (folder, study) = stored(MACHINES[0], "");
    let path = kept_file(folder.path());
    let left = path.with_extension("run.1.0.tmp");
    std::fs::rename(&path, &left).unwrap();
    assert!(recorded(folder.path(), RecordingWindow::default()).unwrap().jobs() >= 120);
    run(&study, &options(folder.path())).unwrap();
    assert_eq!(kept_files(folder.path()), [""; 0]);
}

#[test]
fn a_folder_that_cannot_be_made_costs_no_run() {
    for (record, failures) in [("record = true", 1), ("", 0)] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(kept::RECORDINGS), "in the way").unwrap();
        let head = format!("{record}\n{}\nmeasure = {{ jobs = 20 }}", MACHINES[0]);
        let study = study(&synthetic(&head, 0.5, ""));
        let finished = run(&study, &options(folder.path())).unwrap();
        assert_eq!(finished.failures.len(), failures, "{:?}", finished.failures);
        let is_known = |sentence: &String| sentence.contains("a file stands where a folder");
        assert!(finished.failures.iter().all(is_known));
        assert!(finished.results.runs[0].ended() == 1);
    }
}

#[test]
fn at_a_glance_are_the_means_of_the_run() {
    for machine in [MACHINES[0], MACHINES[4], MACHINES[5]] {
        let (folder, study) = stored(machine, "");
        let (_, timeline) = seen_of(folder.path(), RecordingWindow::default());
        let findings = &load(folder.path()).unwrap().records[0].findings;
        assert!(timeline.whole && timeline.until.to_bits() == findings.end.to_bits());
        let mean = timeline.utilization.iter().sum::<f64>() / timeline.utilization.len() as f64;
        let metric = findings.metric("utilization").unwrap().value.unwrap();
        assert!((mean - metric).abs() < 1e-9, "{machine}: {mean} is not {metric}");
        let (lived, _) = lived(&study);
        let arrival = |id: JobId| {
            let is = |h: &&RunEvent| h.id == id && matches!(h.what, EventKind::Arrived(_));
            lived.iter().find(is).unwrap().at
        };
        let started = lived.iter().filter(|h| matches!(h.what, EventKind::Started { .. }));
        let mut waits: Vec<f64> = started.map(|h| h.at - arrival(h.id)).collect();
        waits.sort_by(f64::total_cmp);
        assert_eq!(timeline.waits.jobs, waits.len());
        waits.dedup();
        assert_eq!(timeline.waits.wait, waits, "{machine}: fewer than a thousand are all there");
    }
}

#[test]
fn a_run_that_goes_on_is_drawn_as_it_stands() {
    for machine in MACHINES {
        let (_folder, study) = stored(machine, "");
        let (lived, topologies) = lived(&study);
        for happening in lived.iter().step_by(11) {
            let scene = scene_at(&lived, &topologies, happening.at);
            let still = Recording::still("", 0, &scene, usize::MAX);
            let drawn = scene_at(&told(&still), &topologies, happening.at);
            assert_eq!(seen(&drawn), seen(&scene), "{machine}, at {}", happening.at);
            let first = Recording::still("", 0, &scene, 2);
            assert_eq!(first.jobs(), scene.running().len() + scene.waiting().len().min(2));
        }
    }
}

#[derive(Default)]
struct Causes(Vec<(Time, JobId, Cause)>);

impl Observer for Causes {
    fn asks_why_jobs_wait(&self) -> bool {
        true
    }

    fn waited(&mut self, from: Time, _to: Time, id: JobId, cause: Cause) {
        self.0.push((from, id, cause));
    }
}

fn answer(columns: &Columns, job: usize, at: Time) -> Option<u8> {
    let mut place = 0;
    let mut last = None;
    for (&instant, &count) in columns.at.iter().zip(&columns.answers) {
        for i in place..place + count as usize {
            if Time::new(instant) <= at && columns.answered[i] == columns.request[job] {
                last = Some(columns.answer[i]);
            }
        }
        place += count as usize;
    }
    last
}

#[test]
fn why_jobs_wait_is_what_the_run_itself_says() {
    let mut seen = [0_u64; 4];
    let more = [
        "machine = { topology = 'hypercube', dimension = 6 }\nallocator = 'buddy'\nscheduler = 'easy'",
        "machine = { topology = 'mesh', dims = [8, 6] }\nallocator = 'frame_sliding'\nscheduler = 'conservative'",
        "machine = { topology = 'mesh', dims = [8, 6] }\nallocator = 'random'\nscheduler = 'window'\nsizing = 'rsr'",
    ];
    for head in MACHINES.iter().chain(&more) {
        for kept in [true, false] {
            let (folder, study) = stored(head, "");
            if !kept {
                std::fs::remove_dir_all(folder.path().join("recordings")).unwrap();
            }
            let mut causes = Causes::default();
            let point = crate::study::expand::point_at(&study, 0).unwrap();
            point.scenario.run(0, &Files::of(&study), &mut causes).unwrap();
            // From the beginning of the run, and from later on.
            for from in [0.0, 60.0] {
                let window = RecordingWindow { from, ..RecordingWindow::default() };
                let recording = recorded(folder.path(), window).unwrap();
                let columns = unpacked(&serde_json::to_value(&recording).unwrap());
                assert_eq!(columns.answers.len(), columns.at.len());
                for &(at, id, cause) in causes.0.iter().filter(|(at, ..)| at.units() >= from) {
                    // The workload numbers its jobs in order of arrival.
                    let number = id.0 + 1;
                    let job = columns.number.iter().position(|&own| own as u64 == number).unwrap();
                    let said = match answer(&columns, job, at).unwrap() {
                        0 => "nodes",
                        1 => "shape",
                        _ => recording.held_up.unwrap(),
                    };
                    assert_eq!(said, cause.word(), "{head}: job {number} at {at}");
                    seen[cause as usize] += 1;
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
}

#[derive(Default)]
struct All(Vec<RunEvent>);

impl Observer for All {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        self.0.extend(RunEvent::of(now, event));
    }
}

/// Amounts of resources: cores, memory, thousandths of GPUs, and `other`.
type Amounts = [u64; 4];

/// Held amounts of each node of a site, summed over placements in a scene.
fn held_by_cells(scene: &Scene, site: usize) -> Vec<Amounts> {
    let types = scene.topologies()[site].types().unwrap();
    let mut held = vec![[0; 4]; types.nodes() as usize];
    let here = scene.running().values().filter(|held| held.site == site);
    let parts = here.flat_map(|held| &held.placement.parts);
    for part in parts.flat_map(|parts| &parts.parts) {
        let kind = types.of(part.node);
        let of = &mut held[part.node as usize];
        for &(cell, amount) in &part.cells {
            let cell = cell as usize;
            if cell >= kind.tallies_from() {
                continue; // The cell counts pieces.
            }
            let is_gpu = (kind.gpus_from()..kind.tallies_from()).contains(&cell);
            // Cell 0 is the memory, cell 1 the resource `other`. The cores of each island follow.
            let place = if is_gpu { 2 } else { [1, 3].get(cell).copied().unwrap_or(0) };
            of[place] += u64::from(amount);
        }
    }
    held
}

/// Amounts held on each node of a site after the first `count` events. No event may be a move.
fn held_by_columns(columns: &Columns, count: usize, site: usize, nodes: usize) -> Vec<Amounts> {
    let PartColumns { count: counts, node, cpu, mem, gpu, other } = &columns.parts;
    let (mut running, mut placed, mut part) = (BTreeMap::new(), 0, 0);
    let mut sites = columns.site.iter();
    for event in 0..count {
        match columns.kind[event] {
            3 => {
                let end = part + counts[placed] as usize;
                running.insert(columns.job[event], (*sites.next().unwrap(), part..end));
                (placed, part) = (placed + 1, end);
            }
            5 | 6 => drop(running.remove(&columns.job[event])),
            7 | 8 => drop(sites.next()),
            _ => {}
        }
    }
    let mut held = vec![[0; 4]; nodes];
    let here = running.into_values().filter(|(on, _)| *on as usize == site);
    for i in here.flat_map(|(_, parts)| parts) {
        let own = [cpu[i], mem[i], gpu[i], other[i]].map(u64::from);
        held[node[i] as usize].iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    held
}

#[test]
fn parts_of_nodes_are_what_jobs_hold() {
    let site = "topology = 'fat_tree', arity = [3, 2], \
        nodes = [{ type = 'dgx', on = '0-3' }, { type = 'big', cpu = 64, mem = 1000, other = 5 }]";
    parts_are_what_jobs_hold(&format!("{{ {site} }}"));
    let other = "topology = 'flat', processors = 2, nodes = [{ type = 'dgx' }]";
    parts_are_what_jobs_hold(&format!("{{ sites = [{{ {site} }}, {{ {other} }}] }}"));
}

fn parts_are_what_jobs_hold(machine: &str) {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "scheduler = 'easy'\nselector = 'least_loaded'\nfailures = {{ mtbf = 300, repair = 20 }}\n\
         measure = {{ jobs = 150 }}\nmachine = {machine}\n\
         [workload]\nname = 'synthetic'\nload = 0.9\nruntimes = {{ name = 'exponential', mean = 50.0 }}\n\
         sizes = {{ name = 'vectors', of = [{{ gpu = 0.5, cpu = 4, mem = 100 }}, \
         {{ gpu = 2, cpu = 16, pieces = 3 }}, {{ cpu = 20, other = 2 }}] }}\n"
    );
    let study = Study::parse("a.toml", &text, folder.path(), &[]).unwrap();
    let finished = run(&study, &options(folder.path())).unwrap();
    assert_eq!(finished.failures, [""; 0]);
    let point = crate::study::expand::point_at(&study, 0).unwrap();
    let mut all = All::default();
    let outcome = point.scenario.run(0, &meshwork::workload::NoInputs, &mut all).unwrap();

    let kept = seen_of(folder.path(), RecordingWindow::default());
    std::fs::remove_file(kept_file(folder.path())).unwrap();
    let again = seen_of(folder.path(), RecordingWindow::default());
    assert_eq!(kept, again, "the file has all parts");
    let recording = kept.0;
    let json = serde_json::to_value(&recording).unwrap();
    assert_eq!(json["sites"][0]["shared"]["types"][1]["mem"], 1000);
    assert_eq!(json["sites"][0]["shared"]["of"], serde_json::json!([[4, 0], [2, 1]]));
    assert!(recording.asked.iter().any(|own| own.text.contains("gpu=0.5")));
    assert!(recording.held_up.is_some(), "reasons are known");

    let (columns, mut scene) = (unpacked(&json), Scene::new(point.scenario.topologies()));
    assert_eq!(columns.kind.len(), all.0.len());
    let mut shared = 0;
    for (count, happening) in (1..).zip(&all.0) {
        scene.apply(happening);
        for (site, topology) in scene.topologies().iter().enumerate() {
            let types = topology.types().unwrap();
            let held = held_by_cells(&scene, site);
            assert_eq!(held_by_columns(&columns, count, site, held.len()), held);
            let cores: u64 = held.iter().map(|own| own[0]).sum();
            let down = scene.down().iter().filter(|(on, _)| *on == site);
            let down: u32 = down.map(|&(_, node)| types.of(node).cpu).sum();
            assert_eq!(u64::from(scene.free_on(site)), types.cores() - cores - u64::from(down));
        }
        shared += usize::from(scene.running().len() > 6);
    }
    assert!(shared > 50, "jobs share nodes: {shared}");
    assert!(columns.kind.contains(&7) && columns.kind.contains(&6), "nodes fail under jobs");
    scene.advance(outcome.end);
    let metric = outcome.metrics.iter().find(|own| own.name == "utilization").unwrap();
    assert!((scene.means().unwrap().0 - metric.value.unwrap()).abs() < 1e-9);
    let still = Recording::still("", 0, &scene, 5);
    let sites = recording.sites.into_iter().map(|site| RecordedSite { speed: 1.0, ..site });
    assert_eq!(still.sites, sites.collect::<Vec<_>>());
}
