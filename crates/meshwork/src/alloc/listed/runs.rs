//! Runs of consecutive free nodes: the placement rule for a machine without a listed topology.

use super::adapter::{HOSTS, PARTITIONS, RuleAllocator, WEIGHTS};
use super::decide::{Action, Failure, Rule, RuleResult, SlurmMessage};
use super::{NodeRequest, Nodes};
use crate::alloc::{AllocatorEntry, flag};
use crate::geometry::NodeSet;
use crate::registry::About;
use crate::topology::{Node, Wiring};

/// Registry entry of the allocator `runs`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "runs",
        "best fit of runs of consecutive nodes: what Slurm does where no topology is written down",
    )
    .definition(
        "Free nodes whose numbers follow one another are a run; a change of weight ends it too. A \
         job gets the lowest nodes of the shortest run that holds it, among the lightest runs; if \
         none does, it gets the longest run whole and goes on with what it still needs. Of equal \
         runs the first is taken. A job of one node gets the lightest node of lowest number. Any \
         nodes will do, so a job starts whenever enough are free.",
    )
    .complexity("O(n) for each run that is taken, for n nodes.")
    .source("Slurm 26.05, select/cons_tres with topology/flat, checked against its decisions")
    .params(&[
        WEIGHTS,
        HOSTS,
        PARTITIONS,
        flag(
            "wants",
            "whether what jobs want beside a count is honoured; then whether one \
             starts is no longer known from a count, which takes longer",
        ),
    ]),
    |params, topology| {
        let allocator = RuleAllocator::new(Runs, params, topology, 0)?;
        Ok(Box::new(if params.flag("wants") { allocator.heeding_constraints() } else { allocator }))
    },
)
.serves(&[Wiring::Mesh, Wiring::Torus, Wiring::Hypercube, Wiring::Flat]);

/// Best fit among runs of consecutive nodes.
///
/// The rule takes the shortest sufficient run, or else the longest runs first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Runs;

#[derive(Clone, Copy)]
struct Run {
    start: Node,
    end: Node,
    /// Number of nodes in this run of consecutive nodes, without those that the job requires by
    /// name.
    free: u32,
    first_required: Option<Node>,
    weight: u32,
}

impl Rule for Runs {
    fn attempt(
        &self,
        nodes: &Nodes,
        request: &NodeRequest,
        required: Option<&NodeSet>,
        available: &NodeSet,
    ) -> RuleResult {
        let busy = || Failure::now(SlurmMessage::Busy, Action::WithoutNext);
        let want = request.most.max(request.nodes);
        let mut chosen = required.cloned().unwrap_or_else(|| NodeSet::empty(nodes.count()));
        let mut missing = want.saturating_sub(chosen.count());
        if missing == 0 {
            return Ok(chosen);
        }
        let is_required = |node| required.is_some_and(|list| list.contains(node));
        let mut runs = runs(nodes, request.contiguous, available, is_required);
        loop {
            let enough = |free: u32| free + (want - request.nodes) >= missing;
            let Some(best) = best_run(&runs, request.contiguous, required.is_some(), enough) else {
                break;
            };
            let run = runs[best];
            if request.contiguous && !enough(run.free) {
                break;
            }
            let turn = run.first_required.unwrap_or(run.start);
            for node in (turn..=run.end).chain((run.start..turn).rev()) {
                if missing > 0 && !chosen.contains(node) {
                    chosen.insert(node);
                    missing -= 1;
                }
            }
            if missing == 0 {
                return Ok(chosen);
            }
            runs[best].free = 0;
        }
        if missing <= want - request.nodes { Ok(chosen) } else { Err(busy()) }
    }

    fn needs_only_count(&self, _nodes: &Nodes, request: &NodeRequest, _among: &NodeSet) -> bool {
        !request.contiguous && request.listed.is_none()
    }
}

/// Runs (longest sequences) of consecutive available nodes, in ascending order.
///
/// Unless `contiguous` is set, a run also ends before a node of another weight, even if that node
/// is required. Required nodes are not counted as free nodes of a run, and do not determine its
/// weight. `first_required` is the first required node of a run. If the run begins where the weight
/// changes, required nodes at its beginning are ignored in `first_required`.
fn runs(
    nodes: &Nodes,
    contiguous: bool,
    available: &NodeSet,
    is_required: impl Fn(Node) -> bool,
) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut start = available.first();
    while let Some(first) = start {
        let last = first + available.run_length(first) - 1;
        let mut run = Run { start: first, end: first, free: 0, first_required: None, weight: 0 };
        let mut follows_another = false;
        for node in first..=last {
            let weight = nodes.weight(node);
            if run.free > 0 && run.weight != weight && !contiguous {
                runs.push(run);
                (run.free, follows_another) = (0, true);
            }
            if run.free == 0 {
                run.start = node;
                if follows_another {
                    run.first_required = None;
                }
            }
            run.end = node;
            if is_required(node) {
                run.first_required.get_or_insert(node);
            } else {
                run.free += 1;
                // A run of several weights has the weight of its last node.
                run.weight = weight;
            }
        }
        runs.extend((run.free > 0).then_some(run));
        start = available.first_from(last + 1);
    }
    runs
}

/// Index of the run from which nodes are taken next; `None` if no run is suitable.
///
/// The runs are compared in order. A later run is preferred in each of these cases:
/// - only the later run has required nodes;
/// - the later run is lighter;
/// - both are equally heavy, and the later run suffices and is shorter, or is the first to suffice;
/// - both are equally heavy, and the later run does not suffice, but is longer.
///
/// If `contiguous` is set, a run must contain all required nodes. Then a later run is also
/// preferred if it suffices and the earlier one does not.
fn best_run(
    runs: &[Run],
    contiguous: bool,
    has_required: bool,
    enough: impl Fn(u32) -> bool,
) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (i, run) in runs.iter().enumerate() {
        if run.free == 0 || contiguous && has_required && run.first_required.is_none() {
            continue;
        }
        let is_better = best.is_none_or(|best| {
            let (best, is_enough) = (&runs[best], enough(run.free));
            let best_is_enough = enough(best.free);
            best.first_required.is_none() && run.first_required.is_some()
                || run.weight < best.weight
                || run.weight == best.weight
                    && (is_enough && (!best_is_enough || run.free < best.free)
                        || !is_enough && run.free > best.free)
                || contiguous && is_enough && !best_is_enough
        });
        if is_better {
            best = Some(i);
        }
        // All required nodes must lie in one run.
        let another = |later: &Run| later.first_required.is_some();
        if contiguous && has_required && runs[i + 1..].iter().any(another) {
            return None;
        }
    }
    best
}
