//! Failures: outages of nodes, their repair, and the treatment of interrupted jobs.

mod checkpoint;
mod durations;
mod keys;
mod timeline;
mod trace;
mod units;

pub(crate) use checkpoint::Saved;
pub use checkpoint::{Checkpoint, daly};
pub use durations::DURATIONS;
pub use keys::{CHECKPOINT, DRAIN, MAINTENANCE, PARAMS};
pub(crate) use timeline::{Planned, Step, Timeline, What};

use toml::{Table, Value};

use checkpoint::Every;
use durations::Duration;
use keys::{DALY, ON_FAILURE};
use timeline::{Chance, Fixed};
use trace::Reading;
use units::Units;

use crate::geometry::places::Sites;
use crate::job::Time;
use crate::registry::{Params, Problem};
use crate::rng::Stream;
use crate::topology::Topology;
use crate::workload::{Inputs, WorkloadError};

/// Name of the random stream of failures and repairs.
pub const STREAM: &str = "failures";

#[derive(Clone, Debug)]
pub(crate) struct Failures {
    mtbf: Option<Duration>,
    repair: Duration,
    units: Units,
    trace: Option<(String, Reading)>,
    planned: Vec<Fixed>,
    to_the_end: bool,
    checkpoint: Option<Checkpoint>,
}

/// Outages of one run, with the rules for interrupted jobs, for a [`Setup`](crate::engine::Setup).
pub struct Outages {
    pub(crate) timeline: Timeline,
    pub(crate) to_the_end: bool,
    pub(crate) checkpoint: Option<Checkpoint>,
}

/// Replaces each number in `failures` by an exponential distribution with this mean.
pub(crate) fn spell_out(scenario: &mut Table) {
    let Some(Value::Table(failures)) = scenario.get_mut("failures") else { return };
    for key in ["mtbf", "repair"] {
        if let Some(given) = failures.get_mut(key) {
            *given = durations::spelled_out(given);
        }
    }
}

impl Failures {
    /// Reads the table `failures`, without opening the trace file that the table may name.
    pub(crate) fn read(params: &Params, topologies: &[Topology]) -> Result<Failures, Problem> {
        let of = |key| {
            params.get_component(key, &DURATIONS).map(|given| Duration::new(&given)).transpose()
        };
        let (mtbf, repair) = (of("mtbf")?, of("repair")?);
        let path = params.path();
        let fails = mtbf.as_ref().is_some_and(|mtbf| *mtbf != Duration::Never);
        let windows = params.get_tables("maintenance").unwrap_or_default();
        let drains = params.get_tables("drain").unwrap_or_default();
        let trace = params.get_text("trace");
        if mtbf.is_none() && trace.is_none() && windows.is_empty() && drains.is_empty() {
            let says = format!(
                "`{path}` says of nothing that it fails: `mtbf` and `repair`, `trace`, `maintenance` or `drain` would"
            );
            return Err(Problem::new(path, says));
        }
        let repair = match repair {
            Some(_) if mtbf.is_none() => {
                let says = format!(
                    "is given without `{path}.mtbf`, and only what fails by chance has a repair \
                     that is drawn"
                );
                return Err(params.refusal("repair", says));
            }
            Some(Duration::Never) => {
                let says = "is \"inf\", but a repair takes a time above 0 that ends";
                return Err(params.refusal("repair", says));
            }
            None if fails => {
                let says = format!(
                    "`{path}.repair` is missing: how long the repair of what fails takes, a number above 0 or a distribution"
                );
                return Err(Problem::new(path, says));
            }
            repair => repair.unwrap_or(Duration::Never),
        };
        for key in ["trace_start", "first_node"] {
            let is_given = match key {
                "first_node" => params.integer(key) != 0,
                _ => params.has(key),
            };
            if trace.is_none() && is_given {
                let says = format!("is given, but no `{path}.trace` that it could be about");
                return Err(params.refusal(key, says));
            }
        }
        let units = Units::new(params, topologies)?;
        let sites = Sites(topologies);
        let mut planned = Vec::new();
        for (tables, drains) in [(windows, false), (drains, true)] {
            for table in tables {
                planned.extend(fixed(&table, &sites, drains)?);
            }
        }
        let checkpoint = checkpoint(params, mtbf.as_ref(), &units)?;
        let reading = Reading {
            start: params.get_number("trace_start"),
            first_node: params.integer("first_node"),
        };
        Ok(Failures {
            repair,
            units,
            trace: trace.map(|path| (path.to_owned(), reading)),
            planned,
            to_the_end: params.meaning("on_failure", &ON_FAILURE),
            checkpoint,
            mtbf,
        })
    }

    pub(crate) fn may_fail(&self) -> bool {
        let by_chance = self.mtbf.as_ref().is_some_and(|mtbf| *mtbf != Duration::Never);
        by_chance || self.trace.is_some() || !self.planned.is_empty()
    }

    pub(crate) fn has_checkpoints(&self) -> bool {
        self.checkpoint.is_some()
    }

    pub(crate) fn trace(&self) -> Option<&str> {
        self.trace.as_ref().map(|(path, _)| path.as_str())
    }

    /// Creates the outages of one run; an error has the path and line of the trace.
    pub(crate) fn outages(
        &self,
        topologies: &[Topology],
        seed: u64,
        replication: u64,
        inputs: &dyn Inputs,
    ) -> Result<Outages, WorkloadError> {
        let mut fixed = self.planned.clone();
        if let Some((path, reading)) = &self.trace {
            let outages = trace::read(path, inputs.text(path)?, &Sites(topologies), *reading)
                .map_err(WorkloadError)?;
            fixed.extend(outages.into_iter().map(|outage| Fixed {
                nodes: (outage.site, vec![outage.node]),
                gpu: outage.gpu,
                from: Time::new(outage.from),
                until: Time::new(outage.until),
                drains: false,
                is_planned: false,
            }));
        }
        let chance = self.mtbf.as_ref().map(|mtbf| Chance {
            units: self.units.clone(),
            mtbf: mtbf.clone(),
            repair: self.repair.clone(),
            stream: Stream::new(seed, replication, STREAM),
        });
        let timeline = Timeline::new(chance, fixed);
        Ok(Outages { timeline, to_the_end: self.to_the_end, checkpoint: self.checkpoint })
    }
}

/// Planned outages of a table of `maintenance` or `drain`, one for each site with named nodes.
fn fixed(table: &Params, sites: &Sites<'_>, drains: bool) -> Result<Vec<Fixed>, Problem> {
    let (from, until) = (table.number("from"), table.get_number("until"));
    if let Some(until) = until.filter(|&until| until <= from) {
        let says = format!("is {until}, but must be after {from}, when it begins");
        return Err(table.refusal("until", says));
    }
    let named = sites.named(table.text("nodes")).map_err(|says| table.refusal("nodes", says))?;
    let until = Time::new(until.unwrap_or(f64::INFINITY));
    let fixed =
        |nodes| Fixed { nodes, gpu: None, from: Time::new(from), until, drains, is_planned: true };
    Ok(named.into_iter().map(fixed).collect())
}

fn checkpoint(
    params: &Params,
    mtbf: Option<&Duration>,
    units: &Units,
) -> Result<Option<Checkpoint>, Problem> {
    if !params.has("checkpoint") {
        return Ok(None);
    }
    let given = params.nested("checkpoint");
    let cost = given.number("cost");
    let every = match (given.get_number("every"), mtbf) {
        (Some(work), _) => Every::Work(work),
        (None, None) => {
            let says = format!(
                "is \"{DALY}\", the optimum for a mean time between failures, and `{}.mtbf` is \
                 missing",
                params.path()
            );
            return Err(given.refusal("every", says));
        }
        (None, Some(mtbf)) => {
            Every::Daly { mtbf: mtbf.mean(), units_per_node: units.per_processor() }
        }
    };
    if matches!(every, Every::Daly { .. }) && cost == 0.0 {
        let says = "is 0, for which there is no optimum: checkpoints that cost nothing would be \
                    written all the time";
        return Err(given.refusal("cost", says));
    }
    Ok(Some(Checkpoint { every, cost }))
}
