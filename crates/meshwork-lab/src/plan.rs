//! `meshwork plan`: reads the state of a machine as JSON, and writes a policy's decisions for it.

use std::collections::BTreeMap;

use meshwork::engine::{HeldNodes, PlanMemory, PlanState, PolicyDecision, WithheldNodes, plan};
use meshwork::job::{Job, Request, Time};
use meshwork::machine::Placement;
use meshwork::pool::PlacedBlock;
use meshwork::scenario::Scenario;
use meshwork::topology::Topology;
use meshwork::workload::table::{Cell, Listed};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::inputs::row;
use crate::node_parts::NodePartText;
use meshwork_slurm::hostlist;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateText {
    now: f64,
    /// Host list with the names of all nodes, in the order of their numbers.
    #[serde(default)]
    names: Option<String>,
    #[serde(default)]
    running: Vec<HeldText>,
    #[serde(default)]
    waiting: Vec<Map<String, Json>>,
    #[serde(default)]
    withheld: Vec<WithheldText>,
    /// State that the policy keeps from call to call, as an earlier plan wrote it.
    #[serde(default)]
    memory: Option<MemoryText>,
}

/// JSON form of the state that a policy keeps from one plan to the next.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct MemoryText {
    at: f64,
    running: Vec<HeldText>,
    /// Job ID, arrival time and number of each waiting job, in queue order.
    waiting: Vec<(Json, f64, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    suspended: Vec<HeldText>,
    /// State of the allocators as hexadecimal numbers, because JSON tools round large numbers.
    allocators: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scheduler: Option<String>,
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
    /// Waiting jobs that must not use the withheld nodes. `None` if no job may use them.
    #[serde(default)]
    jobs: Option<Vec<Json>>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct HeldText {
    id: Json,
    since: f64,
    until: f64,
    #[serde(default, skip_serializing_if = "is_first")]
    site: usize,
    /// Numbers of the nodes that the job holds, or their names as a host list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<PlacedBlock>>,
    /// Parts of nodes that the job holds, on a machine whose nodes jobs share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<NodePartText>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stretch: Option<f64>,
    /// Number by which the policy identifies the job. Only jobs listed under the key `memory` have
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    /// Request of the job while it waited: cells of a table of jobs, by column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    job: Option<Map<String, Json>>,
}

fn is_first(site: &usize) -> bool {
    *site == 0
}

/// State of a machine that was parsed from JSON. It keeps the node names and job IDs, which the
/// decisions repeat.
#[derive(Debug)]
pub struct ReadState {
    pub state: PlanState,
    ids: Vec<Json>,
    running_ids: Vec<Json>,
    /// ID of each job, by job number. A waiting job also has its request, if the request is known.
    jobs: BTreeMap<u64, (Json, Option<Map<String, Json>>)>,
    names: Option<Vec<String>>,
}

/// Numbers by which the policy identifies jobs, for each job ID. A job ID may be any JSON value.
#[derive(Default)]
struct Numbers {
    of: BTreeMap<String, u64>,
    last: u64,
}

impl Numbers {
    fn of(&mut self, id: &Json) -> u64 {
        *self.of.entry(id.to_string()).or_insert_with(|| {
            self.last += 1;
            self.last
        })
    }

    /// Records the number that the saved state of a policy gives to the job `id`, and returns it.
    ///
    /// If the job is listed twice, its earlier number is returned.
    fn note(&mut self, id: &Json, number: u64) -> Result<u64, String> {
        if number > 1 << 53 {
            return Err(format!("its number is {number}, too large"));
        }
        self.last = self.last.max(number);
        Ok(*self.of.entry(id.to_string()).or_insert(number))
    }
}

impl ReadState {
    pub fn read(scenario: &Scenario, text: &str) -> Result<ReadState, String> {
        let value = serde_json::from_str(text).map_err(|error| no_state(&error))?;
        ReadState::of(scenario, value)
    }

    pub fn of(scenario: &Scenario, state: Json) -> Result<ReadState, String> {
        let given = StateText::deserialize(state).map_err(|error| no_state(&error))?;
        let now = instant("now", given.now)?;
        let topologies = scenario.topologies();
        let names = given.names.as_deref().map(hostlist::names).transpose()?;
        let all: u64 = topologies.iter().map(|own| u64::from(own.nodes())).sum();
        if let Some(names) = names.as_ref().filter(|names| names.len() as u64 != all) {
            return Err(format!("names has {} nodes, but the machine has {all}", names.len()));
        }
        let numbers: Option<BTreeMap<&str, u64>> =
            names.as_ref().map(|names| names.iter().map(String::as_str).zip(0..).collect());
        let mut ids_seen = Numbers::default();
        let mut jobs = BTreeMap::new();
        let memory = given.memory.map(|memory| -> Result<PlanMemory, String> {
            let wrong = |says: String| format!("memory: {says}");
            let mut held = |texts: Vec<HeldText>| {
                let each = |held: HeldText| {
                    let wrong = |says: String| wrong(format!("job {}: {says}", held.id));
                    let number = held.number.ok_or_else(|| wrong("it has no number".to_owned()))?;
                    let number = ids_seen.note(&held.id, number).map_err(wrong)?;
                    let own = held_nodes(&held, &topologies, numbers.as_ref()).map_err(wrong)?;
                    jobs.insert(number, (held.id, held.job));
                    Ok(HeldNodes { job: Job { number, ..own.job }, ..own })
                };
                texts.into_iter().map(each).collect::<Result<Vec<HeldNodes>, String>>()
            };
            let (running, suspended) = (held(memory.running)?, held(memory.suspended)?);
            let waiting = memory.waiting.iter().map(|(id, at, number)| {
                let number = ids_seen.note(id, *number).map_err(wrong)?;
                Ok((number, instant("waiting", *at).map_err(wrong)?))
            });
            let scheduler = memory.scheduler.as_deref().map(numbers_of_words).transpose();
            Ok(PlanMemory {
                at: instant("at", memory.at).map_err(wrong)?,
                running,
                suspended,
                waiting: waiting.collect::<Result<_, String>>()?,
                facility: numbers_of_words(&memory.allocators).map_err(wrong)?,
                scheduler: scheduler.map_err(wrong)?,
            })
        });
        let memory = memory.transpose()?;
        let mut running = Vec::with_capacity(given.running.len());
        let mut running_ids = Vec::with_capacity(given.running.len());
        for held in given.running {
            let wrong = |says: String| format!("running job {}: {says}", held.id);
            let mut own = held_nodes(&held, &topologies, numbers.as_ref()).map_err(wrong)?;
            own.job.number = ids_seen.of(&held.id);
            // If the memory knows a running job, the state may omit the request of the job.
            let mut known = memory.iter().flat_map(|memory| &memory.running);
            let known = known.find(|before| before.job.number == own.job.number);
            let entry = jobs.entry(own.job.number).or_insert_with(|| (held.id.clone(), None));
            match (held.job, known) {
                (None, Some(known)) => own.job.clone_from(&known.job),
                (job, _) => entry.1 = job,
            }
            running_ids.push(held.id);
            running.push(own);
        }
        let arrivals: BTreeMap<u64, Time> =
            memory.iter().flat_map(|memory| memory.waiting.iter().copied()).collect();
        let mut ids: Vec<Json> = Vec::with_capacity(given.waiting.len());
        let mut waiting: Vec<Job> = Vec::with_capacity(given.waiting.len());
        for row in given.waiting {
            let id = row.get("id").cloned();
            let id = id.ok_or_else(|| format!("waiting job {} has no id", waiting.len() + 1))?;
            let wrong = |says: String| format!("waiting job {id}: {says}");
            let number = ids_seen.of(&id);
            let first_seen = arrivals.get(&number).copied().unwrap_or(now);
            let job = job_of_row(&row, first_seen.units()).map_err(wrong)?;
            if job.arrival > now {
                return Err(wrong(format!(
                    "submit is {}, after {now}, the present instant",
                    job.arrival
                )));
            }
            waiting.push(Job { number, ..job });
            jobs.insert(number, (id.clone(), Some(row)));
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
            let until = own.until.map(|until| instant("until", until)).transpose();
            let from_jobs = own.jobs.as_ref().map(|jobs| jobs.iter().map(place).collect());
            withheld.push(WithheldNodes {
                site: own.site,
                nodes,
                from: instant("from", own.from).map_err(wrong)?,
                until: until.map_err(wrong)?.unwrap_or(Time::new(f64::INFINITY)),
                from_jobs: from_jobs.transpose()?,
            });
        }
        let state = PlanState { now, running, waiting, withheld, memory };
        Ok(ReadState { state, ids, running_ids, jobs, names })
    }

    /// Decisions of a scenario's policy in this state. Fails if running jobs share a node.
    pub fn decided(&self, scenario: &Scenario) -> Result<PolicyDecision, String> {
        let setup = scenario.setup_ideal(0).map_err(|error| error.to_string())?;
        plan(setup, &self.state).map_err(|error| error.to_string())
    }

    /// Decisions as JSON. The entry `memory` is the state that the next call needs.
    pub fn decide(&self, scenario: &Scenario) -> Result<Json, String> {
        let plan = self.decided(scenario)?;
        let mut answer = self.json(&plan, &scenario.topologies());
        let memory = self.memory(&plan, &scenario.topologies());
        answer["memory"] = serde_json::to_value(memory).map_err(|error| error.to_string())?;
        Ok(answer)
    }

    /// Decisions as JSON: `starts`, `reserved`, `never`, and maybe `stopped`, `moved`, `wake`.
    pub fn json(&self, plan: &PolicyDecision, topologies: &[Topology]) -> Json {
        let placed = |id: &Json, site: usize, placement: &Placement| {
            let grid = topologies[site].grid();
            let mut nodes = placement.nodes(grid);
            let first: u32 = topologies[..site].iter().map(|site| site.nodes()).sum();
            let mut start = json!({ "id": id });
            match &self.names {
                Some(names) => {
                    nodes.sort_unstable();
                    let names = nodes.iter().map(|node| names[(first + node) as usize].as_str());
                    start["nodes"] = json!(hostlist::bracketed(names));
                }
                None => {
                    start["nodes"] = json!(nodes);
                    start["blocks"] = json!(PlacedBlock::all_of(placement, grid));
                }
            }
            if let Some(mut parts) = NodePartText::all_of(placement, &topologies[site]) {
                if let Some(names) = &self.names {
                    let name = |node: &Json| {
                        node.as_u64().map(|node| &names[first as usize + node as usize])
                    };
                    parts.iter_mut().for_each(|part| part.node = json!(name(&part.node)));
                }
                start["parts"] = json!(parts);
            }
            if topologies.len() > 1 {
                start["site"] = json!(site);
            }
            start
        };
        let starts =
            plan.starts.iter().map(|own| placed(&self.ids[own.waiting], own.site, &own.placement));
        let reserved = plan.reserved.iter().map(|own| {
            let id = &self.ids[own.waiting];
            let mut reserved = match &own.place {
                Some((site, placement)) => placed(id, *site, placement),
                None => json!({ "id": id }),
            };
            reserved["at"] = json!(own.at.units());
            reserved
        });
        let never = plan.never.iter().map(|job| self.ids[*job].clone());
        let mut answer = json!({
            "now": self.state.now.units(),
            "starts": starts.collect::<Vec<Json>>(),
            "reserved": reserved.collect::<Vec<Json>>(),
            "never": never.collect::<Vec<Json>>(),
        });
        if !plan.stopped.is_empty() {
            let stopped = plan.stopped.iter().map(|job| self.running_ids[*job].clone());
            answer["stopped"] = stopped.collect();
        }
        if !plan.moved.is_empty() {
            let moved = plan.moved.iter().map(|own| {
                let site = self.state.running[own.running].site;
                let mut moved = placed(&self.running_ids[own.running], site, &own.placement);
                moved["until"] = json!(own.until.units());
                moved
            });
            answer["moved"] = moved.collect();
        }
        if let Some(at) = plan.wake {
            answer["wake"] = json!(at.units());
        }
        answer
    }

    fn memory(&self, plan: &PolicyDecision, topologies: &[Topology]) -> MemoryText {
        let PlanMemory { at, running, waiting, suspended, facility, scheduler } = &plan.memory;
        let held = |own: &HeldNodes| {
            let (id, row) = self.jobs.get(&own.job.number).cloned().unwrap_or_default();
            let job = row.map(|mut row| {
                row.insert("submit".to_owned(), json!(own.job.arrival.units()));
                row.insert("estimate".to_owned(), json!(own.job.estimate));
                row
            });
            HeldText {
                id,
                since: own.since.units(),
                until: own.until.units(),
                site: own.site,
                nodes: None,
                blocks: Some(PlacedBlock::all_of(&own.placement, topologies[own.site].grid())),
                parts: NodePartText::all_of(&own.placement, &topologies[own.site]),
                stretch: own.stretch.filter(|stretch| stretch.to_bits() != 1.0_f64.to_bits()),
                number: Some(own.job.number),
                job,
            }
        };
        let waited = |(number, at): &(u64, Time)| {
            let id = self.jobs.get(number).map(|(id, _)| id.clone()).unwrap_or_default();
            (id, at.units(), *number)
        };
        MemoryText {
            at: at.units(),
            running: running.iter().map(held).collect(),
            suspended: suspended.iter().map(held).collect(),
            waiting: waiting.iter().map(waited).collect(),
            allocators: words(facility),
            scheduler: scheduler.as_deref().map(words),
        }
    }
}

fn words(numbers: &[u64]) -> String {
    let words: Vec<String> = numbers.iter().map(|number| format!("{number:x}")).collect();
    words.join(" ")
}

fn numbers_of_words(words: &str) -> Result<Vec<u64>, String> {
    let number = |word: &str| {
        u64::from_str_radix(word, 16).map_err(|_| format!("{word} is no hexadecimal number"))
    };
    words.split_ascii_whitespace().map(number).collect()
}

fn instant(key: &str, at: f64) -> Result<Time, String> {
    let is_one = at.is_finite() && at.abs() <= meshwork::registry::LARGEST;
    is_one.then(|| Time::new(at)).ok_or_else(|| format!("{key} is {at}, which is no instant"))
}

fn no_state(error: &serde_json::Error) -> String {
    format!(
        "this is no state: {error}; it has now, running, waiting, withheld, memory and, for machines whose nodes \
         have names, names"
    )
}

fn site_of(site: usize, topologies: &[Topology]) -> Result<&Topology, String> {
    topologies.get(site).ok_or_else(|| {
        format!("there is no site {site}, they count from 0 to {}", topologies.len() - 1)
    })
}

/// Node numbers, from a JSON list of numbers or a host list of names.
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
    let parts = held.parts.as_ref().map(|parts| {
        let number = |node: &Json| {
            let nodes = if node.is_string() { node.clone() } else { json!([node]) };
            let found = numbered(&nodes, topology, numbers)?;
            found.first().copied().ok_or_else(|| format!("the machine has no node {node}"))
        };
        NodePartText::placement(parts, topology, number)
    });
    let parts = parts.transpose()?;
    let of_blocks = |blocks: &[PlacedBlock]| {
        PlacedBlock::placement(blocks, topology).map_err(|error| error.to_string())
    };
    let placement = match (&held.nodes, &held.blocks, parts) {
        (None, None, Some(own)) => own,
        // Blocks beside parts, as in a memory, give the order of the job's ranks.
        (None, Some(blocks), Some(own)) => Placement { parts: own.parts, ..of_blocks(blocks)? },
        (None, Some(blocks), None) => of_blocks(blocks)?,
        (Some(nodes), None, None) => Placement::of_nodes(grid, numbered(nodes, topology, numbers)?),
        _ => return Err("it must have either nodes, blocks or parts".to_owned()),
    };
    if placement.is_empty() {
        return Err("it holds no nodes".to_owned());
    }
    let (since, until) = (instant("since", held.since)?, instant("until", held.until)?);
    let job = match &held.job {
        Some(row) => job_of_row(row, held.since)?,
        None => {
            let pieces = placement.parts.as_ref().zip(topology.types());
            let request = pieces.map(|(parts, types)| Request::pieces(parts.as_pieces(types)));
            let request = request.unwrap_or_else(|| Request::Nodes(placement.len()));
            Job::new(0, since, request, until - since)
        }
    };
    let is_right = |stretch: &f64| *stretch > 0.0 && stretch.is_finite();
    if let Some(stretch) = held.stretch.filter(|stretch| !is_right(stretch)) {
        return Err(format!("stretch is {stretch}, but must be above 0"));
    }
    Ok(HeldNodes { site: held.site, placement, since, until, stretch: held.stretch, job })
}

/// Creates a waiting job from the cells of a table row, given by column.
///
/// If there is no cell `submit`, the job was submitted at `first_seen`.
fn job_of_row(given: &Map<String, Json>, first_seen: f64) -> Result<Job, String> {
    let mut cells = Vec::new();
    if given.get("submit").is_none_or(Json::is_null) {
        cells.push(("submit", Cell::Number(first_seen)));
    }
    let mut has_time = false;
    for (key, value) in given {
        if key == "id" || value.is_null() {
            continue;
        }
        if matches!(key.as_str(), "runtime" | "after" | "think" | "wait") {
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
