//! `meshwork ops when`: predicts intervals in which waiting jobs are likely to start.

use meshwork_lab::slurm::folder::Folder;
use meshwork_operator::controller::rules::SiteRules;
use meshwork_operator::state::MachineState;
use meshwork_operator::when::{PastRatios, SampledFutures, StartInterval, StartQueue};
use meshwork_slurm::sacct::LocalClock;
use serde_json::json;

use super::state::{held_back, second, warn_of_unmodelled, whereabouts};
use crate::args::ops;
use crate::output::{Ended, Output, Stop, Verdict};
use crate::table::{Column, print};

pub(super) fn run(out: &mut Output, asked: &ops::When) -> Ended {
    let folder = Folder::read(&asked.site).map_err(Stop::Wrong)?;
    let given = asked.time_zone.clone().unwrap_or_default();
    let (job, shown) = (asked.job.as_deref(), asked.site.display());
    let at = second(&asked.site, asked.at.as_ref(), &given, &folder, job)?;
    MachineState::check_instant(&folder, at).map_err(Stop::Wrong)?;
    warn_of_unmodelled(&folder);
    let clock = if given.is_known() { given } else { LocalClock::utc() };
    let sampled = SampledFutures {
        count: asked.futures,
        seed: asked.seed,
        confidence: asked.confidence,
        cleanup: asked.cleanup.into(),
    };
    let (machine, stays) = (&folder.machine, &folder.history.stays[..]);
    let rules = SiteRules::of(machine).known_at(at);
    let wrong = |says: String| Stop::Wrong(format!("{shown}: {says}"));
    let mut queue = StartQueue::of(machine, &rules, stays, at, sampled).map_err(wrong)?;
    let ratios = PastRatios::before(machine, stays, at, sampled).map_err(wrong)?;
    let correct = |own: StartInterval| ratios.correct(own, at, asked.confidence);
    let found = queue.intervals().map_err(wrong)?;
    let mut found: Vec<StartInterval> = found.into_iter().map(correct).collect();
    if found.iter().any(|own| own.held.is_some()) {
        // `ops explain` gives these reasons too.
        let state = MachineState::of_history(folder.clone(), at).map_err(Stop::Wrong)?;
        let mut words = state.held_words();
        for own in found.iter_mut().filter(|own| own.held.is_some()) {
            own.held = words.remove(own.id.as_str()).or(own.held.take());
        }
    }
    let Some(job) = job else {
        return all(out, asked, at, &clock, &found);
    };
    let Some(own) = found.iter().rev().find(|own| own.id == job) else {
        let why = whereabouts(&folder, job, at, &clock);
        let at = clock.shown(at);
        return Err(Stop::Wrong(format!("{shown}: job {job} does not wait at {at}{why}")));
    };
    let changes = match own.held {
        None => queue.changes(job).map_err(wrong)?,
        Some(_) => Vec::new(),
    };
    // With a change, such as a raised time limit, the job has another median start. This median is
    // compared with the job's own median, so both are corrected in the same way.
    let changes: Vec<(String, Option<i64>)> = changes
        .into_iter()
        .map(|(what, median)| {
            let own = StartInterval { median, ..StartInterval::default() };
            (what, ratios.correct(own, at, asked.confidence).median)
        })
        .collect();
    if asked.json {
        let mut object = own.json();
        object["at"] = json!(at);
        object["confidence"] = json!(asked.confidence);
        object["futures"] = json!(asked.futures);
        let change =
            |(what, median): &(String, Option<i64>)| json!({ "what": what, "median": median });
        object["changes"] = changes.iter().map(change).collect();
        out.json(&object)?;
        return Ok(Verdict::Done);
    }
    if let Some(reason) = &own.held {
        let why = held_back(reason);
        out.line(&format!("job {job} has no start time at {}: {why}", clock.shown(at)))?;
        return Ok(Verdict::Done);
    }
    let time = |time: Option<i64>| shown_time(own, time, &clock);
    out.headline(&format!("job {job} at {}", clock.shown(at)))?;
    let percent = 100.0 * asked.confidence;
    let (earliest, latest) = (time(own.earliest), time(own.latest));
    out.line(&match (own.earliest, own.latest) {
        _ if own.is_hopeless => "  never starts: it would not fit the empty machine".to_owned(),
        (Some(_), Some(_)) => {
            format!("  starts between {earliest} and {latest} with {percent} % probability")
        }
        (Some(_), None) => format!(
            "  starts not before {earliest}, and in some of the futures not before the machine is idle: \
             there is no interval of {percent} %"
        ),
        (None, _) => {
            "  starts in too few of the futures before the machine is idle: there is no interval"
                .to_owned()
        }
    })?;
    out.line(&format!("  median {}", time(own.median)))?;
    for (what, median) in changes {
        if median.is_some_and(|median| own.median.is_none_or(|own| median < own)) {
            out.line(&format!("  with {what}, the median would be {}", time(median)))?;
        }
    }
    Ok(Verdict::Done)
}

/// Time in a prediction, or the reason why there is none.
fn shown_time(own: &StartInterval, time: Option<i64>, clock: &LocalClock) -> String {
    match time {
        Some(time) => clock.shown(time),
        None if own.is_hopeless => "never".to_owned(),
        None => "not in simulated time".to_owned(),
    }
}

fn all(
    out: &mut Output,
    asked: &ops::When,
    at: i64,
    clock: &LocalClock,
    found: &[StartInterval],
) -> Ended {
    if asked.json {
        let jobs: Vec<_> = found.iter().map(StartInterval::json).collect();
        let (confidence, futures) = (asked.confidence, asked.futures);
        out.json(&json!({ "at": at, "confidence": confidence, "futures": futures, "jobs": jobs }))?;
        return Ok(Verdict::Done);
    }
    if found.is_empty() {
        out.line(&format!("no job waits at {}", clock.shown(at)))?;
        return Ok(Verdict::Done);
    }
    let cells = |of: &dyn Fn(&StartInterval) -> String| found.iter().map(of).collect::<Vec<_>>();
    let times = |of: &dyn Fn(&StartInterval) -> Option<i64>| {
        cells(&|own| match (&own.held, of(own)) {
            (Some(_), _) => String::new(),
            (None, time) => shown_time(own, time, clock),
        })
    };
    let columns = [
        Column::words("earliest", times(&|own| own.earliest)),
        Column::words("median", times(&|own| own.median)),
        Column::words("latest", times(&|own| own.latest)),
        Column::words(
            "reason",
            cells(&|own| own.held.as_ref().map_or(String::new(), |own| own.says.clone())),
        ),
    ];
    print(out, &[Column::words("job", cells(&|own| own.id.clone()))], &columns, &[])?;
    Ok(Verdict::Done)
}
