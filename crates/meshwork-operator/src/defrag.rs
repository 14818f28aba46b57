//! Finds moves of running jobs that free a place: a set of nodes listed by the topology.

use std::collections::BTreeSet;

use meshwork::geometry::NodeSet;
use serde_json::{Value as Json, json};

use super::places::places;
use super::state::MachineState;
use meshwork_lab::slurm::folder::asked;
use meshwork_lab::text::number::plural;
use meshwork_slurm::desk::{SlurmAllocator, SlurmAnswer};
use meshwork_slurm::history::Second;
use meshwork_slurm::topology::Structure;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cost {
    #[default]
    Moves,
    Nodes,
    /// Node-seconds since the start of the moved job, which are lost if it restarts.
    NodeSeconds,
}

impl Cost {
    pub fn in_words(self, cost: i64) -> String {
        let unit = match self {
            Cost::Moves => "move",
            Cost::Nodes => "moved node",
            Cost::NodeSeconds => "lost node-second",
        };
        plural(cost.unsigned_abs(), unit)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct JobMove {
    pub job: usize,
    pub from: NodeSet,
    /// New nodes of the job, which are free after the earlier moves of the plan.
    pub to: NodeSet,
}

/// Plan to free nodes for a job: the moves of running jobs, in order, and their cost.
///
/// The nodes are a set that the topology allows for the job.
#[derive(Clone, Debug, PartialEq)]
pub struct DefragPlan {
    pub name: String,
    pub nodes: NodeSet,
    pub steps: Vec<JobMove>,
    pub cost: i64,
}

#[derive(Clone, Debug, Default)]
pub struct DefragTarget {
    /// Name of the partition; empty for the default partition.
    pub partition: String,
    pub size: u32,
    /// Sides of the box to be freed; `None` if any placement of the requested size will do.
    pub sides: Option<[u32; 3]>,
    pub exempt: BTreeSet<String>,
    pub cost: Cost,
}

impl DefragTarget {
    /// Parses a shape, such as `8x8x4`, or a number of nodes. Returns the number of nodes, and the
    /// sides of a shape.
    pub fn shape(text: &str) -> Result<(u32, Option<[u32; 3]>), String> {
        let wrong = || {
            format!(
                "`{text}` is no shape of a place in a machine of Slurm: give three sides, as 8x8x4, or \
                 a number of nodes"
            )
        };
        let sides: Result<Vec<u32>, _> = text.split('x').map(str::parse::<u32>).collect();
        match sides.map_err(|_| wrong())?[..] {
            [size] if size > 0 => Ok((size, None)),
            [x, y, z] if x > 0 && y > 0 && z > 0 => {
                let size =
                    x.checked_mul(y).and_then(|area| area.checked_mul(z)).ok_or_else(wrong)?;
                Ok((size, Some([x, y, z])))
            }
            _ => Err(wrong()),
        }
    }
}

/// Finds the cheapest plans of moves that free a place for a target, at most `most` of them.
///
/// A target is a number of nodes or a box that must become free. A place is a set of nodes that the
/// topology allows for a job of this size.
///
/// Places are tried in ascending order of their costs, which are known before the moves. So a place
/// that is not tried costs at least as much as each returned plan. To free a place, the jobs on it
/// are moved, the largest first. The placement rule chooses their new nodes among the nodes that
/// are free after the earlier moves and lie outside of the place.
///
/// # Errors
/// The topology lists no place for the target, or every place has a job that must not be moved.
///
/// # Complexity
/// **O(a r)** set operations for *a* places and *r* running jobs, and a query to the placement rule
/// for each tried move.
pub fn defrag(
    state: &MachineState,
    target: &DefragTarget,
    most: usize,
) -> Result<Vec<DefragPlan>, String> {
    let site = state.site(&target.partition);
    let all = places(&site, target.size, target.sides);
    if all.is_empty() {
        let file = &state.machine.reading.files.topology;
        if matches!(site.structure, Structure::Flat) {
            return Err(format!(
                "{file}: this topology is flat: any nodes will do here, so no move makes a shape"
            ));
        }
        let listed = match &site.structure {
            Structure::Torus3d(anchors, _) => {
                let entries = anchors.toruses().iter().flat_map(|torus| torus.entries());
                let mut shapes: Vec<String> = Vec::new();
                for shape in entries.map(|entry| meshwork_slurm::topology::by(entry.shape().sides))
                {
                    if !shapes.contains(&shape) {
                        shapes.push(shape);
                    }
                }
                format!(" (listed: {})", shapes.join(", "))
            }
            _ => String::new(),
        };
        let what = target
            .sides
            .map_or_else(|| format!("{} nodes", target.size), meshwork_slurm::topology::by);
        return Err(format!("{file}: no place of {what} is listed{listed}"));
    }
    let cost = |place: usize| {
        let holder = &state.running[place];
        let nodes = i64::from(holder.nodes.count());
        match target.cost {
            Cost::Moves => 1,
            Cost::Nodes => nodes,
            Cost::NodeSeconds => {
                nodes * (state.now - holder.stay.start.unwrap_or(state.now)).max(0)
            }
        }
    };
    let is_exempt = |place: &usize| target.exempt.contains(&state.running[*place].stay.id);
    let mut candidates: Vec<(i64, usize, Vec<usize>)> = Vec::new();
    let (mut whole, mut barred) = (0, 0);
    for (number, (_, nodes)) in
        all.iter().enumerate().filter(|(_, (_, nodes))| nodes.is_within(&site.up))
    {
        whole += 1;
        let jobs: Vec<usize> = (0..state.running.len())
            .filter(|&place| state.running[place].nodes.meets(nodes))
            .collect();
        if jobs.iter().any(is_exempt) {
            barred += 1;
            continue;
        }
        candidates.push((jobs.iter().map(|&place| cost(place)).sum(), number, jobs));
    }
    if whole > 0 && barred == whole {
        return Err("every place of the target holds a job that may not be moved".to_owned());
    }
    candidates.sort();
    let mut desk = state.desk(site);
    let mut plans: Vec<DefragPlan> = Vec::new();
    for (cost, number, jobs) in candidates {
        if plans.len() == most {
            break;
        }
        let (name, nodes) = &all[number];
        // A place may be listed twice.
        if plans.iter().any(|plan| plan.nodes == *nodes) {
            continue;
        }
        if let Some(steps) = clear(state, &mut desk, nodes, jobs) {
            plans.push(DefragPlan { name: name.clone(), nodes: nodes.clone(), steps, cost });
        }
    }
    Ok(plans)
}

/// Moves of all jobs off a set of nodes; `None` unless all of these jobs fit on other nodes.
///
/// The allocator is left unchanged.
fn clear(
    state: &MachineState,
    desk: &mut SlurmAllocator<usize>,
    place: &NodeSet,
    mut jobs: Vec<usize>,
) -> Option<Vec<JobMove>> {
    jobs.sort_by_key(|&job| (std::cmp::Reverse(state.running[job].nodes.count()), job));
    let mut steps: Vec<JobMove> = Vec::new();
    let mut is_cleared = true;
    for job in jobs {
        let holder = &state.running[job];
        let asked = asked(&holder.stay);
        let SlurmAnswer::Nodes(to) = desk.ask_without(&asked, Some(place)) else {
            is_cleared = false;
            break;
        };
        desk.hold(&job, &asked, to.clone());
        steps.push(JobMove { job, from: holder.nodes.clone(), to });
    }
    for step in &steps {
        desk.hold(&step.job, &asked(&state.running[step.job].stay), step.from.clone());
    }
    is_cleared.then_some(steps)
}

pub fn json(state: &MachineState, plans: &[DefragPlan]) -> Json {
    let hosts = &state.machine.reading.hosts;
    let plan = |plan: &DefragPlan| {
        let step = |step: &JobMove| {
            json!({
                "job": state.running[step.job].stay.id, "from": hosts.listed(&step.from), "to": hosts.listed(&step.to)
            })
        };
        json!({
            "place": plan.name, "nodes": hosts.listed(&plan.nodes), "cost": plan.cost,
            "steps": plan.steps.iter().map(step).collect::<Vec<Json>>()
        })
    };
    let now: Second = state.now;
    json!({ "now": now, "plans": plans.iter().map(plan).collect::<Vec<Json>>() })
}
