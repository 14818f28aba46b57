//! Reasons why a job waits, and events after which the job could start.

use std::collections::BTreeSet;

use meshwork::alloc::parts::{shortage_of, too_few_nodes, too_few_rooms};
use meshwork::geometry::NodeSet;
use serde_json::{Value as Json, json};

use super::controller::moment::LackingParts;
use super::places::places;
use super::state::MachineState;

pub use super::state::WaitReason;
use meshwork_lab::inputs::published::SlurmPieces;
use meshwork_lab::slurm::folder::asked;
use meshwork_lab::text::number::{self, plural};
use meshwork_slurm::desk::SlurmAnswer;
use meshwork_slurm::history::{JobRecord, Second};
use meshwork_slurm::site::SlurmSite;
use meshwork_slurm::topology::{Structure, by};

/// Number of possible places that are reported for a waiting job. The places nearest to being free
/// come first.
const NEAREST: usize = 3;

/// Place for a waiting job (nodes that the topology allows), and the running jobs that block it.
#[derive(Clone, Debug, PartialEq)]
pub struct NearestPlace {
    pub name: String,
    pub nodes: NodeSet,
    /// Indices of the running jobs that must end before the waiting job fits on `nodes`.
    pub jobs: Vec<usize>,
    /// Number of nodes of this place that the job would need but that are down.
    pub down: u32,
    /// Latest end of the jobs in `jobs` by their time limits; `None` if a job has no time limit.
    pub until: Option<Second>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub stay: JobRecord,
    pub reason: WaitReason,
    /// Text on the cores, memory or GPUs that the job lacks; `None` if jobs do not share nodes.
    pub short: Option<String>,
    /// Number of free nodes. On shared nodes, number of nodes with space for one piece of the
    /// request.
    pub free: u32,
    pub nearest: Vec<NearestPlace>,
    /// Earliest start of the job if it were first in the queue, and its nodes. Jobs end at their
    /// time limits.
    pub alone: Option<(Second, NodeSet)>,
    /// Earliest start of the job after all jobs ahead of it, and the nodes that the job would get
    /// then.
    ///
    /// Jobs are expected to end at their time limits.
    pub planned: Option<(Second, NodeSet)>,
    /// Indices of running jobs: the end of any one of them would let the waiting job start.
    pub ends: Vec<usize>,
    /// Free boxes, one for each shape, that would let the job start if the topology listed them.
    pub listings: Vec<(String, NodeSet)>,
}

/// Explains why the waiting job with the id `job` waits.
///
/// # Complexity
/// A query to the placement rule for each running job, and **O(a n)** for *a* places of *n* nodes.
pub fn explain(state: &MachineState, job: &str) -> Result<Explanation, String> {
    let Some(place) = state.waiting.iter().position(|stay| stay.id == job) else {
        let runs = state.running.iter().any(|holder| holder.stay.id == job);
        return Err(match runs {
            true => format!("job {job} runs, and does not wait"),
            false => format!("no job {job} waits at {}", state.clock.shown(state.now)),
        });
    };
    let stay = &state.waiting[place];
    let site = state.site_of(place);
    let asked = asked(stay);
    let mut desk = state.desk(site.clone());
    // A limit that the model knows holds a job back, even if Slurm has not reported the limit yet.
    let held_back = state.held_word(place);
    let [alone, planned] = match held_back {
        Some(_) => [None, None],
        None => state.starts(place),
    };
    let mut told = desk.ask(&asked);
    let lacks = state.lacks(place);
    let (mut free, mut short) = (desk.idle(), None);
    if let Some(lacks) = &lacks {
        (free, short) = shortage(state, stay, lacks);
        told = lacks.answer();
    }
    let starts = || [alone.clone(), planned.clone()];
    let reason = state.classified(stay, told, held_back, starts);
    let mut explained = Explanation {
        stay: stay.clone(),
        reason,
        short,
        free,
        nearest: Vec::new(),
        alone,
        planned,
        ends: Vec::new(),
        listings: Vec::new(),
    };
    if !matches!(explained.reason, WaitReason::Nodes(_) | WaitReason::Shape(_)) {
        explained.short = None;
        return Ok(explained);
    }
    // Only jobs on parts of nodes are told what they lack; they request no listed places.
    if let Some(lacks) = lacks {
        explained.ends = lacks.ends;
        return Ok(explained);
    }
    let size = asked.wanted.segments().map_or(stay.nodes, |(_, size)| size);
    let mut near = places_by_distance(state, &site, size);
    // If the topology lists places, the end of a job helps only if it frees a listed place.
    let is_listed = matches!(site.structure, Structure::Torus3d(..) | Structure::Ring(..));
    let singles: BTreeSet<usize> = near
        .iter()
        .filter(|near| near.down == 0 && near.jobs.len() == 1)
        .map(|near| near.jobs[0])
        .collect();
    let may_do = |place: &usize| !is_listed || size < stay.nodes || singles.contains(place);
    for (place, holder) in state.running.iter().enumerate().filter(|(place, _)| may_do(place)) {
        desk.release(&place);
        if matches!(desk.ask(&asked), SlurmAnswer::Nodes(_)) {
            explained.ends.push(place);
        }
        desk.hold(&place, &meshwork_lab::slurm::folder::asked(&holder.stay), holder.nodes.clone());
    }
    near.truncate(NEAREST);
    explained.nearest = near;
    let mut available = site.up.clone();
    state.running.iter().for_each(|holder| available.subtract(&holder.nodes));
    explained.listings = listings(&site, size, &available);
    Ok(explained)
}

/// Number of nodes with space for one piece of a request, and a text on what the job lacks.
fn shortage(state: &MachineState, stay: &JobRecord, lacks: &LackingParts) -> (u32, Option<String>) {
    let parts = state.machine.parts().ok();
    let site = parts.as_ref().and_then(|parts| {
        let first = stay.partition.split(',').next().unwrap_or_default();
        parts.get(first).or(parts.values().next())
    });
    let size = (f64::from(stay.nodes), f64::from(stay.processors));
    let pieces = site
        .and_then(|site| SlurmPieces::of_job(&stay.options, size, stay.exclusive, &site.machine));
    let Some(pieces) = pieces else { return (0, None) };
    if pieces.exclusive() {
        let (asked, idle) = (stay.nodes, lacks.idle);
        let short = match idle < asked {
            true => too_few_nodes(asked.into(), idle.into()),
            false => "enough nodes are free, but they have not all that it asks for".to_owned(),
        };
        return (idle, Some(short));
    }
    let (count, per_node, [cpu, mem, gpu]) = pieces.amounts();
    let each = [cpu, mem, gpu];
    let most = per_node.unwrap_or(count);
    let fits = |free: &[u64; 3]| {
        let of = |(free, each): (&u64, u64)| free.checked_div(each).unwrap_or(u64::MAX);
        free.iter().zip(each).map(of).min().unwrap_or(0).min(most)
    };
    let nodes: Vec<[u64; 4]> =
        lacks.free.iter().map(|&[cpu, mem, gpu]| [cpu, mem, gpu, 0]).collect();
    let room = lacks.free.iter().map(fits).filter(|fits| *fits > 0);
    let (on, room) = (room.clone().count() as u32, room.sum::<u64>());
    let short = shortage_of(count, [cpu, mem, gpu, 0], 1, &nodes).or_else(|| {
        let of = |amount: u64, unit: &str| (amount > 0).then(|| plural(amount, unit));
        let mem = (mem > 0).then(|| format!("{} MB", number::count(mem)));
        let piece: Vec<String> =
            [of(cpu, "CPU"), mem, of(gpu, "GPU")].into_iter().flatten().collect();
        Some(match room < count {
            true => too_few_rooms(count, &piece.join(" and "), most == 1, room),
            false => "enough in total, but not in the numbers per node and socket that it asks for"
                .to_owned(),
        })
    });
    (on, short)
}

/// Places for a job of `size` nodes: those free soonest come first, those with down nodes last.
///
/// A place is a set of nodes that the topology allows for the job.
fn places_by_distance(state: &MachineState, site: &SlurmSite, size: u32) -> Vec<NearestPlace> {
    let mut all: Vec<NearestPlace> = Vec::new();
    for (name, nodes) in places(site, size, None) {
        let mut jobs: Vec<usize> = (0..state.running.len())
            .filter(|&place| state.running[place].nodes.meets(&nodes))
            .collect();
        // In a block that is larger than the job, only jobs on some of the nodes must end.
        jobs.sort_by_key(|&place| (state.running[place].until.unwrap_or(Second::MAX), place));
        let mut free = nodes.clone();
        free.intersect(&site.up);
        let down = nodes.count() - free.count();
        jobs.iter().for_each(|&place| free.subtract(&state.running[place].nodes));
        let mut needed = Vec::new();
        for place in jobs {
            if free.count() >= size {
                break;
            }
            let mut own = state.running[place].nodes.clone();
            own.intersect(&nodes);
            own.intersect(&site.up);
            free.unite(&own);
            needed.push(place);
        }
        let until = needed
            .iter()
            .map(|&place| state.running[place].until)
            .max_by_key(|end| end.unwrap_or(Second::MAX));
        let until = until.unwrap_or(Some(state.now));
        let down = if free.count() >= size { 0 } else { down };
        all.push(NearestPlace { name, nodes, jobs: needed, down, until });
    }
    all.sort_by_key(|near| (near.down > 0, near.jobs.len(), near.until.unwrap_or(Second::MAX)));
    all
}

/// Free boxes of `size` nodes whose shape is listed, but not their rotation or corner.
fn listings(site: &SlurmSite, size: u32, available: &NodeSet) -> Vec<(String, NodeSet)> {
    let Structure::Torus3d(anchors, _) = &site.structure else { return Vec::new() };
    let mut found: Vec<(String, NodeSet)> = Vec::new();
    for torus in anchors.toruses() {
        let sides = torus.grid().sides();
        for entry in torus.entries().iter().filter(|entry| entry.size() == size) {
            let [a, b, c] = entry.shape().sides;
            for turned in [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
                let fits = turned.iter().zip(sides).all(|(own, all)| own <= all);
                if !fits || found.iter().any(|(name, _)| *name == by(turned)) {
                    continue;
                }
                let corners = 0..torus.grid().nodes();
                let found_here = corners.into_iter().find_map(|corner| {
                    let at = [
                        corner % sides[0],
                        corner / sides[0] % sides[1],
                        corner / sides[0] / sides[1],
                    ];
                    let mut set = NodeSet::empty(site.hosts.count());
                    for z in 0..turned[2] {
                        for y in 0..turned[1] {
                            for x in 0..turned[0] {
                                let [x, y, z] = [
                                    (at[0] + x) % sides[0],
                                    (at[1] + y) % sides[1],
                                    (at[2] + z) % sides[2],
                                ];
                                let cell = x + sides[0] * (y + sides[1] * z);
                                let node = torus.cells()[cell as usize]
                                    .filter(|&node| available.contains(node))?;
                                set.insert(node);
                            }
                        }
                    }
                    Some(set)
                });
                found.extend(found_here.map(|set| (by(turned), set)));
            }
        }
    }
    found
}

impl Explanation {
    pub fn json(&self, state: &MachineState) -> Json {
        let hosts = &state.machine.reading.hosts;
        let id = |place: &usize| state.running[*place].stay.id.clone();
        let ends =
            |place: &usize| json!({ "job": id(place), "until": state.running[*place].until });
        let near = |near: &NearestPlace| {
            let jobs: Vec<Json> = near.jobs.iter().map(ends).collect();
            json!({
                "place": near.name, "nodes": hosts.listed(&near.nodes), "jobs": jobs, "down": near.down,
                "until": near.until
            })
        };
        let nearest: Vec<Json> = self.nearest.iter().map(near).collect();
        let start = |start: &Option<(Second, NodeSet)>| {
            start.as_ref().map(|(at, nodes)| json!({ "at": at, "nodes": hosts.listed(nodes) }))
        };
        let listing = |(name, nodes): &(String, NodeSet)| json!({ "shape": name, "nodes": hosts.listed(nodes) });
        let listings: Vec<Json> = self.listings.iter().map(listing).collect();
        let says = match &self.reason {
            WaitReason::Never(says) | WaitReason::Nodes(says) | WaitReason::Shape(says) => {
                Some(says.clone())
            }
            WaitReason::HeldBack(own) => Some(own.says.clone()),
            WaitReason::Reserved | WaitReason::Turn => None,
        };
        json!({
            "job": self.stay.id, "now": state.now, "time": state.clock.shown(state.now), "nodes": self.stay.nodes, "free": self.free,
            "short": self.short,
            "reason": self.reason.word(), "slurm": says,
            "slurm_reason": Some(&self.stay.reason).filter(|reason| !reason.is_empty()), "nearest": nearest,
            "starts_alone": start(&self.alone), "starts": start(&self.planned),
            "ends_that_would_do": self.ends.iter().map(id).collect::<Vec<String>>(), "other_listings": listings,
        })
    }
}
