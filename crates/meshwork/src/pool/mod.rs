//! Processors to hand out and take back: an allocator alone, for those who write a scheduler of
//! their own.

mod desk;
mod error;
mod room;
mod snapshot;

pub use desk::{Answer, Desk, Holding, Name, Operation, Question, State};
pub use error::{DeskError, PoolError, RestoreError};
pub use room::Room;
pub use snapshot::{PlacedBlock, Snapshot, Tenure};

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::alloc::{self, Claim, Holder};
use crate::catalogue::Catalogue;
use crate::facility::SiteAhead;
use crate::job::{JobId, Request, Time};
use crate::machine::{Placement, Site};
use crate::offer::ManagedSite;
use crate::registry::{DefaultValue, Kind, Param, Params, Problem, resolve_in};
use crate::scenario::BYTES_PER_NODE;
use crate::scenario::sites::{SiteSpec, allocators_for, resolve_machine, split_machine};
use crate::topology::Node;
use crate::workload::{SHAPE, SHAPES};

/// The keys of a pool, besides `machine`.
pub static PARAMS: &[Param] = &[
    Param {
        name: "allocator",
        kind: Kind::Component(&alloc::FAMILY),
        default: DefaultValue::Absent(
            "first_fit on meshes, tori and hypercubes, naive on flat machines",
        ),
        help: "which free processors a request gets",
    },
    Param {
        name: "seed",
        kind: Kind::Integer(0, i64::MAX as u64),
        default: DefaultValue::Is("1"),
        help: "the seed of an allocator that draws",
    },
    SHAPE,
];

/// The processors of one machine and the allocator that hands them out: **the** entry for authors of
/// schedulers.
///
/// A pool has no queue, no jobs and no clock of its own. You say what is wanted, it says which
/// processors you hold from now on, and you give them back when you are done. Any allocator of the
/// list works in it as it works in a simulation, because both ask it in the same way. The command
/// `meshwork place` is a pool that speaks JSON.
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
/// Allocators that look at the age of neighbouring partitions need to know the time: see
/// [`advance`](Pool::advance).
///
/// # Complexity
/// What the allocator takes, and **O(log h)** with *h* placements held.
pub struct Pool {
    managed: ManagedSite,
    /// The same site as it was in the beginning, for questions about what could ever be held.
    empty: ManagedSite,
    /// What is held, by its first node: no other placement begins there.
    held: BTreeMap<Node, Held>,
    /// How many placements have been held.
    count: u64,
    now: Time,
    /// What it was made of, with every default: two pools of the same table answer alike.
    table: Table,
}

/// A placement that is held: since when, and how many came before it.
#[derive(Clone)]
struct Held {
    placement: Placement,
    since: Time,
    number: u64,
}

impl Pool {
    /// An empty machine of one site, from a table: `machine` is as in a study, `allocator`, `seed` and
    /// `shape` (how a count becomes a block) may be left out.
    ///
    /// # Errors
    /// The first thing that is wrong: an unknown key or name, a value out of bounds, several sites, or
    /// an allocator that does not serve this topology.
    pub fn read(table: &Table) -> Result<Pool, Problem> {
        Pool::read_in(&Catalogue::standard(), table)
    }

    /// An empty machine whose allocator is one of a catalogue.
    ///
    /// # Errors
    /// As [`read`](Pool::read).
    pub fn read_in(catalogue: &Catalogue, table: &Table) -> Result<Pool, Problem> {
        let (spec, params, table) = Pool::spec(catalogue, table)?;
        let rule = params.meaning(SHAPE.name, &SHAPES);
        let managed = spec.managed(0, params.integer("seed"), 0, rule)?;
        let empty = managed.fork();
        Ok(Pool { managed, empty, held: BTreeMap::new(), count: 0, now: Time::ZERO, table })
    }

    /// About how many bytes the pool of such a table takes: for its machine, and for the empty one that it is
    /// compared with. Nothing is allocated.
    ///
    /// # Errors
    /// As for [`read`](Pool::read), as far as that is known before the allocator is there.
    pub fn memory(table: &Table) -> Result<u64, Problem> {
        Pool::memory_in(&Catalogue::standard(), table)
    }

    /// The same, of a pool whose allocator is one of a catalogue.
    ///
    /// # Errors
    /// As for [`memory`](Pool::memory).
    pub fn memory_in(catalogue: &Catalogue, table: &Table) -> Result<u64, Problem> {
        let (spec, ..) = Pool::spec(catalogue, table)?;
        Ok(2 * BYTES_PER_NODE * u64::from(spec.topology.grid().nodes()))
    }

    /// The one site of a table, its parameters, and the table with every default.
    fn spec(catalogue: &Catalogue, table: &Table) -> Result<(SiteSpec, Params, Table), Problem> {
        let (machine, rest) = split_machine(table)?;
        let params: Vec<&Param> = PARAMS.iter().collect();
        let params = resolve_in(catalogue, "", &params, &rest, &["machine"])?;
        let (mut machine, sites) = resolve_machine(catalogue, &machine)?;
        if let Some(several) = machine.get("sites").and_then(Value::as_array) {
            return Err(Problem::new(
                "machine.sites",
                format!(
                    "`machine` has a list of sites ({}), but a pool is a single site: give its \
                     `topology`",
                    several.len()
                ),
            ));
        }
        let mut table = params.table().clone();
        let specs = allocators_for(catalogue, &mut table, &mut machine, &sites)?;
        table.insert("machine".to_owned(), Value::Table(machine));
        let spec = specs.into_iter().next().expect("a machine without a list of sites is one");
        Ok((spec, params, table))
    }

    /// What it was made of: `machine`, `allocator`, `seed` and `shape`, with every default filled in.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The machine: its grid, and which nodes are free.
    #[must_use]
    pub fn site(&self) -> &Site {
        self.managed.site()
    }

    /// The present instant.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Lets time pass. Only allocators that look at when their neighbours came ask for it; all
    /// others may be left at the beginning of the clock.
    ///
    /// # Errors
    /// If that instant has gone by; nothing is changed then.
    pub fn advance(&mut self, to: Time) -> Result<(), PoolError> {
        if to < self.now {
            return Err(PoolError::GoneBy { now: self.now, to });
        }
        self.now = to;
        Ok(())
    }

    /// Takes processors for a request, or `None` if the allocator finds none now.
    ///
    /// A request that has not the form that the allocator asks for is put into it: a count of 7
    /// becomes a block of 4 × 2 where blocks are handed out. A request for no processors gets none.
    ///
    /// # Panics
    /// If the allocator breaks its contract and proposes what is not free: a bug of that strategy.
    pub fn allocate(&mut self, request: &Request) -> Option<Placement> {
        let drawn = self.managed.drawn();
        let Some(placement) = choose(&mut self.managed, request, self.now) else {
            // A refusal leaves no trace, so that asking in vain changes no later answer.
            self.managed.draw_again_from(drawn);
            return None;
        };
        self.managed
            .claim(&placement, Claim::new(self.now, Holder::Job(JobId(self.count))))
            .unwrap_or_else(|error| panic!("the allocator broke its contract: {error}"));
        self.hold(placement.clone());
        Some(placement)
    }

    /// Where [`allocate`](Pool::allocate) would place a request now, or `None` where it would not.
    /// Looking changes nothing, not even what an allocator draws next.
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

    /// Holds a placement that somebody else has made: another scheduler, an operator by hand, or an earlier
    /// run. It is released like any other.
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
    /// If it is none on this machine, or not all of it is free; nothing is changed then.
    pub fn adopt(&mut self, placement: &Placement) -> Result<(), PoolError> {
        self.managed.claim(placement, self.now.into())?;
        self.hold(placement.clone());
        Ok(())
    }

    fn hold(&mut self, placement: Placement) {
        let (since, number) = (self.now, self.count);
        self.held.insert(first(&placement), Held { placement, since, number });
        self.count += 1;
    }

    /// Gives back what was allocated, as a whole.
    ///
    /// # Errors
    /// If exactly this placement is not held; nothing is changed then.
    pub fn release(&mut self, placement: &Placement) -> Result<(), PoolError> {
        let known = placement.blocks.first().and_then(|block| self.held.get(&block.base));
        if known.map(|held| &held.placement) != Some(placement) {
            return Err(PoolError::NotHeld);
        }
        self.held.remove(&first(placement));
        self.managed.release(placement);
        Ok(())
    }

    /// A copy of the machine to look ahead on: what if this were given back, what if that were taken?
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

    /// The same with nothing held: what could ever be placed.
    #[must_use]
    pub fn ahead_empty(&self) -> SiteAhead {
        SiteAhead::of(&self.empty)
    }

    /// What is held, in the order of first nodes.
    pub fn held(&self) -> impl Iterator<Item = &Placement> {
        self.held.values().map(|held| &held.placement)
    }

    /// Whether the allocator would find room for the request if nothing were held: if not, it is no
    /// use to wait.
    pub fn could_hold(&mut self, request: &Request) -> bool {
        choose(&mut self.empty, request, self.now).is_some()
    }

    /// Why a request can never be held, if a rule of the machine says so and not only its size: one sentence
    /// without a full stop.
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
