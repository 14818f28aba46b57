//! `meshwork ops compare`: finds out under which topology or configuration a site's jobs wait less.

use meshwork_lab::files::write_whole;
use meshwork_lab::slurm::folder::Folder;
use meshwork_lab::statistics::Interval;
use meshwork_lab::study::words::short_paths;
use meshwork_lab::text::number::{Rounded, plural, significant};
use meshwork_operator::compare::{
    Comparison, Contender, ReplayOptions, compare, jobs_that_ran, page,
};
use meshwork_operator::fidelity::{self, Fidelity};
use meshwork_operator::unlisted::Unlisted;
use meshwork_operator::unmodelled::{self, Unmodelled};

use super::{lint_conf, warn_of_conf};
use crate::args::ops;
use crate::command::meter::Meter;
use crate::command::stop::Stopper;
use crate::output::{Ended, Output, PAGE_MARK, Stop, Verdict, must_be_ours, must_have_folder};
use crate::table::{Column, print};

/// Source of the clean-up time: the time from a job's end until its nodes are free again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cleanup {
    /// The clean-up time is given on the command line.
    Given,
    /// The clean-up time was fitted to the history of the site, and is in whole seconds.
    Fitted,
    /// The clean-up time was fitted to the history of the site, and then rounded.
    Rounded,
    /// The history shows no clean-up time, so zero is used.
    Unknown,
}

impl Cleanup {
    /// Phrase that names the source of the clean-up time, and follows the time in a sentence.
    pub(super) fn says(self) -> &'static str {
        match self {
            Cleanup::Given => "as asked for",
            Cleanup::Fitted => "as the history shows",
            Cleanup::Rounded => "as the history shows, rounded to whole seconds",
            Cleanup::Unknown => "since nothing in the history shows any",
        }
    }
}

/// Replays a site's history to test the model of the site.
///
/// A bad model is an error, unless the option `--anyway` is given.
pub(super) fn judge(asked: &ops::Terms, folder: &Folder) -> Result<Fidelity, Stop> {
    let meter = Meter::new("job");
    let found = fidelity::verdict(folder, &|done, all| meter.count(done, all));
    meter.end();
    let doubts = found.doubts();
    if doubts.is_empty() || asked.anyway {
        return Ok(found);
    }
    let site = folder.path.display();
    Err(Stop::Failed(format!(
        "{site}: the site is not modelled well enough to go on: {}; `meshwork ops fidelity {site}` says where, and \
         --anyway goes on all the same",
        doubts.join("; ")
    )))
}

/// Options of a replay, and the source of the clean-up time that they include.
pub(super) fn terms(asked: &ops::Terms, found: &Fidelity) -> (ReplayOptions, Cleanup) {
    let (cleanup, source) = match (asked.cleanup, found.cleanup) {
        (Some(seconds), _) => (i64::from(seconds), Cleanup::Given),
        (None, Some(seconds)) if seconds.fract() == 0.0 => (seconds as i64, Cleanup::Fitted),
        (None, Some(seconds)) => (seconds.round() as i64, Cleanup::Rounded),
        (None, None) => (0, Cleanup::Unknown),
    };
    let unlisted = if asked.unlisted == "refuse" { Unlisted::Refuse } else { Unlisted::RoundUp };
    (ReplayOptions { cleanup, unlisted, ..ReplayOptions::default() }, source)
}

/// Warns of facts that may distort the results of a site.
pub(super) fn caveats(
    out: &mut Output,
    doubts: &[String],
    unmodelled: &[Unmodelled],
) -> Result<(), Stop> {
    let caveats = unmodelled::caveats(doubts, unmodelled);
    caveats.iter().try_for_each(|says| out.paragraph(says))?;
    if caveats.is_empty() { Ok(()) } else { out.line("") }
}

pub(super) fn run(out: &mut Output, arguments: &ops::Compare) -> Ended {
    if let Some(file) = &arguments.report {
        must_have_folder(file)?;
        must_be_ours(file, PAGE_MARK)?;
    }
    let folder = Folder::read(&arguments.site).map_err(Stop::Wrong)?;
    let is_first = arguments.baseline == "first";
    if is_first && arguments.topologies.len() + arguments.confs.len() < 2 {
        let says = "--baseline first: there is one file, and nothing to compare it with";
        return Err(Stop::Wrong(says.to_owned()));
    }
    let mut contenders = Vec::new();
    if !is_first {
        contenders.push(Contender::of_site(&folder));
    }
    for file in &arguments.topologies {
        contenders.push(Contender::read(&folder, file).map_err(Stop::Wrong)?);
    }
    for file in &arguments.confs {
        contenders.push(Contender::read_conf(&folder, file).map_err(Stop::Wrong)?);
    }
    warn_of_conf(&folder.machine.reading);
    for contender in contenders.iter().rev().take(arguments.confs.len()).rev() {
        lint_conf(&contender.machine.reading)?;
    }
    jobs_that_ran(&folder).map_err(Stop::Wrong)?;
    if let Some(stopper) = Stopper::of_command(out) {
        stopper.end_process(Some("stopped: there is no result before all replays have ended"));
    }
    let found = judge(&arguments.terms, &folder)?;
    let (terms, source) = terms(&arguments.terms, &found);
    let terms = ReplayOptions { copies: arguments.copies, ..terms };
    let meter = Meter::new("replayed job");
    let report = |done, all| meter.count(done, all);
    let mut compared = compare(&folder, &contenders, terms, &report).map_err(Stop::Wrong)?;
    meter.end();
    compared.doubts = found.doubts();
    let mut titles = short_paths(&compared.names);
    if !is_first {
        "site".clone_into(&mut titles[0]);
    }
    if let Some(file) = &arguments.report {
        write_whole(file, page(&compared, &titles).as_bytes())?;
    }
    if arguments.json {
        out.json(&compared.json())?;
        return Ok(Verdict::Done);
    }
    caveats(out, &compared.doubts, &compared.unmodelled)?;
    let cleanup = plural(terms.cleanup as u64, "second");
    let jobs = plural(compared.jobs as u64, "job");
    let (kind, own) = match arguments.confs.is_empty() {
        true => ("topology", "the site's own topology"),
        false => ("file", "the site as it is"),
    };
    let copies = match compared.copies {
        1 => String::new(),
        copies => format!(
            ", in {copies} copies, because accounting has no fractions of seconds: numbers are means over them"
        ),
    };
    let text = format!(
        "{jobs} happen again under each {kind}, with {cleanup} of clean-up, {}{copies}. Differences are from {}, \
         job by job and batch by batch, with 95 % intervals; * marks one that excludes 0.",
        source.says(),
        if is_first { &titles[0] } else { own }
    );
    out.paragraph(&text)?;
    if compared.terms.keeps_priorities && !arguments.confs.is_empty() {
        let says = "Priorities are those recorded, since tables are missing from which they are computed (`ops import --assoc --qos`): on jobs with a recorded priority, only the weight of age has an effect.";
        out.paragraph(says)?;
    }
    if compared.common < compared.jobs {
        let text = format!(
            "Waits and slowdowns are those of the {} that start under every {kind}.",
            plural(compared.common as u64, "job")
        );
        out.paragraph(&text)?;
    }
    out.line("")?;
    table(out, &compared, &titles)?;
    let undecided = titles.iter().skip(1).zip(&compared.differences).filter_map(|(name, own)| {
        let weeks = compared.weeks_to_decide(&own[0])?;
        Some(format!("{name}: {}", more_weeks(weeks)))
    });
    let undecided: Vec<String> = undecided.collect();
    if !undecided.is_empty() {
        let text = format!(
            "The difference in mean wait is not decided. If it stays as it is, this much more history would \
             decide it: {}.",
            undecided.join("; ")
        );
        out.line("")?;
        out.paragraph(&text)?;
    }
    Ok(Verdict::Done)
}

/// Converts a number of weeks to words, rounded up to whole hours, days or weeks.
fn more_weeks(weeks: f64) -> String {
    match weeks * 7.0 {
        days if days < 1.0 => plural((days * 24.0).ceil() as u64, "hour"),
        days if days < 14.0 => plural(days.ceil() as u64, "day"),
        _ if weeks > 520.0 => "more than ten years".to_owned(),
        _ => plural(weeks.ceil() as u64, "week"),
    }
}

fn table(out: &mut Output, compared: &Comparison, names: &[String]) -> Result<(), Stop> {
    let (shown, titles): (Vec<usize>, Vec<String>) = compared.titles().unzip();
    let mut columns = Vec::new();
    for (number, (name, values)) in names.iter().zip(&compared.values).enumerate() {
        let cells = shown.iter().map(|&place| match values[place] {
            Some(value) => significant(value, 4),
            None => "-".to_owned(),
        });
        columns.push(Column::numbers(name, cells.collect()));
        if let Some(differences) = number.checked_sub(1).map(|own| &compared.differences[own]) {
            let cells = shown.iter().map(|&place| difference(&differences[place])).collect();
            columns.push(Column::numbers("difference", cells));
        }
    }
    print(out, &[Column::words("", titles)], &columns, &[])
}

/// Text of a difference with its half-width. A star marks an interval that excludes 0.
pub(super) fn difference(interval: &Interval) -> String {
    let rounded = Rounded::new(interval.mean, interval.half_width).signed();
    let half_width = rounded.half_width.map_or_else(String::new, |half| format!(" ± {half}"));
    let star = if interval.excludes_zero() { " *" } else { "  " };
    format!("{}{half_width}{star}", rounded.mean)
}
