//! Conformance test for allocators.

use toml::Table;

use super::runs::{Serves, each_job_once, name, promises_are_kept, random_jobs, scenario};
use super::{Broken, Finding, Tried, component, every_machine, variants, with_parameters};
use crate::alloc::{self, Allocator, AllocatorEntry, Ask, Claim, Holder};
use crate::catalogue::Catalogue;
use crate::form::{Asks, Finds};
use crate::geometry::orientation::{Rotation, orientations};
use crate::job::{Constraints, Dims, JobId, Pieces, Request, Time};
use crate::machine::{Block, Placement, Site};
use crate::registry::Params;
use crate::rng::Stream;
use crate::shape::{ShapeRule, shaped};
use crate::topology::{Grid, Topology};

/// Seed of a random history of operations. With the seed `WITH_ADOPTIONS`, the history also claims
/// some nodes that the allocator has not proposed, and lets nodes fail and be repaired. A placement
/// on a failing node is then released.
const SEED: u64 = 5;
const WITH_ADOPTIONS: u64 = 6;
const STEPS: u64 = 200;

/// Checks an allocator of a catalogue against the rules for allocators.
///
/// The allocator is tried on every small machine that it supports, with every choice of its
/// parameters, in histories of 200 random requests, releases, failures and repairs. The rules are:
///
/// - The nodes of a proposal are free, distinct and enough. They are a block of the requested shape
///   if the allocator declares this. Queries, and changes to a fork, do not change the next answer.
///   Neither the clock nor the random stream changes whether a placement is found.
/// - The allocator finds a placement whenever it [declares](AllocatorEntry::finds) that it does.
///   This is compared with brute force over all blocks.
/// - A job that requests the whole machine fits the empty machine. After all placements are
///   released, the allocator answers like a new one.
/// - An allocator restored from its [memory](Allocator::memory) gives the answers of the original.
///   If an allocator declares that it [depends only on the free
///   nodes](Allocator::goes_by_free_nodes), its history does not change its answers.
/// - In runs under `fcfs` and under every planning scheduler of the catalogue, each job starts once
///   and ends once, and the same seed gives the same run. With exact estimates, no start time that
///   a scheduler has promised is missed.
///
/// # Errors
/// The first violated rule, or an unknown allocator.
pub fn check_allocator(catalogue: &Catalogue, name: &str) -> Result<Tried, Finding> {
    let name = alloc::FAMILY.find_in(catalogue, "", name)?.name;
    let entry = catalogue.entry::<AllocatorEntry>(name);
    let mut tried = Tried::default();
    for (_, topology) in every_machine().iter().filter(|(_, topology)| entry.works_on(topology)) {
        for table in &variants(entry.about.params) {
            let trial = Trial::new(catalogue, entry, table, topology)?;
            trial.holds_the_whole_machine()?;
            tried.questions += trial.history(SEED)? + trial.history(WITH_ADOPTIONS)?;
            tried.machines += 1;
        }
    }
    if tried.machines == 0 {
        let case = "on every small machine".to_owned();
        return Err(broken(entry, case, "it serves none of them, so nothing can be tried", ""));
    }
    tried += in_runs(catalogue, entry)?;
    Ok(tried)
}

fn broken(
    entry: &'static AllocatorEntry,
    case: String,
    sentence: impl Into<String>,
    drawing: impl Into<String>,
) -> Finding {
    let (kind, name) = (alloc::FAMILY.kind, entry.about.name);
    let (sentence, drawing) = (sentence.into(), drawing.into());
    Finding::Broken(Box::new(Broken { kind, name, case, sentence, drawing }))
}

fn in_runs(catalogue: &Catalogue, entry: &'static AllocatorEntry) -> Result<Tried, Finding> {
    let mut tried = Tried::default();
    for (machine, topology) in
        every_machine().iter().filter(|(_, topology)| entry.works_on(topology))
    {
        for scheduler in catalogue.list::<crate::sched::SchedulerEntry>() {
            // Other schedulers start jobs in the same way; the check of schedulers tries every
            // pair.
            let is_tried = scheduler.plans || scheduler.about.name == "fcfs";
            if !is_tried || !scheduler.serves.contains(&topology.wiring()) {
                continue;
            }
            let about = |seed: u64| {
                format!("on a {topology} under `{}`, seed {seed}", scheduler.about.name)
            };
            let parts =
                [("allocator", name(entry.about.name)), ("scheduler", name(scheduler.about.name))];
            let machine = format!("machine = {{ {machine} }}");
            let wrong = |seed: u64| move |sentence| broken(entry, about(seed), sentence, "");
            let scenario = scenario(catalogue, &machine, &parts).map_err(wrong(0))?;
            let jobs = random_jobs(topology, 100, 3.0, 11);
            tried += each_job_once(&scenario, &jobs, Serves::declared(scheduler.serves_all))
                .map_err(wrong(11))?;
            if scheduler.plans {
                let jobs = random_jobs(topology, 90, 4.0, 2);
                tried += promises_are_kept(&scenario, jobs).map_err(wrong(2))?;
            }
        }
    }
    Ok(tried)
}

struct Trial<'a> {
    entry: &'static AllocatorEntry,
    table: &'a Table,
    params: Params,
    topology: &'a Topology,
    asks: Asks,
    finds: Finds,
    /// Whether a parameter changed the form in which the allocator takes requests. If so, a
    /// placement may have several blocks.
    asks_otherwise: bool,
    rotation: Rotation,
}

impl<'a> Trial<'a> {
    fn new(
        catalogue: &Catalogue,
        entry: &'static AllocatorEntry,
        table: &'a Table,
        topology: &'a Topology,
    ) -> Result<Trial<'a>, Finding> {
        let case = || format!("on a {topology}{}", with_parameters(table));
        let built = alloc::FAMILY
            .resolve_in(catalogue, "allocator", &component(entry.about.name, table))
            .and_then(|params| Ok(((entry.build)(&params, topology)?, params)));
        let (allocator, params) = built.map_err(|problem| {
            let sentence = format!("it declares to serve this machine, but refuses: {problem}");
            broken(entry, case(), sentence, "")
        })?;
        Ok(Trial {
            entry,
            table,
            topology,
            asks: allocator.asks().unwrap_or(entry.asks),
            finds: allocator.finds().unwrap_or(entry.finds),
            asks_otherwise: allocator.asks().is_some(),
            rotation: match params.get_text("rotation") {
                Some(_) => Rotation::read(&params),
                None => allocator.rotation(),
            },
            params,
        })
    }

    fn build(&self) -> Result<Box<dyn Allocator>, Finding> {
        (self.entry.build)(&self.params, self.topology).map_err(|problem| {
            let sentence = format!("it was built once, and is refused the second time: {problem}");
            self.broken(None, sentence, None)
        })
    }

    fn broken(
        &self,
        at: Option<(u64, u64)>,
        sentence: impl Into<String>,
        site: Option<&Site>,
    ) -> Finding {
        let mut case = format!("on a {}{}", self.topology, with_parameters(self.table));
        if let Some((seed, step)) = at {
            case.push_str(&format!(", step {step} of seed {seed}"));
        }
        broken(self.entry, case, sentence, site.map_or(String::new(), Site::drawing))
    }

    fn holds_the_whole_machine(&self) -> Result<(), Finding> {
        let whole = Request::Nodes(self.topology.grid().nodes());
        // On a machine with this number of nodes, only a square may exceed the machine.
        let Some(request) = shaped(&whole, self.asks, self.topology, ShapeRule::Squarest) else {
            return Ok(());
        };
        let site = Site::new(self.topology.clone(), 1.0);
        let mut draws = Stream::new(1, 0, "draws");
        let placed = self.build()?.choose(Ask::new(&request, &site, Time::ZERO, &mut draws));
        if placed.is_some_and(|placement| placement.len() == self.topology.grid().nodes()) {
            return Ok(());
        }
        let sentence = format!("the whole machine, {request}, finds no place on the empty machine");
        Err(self.broken(None, sentence, Some(&site)))
    }

    /// Checks the rules for allocators in every state of a long random history. Returns the number
    /// of checked states.
    fn history(&self, seed: u64) -> Result<u64, Finding> {
        let mut rng = Stream::new(seed, 0, "history");
        let mut draws = Stream::new(seed, 0, "allocator");
        let mut site = Site::new(self.topology.clone(), 1.0);
        let mut allocator = self.build()?;
        let mut held: Vec<(Placement, Time, u64)> = Vec::new();
        for step in 0..STEPS {
            let now = Time::new(step as f64);
            let at = Some((seed, step));
            let request = random_request(self.asks, self.topology, &mut rng);
            self.state(&site, allocator.as_mut(), &request, now)
                .map_err(|sentence| self.broken(at, sentence, Some(&site)))?;
            let mut by = Holder::Job(JobId(step));
            let taken = if seed == WITH_ADOPTIONS && rng.below(5) == 0 {
                by = Holder::Outage;
                fail_or_repair(&mut site, allocator.as_mut(), &mut held, &mut rng)
            } else if rng.below(5) < 3 {
                allocator.choose(Ask::new(&request, &site, now, &mut draws))
            } else if seed == WITH_ADOPTIONS && rng.below(4) == 0 {
                by = Holder::Adoption;
                any_free_node(&site, &mut rng)
            } else {
                if !held.is_empty() {
                    let (placement, ..) = held.swap_remove(rng.below(held.len() as u64) as usize);
                    site.release(&placement);
                    allocator.released(&placement, &site);
                }
                None
            };
            if let Some(placement) = taken {
                site.claim(&placement).map_err(|error| {
                    self.broken(
                        at,
                        format!("it gives what cannot be claimed: {error}"),
                        Some(&site),
                    )
                })?;
                allocator.claimed(&placement, &site, Claim::new(now, by));
                held.push((placement, now, step));
            }
        }
        let now = Time::new(STEPS as f64);
        held.sort_by_key(|&(_, _, step)| step);
        let mut recalled = self.recalled(&held, allocator.as_ref(), seed)?;
        self.answers_as(&mut allocator, &mut recalled, &site, now).map_err(|sentence| {
            let sentence = format!("what is made anew of its memory answers otherwise: {sentence}");
            self.broken(Some((seed, STEPS)), sentence, Some(&site))
        })?;
        for (placement, ..) in held {
            site.release(&placement);
            allocator.released(&placement, &site);
        }
        self.answers_as(&mut allocator, &mut self.build()?, &site, Time::ZERO).map_err(
            |sentence| {
                let sentence = format!(
                    "after all has been given back it answers otherwise than a new one: {sentence}"
                );
                self.broken(Some((seed, STEPS)), sentence, Some(&site))
            },
        )?;
        Ok(STEPS)
    }

    /// Builds a second allocator that gets the same claims and the saved memory of the first.
    fn recalled(
        &self,
        held: &[(Placement, Time, u64)],
        original: &dyn Allocator,
        seed: u64,
    ) -> Result<Box<dyn Allocator>, Finding> {
        let mut other = self.build()?;
        let mut site = Site::new(self.topology.clone(), 1.0);
        for (placement, since, step) in held {
            let at = Some((seed, *step));
            site.claim(placement).map_err(|error| self.broken(at, error.to_string(), None))?;
            // The holders of nodes are not saved, so the claims do not name them.
            other.claimed(placement, &site, (*since).into());
        }
        let memory = original.memory();
        other.recall(&memory, &site).map_err(|sentence| {
            let sentence = format!("it refuses its own memory, {memory:?}: {sentence}");
            self.broken(Some((seed, STEPS)), sentence, Some(&site))
        })?;
        Ok(other)
    }

    fn answers_as(
        &self,
        one: &mut Box<dyn Allocator>,
        other: &mut Box<dyn Allocator>,
        site: &Site,
        now: Time,
    ) -> Result<(), String> {
        let mut rng = Stream::new(SEED, 0, "questions");
        for _ in 0..20 {
            let request = random_request(self.asks, self.topology, &mut rng);
            let ask = |allocator: &mut Box<dyn Allocator>| {
                let mut draws = Stream::new(SEED, 0, "answers");
                allocator.choose(Ask::new(&request, site, now, &mut draws))
            };
            let (first, second) = (ask(one), ask(other));
            if first != second {
                let text = |place: &Option<Placement>| text(place, site.grid());
                return Err(format!("to {request} {}, not {}", text(&second), text(&first)));
            }
        }
        Ok(())
    }

    fn state(
        &self,
        site: &Site,
        allocator: &mut dyn Allocator,
        request: &Request,
        now: Time,
    ) -> Result<(), String> {
        let rng = Stream::new(1, 0, "draws");
        let ask = |allocator: &mut dyn Allocator, now: Time| {
            allocator.choose(Ask::new(request, site, now, &mut rng.clone()))
        };
        let first = ask(allocator, now);
        let unchanged = |answer: &Option<Placement>, after: &str| {
            if *answer == first {
                return Ok(());
            }
            let grid = site.grid();
            Err(format!(
                "it gives {} for {request}, and {} {after}",
                text(&first, grid),
                text(answer, grid)
            ))
        };
        unchanged(&ask(allocator, now), "when it is asked again")?;
        let mut fork = allocator.fork();
        unchanged(&ask(fork.as_mut(), now), "from its fork")?;
        if let Some(placement) = &first {
            self.placement(site, request, placement)?;
            let mut site = site.clone();
            site.claim(placement)
                .map_err(|error| format!("it gives what cannot be claimed: {error}"))?;
            fork.claimed(placement, &site, now.into());
        }
        unchanged(&ask(allocator, now), "after its fork was told of a claim")?;
        let mut other_draws = Stream::new(2, 0, "other draws");
        let later = allocator.choose(Ask::new(request, site, now + 1e6, &mut other_draws));
        if later.is_some() != first.is_some() {
            return Err(format!(
                "whether {request} finds room depends on the clock or on what it draws: it gives {} now, and {} \
                 later",
                text(&first, site.grid()),
                text(&later, site.grid())
            ));
        }
        if allocator.goes_by_free_nodes() {
            let mut other = (self.entry.build)(&self.params, self.topology)
                .map_err(|problem| problem.message)?;
            unchanged(
                &ask(other.as_mut(), now),
                "from a new one that was told nothing, though it declares to go by the free nodes",
            )?;
        }
        self.finds_placement(site, request, first.as_ref())
    }

    fn placement(&self, site: &Site, request: &Request, placed: &Placement) -> Result<(), String> {
        let grid = site.grid();
        let lies_on_it = |block: &Block| grid.holds(block.base, &block.sides);
        if placed.blocks.is_empty() || !placed.blocks.iter().all(lies_on_it) {
            return Err(format!(
                "it gives {placed:?} for {request}, which does not lie on the machine"
            ));
        }
        let mut nodes = placed.nodes(grid);
        let given = nodes.len() as u64;
        nodes.sort_unstable();
        if let Some(twice) = nodes.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("it gives node {} twice for {request}", twice[0]));
        }
        if let Some(node) = nodes.iter().find(|&&node| !site.free().contains(node)) {
            return Err(format!("it gives node {node} for {request}, and that node is held"));
        }
        if given < request.nodes() {
            return Err(format!("it gives {given} nodes for {request}, which is too few"));
        }
        if self.finds == Finds::AnyNodes && given != request.nodes() {
            return Err(format!(
                "it gives {given} nodes for {request}, but declares that any nodes will do, and so as many as asked for"
            ));
        }
        if !self.entry.contiguous || self.asks_otherwise {
            return Ok(());
        }
        let is_as_requested = placed.blocks.len() == 1
            && match request {
                Request::Nodes(_) | Request::Constrained(_) | Request::Pieces(_) => {
                    given == request.nodes()
                }
                Request::Subcube(dimension) => placed.len() == 1 << dimension,
                Request::Block(sides) => {
                    orientations(sides, self.rotation).any(|s| s == placed.blocks[0].sides)
                }
            };
        if is_as_requested {
            return Ok(());
        }
        Err(format!(
            "it gives {} for {request}, but declares that a placement is one block of the requested shape",
            placed.text(grid)
        ))
    }

    /// Checks the result of a request against what the allocator declares to find.
    ///
    /// `found` is the placement, if there is one.
    fn finds_placement(
        &self,
        site: &Site,
        request: &Request,
        found: Option<&Placement>,
    ) -> Result<(), String> {
        let grid = site.grid();
        let declared = match (self.finds, request) {
            (Finds::AnyNodes, _) => {
                let there_is = request.nodes() <= u64::from(site.free_nodes());
                there_is.then(|| format!("{} nodes are free", site.free_nodes()))
            }
            (Finds::EveryBlock, Request::Block(sides)) => {
                let mut all = orientations(sides, self.rotation);
                all.find_map(|sides| free_block(site, &sides)).map(|block| is_free(block, grid))
            }
            (Finds::EveryBlock, &Request::Subcube(dimension)) => {
                let masks = 0..1_u32 << grid.dimensions();
                let mut cubes = masks.filter(|mask| mask.count_ones() == dimension).map(|mask| {
                    let sides = (0..grid.dimensions()).map(|d| 1 + (mask >> d & 1));
                    sides.collect::<Dims>()
                });
                cubes.find_map(|sides| free_block(site, &sides)).map(|block| is_free(block, grid))
            }
            _ => return Ok(()),
        };
        match (declared, found) {
            (Some(what), None) => Err(format!(
                "it finds no room for {request}, but {what}, and it declares to find room then"
            )),
            (None, Some(placed)) => Err(format!(
                "it gives {} for {request}, where by its own declaration there is no room",
                placed.text(grid)
            )),
            _ => Ok(()),
        }
    }
}

fn is_free(block: Block, grid: &Grid) -> String {
    format!("{} is free", Placement::from(block).text(grid))
}

fn free_block(site: &Site, sides: &[u32]) -> Option<Block> {
    let grid = site.grid();
    (0..grid.nodes()).find_map(|base| {
        let corner = grid.coordinates(base);
        let reach = |d: usize| if grid.is_ring(d) { 0 } else { corner[d] } + sides[d];
        let inside = (0..sides.len()).all(|d| reach(d) <= grid.sides()[d]);
        let block = Block { base, sides: Dims::from_slice(sides) };
        let is_free = |block: &Block| {
            let nodes = Placement::from(block.clone()).nodes(grid);
            nodes.into_iter().all(|node| site.free().contains(node))
        };
        (inside && is_free(&block)).then_some(block)
    })
}

pub(super) fn random_request(asks: Asks, topology: &Topology, rng: &mut Stream) -> Request {
    let grid = topology.grid();
    match asks {
        Asks::BlockOrNodes if rng.below(2) == 0 => random_request(Asks::Block, topology, rng),
        Asks::Constrained if rng.below(2) == 0 => random_wants(grid.nodes(), rng),
        Asks::Nodes | Asks::Constrained | Asks::BlockOrNodes => {
            Request::Nodes(1 + rng.below(u64::from(grid.nodes()) / 2) as u32)
        }
        Asks::Subcube => Request::Subcube(rng.below(grid.dimensions() as u64 + 1) as u32),
        Asks::Block => Request::Block(
            grid.sides().iter().map(|&side| 1 + rng.below(u64::from(side)) as u32).collect(),
        ),
        Asks::Pieces => Request::pieces(Pieces::whole_nodes(1)),
        Asks::Square => {
            let shorter = grid.sides().iter().min().copied().unwrap_or(1);
            let side = 1 << rng.below(u64::from(shorter.ilog2()) + 1);
            Request::Block(Dims::from_elem(side, grid.dimensions()))
        }
    }
}

fn random_wants(nodes: u32, rng: &mut Stream) -> Request {
    let mut pick = |most: u32| rng.below(u64::from(most.max(1))) as u32;
    let mut constraints = Constraints::of(1 + pick(nodes / 2));
    match pick(4) {
        0 => {
            let segments = 1 + pick(3);
            constraints.nodes = constraints.nodes.next_multiple_of(segments).min(nodes);
            constraints.segment = Some((constraints.nodes / segments).max(1));
            constraints.spread_segments = pick(2) == 0;
            constraints.consolidate_segments = pick(2) == 0;
        }
        1 => constraints.nodes_max = Some(constraints.nodes + pick(nodes / 2)),
        2 => constraints.switches = Some(1 + pick(3)),
        _ => constraints.contiguous = true,
    }
    constraints.whole_blocks = pick(3) == 0;
    if pick(3) == 0 {
        let first = pick(nodes);
        constraints.exclude = Some(format!("[{first}-{}]", first + pick(nodes - first)));
    }
    if pick(3) == 0 {
        constraints.require = Some(format!("[{}]", pick(nodes)));
    }
    Request::constrained(constraints)
}

/// Takes a random node out of service, after releasing its placement, or repairs it. Returns the
/// node out of service as a placement to be claimed.
fn fail_or_repair(
    site: &mut Site,
    allocator: &mut dyn Allocator,
    held: &mut Vec<(Placement, Time, u64)>,
    rng: &mut Stream,
) -> Option<Placement> {
    let node = rng.below(u64::from(site.nodes())) as u32;
    let grid = site.grid().clone();
    let on_it = held.iter().position(|(placement, ..)| placement.nodes(&grid).contains(&node));
    if let Some(at) = on_it {
        let (placement, ..) = held.swap_remove(at);
        site.release(&placement);
        allocator.released(&placement, site);
        if placement.len() == 1 {
            return None;
        }
    }
    Some(Block { base: node, sides: Dims::from_elem(1, grid.dimensions()) }.into())
}

fn any_free_node(site: &Site, rng: &mut Stream) -> Option<Placement> {
    let from = rng.below(u64::from(site.nodes())) as u32;
    let base = site.free().first_from(from)?;
    Some(Block { base, sides: Dims::from_elem(1, site.grid().dimensions()) }.into())
}

fn text(placement: &Option<Placement>, grid: &Grid) -> String {
    placement.as_ref().map_or_else(|| "no place".to_owned(), |placed| placed.text(grid))
}
