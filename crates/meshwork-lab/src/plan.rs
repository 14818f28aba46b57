//! `meshwork plan`: reads the state of a machine as JSON, and writes a policy's decisions for it.

use std::collections::BTreeMap;

use meshwork::engine::{HeldNodes, PlanState, PolicyDecision, WithheldNodes, plan};
use meshwork::job::{Job, Request, Time};
use meshwork::machine::Placement;
use meshwork::pool::PlacedBlock;
use meshwork::scenario::Scenario;
use meshwork::topology::Topology;
use meshwork::workload::table::{Cell, Listed};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::run::inputs::row;
use crate::slurm::hostlist;

/// JSON form of a state: the machine's occupied nodes and its queue of waiting jobs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateText {
    now: f64,
    /// Names of the nodes in the order of their numbers, as a host list.
    #[serde(default)]
    names: Option<String>,
    #[serde(default)]
    running: Vec<HeldText>,
    #[serde(default)]
    waiting: Vec<Map<String, Json>>,
    #[serde(default)]
    withheld: Vec<WithheldText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WithheldText {
    nodes: Json,
    #[serde(default)]
    site: usize,
    from: f64,
    /// Time until which the nodes are withheld; `None` if they are withheld for ever.
    #[serde(default)]
    until: Option<f64>,
    /// IDs of the waiting jobs that cannot get the nodes; `None` if no job can get them.
    #[serde(default)]
    jobs: Option<Vec<Json>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeldText {
    id: Json,
    since: f64,
    until: f64,
    #[serde(default)]
    site: usize,
    /// Nodes that the job holds: a list of node numbers, or the nodes' names as a host list.
    #[serde(default)]
    nodes: Option<Json>,
    #[serde(default)]
    blocks: Option<Vec<PlacedBlock>>,
}

/// A parsed state, with the node names and job IDs that appear in the text of the decisions.
#[derive(Debug)]
pub struct ReadState {
    pub state: PlanState,
    ids: Vec<Json>,
    names: Option<Vec<String>>,
}

impl ReadState {
    /// Parses the JSON text of a state of a scenario's machine.
    ///
    /// # Errors
    /// One sentence, if the text is not a state in JSON, or if it names a node or a site that the
    /// machine does not have.
    pub fn read(scenario: &Scenario, text: &str) -> Result<ReadState, String> {
        let value = serde_json::from_str(text).map_err(|error| no_state(&error))?;
        ReadState::of(scenario, value)
    }

    /// Converts a parsed JSON object to a state of a scenario's machine.
    ///
    /// # Errors
    /// One sentence, if the object is not a state, or if it names a node or a site that the machine
    /// does not have.
    pub fn of(scenario: &Scenario, state: Json) -> Result<ReadState, String> {
        let given = StateText::deserialize(state).map_err(|error| no_state(&error))?;
        if scenario.shares_nodes() {
            let says = "the machine has types of nodes, which jobs share, and a state names whole nodes: leave out \
                        `machine.nodes`";
            return Err(says.to_owned());
        }
        let now = instant("now", given.now)?;
        let topologies = scenario.topologies();
        let names = given.names.as_deref().map(hostlist::names).transpose()?;
        let all: u64 = topologies.iter().map(|own| u64::from(own.nodes())).sum();
        if let Some(names) = names.as_ref().filter(|names| names.len() as u64 != all) {
            return Err(format!("names has {} nodes, but the machine has {all}", names.len()));
        }
        let numbers: Option<BTreeMap<&str, u64>> =
            names.as_ref().map(|names| names.iter().map(String::as_str).zip(0..).collect());
        let mut running = Vec::with_capacity(given.running.len());
        for held in &given.running {
            let wrong = |says: String| format!("running job {}: {says}", held.id);
            running.push(held_nodes(held, &topologies, numbers.as_ref()).map_err(wrong)?);
        }
        let mut ids: Vec<Json> = Vec::with_capacity(given.waiting.len());
        let mut waiting: Vec<Job> = Vec::with_capacity(given.waiting.len());
        for job in given.waiting {
            let id = job
                .get("id")
                .cloned()
                .ok_or_else(|| format!("waiting job {} has no id", waiting.len() + 1))?;
            let wrong = |says: String| format!("waiting job {id}: {says}");
            let number = waiting.len() as u64 + 1;
            let job = waiting_job(&job, given.now).map_err(wrong)?;
            waiting.push(Job { number, ..job });
            ids.push(id);
        }
        let places: BTreeMap<String, usize> = ids.iter().map(Json::to_string).zip(0..).collect();
        let mut withheld = Vec::with_capacity(given.withheld.len());
        for (number, own) in given.withheld.iter().enumerate() {
            let wrong = |says: String| format!("withheld nodes {}: {says}", number + 1);
            let topology = site_of(own.site, &topologies).map_err(wrong)?;
            let nodes = numbered(&own.nodes, topology, numbers.as_ref()).map_err(wrong)?;
            let place = |id: &Json| {
                let place = places.get(&id.to_string()).copied();
                place.ok_or_else(|| wrong(format!("there is no waiting job {id}")))
            };
            let from_jobs = own.jobs.as_ref().map(|jobs| jobs.iter().map(place).collect());
            withheld.push(WithheldNodes {
                site: own.site,
                nodes,
                from: instant("from", own.from).map_err(wrong)?,
                until: match own.until {
                    Some(until) => instant("until", until).map_err(wrong)?,
                    None => Time::new(f64::INFINITY),
                },
                from_jobs: from_jobs.transpose()?,
            });
        }
        Ok(ReadState { state: PlanState { now, running, waiting, withheld }, ids, names })
    }

    /// The decisions of a scenario's policy for this state.
    ///
    /// # Errors
    /// One sentence, if running jobs hold the same node, or a component breaks its contract.
    pub fn decided(&self, scenario: &Scenario) -> Result<PolicyDecision, String> {
        let setup = scenario.setup_ideal(0).map_err(|error| error.to_string())?;
        plan(setup, &self.state).map_err(|error| error.to_string())
    }

    /// The decisions of a scenario's policy for this state, as JSON: `starts`, `reserved`, `never`.
    ///
    /// # Errors
    /// One sentence, if running jobs hold the same node, or a component breaks its contract.
    pub fn decide(&self, scenario: &Scenario) -> Result<Json, String> {
        Ok(self.json(&self.decided(scenario)?, &scenario.topologies()))
    }

    /// Converts the decisions of a policy for this state to JSON.
    #[must_use]
    pub fn json(&self, plan: &PolicyDecision, topologies: &[Topology]) -> Json {
        let start = |own: &meshwork::engine::DecidedStart| {
            let grid = topologies[own.site].grid();
            let mut nodes = own.placement.nodes(grid);
            let mut start = json!({ "id": self.ids[own.waiting] });
            match &self.names {
                Some(names) => {
                    let first: u32 = topologies[..own.site].iter().map(|site| site.nodes()).sum();
                    nodes.sort_unstable();
                    let names = nodes.iter().map(|node| names[(first + node) as usize].as_str());
                    start["nodes"] = json!(hostlist::bracketed(names));
                }
                None => {
                    start["nodes"] = json!(nodes);
                    start["blocks"] = json!(PlacedBlock::all_of(&own.placement, grid));
                }
            }
            if topologies.len() > 1 {
                start["site"] = json!(own.site);
            }
            start
        };
        let starts: Vec<Json> = plan.starts.iter().map(start).collect();
        let reserved =
            plan.reserved.iter().map(|(job, at)| json!({ "id": self.ids[*job], "at": at.units() }));
        let never = plan.never.iter().map(|job| self.ids[*job].clone());
        json!({
            "now": self.state.now.units(),
            "starts": starts,
            "reserved": reserved.collect::<Vec<Json>>(),
            "never": never.collect::<Vec<Json>>(),
        })
    }
}

fn instant(key: &str, at: f64) -> Result<Time, String> {
    let is_one = at.is_finite() && at.abs() <= meshwork::registry::LARGEST;
    is_one.then(|| Time::new(at)).ok_or_else(|| format!("{key} is {at}, which is no instant"))
}

fn no_state(error: &serde_json::Error) -> String {
    format!(
        "this is no state: {error}; it has now, running, waiting, withheld and, for machines whose nodes have \
         names, names"
    )
}

fn site_of(site: usize, topologies: &[Topology]) -> Result<&Topology, String> {
    topologies.get(site).ok_or_else(|| {
        format!("there is no site {site}, they count from 0 to {}", topologies.len() - 1)
    })
}

/// Node numbers of the nodes in a JSON value, which is a list of numbers or a host list of names.
fn numbered(
    nodes: &Json,
    topology: &Topology,
    numbers: Option<&BTreeMap<&str, u64>>,
) -> Result<Vec<u32>, String> {
    let nodes = match (nodes, numbers) {
        (Json::String(list), Some(numbers)) => hostlist::names(list)?
            .iter()
            .map(|name| {
                let number = numbers.get(name.as_str()).copied();
                number.ok_or_else(|| format!("the machine has no node {name}"))
            })
            .collect::<Result<Vec<u64>, String>>()?,
        (Json::Array(nodes), _) if nodes.iter().all(Json::is_u64) => {
            nodes.iter().filter_map(Json::as_u64).collect()
        }
        _ => {
            return Err(format!(
                "nodes is {nodes}, but must be a list of numbers{}",
                if numbers.is_some() { ", or a host list" } else { "" }
            ));
        }
    };
    let count = topology.nodes();
    if let Some(beyond) = nodes.iter().find(|&&node| node >= u64::from(count)) {
        return Err(format!("there is no node {beyond}, they count from 0 to {}", count - 1));
    }
    Ok(nodes.into_iter().map(|node| node as u32).collect())
}

fn held_nodes(
    held: &HeldText,
    topologies: &[Topology],
    numbers: Option<&BTreeMap<&str, u64>>,
) -> Result<HeldNodes, String> {
    let topology = site_of(held.site, topologies)?;
    let grid = topology.grid();
    let placement = match (&held.nodes, &held.blocks) {
        (None, Some(blocks)) => {
            PlacedBlock::placement(blocks, topology).map_err(|error| error.to_string())?
        }
        (Some(nodes), None) => Placement::of_nodes(grid, numbered(nodes, topology, numbers)?),
        _ => return Err("it must have either nodes or blocks".to_owned()),
    };
    if placement.is_empty() {
        return Err("it holds no nodes".to_owned());
    }
    let (since, until) = (instant("since", held.since)?, instant("until", held.until)?);
    let job = Job::new(0, since, Request::Nodes(placement.len()), 1.0);
    Ok(HeldNodes { site: held.site, placement, since, until, job })
}

/// Converts the JSON object of a waiting job. The keys are the names of columns in a table of jobs.
/// Size and estimated run time are required.
fn waiting_job(given: &Map<String, Json>, now: f64) -> Result<Job, String> {
    let mut cells = vec![("submit", Cell::Number(now))];
    let mut has_time = false;
    for (key, value) in given {
        if key == "id" || value.is_null() {
            continue;
        }
        if matches!(key.as_str(), "submit" | "runtime" | "after" | "think" | "wait") {
            return Err(format!("a waiting job has no {key}: its place in the queue says when"));
        }
        let cell = match value {
            Json::Number(number) => Cell::Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Cell::Text(text.as_str().into()),
            Json::Bool(is) => Cell::Text(is.to_string().into()),
            Json::Array(sides) if sides.iter().all(Json::is_u64) => {
                let sides: Vec<String> = sides.iter().map(Json::to_string).collect();
                Cell::Text(sides.join("x").into())
            }
            _ => return Err(format!("{key} is {value}, but must be a number or a text")),
        };
        if key == "estimate" {
            has_time = true;
            cells.push(("runtime", cell.clone()));
        }
        cells.push((key, cell));
    }
    if !has_time {
        return Err("it has no estimate, the time after which it is expected to end".to_owned());
    }
    let row = row(1, cells)?;
    let listed = Listed::read(Box::new(std::iter::once(Ok(row))), "state");
    let mut jobs = listed.map_err(|error| error.0.trim_start_matches("state:1: ").to_owned())?.jobs;
    jobs.pop().map(|(job, _)| job).ok_or_else(|| "it is no job".to_owned())
}
