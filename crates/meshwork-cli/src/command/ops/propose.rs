//! `meshwork ops propose`: searches for placement lists under which the jobs of a site wait less.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use meshwork_lab::files::write_whole;
use meshwork_lab::slurm::folder::Folder;
use meshwork_lab::text::diff::difference;
use meshwork_lab::text::number::{Rounded, plural, significant};
use meshwork_operator::propose::{
    CONFIDENCE, ListProposal, SearchLimits, SearchProgress, TopologyLists, propose, searched, text,
};
use meshwork_operator::unmodelled::{self, Unmodelled};

use super::compare::{caveats, judge, terms};
use super::warn_of_conf;
use crate::args::ops;
use crate::command::meter::Meter;
use crate::command::stop::Stopper;
use crate::output::{Ended, Output, Stop, Verdict, must_be_new, must_have_folder, say, tell};

pub(super) fn run(out: &mut Output, arguments: &ops::Propose) -> Ended {
    if let Some(file) = &arguments.out {
        must_have_folder(file)?;
        must_be_new(file, arguments.replace)?;
    }
    let folder = Folder::read(&arguments.site).map_err(Stop::Wrong)?;
    warn_of_conf(&folder.machine.reading);
    searched(&folder).map_err(Stop::Wrong)?;
    let judged = judge(&arguments.terms, &folder)?;
    let (terms, source) = terms(&arguments.terms, &judged);
    let (doubts, unmodelled) = (judged.doubts(), unmodelled::of(&folder.machine, &folder.history));
    let most = arguments.lists.map_or(usize::MAX, |most| most as usize);
    let effort = SearchLimits {
        budget: Some(arguments.budget).filter(|_| arguments.lists.is_none()),
        most,
        seed: arguments.seed,
        threads: arguments.threads,
    };
    let meter = Meter::of_lines();
    let report = |progress: &SearchProgress| {
        if !meter.is_due() {
            return;
        }
        let SearchProgress { tried, own, best } = progress;
        let says = format!(
            "{} tried; mean wait {} s under the site's own list, {} s under the best so far",
            plural(*tried as u64, "list"),
            significant(*own, 4),
            significant(*best, 4)
        );
        say("progress", &says);
    };
    let (stopper, is_told) = (Stopper::of_command(out), AtomicBool::new(false));
    let stop = || {
        let stops = stopper.as_ref().is_some_and(Stopper::is_time);
        if stops && !is_told.swap(true, Relaxed) {
            tell("stopped: the best list so far is judged; Ctrl-C again ends at once");
        }
        stops
    };
    let found = propose(&folder, terms, effort, &report, &stop).map_err(Stop::Wrong)?;
    let verdict = if found.is_better() { Verdict::Done } else { Verdict::RunFailed };
    let better = found.best.as_ref().filter(|_| found.is_better());
    let old = folder.machine.topology_text();
    let new = better.and_then(|lists| text::rewritten(old, &found.topology, lists));
    if let (Some(file), Some(new)) = (&arguments.out, &new) {
        write_whole(file, new.as_bytes())?;
    }
    if arguments.json {
        let mut json = found.json();
        json["cleanup_seconds"] = terms.cleanup.into();
        json["topology_yaml"] = new.into();
        json["doubts"] = doubts.into();
        json["not_modelled"] = unmodelled.iter().map(Unmodelled::json).collect();
        out.json(&json)?;
        return Ok(verdict);
    }
    caveats(out, &doubts, &unmodelled)?;
    describe(out, &found, &format!("{} s of clean-up, {}", terms.cleanup, source.says()))?;
    let Some(lists) = better else { return Ok(verdict) };
    out.line("")?;
    let name = &folder.machine.reading.files.topology;
    let proposed = arguments
        .out
        .as_ref()
        .map_or_else(|| "proposed topology.yaml".to_owned(), |file| file.display().to_string());
    match new {
        Some(new) => lines(out, &difference(old, &new, name, &proposed))?,
        None => {
            let says = format!(
                "{name} has its lists not line by line, so the change is for you to make. The lists of {} become:",
                found.topology.name
            );
            out.paragraph(&says)?;
            lines(out, &text::listed(&found.topology, lists))?;
        }
    }
    Ok(verdict)
}

fn lines(out: &mut Output, text: &str) -> Result<(), Stop> {
    text.lines().try_for_each(|line| out.line(line))
}

fn describe(out: &mut Output, found: &ListProposal, cleanup: &str) -> Result<(), Stop> {
    let (first, second) = found.jobs;
    let text = format!(
        "{} of {} were tried on the first {first} jobs, with {cleanup}.",
        plural(found.tried as u64, "list"),
        match found.best {
            Some(TopologyLists::Blocks(_)) => format!("block sizes of {}", found.topology.name),
            _ => found.topology.name.clone(),
        },
    );
    out.paragraph(&text)?;
    if let Some(race) = &found.race {
        let certain = race.bound.map_or_else(
            || "which is too few to be certain of anything".to_owned(),
            |bound| {
                format!(
                    "waits under the best are at most {} % longer than under any other of them, with {} % confidence",
                    significant(100.0 * bound, 2),
                    100.0 * CONFIDENCE
                )
            },
        );
        let text = format!(
            "The {} best, with the site's own, raced on {} histories of stretches of {} s in random order: {certain}.",
            race.finalists, race.histories, race.stretch
        );
        out.paragraph(&text)?;
    }
    let Some(chosen_on) = found.chosen_on else {
        return out.paragraph(
            "None of them is better there than the site's own list, as far as the jobs tell: nothing is proposed.",
        );
    };
    let shown = |gain: &meshwork_lab::statistics::Interval| {
        let rounded = Rounded::new(gain.mean, gain.half_width);
        let half_width = rounded.half_width.map_or_else(String::new, |half| format!(" ± {half}"));
        format!("{}{half_width} s", rounded.mean)
    };
    let percent = 100.0 * CONFIDENCE;
    let (Some(gain), Some((own, best))) = (found.held_against, found.waits) else {
        return out.paragraph(&format!(
            "The best of them lets a job of the {second} after those wait for ever: nothing is proposed."
        ));
    };
    let text = format!(
        "On the {second} later jobs, which the search has not seen, the mean wait is {} s under the site's own list \
         and {} s under the best of them: {} less.",
        significant(own, 4),
        significant(best, 4),
        shown(&gain),
    );
    let spans = found.spans.map(|(own, best, unit)| {
        let [own, best] = [own, best].map(|span| significant(span, 3));
        let under_own = match own == best {
            true => "as under the site's own list".to_owned(),
            false => format!("and {own} under the site's own list"),
        };
        format!(" There the nodes of a job span {best} {unit} on average, {under_own}.")
    });
    let search = format!(
        " On the jobs of the search the mean wait is {} less (intervals of {percent} %).",
        shown(&chosen_on)
    );
    out.paragraph(&(text + &spans.unwrap_or_default() + &search))?;
    if !found.is_better() {
        out.paragraph("That is no significant difference: nothing is proposed.")?;
    }
    Ok(())
}
