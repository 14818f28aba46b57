//! `meshwork ops import`: converts a machine's files and its history of jobs to a site folder.

use meshwork_lab::slurm::folder::{Folder, SlurmMachine, TABLES, check_table};
use meshwork_lab::slurm::read_text;
use meshwork_lab::text::number::{plural, significant};
use meshwork_operator::quality::{self, Quality};
use meshwork_operator::swf;
use meshwork_slurm::date;
use meshwork_slurm::kueue::Snapshots;
use meshwork_slurm::{FileProblem, sacct};

use crate::args::ops;
use crate::output::{Ended, Output, Stop, Verdict, say};

pub(super) fn run(out: &mut Output, arguments: &ops::Import) -> Ended {
    let clock = match &arguments.time_zone {
        Some(zone) => sacct::LocalClock::read(zone)
            .map_err(|says| Stop::Wrong(format!("--time-zone: {says}")))?,
        None => sacct::LocalClock::default(),
    };
    let wrong = |trouble: FileProblem| Stop::Wrong(trouble.to_string());
    let own = arguments.topology.as_deref();
    let machine = |path| SlurmMachine::read(path, arguments.conf.as_deref()).map_err(Stop::Wrong);
    let (file, machine, read) = if arguments.kueue.is_empty() {
        let from = arguments.sacct.as_ref().or(arguments.swf.as_ref());
        let machine = match (own, arguments.conf.as_deref()) {
            (Some(topology), _) => Some(machine(topology)?),
            (None, Some(conf)) => Some(SlurmMachine::flat(conf).map_err(Stop::Wrong)?),
            (None, None) => None,
        };
        let (Some(from), Some(machine)) = (from, machine) else {
            let says = "the machine is missing: give its slurm.conf with --conf (alone, for a machine without a \
                        topology file), its topology.yaml or topology.conf with --topology, or both";
            return Err(Stop::Wrong(says.to_owned()));
        };
        let text = read_text(from).map_err(wrong)?;
        let file = from.display().to_string();
        let read = match &arguments.swf {
            Some(_) => swf::read(&file, &text, &machine),
            None => sacct::read(&file, &text, clock),
        };
        (file, machine, read.map_err(wrong)?)
    } else {
        let mut files = Vec::new();
        for path in &arguments.kueue {
            files.push((path.display().to_string(), read_text(path).map_err(wrong)?));
        }
        let texts: Vec<(&str, &str)> =
            files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
        let snapshots = Snapshots::read(&texts).map_err(wrong)?;
        let machine = match own {
            Some(topology) => machine(topology)?,
            None => SlurmMachine::made(snapshots.machine().map_err(wrong)?).map_err(Stop::Wrong)?,
        };
        let read = snapshots.history().map_err(wrong)?;
        (files[0].0.clone(), machine, read)
    };
    let tables = [&arguments.qos, &arguments.assoc, &arguments.events, &arguments.reservations];
    let mut texts = Vec::new();
    for (name, path) in TABLES.into_iter().zip(tables) {
        let Some(path) = path else { continue };
        let text = read_text(path).map_err(wrong)?;
        check_table(name, &text)
            .map_err(|says| Stop::Wrong(format!("{}: {says}", path.display())))?;
        texts.push((name, text));
    }
    let machine = machine.with_tables(texts);
    let quality = quality::of(&file, &machine, &read.history, read.tally, read.warnings);
    let json = quality.json();
    Folder::write(&arguments.out, &machine, &read.history, &json).map_err(Stop::Wrong)?;
    for trouble in &quality.warnings {
        say("warning", &trouble.to_string());
    }
    if arguments.json {
        out.json(&json)?;
        return Ok(Verdict::Done);
    }
    describe(out, &quality)?;
    out.line("")?;
    out.line(&format!("written to {}", arguments.out.display()))?;
    Ok(Verdict::Done)
}

fn describe(out: &mut Output, quality: &Quality) -> Result<(), Stop> {
    let number = |count: usize, what: &str| plural(count as u64, what);
    let tally = &quality.tally;
    let mut line = |name: &str, says: String| out.line(&format!("{name:<12}{says}"));
    let mut more = Vec::new();
    let mut note = |count: usize, text: String| {
        if count > 0 {
            more.push(text);
        }
    };
    note(
        tally.array_tasks,
        format!("{} of {}", number(tally.array_tasks, "task"), number(tally.arrays, "array")),
    );
    note(
        tally.requeued,
        format!("{} of jobs that were queued again", number(tally.requeued, "earlier run")),
    );
    note(tally.steps, format!("{} folded into their jobs", number(tally.steps, "step")));
    let more = if more.is_empty() { String::new() } else { format!(", with {}", more.join(", ")) };
    line("jobs", format!("{} in {}{more}", quality.jobs, number(tally.rows, "record")))?;
    if let Some((first, last)) = quality.span {
        let form = tally.form.map_or("no times", sacct::TimeFormat::words);
        let (first, last) = (date::written(first), date::written(last));
        line("times", format!("{first} to {last} in UTC; {form}"))?;
    }
    let states = |are_open: bool| -> Vec<String> {
        let is_open = |state: &str| matches!(state, "PENDING" | "RUNNING" | "SUSPENDED");
        let own = quality.states.iter().filter(|(state, _)| is_open(state) == are_open);
        own.map(|(state, count)| format!("{count} {}", state.to_lowercase())).collect()
    };
    for (name, states) in [("ended", states(false)), ("not ended", states(true))] {
        if !states.is_empty() {
            line(name, states.join(", "))?;
        }
    }
    let mut never = Vec::new();
    if quality.rejected > 0 {
        never.push(format!("{} refused at once", quality.rejected));
    }
    if quality.cancelled_waiting > 0 {
        never.push(format!("{} cancelled while they waited", quality.cancelled_waiting));
    }
    if !never.is_empty() {
        line("never ran", never.join(", "))?;
    }
    let percent = |part: usize, all: usize| {
        if all == 0 {
            "none".to_owned()
        } else {
            format!("{} %", significant(100.0 * part as f64 / all as f64, 3))
        }
    };
    let (placed, unions) = (quality.placed, quality.unions);
    let mut places = format!(
        "{} of {placed} node lists are places of the lists ({})",
        quality.placements(),
        percent(quality.placements(), placed),
    );
    if unions > 0 {
        let single = quality.single;
        places += &format!(": {single} as one place, {unions} as one place for each segment");
    }
    line("places", places)?;
    for trouble in &quality.elsewhere {
        line("", trouble.to_string())?;
    }
    let missing: Vec<String> = quality
        .missing
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(name, count)| format!("{name} in {}", number(*count, "stay")))
        .collect();
    line("missing", if missing.is_empty() { "nothing".to_owned() } else { missing.join(", ") })?;
    let (looked, shape) = quality.shape;
    let sample = match looked == quality.waited {
        true => "of which".to_owned(),
        false => format!("and of a sample of {looked} of these waits"),
    };
    let waits = format!(
        "{} waited, {sample} {shape} ({}) had enough free nodes at some point, but in no allowed shape",
        number(quality.waited, "job"),
        percent(shape, looked)
    );
    line("waits", waits)?;
    for (place, own) in quality.unmodelled.iter().enumerate() {
        line(if place == 0 { "unmodelled" } else { "" }, own.to_string())?;
    }
    Ok(())
}
