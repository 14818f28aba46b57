//! `meshwork ops explain` and `defrag`: answer questions about a machine at one instant.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::Path;

use meshwork::catalogue::Catalogue;
use meshwork_lab::slurm::folder::{Folder, SlurmMachine};
use meshwork_lab::slurm::read_text;
use meshwork_lab::study::asked::EXPERIMENT;
use meshwork_lab::text::number::plural;
use meshwork_operator::defrag::{self, Cost, DefragTarget, defrag};
use meshwork_operator::explain::{self, Explanation, WaitReason};
use meshwork_operator::instant::{Instant, is_saved};
use meshwork_operator::state::{HeldBack, MachineState, QueueReason};
use meshwork_operator::unmodelled::{self, Unmodelled};
use meshwork_slurm::history::JobRecord;
use meshwork_slurm::sacct::LocalClock;
use serde_json::{Value as Json, json};

use super::{any_of, instant};
use crate::args::ops::{self, At};
use crate::output::{Ended, Output, Stop, Verdict, say};
use crate::table::{Column, print};

/// Largest number of characters of a reason that the table of waiting jobs shows.
const MOST_OF_A_REASON: usize = 40;

/// Machine state that the user has selected on the command line.
enum Named {
    Slurm(Box<MachineState>),
    /// Simulated run at an instant, or a pool that `meshwork place` saved.
    Other(Instant),
}

/// Reads the state that the command line selects.
///
/// It is a site (a folder with a history) at an instant, saved output of `scontrol` or `squeue`,
/// saved answers of `meshwork place --slurm`, a simulated run at an instant, or a saved state of
/// `meshwork place`. The default instant of a site is the one at which `job` began to wait.
fn read(catalogue: &Catalogue, asked: &ops::State, job: Option<&str>) -> Result<Named, Stop> {
    let path = &asked.state;
    if asked.run.is_some() || path.join(EXPERIMENT).is_file() {
        return instant::of_run(catalogue, asked).map(Named::Other);
    }
    let files = [&asked.topology, &asked.conf, &asked.nodes];
    if files.iter().all(|file| file.is_none()) && read_text(path).is_ok_and(|text| is_saved(&text))
    {
        return instant::of_pool(catalogue, asked).map(Named::Other);
    }
    read_slurm(asked, job).map(|state| Named::Slurm(Box::new(state)))
}

/// Maximum number of seconds after the end of a history for which its last second is shown.
const LATE: i64 = 3600;

/// Selected instant of a site's history, in seconds since 1970.
///
/// Shortly after the end of the history it is the last recorded second, with a warning.
pub(super) fn second(
    site: &Path,
    at: Option<&At>,
    clock: &LocalClock,
    folder: &Folder,
    job: Option<&str>,
) -> Result<i64, Stop> {
    let at = named_second(site, at, clock, folder, job)?;
    let last = folder.history.span().map_or(at, |(_, last)| last);
    if at <= last || at - last > LATE {
        return Ok(at);
    }
    let utc = LocalClock::utc();
    let [asked, last_shown] = [at, last].map(|second| utc.shown(second));
    let says = format!(
        "{}: the history ends at {last_shown}, so the answer is for that second, and not for {asked}",
        site.display()
    );
    say("warning", &says);
    Ok(last)
}

/// Instant that the command line names, in seconds since 1970.
fn named_second(
    site: &Path,
    at: Option<&At>,
    clock: &LocalClock,
    folder: &Folder,
    job: Option<&str>,
) -> Result<i64, Stop> {
    let shown = site.display();
    let wrong = |says: String| Err(Stop::Wrong(says));
    match (at, job) {
        (Some(At::Number(at)), _) if at.fract() != 0.0 => {
            wrong(format!("--at {at}: of a site it is a whole second, since 1970"))
        }
        (Some(At::Number(at)), _) => Ok(*at as i64),
        (Some(At::Date(text)), _) => match clock.read_time(text) {
            Some(second) => Ok(second),
            None => wrong(format!("--at {text}: this is no date, as 2026-01-31T23:59:59")),
        },
        (None, Some(job)) => match MachineState::waited_since(&folder.history, job) {
            Some(since) => Ok(since),
            None => wrong(unknown_job(site, folder, job)),
        },
        (None, None) => wrong(format!(
            "{shown}: of a site the instant is needed: --at TIME, in seconds since 1970 or as 2026-01-31T23:59:59"
        )),
    }
}

/// Warns of what the model of a site leaves out, if `ops import` has found anything.
pub(super) fn warn_of_unmodelled(folder: &Folder) {
    let found = unmodelled::of(&folder.machine, &folder.history);
    let found: Vec<String> = found.iter().map(Unmodelled::to_string).collect();
    if !found.is_empty() {
        let site = folder.path.display();
        let says = format!(
            "{site}: the model leaves out {}; `meshwork ops fidelity {site}` says how far it can be trusted",
            found.join("; ")
        );
        say("warning", &says);
    }
}

/// End of a sentence on a job that does not wait at the instant `at`, such as `: it ended at …`.
///
/// It tells the job's state by the history, and is empty if the history does not show it.
pub(super) fn whereabouts(folder: &Folder, job: &str, at: i64, clock: &LocalClock) -> String {
    let stays = || folder.history.stays.iter().filter(|stay| stay.id == job);
    let is_known = |stay: &&JobRecord| stay.queued().is_some_and(|queued| queued <= at);
    let Some(stay) = stays().rfind(is_known).or_else(|| stays().next()) else {
        return String::new();
    };
    match (stay.queued(), stay.start, stay.end) {
        (Some(queued), ..) if queued > at => {
            format!(": it is submitted at {}", clock.shown(queued))
        }
        (_, Some(start), Some(end)) if end <= at => {
            format!(": it ran from {} to {}", clock.shown(start), clock.shown(end))
        }
        (_, Some(start), _) if start <= at => format!(": it started at {}", clock.shown(start)),
        (_, _, Some(end)) if end <= at => format!(": it ended at {}", clock.shown(end)),
        _ => String::new(),
    }
}

/// Error sentence on a job that is not in a site's history. It tells which jobs are there.
fn unknown_job(site: &Path, folder: &Folder, job: &str) -> String {
    let stays = &folder.history.stays;
    let ids: BTreeSet<&str> = stays.iter().map(|stay| stay.id.as_str()).collect();
    let (first, last) = match (stays.first(), stays.last()) {
        (Some(first), Some(last)) => (&first.id, &last.id),
        _ => return format!("{}: this history has no jobs", site.display()),
    };
    let task = ids.iter().find(|id| id.strip_prefix(job).is_some_and(|rest| rest.starts_with('_')));
    let tasks = task.map_or_else(String::new, |id| {
        format!("; {job} is an array, whose tasks are named as {id}")
    });
    format!(
        "{}: there is no job {job} in this history of {}, from {first} to {last}{tasks}",
        site.display(),
        plural(ids.len() as u64, "job")
    )
}

fn read_slurm(asked: &ops::State, job: Option<&str>) -> Result<MachineState, Stop> {
    let path = &asked.state;
    let clock = asked.time_zone.clone().unwrap_or_default();
    if path.is_dir() {
        let folder = Folder::read(path).map_err(Stop::Wrong)?;
        let at = second(path, asked.at.as_ref(), &clock, &folder, job)?;
        warn_of_unmodelled(&folder);
        let mut state = MachineState::of_history(folder, at).map_err(Stop::Wrong)?;
        if clock.is_known() {
            state.clock = clock;
        }
        return Ok(state);
    }
    if !path.exists() {
        return Err(Stop::Wrong(format!("{}: there is no such file or folder", path.display())));
    }
    let machine = match (&asked.topology, &asked.conf) {
        (Some(topology), conf) => SlurmMachine::read(topology, conf.as_deref()),
        (None, Some(conf)) => SlurmMachine::flat(conf),
        (None, None) => Err(format!(
            "{}: the machine of this state is needed: --topology topology.yaml, or --conf slurm.conf alone for a \
             machine without a topology file",
            path.display()
        )),
    };
    let machine = machine.map_err(Stop::Wrong)?;
    let state = match is_answer(path) {
        true if asked.nodes.is_some() => {
            let says = "--nodes: this is for what scontrol prints, and not for answers of `meshwork place`";
            return Err(Stop::Wrong(says.to_owned()));
        }
        true => MachineState::of_place(machine, path),
        false => MachineState::of_scontrol(machine, path, asked.nodes.as_deref(), clock),
    };
    state.map_err(Stop::Wrong)
}

/// Whether a file has answers of `meshwork place`, which are one JSON object per line.
///
/// Output of `squeue --json` is one object with the list `jobs`; output of `scontrol` is no JSON.
fn is_answer(path: &Path) -> bool {
    read_text(path).is_ok_and(|text| {
        let squeue = || serde_json::from_str::<Json>(&text).is_ok_and(|own| own["jobs"].is_array());
        text.trim_start().starts_with('{') && !squeue()
    })
}

pub(super) fn run_explain(out: &mut Output, catalogue: &Catalogue, asked: &ops::Explain) -> Ended {
    let state = match read(catalogue, &asked.state, asked.job.as_deref())? {
        Named::Other(_) if asked.all => {
            let says = "--all: this is for a machine of Slurm; of a run a job is named";
            return Err(Stop::Wrong(says.to_owned()));
        }
        Named::Other(instant) => return instant::run_explain(out, &instant, asked),
        Named::Slurm(_) if is_answer(&asked.state.state) => {
            return Err(Stop::Wrong(format!(
                "{}: no job waits in an answer of `meshwork place --slurm`, so there is nothing to explain: ask \
                 `ops defrag`, or give what `scontrol show job -o` prints",
                asked.state.state.display()
            )));
        }
        Named::Slurm(state) => state,
    };
    if asked.all {
        return explain_all(out, asked, &state);
    }
    let Some(job) = &asked.job else {
        let says = "--shape: this is for a run, and for what `meshwork place` has saved; on a machine of Slurm \
                    give the ID of a job, or --all";
        return Err(Stop::Wrong(says.to_owned()));
    };
    let explained = explain::explain(&state, job).map_err(|says| {
        let path = &asked.state.state;
        let runs = state.running.iter().any(|holder| holder.stay.id == *job);
        let folder = Some(path).filter(|path| path.is_dir() && !runs);
        let why = folder
            .and_then(|path| Folder::read(path).ok())
            .map_or_else(String::new, |own| whereabouts(&own, job, state.now, &state.clock));
        Stop::Wrong(says + &why)
    })?;
    if asked.json {
        out.json(&explained.json(&state))?;
    } else {
        describe(out, &state, &explained)?;
    }
    Ok(Verdict::Done)
}

fn explain_all(out: &mut Output, asked: &ops::Explain, state: &MachineState) -> Ended {
    let reasons = state.reasons();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for own in &reasons {
        *counts.entry(&own.says).or_default() += 1;
    }
    if asked.json {
        let jobs: Vec<Json> = reasons.iter().map(|own| own.json()).collect();
        out.json(&json!({ "now": state.now, "jobs": jobs, "reasons": counts }))?;
        return Ok(Verdict::Done);
    }
    if reasons.is_empty() {
        out.line(&format!("no job waits at {}", state.clock.shown(state.now)))?;
        return Ok(Verdict::Done);
    }
    // A long reason stands whole in the table of counts below.
    let short = |says: &str| match says.char_indices().nth(MOST_OF_A_REASON) {
        Some((end, _)) => format!("{}…", &says[..end]),
        None => says.to_owned(),
    };
    let cells =
        |of: &dyn Fn(&QueueReason) -> String| reasons.iter().map(of).collect::<Vec<String>>();
    // Accounting does not record the reasons of jobs that have started.
    let title = match state.past {
        Some(_) => "Slurm's reason (modelled)",
        None => "Slurm's reason",
    };
    let columns = [
        Column::numbers("nodes", cells(&|own| own.nodes.to_string())),
        Column::words("why", cells(&|own| own.kind.to_owned())),
        Column::words(title, cells(&|own| short(&own.says))),
    ];
    print(out, &[Column::words("job", cells(&|own| own.id.clone()))], &columns, &[])?;
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|own| std::cmp::Reverse(own.1));
    let jobs = counts.iter().map(|own| own.1.to_string()).collect();
    let reasons = counts.iter().map(|own| own.0.to_owned()).collect();
    out.line("")?;
    print(out, &[Column::words("reason", reasons)], &[Column::numbers("jobs", jobs)], &[])?;
    Ok(Verdict::Done)
}

fn describe(out: &mut Output, state: &MachineState, own: &Explanation) -> Result<(), Stop> {
    let hosts = &state.machine.reading.hosts;
    let id = |place: &usize| state.running[*place].stay.id.as_str();
    let nodes = own.stay.nodes;
    let headline = match &own.reason {
        WaitReason::Never(says) => format!("it never starts: {says}"),
        WaitReason::Nodes(says) if own.short.is_some() => {
            format!("{} ({says})", own.short.as_deref().unwrap_or_default())
        }
        WaitReason::Nodes(says) => {
            format!("too few nodes are free for it: {} of {nodes} ({says})", own.free)
        }
        WaitReason::Shape(says) => {
            format!(
                "{} nodes are free, enough for its {nodes}, but in no allowed shape ({says})",
                own.free
            )
        }
        WaitReason::HeldBack(own) => held_back(own),
        WaitReason::Reserved => {
            "it could start, but nodes are kept for jobs that come before it".to_owned()
        }
        WaitReason::Turn => {
            "it could start, and waits for the next pass of the scheduler".to_owned()
        }
    };
    out.headline(&format!(
        "job {} waits at {}: {headline}",
        own.stay.id,
        state.clock.shown(state.now)
    ))?;
    let is_said = matches!(own.reason, WaitReason::HeldBack(_)) || own.stay.reason == "None";
    if !own.stay.reason.is_empty() && own.stay.start.is_none() && !is_said {
        out.line(&format!("  Slurm said when it last looked: {}", own.stay.reason))?;
    }
    for near in &own.nearest {
        let jobs: Vec<String> = near
            .jobs
            .iter()
            .map(|place| match state.running[*place].until {
                Some(until) => format!("job {} until {}", id(place), state.clock.date(until)),
                None => format!("job {}, which has no limit", id(place)),
            })
            .collect();
        let mut way = jobs.join(", ");
        if near.down > 0 {
            way.push_str(&format!(
                "{}{} that {} down or reserved",
                if way.is_empty() { "" } else { ", " },
                plural(near.down.into(), "node"),
                if near.down == 1 { "is" } else { "are" }
            ));
        }
        if way.is_empty() {
            "nothing".clone_into(&mut way);
        }
        out.line(&format!(
            "  near: {} on {}; in the way: {way}",
            near.name,
            hosts.listed(&near.nodes)
        ))?;
    }
    let start = |start: &Option<(i64, meshwork::geometry::NodeSet)>| match start {
        Some((at, nodes)) => format!("{} on {}", state.clock.shown(*at), hosts.listed(nodes)),
        None => "not within the window of backfill".to_owned(),
    };
    if !matches!(own.reason, WaitReason::Never(_) | WaitReason::HeldBack(_)) {
        let (planned, alone) = (start(&own.planned), start(&own.alone));
        let first = if alone == planned {
            " (also if it were first)".to_owned()
        } else {
            format!("; if it were first: {alone}")
        };
        out.line(&format!("  earliest start if all jobs run to their limits: {planned}{first}"))?;
    }
    if !own.ends.is_empty() {
        let ends: Vec<&str> = own.ends.iter().map(id).collect();
        out.line(&format!("  could start now if {} ended", any_of(&ends)))?;
    }
    for (name, nodes) in &own.listings {
        out.line(&format!("  could start now if the list had {name} at {}", hosts.listed(nodes)))?;
    }
    Ok(())
}

/// Short explanation of why a job is held back, with Slurm's word for the reason.
pub(super) fn held_back(own: &HeldBack) -> String {
    let why = match own.kind {
        "held" => "it is held, until somebody releases it",
        "dependency" => "it follows other jobs",
        "begin_time" => "it may not start yet",
        "limit" => "it would exceed a limit",
        "reservation" => "its reservation has not begun",
        _ => "neither the machine nor the queue is what it waits for",
    };
    format!("{why} ({})", own.says)
}

pub(super) fn cost(word: &str) -> Cost {
    match word {
        "nodes" => Cost::Nodes,
        "node_seconds" => Cost::NodeSeconds,
        _ => Cost::Moves,
    }
}

pub(super) fn run_defrag(out: &mut Output, catalogue: &Catalogue, asked: &ops::Defrag) -> Ended {
    let state = match read(catalogue, &asked.state, None)? {
        Named::Other(instant) => return instant::run_defrag(out, &instant, asked),
        Named::Slurm(state) => state,
    };
    if asked.site.is_some() {
        let says =
            "--site: this is for a run of several sites; a machine of Slurm has a --partition";
        return Err(Stop::Wrong(says.to_owned()));
    }
    let (size, sides) = DefragTarget::shape(&asked.shape)
        .map_err(|says| Stop::Wrong(format!("--shape: {says}")))?;
    let exempt = asked.exempt.iter().cloned().collect();
    must_run(&asked.exempt, |job| state.running.iter().any(|holder| holder.stay.id == job))?;
    let cost = cost(&asked.cost);
    let partition = asked.partition.clone().unwrap_or_default();
    let target = DefragTarget { partition, size, sides, exempt, cost };
    let plans = defrag(&state, &target, asked.plans).map_err(Stop::Wrong)?;
    let verdict = if plans.is_empty() { Verdict::RunFailed } else { Verdict::Done };
    if asked.json {
        out.json(&defrag::json(&state, &plans))?;
        return Ok(verdict);
    }
    let hosts = &state.machine.reading.hosts;
    for plan in &plans {
        let place = format!("{} on {}", plan.name, hosts.listed(&plan.nodes));
        let steps = plan.steps.iter().map(|step| {
            let id = state.running[step.job].stay.id.as_str();
            (id, hosts.listed(&step.from), hosts.listed(&step.to))
        });
        print_moves(out, &place, &cost.in_words(plan.cost), steps)?;
    }
    if plans.is_empty() {
        out.line(&format!("no moves make room for {}", asked.shape))?;
    }
    Ok(verdict)
}

/// Prints that a place is free, or which jobs move from where to where to free it.
pub(super) fn print_moves<'a, T: Display>(
    out: &mut Output,
    place: &str,
    cost: &str,
    steps: impl ExactSizeIterator<Item = (&'a str, T, T)>,
) -> Result<(), Stop> {
    if steps.len() == 0 {
        return out.line(&format!("{place} is free"));
    }
    out.headline(&format!("{place} becomes free at a cost of {cost}"))?;
    for (job, from, to) in steps {
        out.line(&format!("  job {job} moves from {from} to {to}"))?;
    }
    Ok(())
}

/// Returns an error if a job listed by the option `--exempt` is not running.
///
/// The listed jobs must not be moved.
pub(super) fn must_run(exempt: &[String], runs: impl Fn(&str) -> bool) -> Result<(), Stop> {
    match exempt.iter().find(|job| !runs(job)) {
        Some(job) => Err(Stop::Wrong(format!("--exempt: no job {job} runs in this state"))),
        None => Ok(()),
    }
}
