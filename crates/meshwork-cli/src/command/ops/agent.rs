//! `meshwork ops agent`: lets a policy place the jobs of a running Slurm.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use meshwork::catalogue::Catalogue;
use meshwork_lab::files::FileError;
use meshwork_lab::run::lock::Lock;
use meshwork_lab::slurm::read_text;
use meshwork_lab::text::number::plural;
use meshwork_operator::live::SlurmCommands;
use meshwork_operator::live::agent::{AgentSettings, PlacementAgent, prepare, set_state};
use meshwork_operator::live::process::ProcessCommands;
use meshwork_operator::live::replay::replay;
use serde_json::{Value as Json, json};

use super::live::{EndsFile, MetricsServer, Pause, machine, policy};
use crate::args::ops;
use crate::command::stop::Stopper;
use crate::output::{Ended, Output, Stop, Verdict, say};

/// Name of the event log, a file in the agent's folder.
///
/// `HEARTBEAT` and `OFF` (the kill switch) are the names of two further files in this folder.
/// `AGENT` is the default name of the folder, and the name of the agent's lock file.
const LOG: &str = "log.jsonl";
const HEARTBEAT: &str = "heartbeat";
const OFF: &str = "off";
const AGENT: &str = "agent";

pub(super) fn run(out: &mut Output, catalogue: &Catalogue, asked: &ops::Agent) -> Ended {
    let mut commands = ProcessCommands::new(asked.live.commands.clone());
    let state = asked.state.clone().unwrap_or_else(|| asked.live.site.join(AGENT));
    if asked.open || asked.close {
        return switch(out, asked, &state, &mut commands);
    }
    if let Some(most) = asked.watchdog {
        return watch(out, asked, &state, most, &mut commands);
    }
    let machine = machine(&asked.live.site)?;
    let policy = policy(catalogue, &asked.live, &machine, &asked.run)?;
    if let Some(log) = &asked.replay {
        let text = read_text(log).map_err(|trouble| Stop::Wrong(trouble.to_string()))?;
        let shown = log.display();
        let found =
            replay(&policy, &text).map_err(|says| Stop::Wrong(format!("{shown}: {says}")))?;
        let lines: Vec<String> = found.different.iter().map(usize::to_string).collect();
        let all = plural(found.decisions as u64, "decision");
        out.line(&format!("{all}, {} of them another now", lines.len()))?;
        if !lines.is_empty() {
            out.line(&format!("lines {}", lines.join(", ")))?;
            return Ok(Verdict::RunFailed);
        }
        return Ok(Verdict::Done);
    }
    let settings = AgentSettings {
        park: asked.park.clone(),
        run: asked.run.clone(),
        pass: asked.pass.clone(),
        dry_run: asked.dry_run,
        depth: asked.depth as usize,
        ..AgentSettings::default()
    };
    let mut ends = EndsFile::new(&asked.live);
    let expected = ends.renewed().map_err(Stop::Wrong)?.unwrap_or_default();
    make_folder(&state)?;
    // A dry run changes nothing, so it may run next to an agent.
    let _lock = if asked.dry_run {
        None
    } else {
        Some(Lock::of(&state.join(AGENT)).map_err(|error| {
            Stop::Failed(format!("{error}, and there must be one agent at a time"))
        })?)
    };
    let unready = |says: String| Stop::Failed(format!("the agent does not begin: {says}"));
    prepare(&mut commands, &settings, &policy, is_off(&state)).map_err(unready)?;
    let log_path = state.join(if asked.dry_run { "dry-run.jsonl" } else { LOG });
    let mut log = EventLog::open(&log_path)?;
    log.add(&json!({
        "event": "begin", "t": commands.now(), "version": env!("CARGO_PKG_VERSION"),
        "study": asked.live.policy, "park": asked.park, "run": asked.run, "pass": asked.pass,
        "dry_run": asked.dry_run, "names": meshwork_slurm::hostlist::in_order(policy.names.iter().map(String::as_str)),
    }));
    let server = MetricsServer::begin(asked.live.metrics)?;
    let pause = Pause::new(asked.live.poll, asked.wake)?;
    let stopper = Stopper::of_user(None);
    let events = std::cell::RefCell::new(Vec::new());
    let shared = std::cell::RefCell::new(log);
    let note = |event: &Json| {
        shared.borrow_mut().add(event);
        events.borrow_mut().push(event.clone());
    };
    let mut agent = PlacementAgent::new(&policy, settings, Box::new(note));
    agent.metrics.names_jobs = asked.metrics_jobs;
    agent.ends = expected;
    let (mut looks, mut was_away, mut was_off) = (0, false, false);
    while !stopper.is_time() && asked.live.looks.is_none_or(|most| looks < most) {
        let began = Instant::now();
        looks += 1;
        if is_off(&state) {
            if !was_off {
                say("warning", "the kill switch is set, so nothing is decided: --close ends that");
            }
            was_off = true;
            beat(&state);
            pause.wait(began.elapsed());
            continue;
        }
        if was_off {
            say("note", "the kill switch is no longer set");
            was_off = false;
        }
        ends.renew(&mut agent.ends);
        match agent.cycle(&mut commands) {
            Ok(_) => {
                was_away = false;
                if !asked.dry_run {
                    beat(&state);
                }
            }
            Err(says) => {
                agent.metrics.missed();
                if !was_away {
                    say("warning", &format!("{says}: nothing is decided until Slurm answers"));
                    let away = json!({ "event": "away", "t": commands.now(), "says": says });
                    shared.borrow_mut().add(&away);
                }
                was_away = true;
            }
        }
        for event in events.borrow_mut().drain(..) {
            tell(out, &event)?;
        }
        out.flush()?;
        server.publish(agent.metrics.text());
        if asked.live.looks.is_none_or(|most| looks < most) {
            pause.wait(began.elapsed());
        }
    }
    drop(agent);
    shared.borrow_mut().add(&json!({ "event": "end", "t": commands.now() }));
    Ok(Verdict::Done)
}

fn tell(out: &mut Output, event: &Json) -> Result<(), Stop> {
    let text = |key: &str| event[key].as_str().unwrap_or_default();
    let (job, why) = (text("job"), text("why"));
    match text("event") {
        "place" => out.line(&format!("job {job} on {}", text("nodes"))),
        "take_back" => out.line(&format!("job {job} is taken back: {why}")),
        "pass" => out.line(&format!("job {job} is passed on: {why}")),
        "left" => out.line(&format!("job {job} stays parked: {why}")),
        "refused" => out.line(&format!("job {job}: Slurm refuses: {}", text("says"))),
        "foreign" => out.line(&format!("job {job} runs, but was not placed")),
        "wrong" => {
            let (has, chosen) = (text("nodes"), text("chosen"));
            say("error", &format!("job {job} runs on {has}, but {chosen} was chosen"));
            Ok(())
        }
        "would" => {
            let starts = event["plan"]["starts"].as_array();
            let state = &event["state"]["waiting"];
            let waiting = state.as_array().map_or(0, Vec::len);
            for start in starts.into_iter().flatten() {
                let nodes = start["nodes"].as_array().map_or(0, Vec::len);
                let id = start["id"].as_str().unwrap_or_default();
                out.line(&format!("job {id} would start on {nodes} nodes"))?;
            }
            out.line(&format!("{waiting} jobs are considered"))
        }
        _ => Ok(()),
    }
}

/// Opens the parking partition and sets the agents' kill switch, or closes it and removes the
/// switch.
///
/// While the partition is open, Slurm itself starts the jobs in it. While the kill switch is set,
/// agents place no jobs.
fn switch(
    out: &mut Output,
    asked: &ops::Agent,
    state: &Path,
    commands: &mut ProcessCommands,
) -> Ended {
    make_folder(state)?;
    let off = state.join(OFF);
    let failed = |error: std::io::Error| Stop::Failed(format!("{}: {error}", off.display()));
    let was_off = off.exists();
    if asked.open {
        // Set the kill switch first, because an agent must not place jobs that Slurm is about to
        // start.
        std::fs::write(&off, "").map_err(failed)?;
    }
    let done = set(commands, &asked.park, asked.open);
    // If opening fails, remove the kill switch again. Otherwise neither Slurm nor an agent would
    // start jobs.
    let is_over = if done.is_ok() { asked.close && was_off } else { asked.open && !was_off };
    if is_over {
        std::fs::remove_file(&off).map_err(failed)?;
    }
    done?;
    out.line(&if asked.open {
        format!(
            "partition {} is open: Slurm starts its jobs, and agents decide nothing",
            asked.park
        )
    } else {
        format!("partition {} is closed: its jobs wait for an agent", asked.park)
    })?;
    Ok(Verdict::Done)
}

/// Opens the parking partition if the heartbeat is missing or too old.
fn watch(
    out: &mut Output,
    asked: &ops::Agent,
    state: &Path,
    most: Duration,
    commands: &mut ProcessCommands,
) -> Ended {
    let written = std::fs::metadata(state.join(HEARTBEAT)).and_then(|data| data.modified());
    let age = written.ok().map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
    if age.is_some_and(|age| age <= most) {
        return Ok(Verdict::Done);
    }
    set(commands, &asked.park, true)?;
    let since = age.map_or("there is none".to_owned(), |age| format!("{} s old", age.as_secs()));
    out.line(&format!("heartbeat: {since}; partition {} is open", asked.park))?;
    Ok(Verdict::RunFailed)
}

fn set(commands: &mut ProcessCommands, partition: &str, is_open: bool) -> Result<(), Stop> {
    set_state(commands, partition, is_open)
        .map_err(|says| Stop::Failed(format!("partition {partition} is as it was: {says}")))
}

fn is_off(state: &Path) -> bool {
    state.join(OFF).exists()
}

fn make_folder(state: &Path) -> Result<(), Stop> {
    Ok(std::fs::create_dir_all(state).map_err(|error| FileError::making(state, &error))?)
}

fn beat(state: &Path) {
    if let Err(error) = std::fs::write(state.join(HEARTBEAT), format!("{}\n", std::process::id())) {
        say("warning", &format!("{}: the heartbeat cannot be written ({error})", state.display()));
    }
}

/// Log of events as JSON lines. The file is opened anew for each event, so that it can be rotated.
struct EventLog {
    path: PathBuf,
}

impl EventLog {
    fn open(path: &Path) -> Result<EventLog, Stop> {
        let log = EventLog { path: path.to_owned() };
        log.write("").map_err(|error| Stop::Failed(format!("{}: {error}", path.display())))?;
        Ok(log)
    }

    fn write(&self, text: &str) -> std::io::Result<()> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o640);
        options.open(&self.path)?.write_all(text.as_bytes())
    }

    fn add(&mut self, event: &Json) {
        if let Err(error) = self.write(&format!("{event}\n")) {
            say("warning", &format!("{}: an event is lost ({error})", self.path.display()));
        }
    }
}
