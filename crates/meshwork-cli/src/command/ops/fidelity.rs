//! `meshwork ops fidelity`: counts the recorded decisions that the model of a site reproduces.

use meshwork_lab::files::write_whole;
use meshwork_lab::slurm::folder::Folder;
use meshwork_lab::text::number::{Rounded, significant};
use meshwork_operator::fidelity::{self, Fidelity, PredictedWaits};

use super::warn_of_conf;
use crate::args::ops;
use crate::command::meter::Meter;
use crate::output::{Ended, Output, Stop, Verdict, must_be_ours, must_have_folder};
use crate::table::{Column, print};

/// Maximum number of differences between predicted and recorded decisions that are printed.
const MOST_NAMED: usize = 20;

pub(super) fn run(out: &mut Output, arguments: &ops::Fidelity) -> Ended {
    if let Some(file) = &arguments.starts {
        must_have_folder(file)?;
        must_be_ours(file, "job,start,predicted")?;
    }
    let folder = Folder::read(&arguments.site).map_err(Stop::Wrong)?;
    warn_of_conf(&folder.machine.reading);
    // Each job is judged and then replayed.
    let meter = Meter::new("step");
    let found = fidelity::of(&folder, &|done, all| meter.count(done, all));
    meter.end();
    if let Some(file) = &arguments.starts {
        write_whole(file, found.starts_table().as_bytes())?;
    }
    let doubts = found.doubts();
    let verdict = if doubts.is_empty() { Verdict::Done } else { Verdict::RunFailed };
    if arguments.json {
        out.json(&found.json())?;
        return Ok(verdict);
    }
    describe(out, &found)?;
    out.line("")?;
    if doubts.is_empty() {
        out.line("The site is modelled well enough to go on.")?;
    }
    for doubt in doubts {
        out.line(&format!("The site is not modelled well enough to go on: {doubt}."))?;
    }
    Ok(verdict)
}

fn describe(out: &mut Output, found: &Fidelity) -> Result<(), Stop> {
    let percent = |part: usize, all: usize| match all {
        0 => String::new(),
        _ => format!(" ({} %)", significant(100.0 * part as f64 / all as f64, 3)),
    };
    let mut line = |name: &str, says: String| out.line(&format!("{name:<12}{says}"));
    let Fidelity { jobs, placed, placements, .. } = found;
    line(
        "places",
        format!(
            "{placements} of {placed} node lists are places of the lists{} ({jobs} jobs)",
            percent(*placements, *placed)
        ),
    )?;
    let (all, same) = found.all();
    line(
        "decisions",
        format!("{same} of {all} are those of the rule, node for node{}", percent(same, all)),
    )?;
    for (by, (all, same)) in &found.decisions {
        let by = match *by {
            "main" => "main scheduler",
            "" => "submission, or not recorded",
            by => by,
        };
        line("", format!("by {by}: {same} of {all}{}", percent(*same, *all)))?;
    }
    line(
        "",
        format!(
            "{} starts share their second with others, and are taken in the order that fits best",
            found.simultaneous
        ),
    )?;
    let counts = found.start_counts();
    line(
        "starts",
        format!(
            "{} of {} are in the cycle of the modelled scheduler, within {} s{}: {} too early, {} too late",
            counts.cycle,
            counts.total,
            fidelity::SAME_CYCLE,
            percent(counts.cycle, counts.total),
            counts.early,
            counts.late
        ),
    )?;
    line(
        "",
        format!(
            "{} of {} are on the recorded nodes{}",
            counts.place,
            counts.total,
            percent(counts.place, counts.total)
        ),
    )?;
    line(
        "clean-up",
        match found.cleanup {
            Some(seconds) => format!(
                "{seconds} s from a job's end until its nodes are given out again, if the queue tells"
            ),
            None => "no job waited for the nodes of another, so nothing shows it".to_owned(),
        },
    )?;
    for own in found.differing.iter().take(MOST_NAMED) {
        let rule = match own.rule.as_str() {
            "wait" => "would let it wait".to_owned(),
            "never" => "would refuse it".to_owned(),
            nodes => format!("gives {nodes}"),
        };
        line(
            "differs",
            format!("job {} (line {}) started on {}, the rule {rule}", own.id, own.line, own.nodes),
        )?;
    }
    if found.differing.len() > MOST_NAMED {
        line("", format!("and {} more: --json names all", found.differing.len() - MOST_NAMED))?;
    }
    if found.waits.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.headline(
        "waits in seconds, as they were and as they are predicted when all jobs happen again",
    )?;
    for by in fidelity::WAIT_GROUPS {
        let own: Vec<&PredictedWaits> = found.waits.iter().filter(|own| own.by == by).collect();
        // A table with one group tells nothing. The table by numbers of nodes is printed even then,
        // because its last row is for all jobs.
        if own.len() > 1 || by == fidelity::WAIT_GROUPS[0] {
            waits(out, by, &own)?;
        }
    }
    let Some((real, (lowest, highest))) = found.wait.map(|own| own.0).zip(found.range()) else {
        return Ok(());
    };
    let is_within = (lowest..=highest).contains(&real);
    out.line("")?;
    out.line(&format!(
        "Jobs wait {} to {} s on average in {} replays, which differ in fractions of seconds only. The recorded {} s {} in this range.",
        significant(lowest, 3),
        significant(highest, 3),
        found.copies.len(),
        significant(real, 3),
        if is_within { "is" } else { "is not" }
    ))?;
    Ok(())
}

/// Recorded and predicted waits, grouped by one key such as the user.
fn waits(out: &mut Output, by: &str, groups: &[&PredictedWaits]) -> Result<(), Stop> {
    let cells = |of: &dyn Fn(&PredictedWaits) -> String| {
        groups.iter().map(|own| of(own)).collect::<Vec<String>>()
    };
    let columns = [
        Column::numbers("stays", cells(&|own| own.count.to_string())),
        Column::numbers("real", cells(&|own| significant(own.real, 3))),
        Column::numbers("predicted", cells(&|own| significant(own.predicted, 3))),
        Column::numbers(
            "difference",
            cells(&|own| {
                let rounded = Rounded::new(Some(own.predicted - own.real), own.half_width).signed();
                let half_width = rounded.half_width.map(|half| format!(" ± {half}"));
                format!("{}{}", rounded.mean, half_width.unwrap_or_default())
            }),
        ),
    ];
    print(out, &[Column::words(by, cells(&|own| own.name.clone()))], &columns, &[])
}
