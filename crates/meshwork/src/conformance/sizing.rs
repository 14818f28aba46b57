//! Conformance test for sizings.

use super::allocator::random_request;
use super::runs::{Serves, each_job_once, name, random_jobs, scenario};
use super::{Finding, Tried, broken, component, every_machine, variants, with_parameters};
use crate::catalogue::Catalogue;
use crate::form::Asks;
use crate::job::Request;
use crate::registry::Params;
use crate::rng::Stream;
use crate::sizing::{self, Demand, QueueCounts, Size, Sizing, SizingEntry};
use crate::topology::{Topology, Wiring};
const SEED: u64 = 7;
const STEPS: u64 = 200;

/// Checks a sizing of a catalogue against the rules for sizings.
///
/// The sizing is tried with every choice of its parameters, for requests in every form, on every
/// wiring.
///
/// - The sizing has a size for every demand (its input). Each size has the requested form, and at
///   least one processor but no more than the site has. The factor by which the run time changes
///   with the size is a positive number.
/// - No size has fewer processors than the sizing [states](Sizing::fewest), for any numbers of
///   waiting and running jobs.
/// - A [fixed](Sizing::is_fixed) sizing has exactly the requested size.
/// - The sizes do not change because of queries, or of updates to a fork.
/// - Under every scheduler that accepts sizings each job starts once and ends once, and the same
///   seed gives the same run.
///
/// # Errors
/// The first violated rule, or an unknown sizing.
pub fn check_sizing(catalogue: &Catalogue, name: &str) -> Result<Tried, Finding> {
    let name = sizing::FAMILY.find_in(catalogue, "", name)?.name;
    let entry = catalogue.entry::<SizingEntry>(name);
    let mut tried = Tried::default();
    for table in &variants(entry.about.params) {
        for (machine, topology) in &every_machine() {
            let case = || format!("on a {topology}{}", with_parameters(table));
            let params = sizing::FAMILY
                .resolve_in(catalogue, "sizing", &component(entry.about.name, table))
                .map_err(|problem| broken(entry, case())(problem.message))?;
            tried.questions += demands(entry, &params, topology).map_err(|(step, sentence)| {
                broken(entry, format!("{}, step {step} of seed {SEED}", case()))(sentence)
            })?;
            for scheduler in catalogue.list::<crate::sched::SchedulerEntry>() {
                if scheduler.malleable || !scheduler.serves.contains(&topology.wiring()) {
                    continue;
                }
                let under = || {
                    let scheduler = scheduler.about.name;
                    broken(entry, format!("{} under `{scheduler}`, seed 11", case()))
                };
                let parts = [
                    ("sizing", component(entry.about.name, table)),
                    ("scheduler", self::name(scheduler.about.name)),
                ];
                let machine = format!("machine = {{ {machine} }}");
                let scenario = scenario(catalogue, &machine, &parts).map_err(under())?;
                let jobs = random_jobs(topology, 60, 3.0, 11);
                tried += each_job_once(&scenario, &jobs, Serves::declared(scheduler.serves_all))
                    .map_err(under())?;
            }
            tried.machines += 1;
        }
    }
    Ok(tried)
}

fn forms(topology: &Topology) -> &'static [Asks] {
    match (topology.wiring(), topology.grid().dimensions()) {
        (Wiring::Mesh | Wiring::Torus, 2) => {
            &[Asks::Nodes, Asks::Constrained, Asks::Block, Asks::BlockOrNodes, Asks::Square]
        }
        (Wiring::Mesh | Wiring::Torus, _) => &[Asks::Nodes, Asks::Block, Asks::BlockOrNodes],
        (Wiring::Hypercube, _) => &[Asks::Nodes, Asks::Block, Asks::BlockOrNodes, Asks::Subcube],
        _ => &[Asks::Nodes, Asks::Constrained],
    }
}

/// Checks a sizing on random demands of jobs, in every form of request.
///
/// Returns the number of demands, or an error with the index of the demand.
fn demands(
    entry: &'static SizingEntry,
    params: &Params,
    topology: &Topology,
) -> Result<u64, (u64, String)> {
    let mut sizing = (entry.build)(params, std::slice::from_ref(topology)).map_err(|problem| {
        (0, format!("it is refused with these parameters: {}", problem.message))
    })?;
    let mut rng = Stream::new(SEED, 0, "demands");
    let forms = forms(topology);
    for step in 0..STEPS {
        let asks = forms[rng.below(forms.len() as u64) as usize];
        let request = random_request(asks, topology, &mut rng);
        sizing.arrived(&request);
        let mut counts = || QueueCounts { running: rng.below(9), waiting: 1 + rng.below(9) };
        let nodes = topology.grid().nodes();
        let demand = Demand { request: &request, asks, nodes, counts: counts() };
        let then = Demand { counts: counts(), ..demand };
        sizes(sizing.as_ref(), &demand, &then).map_err(|sentence| (step, sentence))?;
    }
    Ok(STEPS)
}

/// Checks that a sizing obeys its contract for `demand` and `then`, which differ only in job
/// counts.
fn sizes(sizing: &dyn Sizing, demand: &Demand<'_>, then: &Demand<'_>) -> Result<(), String> {
    let Demand { request, asks, nodes, .. } = *demand;
    let all = sizing.sizes(demand);
    if all.is_empty() {
        return Err(format!("it has no size for {request}"));
    }
    if all != sizing.sizes(demand) {
        return Err(format!("it has other sizes for {request} when it is asked again"));
    }
    let mut fork = sizing.fork();
    if all != fork.sizes(demand) {
        return Err(format!("its fork has other sizes for {request}"));
    }
    fork.arrived(&Request::Nodes(1));
    if all != sizing.sizes(demand) {
        return Err(format!("it has other sizes for {request} after its fork was told of a job"));
    }
    let fewest = sizing.fewest(demand);
    for Size { request: size, stretch } in all.iter().chain(&sizing.sizes(then)) {
        let is_in_form = match (asks, size) {
            (Asks::Nodes | Asks::Constrained | Asks::BlockOrNodes, Request::Nodes(_))
            | (Asks::Constrained, Request::Constrained(_))
            | (Asks::Subcube, Request::Subcube(_))
            | (Asks::Pieces, Request::Pieces(_)) => true,
            (Asks::Block | Asks::BlockOrNodes, Request::Block(sides)) => match request {
                Request::Block(asked) => sides.len() == asked.len(),
                _ => true,
            },
            (Asks::Square, Request::Block(sides)) => {
                sides[0].is_power_of_two() && sides.iter().all(|side| *side == sides[0])
            }
            _ => false,
        };
        if !is_in_form {
            return Err(format!("it makes {size} of {request}, which is in another form"));
        }
        if !(1..=u64::from(nodes)).contains(&size.nodes()) {
            return Err(format!("it makes {size} of {request}, on a site of {nodes} processors"));
        }
        if size.nodes() < fewest {
            return Err(format!(
                "it makes {size} of {request}, but names {fewest} processors as the fewest that it ever gives it"
            ));
        }
        if !(stretch.is_finite() && *stretch > 0.0) {
            return Err(format!(
                "a job of {size} in place of {request} runs {stretch} times as long"
            ));
        }
    }
    let whole = Size { request: request.clone(), stretch: 1.0 };
    if sizing.is_fixed() && all.as_slice() != [whole] {
        return Err(format!("it declares to be fixed, but makes {} of {request}", all[0].request));
    }
    Ok(())
}
