//! Pool: an allocator without a simulation, for authors of schedulers.

mod named;
mod error;
mod free_space;
mod snapshot;

pub use error::{NamedPoolError, PoolError, RestoreError};
pub use free_space::FreeSpace;
pub use named::{Answer, Holding, Name, NamedPool, NamedPoolState, Operation, Question};
pub use snapshot::{PlacedBlock, Snapshot, Tenure};

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::alloc::parts::nodes::{ORDER, WITHIN};
use crate::alloc::{self, Claim, Holder};
use crate::catalogue::Catalogue;
use crate::facility::SiteAhead;
use crate::job::{JobId, Request, Time};
use crate::machine::{Placement, Site};
use crate::offer::ManagedSite;
use crate::registry::{Kind, Param, Params, Problem, resolve_in};
use crate::scenario::BYTES_PER_NODE;
use crate::scenario::nodes::split_types;
use crate::scenario::sites::{SiteSpec, allocators_for, resolve_machine, split_machine};
use crate::topology::Node;
use crate::workload::distribution::of_columns;
use crate::workload::{SHAPE, SHAPES};

/// Keys of the table from which a pool is read, except `machine`.
pub static PARAMS: &[Param] = &[
    Param::new("allocator", Kind::Component(&alloc::FAMILY))
        .absent("first_fit on meshes, tori and hypercubes, naive on flat machines")
        .help("which free processors a request gets"),
    Param::new("seed", Kind::Integer(0, i64::MAX as u64))
        .is("1")
        .help("the seed of an allocator that draws"),
    SHAPE,
    ORDER,
    WITHIN,
];

/// Processors of one machine with an allocator: **the** entry point for authors of schedulers.
///
/// A pool has no queue and no jobs, and its clock advances only if the caller advances it. The
/// caller requests processors, receives a placement, and releases it when done. Every allocator
/// behaves as in a simulation, because pools and simulations call allocators in the same way. The
/// command `meshwork place` is a pool that speaks JSON.
///
/// ```
/// use meshwork::job::Request;
/// use meshwork::pool::Pool;
///
/// let mut pool = Pool::read(&toml::toml! {
///     machine = { topology = "mesh", dims = [8, 8] }
///     allocator = { name = "first_fit", rotation = "if_needed" }
/// })?;
/// let block = pool.allocate(&Request::block(&[3, 5])).expect("an empty mesh has room for 3 × 5");
/// assert_eq!(block.text(pool.site().grid()), "0,0:3x5");
/// assert_eq!(pool.site().free_nodes(), 49);
///
/// assert_eq!(pool.allocate(&Request::block(&[8, 6])), None, "there is no room for it now");
/// pool.release(&block)?;
/// assert!(pool.allocate(&Request::block(&[8, 6])).is_some());
/// assert!(!pool.could_hold(&Request::block(&[9, 1])), "and never will be for this");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// For allocators that use the age of placements, the caller must [advance](Pool::advance) the
/// clock.
///
/// # Complexity
/// The time of the allocator, and **O(log h)** with *h* placements held.
pub struct Pool {
    managed: ManagedSite,
    /// Site without held placements, to find out whether a request could ever be placed.
    empty: ManagedSite,
    /// Held placements by their first node and number, since several placements may hold parts of
    /// one node.
    held: BTreeMap<(Node, u64), Held>,
    count: u64,
    now: Time,
    /// Configuration with every default. Pools with equal configurations return equal placements.
    table: Table,
}

/// A held placement. Its number counts the placements held before it, including released ones.
#[derive(Clone)]
struct Held {
    placement: Placement,
    since: Time,
    number: u64,
}

impl Pool {
    /// Creates an empty pool of one site from a configuration.
    ///
    /// `machine` is as in a study; `allocator`, `seed` and `shape` (how a number of nodes becomes a
    /// block) are optional.
    ///
    /// # Errors
    /// The first problem found: an unknown key or name, a value out of bounds, several sites, or an
    /// allocator that does not support the topology.
    pub fn read(table: &Table) -> Result<Pool, Problem> {
        Pool::read_in(&Catalogue::standard(), table)
    }

    /// Variant of [`read`](Pool::read) in which the allocator may come from a custom catalogue.
    pub fn read_in(catalogue: &Catalogue, table: &Table) -> Result<Pool, Problem> {
        let (spec, params, table) = Pool::spec(catalogue, table)?;
        let rule = params.meaning(SHAPE.name, &SHAPES);
        let managed = spec.managed(0, params.integer("seed"), 0, rule, &[])?;
        let empty = managed.fork();
        Ok(Pool { managed, empty, held: BTreeMap::new(), count: 0, now: Time::ZERO, table })
    }

    /// Estimates the memory of a pool in bytes, with an empty copy of the machine.
    ///
    /// # Errors
    /// The errors of [`read`](Pool::read) that can be found without building an allocator.
    pub fn memory(table: &Table) -> Result<u64, Problem> {
        Pool::memory_in(&Catalogue::standard(), table)
    }

    /// Variant of [`memory`](Pool::memory) in which the allocator may come from a custom catalogue.
    pub fn memory_in(catalogue: &Catalogue, table: &Table) -> Result<u64, Problem> {
        let (spec, ..) = Pool::spec(catalogue, table)?;
        Ok(2 * BYTES_PER_NODE * u64::from(spec.topology.grid().nodes()))
    }

    fn spec(catalogue: &Catalogue, table: &Table) -> Result<(SiteSpec, Params, Table), Problem> {
        let (machine, rest) = split_machine(catalogue, table)?;
        let params: Vec<&Param> = PARAMS.iter().collect();
        let params = resolve_in(catalogue, "", &params, &rest, &["machine"])?;
        let (machine, types) = split_types(catalogue, &machine)?;
        let (mut machine, sites) = resolve_machine(catalogue, &machine)?;
        if let Some(several) = machine.get("sites").and_then(Value::as_array) {
            let says = format!(
                "`machine` has a list of sites ({}), but a pool is a single site: give its \
                 `topology`",
                several.len()
            );
            return Err(Problem::new("machine.sites", says));
        }
        let mut table = params.table().clone();
        let specs = allocators_for(catalogue, &mut table, &mut machine, &sites, &types)?;
        types.put_into(&mut machine);
        table.insert("machine".to_owned(), Value::Table(machine));
        let spec = specs.into_iter().next().expect("a machine without a list of sites is one");
        Ok((spec, params, table))
    }

    /// Configuration with every default: `machine`, `allocator`, `seed` and `shape`.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The pool's site, with its topology and its free nodes.
    #[must_use]
    pub fn site(&self) -> &Site {
        self.managed.site()
    }

    /// Present instant of the pool's clock.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Advances the pool's clock to `to`, for allocators that use the age of placements.
    ///
    /// # Errors
    /// If the instant is in the past; then nothing is changed.
    pub fn advance(&mut self, to: Time) -> Result<(), PoolError> {
        if to < self.now {
            return Err(PoolError::GoneBy { now: self.now, to });
        }
        self.now = to;
        Ok(())
    }

    /// Allocates processors for a request; `None` if the allocator finds no placement now.
    ///
    /// A request is converted to the allocator's form: 7 nodes become a block of 4 × 2 if the
    /// allocator takes blocks. A request for no processors is never placed.
    ///
    /// # Panics
    /// If the allocator breaks its contract and proposes processors that are not free.
    pub fn allocate(&mut self, request: &Request) -> Option<Placement> {
        let drawn = self.managed.drawn();
        let Some(placement) = choose(&mut self.managed, request, self.now) else {
            // A failed request restores the random state, so that later answers do not depend on
            // it.
            self.managed.draw_again_from(drawn);
            return None;
        };
        self.managed
            .claim(&placement, Claim::new(self.now, Holder::Job(JobId(self.count))))
            .unwrap_or_else(|error| panic!("the allocator broke its contract: {error}"));
        self.hold(placement.clone());
        Some(placement)
    }

    /// Returns the placement that [`allocate`](Pool::allocate) would return for a request now.
    ///
    /// The query changes nothing, not even the allocator's random state.
    ///
    /// ```
    /// use meshwork::job::Request;
    /// use meshwork::pool::Pool;
    ///
    /// let mut pool = Pool::read(&toml::toml! { machine = { topology = "mesh", dims = [4, 4] } })?;
    /// let there = pool.can(&Request::block(&[2, 3]));
    /// assert_eq!(pool.site().free_nodes(), 16);
    /// assert_eq!(pool.allocate(&Request::block(&[2, 3])), there);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn can(&mut self, request: &Request) -> Option<Placement> {
        let request = self.managed.in_form(request)?.into_owned();
        self.managed.look(&request, self.now)
    }

    /// Holds a placement made outside the pool. It is released like any other placement.
    ///
    /// The placement may come from another scheduler, a manual decision of an operator, or an
    /// earlier run.
    ///
    /// ```
    /// use meshwork::job::Request;
    /// use meshwork::pool::{PlacedBlock, Pool};
    ///
    /// let mut pool = Pool::read(&toml::toml! { machine = { topology = "mesh", dims = [4, 4] } })?;
    /// let there = [PlacedBlock { base: vec![1, 0], dims: vec![2, 4] }];
    /// let there = PlacedBlock::placement(&there, pool.site().topology())?;
    /// pool.adopt(&there)?;
    /// assert_eq!(pool.site().free_nodes(), 8);
    /// assert_eq!(pool.allocate(&Request::block(&[2, 2])), None);
    /// assert_eq!(pool.adopt(&there).unwrap_err().to_string(), "the placement 1,0:2x4 is not free");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `placement` does not lie on the machine, or is not entirely free; then nothing is
    /// changed.
    pub fn adopt(&mut self, placement: &Placement) -> Result<(), PoolError> {
        self.managed.claim(placement, self.now.into())?;
        self.hold(placement.clone());
        Ok(())
    }

    fn hold(&mut self, placement: Placement) {
        let (since, number) = (self.now, self.count);
        self.held.insert((first(&placement), number), Held { placement, since, number });
        self.count += 1;
    }

    /// Releases a held placement as a whole.
    ///
    /// # Errors
    /// If exactly this placement is not held; then nothing is changed.
    pub fn release(&mut self, placement: &Placement) -> Result<(), PoolError> {
        let Some(held) = self.equal(placement).next() else { return Err(PoolError::NotHeld) };
        let key = (first(placement), held.number);
        self.held.remove(&key);
        self.managed.release(placement);
        Ok(())
    }

    fn equal(&self, placement: &Placement) -> impl Iterator<Item = &Held> {
        let node = placement.blocks.first().map(|block| block.base);
        let there = node.into_iter().flat_map(|node| self.held.range((node, 0)..=(node, u64::MAX)));
        there.map(|(_, held)| held).filter(|held| held.placement == *placement)
    }

    /// Reads a request for pieces (parts of nodes) from columns of a table of jobs.
    ///
    /// The machine must have nodes that jobs share.
    ///
    /// ```
    /// use meshwork::pool::Pool;
    ///
    /// let mut pool = Pool::read(&toml::toml! {
    ///     machine = { topology = "flat", processors = 2, nodes = [{ type = "dgx" }] }
    /// })?;
    /// let wanted = pool.pieces(&toml::toml! { pieces = 3
    ///                                         gpu = 4 })?;
    /// let placed = pool.allocate(&wanted).unwrap();
    /// assert_eq!(placed.node_count(), 2);
    /// assert_eq!(pool.shortage(&wanted).unwrap(), "it asks for 12 GPUs, and 4 are free where it may run");
    /// pool.release(&placed)?;
    /// assert!(pool.can(&wanted).is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the nodes have no types, or the pieces can never be placed; in one sentence.
    pub fn pieces(&self, columns: &Table) -> Result<Request, Problem> {
        of_columns(columns, self.site().topology(), true).map(Request::pieces)
    }

    /// Variant of [`Pool::pieces`] that accepts pieces that can [never](Pool::never) be placed.
    ///
    /// # Errors
    /// If the nodes have no types, or a column is wrong; in one sentence.
    pub fn pieces_of_any_size(&self, columns: &Table) -> Result<Request, Problem> {
        of_columns(columns, self.site().topology(), false).map(Request::pieces)
    }

    /// Explains what a request for pieces lacks now; `None` if jobs do not share nodes.
    #[must_use]
    pub fn shortage(&self, request: &Request) -> Option<String> {
        self.managed.shortage(request)
    }

    /// Returns a copy of the machine, to try releases and allocations without changing the pool.
    ///
    /// ```
    /// use meshwork::job::{Job, Request, Time};
    /// use meshwork::pool::Pool;
    ///
    /// let mut pool = Pool::read(&toml::toml! { machine = { topology = "mesh", dims = [4, 4] } })?;
    /// let held = pool.allocate(&Request::block(&[4, 2])).unwrap();
    /// let request = Request::block(&[4, 4]);
    /// let job = Job::new(1, Time::ZERO, request, 1.0);
    /// let mut ahead = pool.ahead();
    /// assert_eq!(ahead.propose(&job, Time::ZERO), None);
    /// ahead.release(&held);
    /// assert!(ahead.propose(&job, Time::ZERO).is_some());
    /// assert_eq!(pool.site().free_nodes(), 8, "the pool knows nothing of it");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ahead(&self) -> SiteAhead {
        SiteAhead::of(&self.managed)
    }

    /// Returns a copy of the empty machine, which shows what could ever be placed.
    #[must_use]
    pub fn ahead_empty(&self) -> SiteAhead {
        SiteAhead::of(&self.empty)
    }

    /// Held placements, ordered by first node.
    pub fn held(&self) -> impl Iterator<Item = &Placement> {
        self.held.values().map(|held| &held.placement)
    }

    /// Whether the request could be placed on the empty machine. If not, waiting is useless.
    pub fn could_hold(&mut self, request: &Request) -> bool {
        choose(&mut self.empty, request, self.now).is_some()
    }

    /// Explains which rule of the machine forbids a request; `None` if there is no such rule.
    ///
    /// The size of the machine does not count as a rule. The explanation is one sentence without a
    /// full stop.
    ///
    /// ```
    /// use meshwork::job::Request;
    /// use meshwork::pool::Pool;
    /// let pool = Pool::read(&toml::toml! { machine = "tpu_v4" })?;
    /// let why = pool.never(&Request::block(&[3, 3, 3])).unwrap();
    /// assert!(why.starts_with("3x3x3 is no slice of this machine, which are 1x1x1, 1x1x2, 1x2x2"));
    /// assert_eq!(pool.never(&Request::block(&[4, 4, 8])), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn never(&self, request: &Request) -> Option<String> {
        self.empty.never(request)
    }
}

fn choose(managed: &mut ManagedSite, request: &Request, now: Time) -> Option<Placement> {
    let request = managed.in_form(request)?;
    managed.choose(&request, now)
}

fn first(placement: &Placement) -> Node {
    placement.blocks[0].base
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(text: &str) -> Result<Pool, Problem> {
        Pool::read(&text.parse().unwrap())
    }

    fn refusal(text: &str) -> String {
        pool(text).err().expect("this must be refused").message
    }

    #[test]
    fn what_is_not_held_cannot_be_released() {
        let mut pool = pool("machine = { topology = 'mesh', dims = [4, 4] }").unwrap();
        let row = pool.allocate(&Request::block(&[4, 1])).unwrap();
        let mut half = row.clone();
        half.blocks[0].sides[0] = 2;
        let before = pool.site().free().clone();
        for wrong in [&half, &Placement::default()] {
            assert!(pool.release(wrong).is_err());
            assert_eq!(pool.site().free(), &before);
        }
        pool.release(&row).unwrap();
        assert!(pool.release(&row).is_err(), "twice");
        assert_eq!((pool.site().free_nodes(), pool.held().count()), (16, 0));
    }

    #[test]
    fn time_does_not_go_back() {
        let mut pool = pool("machine = { topology = 'flat', processors = 4 }").unwrap();
        pool.advance(Time::new(2.0)).unwrap();
        pool.advance(Time::new(2.0)).unwrap();
        assert_eq!(
            pool.advance(Time::new(1.5)).unwrap_err().to_string(),
            "it is 2 already, and time does not go back to 1.5"
        );
        assert_eq!(pool.now(), Time::new(2.0));
    }

    #[test]
    fn a_pool_is_one_site_and_its_allocator_serves_it() {
        assert_eq!(
            refusal("machine = { sites = [{ topology = 'flat', processors = 4 }] }"),
            "`machine` has a list of sites (1), but a pool is a single site: give its `topology`"
        );
        let wiring =
            refusal("machine = { topology = 'flat', processors = 4 }\nallocator = 'first_fit'");
        assert!(wiring.starts_with("the allocator `first_fit` serves mesh"), "{wiring}");
        let key = refusal("machine = { topology = 'flat', processors = 4 }\nsede = 3");
        assert!(key.starts_with("unknown key `sede` (did you mean `seed`?"), "{key}");
    }

    #[test]
    fn the_shape_of_a_count_is_a_choice() {
        let shaped = |shape: &str| {
            let text = format!("machine = {{ topology = 'mesh', dims = [8, 8] }}\n{shape}");
            let mut pool = pool(&text).unwrap();
            let placed = pool.allocate(&Request::Nodes(7)).unwrap();
            placed.text(pool.site().grid())
        };
        assert_eq!(shaped(""), "0,0:4x2");
        assert_eq!(shaped("shape = 'exact'"), "0,0:7x1");
    }
}
