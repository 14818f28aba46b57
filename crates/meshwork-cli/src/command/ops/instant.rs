//! `meshwork ops explain` and `defrag` for a simulated run or a saved state of `meshwork place`.
//!
//! The state of a run is the one at a given instant. A saved state is a pool: the nodes of a
//! machine, with the jobs that hold them.

use meshwork::catalogue::Catalogue;
use meshwork::job::{Cause, Time};
use meshwork_operator::instant::defrag::{self, InstantTarget};
use meshwork_operator::instant::explain::{InstantExplanation, InstantReason, PlannedStart};
use meshwork_operator::instant::{Instant, request};

use super::any_of;
use super::state::{cost, must_run, print_moves};
use crate::args::ops::{self, At};
use crate::output::{Ended, Output, Stop, Verdict};

pub(super) fn of_run(catalogue: &Catalogue, asked: &ops::State) -> Result<Instant, Stop> {
    let path = &asked.state;
    let (Some(run), Some(at)) = (asked.run, &asked.at) else {
        let says = "of a folder of results the run and the instant are needed: --run 3 --at 86400";
        return Err(Stop::Wrong(format!("{}: {says}", path.display())));
    };
    let at = match at {
        At::Number(at) => Time::new(*at),
        At::Date(text) => {
            let says = "of a run it is a number by its own clock, as 86400";
            return Err(Stop::Wrong(format!("--at {text}: {says}")));
        }
    };
    Instant::of_run(catalogue, path, run, at).map_err(Stop::Wrong)
}

pub(super) fn of_pool(catalogue: &Catalogue, asked: &ops::State) -> Result<Instant, Stop> {
    let fits = |bytes| {
        asked.memory.check(bytes, "its machine takes").map_err(|stop| match stop {
            Stop::Wrong(says) | Stop::Failed(says) => says,
            _ => "its machine takes too much memory".to_owned(),
        })
    };
    Instant::of_pool(catalogue, &asked.state, &fits).map_err(Stop::Wrong)
}

pub(super) fn run_explain(out: &mut Output, instant: &Instant, asked: &ops::Explain) -> Ended {
    let explained = match (&asked.job, &asked.shape) {
        (_, Some(shape)) => {
            let request = request(shape).map_err(|says| Stop::Wrong(format!("--shape: {says}")))?;
            instant.explain_request(request)
        }
        (job, None) => instant.explain(job.as_deref().unwrap_or_default()).map_err(Stop::Wrong)?,
    };
    if asked.json {
        out.json(&explained.json(instant))?;
    } else {
        describe(out, instant, &explained, asked.shape.is_some())?;
    }
    Ok(Verdict::Done)
}

fn describe(
    out: &mut Output,
    instant: &Instant,
    own: &InstantExplanation,
    is_shape: bool,
) -> Result<(), Stop> {
    let request = &own.job.job.request;
    let free = own.free.iter().map(u32::to_string).collect::<Vec<String>>().join(", ");
    let are = if free == "1" { "node is" } else { "nodes are" };
    let because = match &own.reason {
        InstantReason::Never(Some(says)) => format!("it never starts: {says}"),
        InstantReason::Never(None) => {
            "it never starts: it would not fit the empty machine".to_owned()
        }
        InstantReason::WaitsFor(_) if own.short.is_some() => own.short.clone().unwrap_or_default(),
        InstantReason::WaitsFor(Cause::Nodes) => {
            format!("too few nodes are free for its {request}: {free}")
        }
        InstantReason::WaitsFor(Cause::Shape) => {
            format!("{free} {are} free, enough for its {request}, but in no allowed shape")
        }
        InstantReason::WaitsFor(Cause::Priority) => {
            "it could start, but others come before it".to_owned()
        }
        InstantReason::WaitsFor(Cause::Reserved) => {
            "it could start, but nodes are kept for jobs that come before it".to_owned()
        }
        InstantReason::Nothing => "it can start now".to_owned(),
    };
    let now = instant.now;
    out.headline(&if is_shape {
        format!("a job of {request} at time {now}: {because}")
    } else {
        format!("job {} waits at {now}: {because}", own.job.name)
    })?;
    if let Some((site, placement)) = &own.now {
        out.line(&format!("  there is room for it on {}", instant.text(*site, placement)))?;
    }
    let name = |place: &usize| instant.running[*place].name.as_str();
    for near in &own.nearest {
        let until = |place: &usize| match instant.running[*place].until {
            Some(until) => format!("job {} until {until}", name(place)),
            None => format!("job {}", name(place)),
        };
        let jobs: Vec<String> = near.jobs.iter().map(until).collect();
        let place = instant.text(near.site, &near.placement);
        out.line(&format!("  near: {place}; in the way: {}", jobs.join(", ")))?;
    }
    if matches!(own.reason, InstantReason::Never(_) | InstantReason::Nothing) {
        return Ok(());
    }
    if let Some(by) = own.job.promised {
        out.line(&format!("  its scheduler has promised it a start by {by}"))?;
    }
    if instant.knows_ends() {
        let start = |start: &Option<PlannedStart>| match start {
            Some(PlannedStart { at, site, placement }) => {
                format!("{at} on {}", instant.text(*site, placement))
            }
            None => "not known".to_owned(),
        };
        out.line(&format!(
            "  earliest start by the estimates: {} if all start in order of arrival; if it were first: {}",
            start(&own.in_order),
            start(&own.alone)
        ))?;
    }
    if !own.ends.is_empty() {
        let ends: Vec<&str> = own.ends.iter().map(name).collect();
        out.line(&format!("  could start now if {} ended", any_of(&ends)))?;
    }
    if let Some((site, placement)) = &own.overlooked {
        let place = instant.text(*site, placement);
        out.line(&format!(
            "  could start now under an allocator or in an orientation that takes {place}, which is free"
        ))?;
    }
    if let Some((site, moves)) = &own.moves {
        let step = |step: &defrag::InstantMove| {
            let to = instant.text(*site, &step.to);
            format!("job {} to {to}", name(&step.job))
        };
        let steps: Vec<String> = moves.steps.iter().map(step).collect();
        let what = if steps.len() == 1 { "a move of" } else { "moves of" };
        out.line(&format!("  could start now after {what} {}", steps.join(", then ")))?;
    }
    Ok(())
}

pub(super) fn run_defrag(out: &mut Output, instant: &Instant, asked: &ops::Defrag) -> Ended {
    let request = request(&asked.shape).map_err(|says| Stop::Wrong(format!("--shape: {says}")))?;
    if asked.partition.is_some() {
        let says = "--partition: this machine has none; --site says which site of several is meant";
        return Err(Stop::Wrong(says.to_owned()));
    }
    let site = asked.site.unwrap_or(1);
    if site > instant.sites.len() as u64 {
        let has = instant.sites.len();
        return Err(Stop::Wrong(format!(
            "--site {site}: the sites of this machine are 1 to {has}"
        )));
    }
    must_run(&asked.exempt, |job| instant.running.iter().any(|holder| holder.name == job))?;
    let target = InstantTarget {
        site: site as usize - 1,
        exempt: asked.exempt.iter().cloned().collect(),
        cost: cost(&asked.cost),
        ..InstantTarget::of(instant.job(request))
    };
    let plans = instant.defrag(&target, asked.plans).map_err(Stop::Wrong)?;
    let verdict = if plans.is_empty() { Verdict::RunFailed } else { Verdict::Done };
    if asked.json {
        out.json(&defrag::json(instant, target.site, &plans))?;
        return Ok(verdict);
    }
    let text = |placement| instant.text(target.site, placement);
    for plan in &plans {
        let steps = plan.steps.iter().map(|step| {
            let name = instant.running[step.job].name.as_str();
            (name, text(&step.from), text(&step.to))
        });
        print_moves(out, &text(&plan.placement), &target.cost.in_words(plan.cost), steps)?;
    }
    if plans.is_empty() {
        out.line(&format!("no moves make room for {}", asked.shape))?;
    }
    Ok(verdict)
}
