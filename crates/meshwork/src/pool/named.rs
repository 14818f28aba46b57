//! Named pool: a pool driven by serializable operations, with placements held under names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{FreeSpace, NamedPoolError, PlacedBlock, Pool, PoolError, RestoreError, Snapshot};
use crate::job::{Request, Time};
use crate::machine::Placement;
use crate::topology::Node;

/// Name under which processors are held: an integer or a string; 7 and "7" are different names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Name {
    /// Name that is an integer.
    Number(i64),
    /// Name that is a string.
    Text(String),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Number(number) => write!(f, "{number}"),
            Name::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// A request to a named pool: an operation, and the instant at which it happens.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Question {
    /// Instant of the operation; `None` for the instant of the preceding operation.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub at: Option<Time>,
    /// Operation to carry out.
    pub operation: Operation,
}

/// Operations on a named pool.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Operation {
    /// Allocate processors for a request, and hold them under the given name, which must be new.
    Allocate(Name, Request),
    /// Hold, under a new name, a placement that was made outside the pool.
    Adopt(Name, Vec<PlacedBlock>),
    /// Hold exactly the listed nodes under each listed name, and release all other names.
    ///
    /// If a placement that is already held under a listed name has exactly the nodes listed for it,
    /// it stays held. Otherwise the listed nodes are held like a placement made outside the pool,
    /// and any previous placement of this name is released.
    HoldExactly(Vec<(Name, Vec<Node>)>),
    /// Release everything held under this name.
    Release(Name),
    /// Return the placement that a request would get, without allocating it.
    Can(Request),
    /// Return the free nodes and the largest free block with this ratio of sides, by default equal
    /// sides.
    Free(Option<Vec<u32>>),
    /// List all placements held under a name.
    Show,
    /// Return the complete state as data.
    Snapshot,
    /// Replace the complete state of the pool by one that [`Operation::Snapshot`] returned.
    Restore(Box<NamedPoolState>),
}

/// Results of the operations of a named pool.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Answer {
    /// Placement that is now held or, for [`Operation::Can`], would be held.
    Placed(Placement),
    /// No placement is possible now: too few nodes are free, or they do not have a suitable shape.
    #[cfg_attr(feature = "serde", serde(rename = "no_room"))]
    NoPlacement {
        /// Whether no placement is possible even on the empty machine.
        never: bool,
        /// Rule that forbids the request, if `never` is true; `None` if only its size forbids it.
        ///
        /// If `never` is false, the resources lacking now; `None` if jobs do not share nodes.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        reason: Option<String>,
    },
    /// Counts of the named placements that [`Operation::HoldExactly`] kept, adopted and released.
    HeldExactly {
        /// Number of placements that were held before the operation and are still held.
        kept: u32,
        /// Number of placements that are held now, but were not held before the operation.
        adopted: u32,
        /// Number of placements that were released.
        released: u32,
    },
    /// Number of processors that were released, for [`Operation::Release`].
    Released(u32),
    /// Free nodes and the largest free block, for [`Operation::Free`].
    Free(FreeSpace),
    /// All placements held under a name, sorted by name, for [`Operation::Show`].
    Held(Vec<Holding>),
    /// Complete state of the named pool, for [`Operation::Snapshot`].
    State(Box<NamedPoolState>),
    /// The state was restored, for [`Operation::Restore`].
    Restored,
}

/// Placement held under a name.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Holding {
    /// Name under which the placement is held.
    pub name: Name,
    /// Placement that is held under `name`.
    pub placement: Placement,
    /// Instant of the placement's allocation.
    pub since: Time,
}

/// Complete state of a named pool at one instant.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct NamedPoolState {
    /// Names of the placements in `snapshot`, in order; `None` for those without a name.
    pub names: Vec<Option<Name>>,
    /// State of the underlying pool, in which placements have no names.
    pub snapshot: Snapshot,
}

/// Pool whose placements are held under names chosen by the caller.
///
/// ```
/// use meshwork::job::Request;
/// use meshwork::pool::{Answer, NamedPool, Name, Operation, Pool, Question};
///
/// let pool = Pool::read(&toml::toml! { machine = { topology = "mesh", dims = [8, 8] } })?;
/// let mut named = NamedPool::new(pool);
/// let mut ask = |operation| named.answer(Question { at: None, operation });
/// ask(Operation::Allocate(Name::Number(7), Request::block(&[3, 5])))?;
/// assert_eq!(ask(Operation::Release(Name::Number(7)))?, Answer::Released(15));
/// assert_eq!(
///     ask(Operation::Release(Name::Number(7))).unwrap_err().to_string(),
///     "7 is not held, so it cannot be released"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NamedPool {
    pool: Pool,
    holders: BTreeMap<Name, Placement>,
}

impl NamedPool {
    /// Creates a named pool in which no name is in use. Placements that `pool` holds stay held.
    #[must_use]
    pub fn new(pool: Pool) -> NamedPool {
        NamedPool { pool, holders: BTreeMap::new() }
    }

    /// The underlying pool, which knows the held placements but not their names.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Placement held under `name`; `None` if the name is not in use.
    #[must_use]
    pub fn held_by(&self, name: &Name) -> Option<&Placement> {
        self.holders.get(name)
    }

    /// Carries out one operation.
    ///
    /// # Errors
    /// If the operation cannot be carried out; nothing is changed then, and the clock does not
    /// advance.
    pub fn answer(&mut self, question: Question) -> Result<Answer, NamedPoolError> {
        let Question { at, operation } = question;
        let now = self.pool.now();
        let at = at.unwrap_or(now);
        if at < now {
            return Err(NamedPoolError::GoneBy { at, now });
        }
        // All checks precede the first change, and the clock advances between checks and changes.
        Ok(match operation {
            Operation::Allocate(name, request) => {
                self.is_new(&name)?;
                self.pool.advance(at)?;
                let Some(placement) = self.pool.allocate(&request) else {
                    return Ok(self.no_placement(&request));
                };
                self.holders.insert(name, placement.clone());
                Answer::Placed(placement)
            }
            Operation::Adopt(name, blocks) => {
                self.is_new(&name)?;
                let placement = PlacedBlock::placement(&blocks, self.pool.site().topology())?;
                self.pool.advance(at)?;
                if let Err(error) = self.pool.adopt(&placement) {
                    self.pool.now = now;
                    return Err(error.into());
                }
                self.holders.insert(name, placement.clone());
                Answer::Placed(placement)
            }
            Operation::HoldExactly(held) => {
                let before = self.state();
                let done = self.hold_exactly(held, at);
                if done.is_err() {
                    self.restore(&before).expect("a state that was taken here is valid");
                }
                done?
            }
            Operation::Release(name) => {
                let Some(placement) = self.holders.get(&name).cloned() else {
                    return Err(NamedPoolError::NotHeld(name));
                };
                self.pool.advance(at)?;
                self.pool.release(&placement)?;
                self.holders.remove(&name);
                Answer::Released(placement.len())
            }
            Operation::Can(request) => {
                self.pool.advance(at)?;
                let there = self.pool.can(&request).map(Answer::Placed);
                there.unwrap_or_else(|| self.no_placement(&request))
            }
            Operation::Free(ratio) => {
                let space = self.pool.free_space(ratio.as_deref())?;
                self.pool.advance(at)?;
                Answer::Free(space)
            }
            Operation::Show => {
                self.pool.advance(at)?;
                Answer::Held(self.holdings())
            }
            Operation::Snapshot => {
                self.pool.advance(at)?;
                Answer::State(Box::new(self.state()))
            }
            Operation::Restore(state) => {
                self.restore(&state)?;
                Answer::Restored
            }
        })
    }

    fn hold_exactly(
        &mut self,
        held: Vec<(Name, Vec<Node>)>,
        at: Time,
    ) -> Result<Answer, NamedPoolError> {
        let grid = self.pool.site().grid().clone();
        let mut wanted: BTreeMap<Name, Placement> = BTreeMap::new();
        for (name, nodes) in held {
            if let Some(beyond) = nodes.iter().find(|&&node| node >= grid.nodes()) {
                return Err(NamedPoolError::NoNode { node: *beyond, nodes: grid.nodes() });
            }
            if nodes.is_empty() {
                return Err(PoolError::NoBlocks.into());
            }
            let placement = Placement::of_nodes(&grid, nodes);
            if wanted.insert(name.clone(), placement).is_some() {
                return Err(NamedPoolError::Twice(name));
            }
        }
        self.pool.advance(at)?;
        let sorted = |placement: &Placement| {
            let mut nodes = placement.nodes(&grid);
            nodes.sort_unstable();
            nodes
        };
        let is_kept = |name: &Name, placement: &Placement| {
            wanted.get(name).is_some_and(|other| sorted(other) == sorted(placement))
        };
        let gone = self.holders.iter().filter(|(name, placement)| !is_kept(name, placement));
        let gone: Vec<Name> = gone.map(|(name, _)| name.clone()).collect();
        let kept = (self.holders.len() - gone.len()) as u32;
        for name in &gone {
            if let Some(placement) = self.holders.remove(name) {
                self.pool.release(&placement)?;
            }
        }
        let mut adopted = 0;
        for (name, placement) in wanted {
            if !self.holders.contains_key(&name) {
                self.pool.adopt(&placement)?;
                self.holders.insert(name, placement);
                adopted += 1;
            }
        }
        Ok(Answer::HeldExactly { kept, adopted, released: gone.len() as u32 })
    }

    fn is_new(&self, name: &Name) -> Result<(), NamedPoolError> {
        if self.holders.contains_key(name) {
            return Err(NamedPoolError::HeldAlready(name.clone()));
        }
        Ok(())
    }

    fn no_placement(&mut self, request: &Request) -> Answer {
        let never = !self.pool.could_hold(request);
        let reason = if never { self.pool.never(request) } else { self.pool.shortage(request) };
        Answer::NoPlacement { never, reason }
    }

    /// Placements held under a name, sorted by name.
    #[must_use]
    pub fn holdings(&self) -> Vec<Holding> {
        let tenures = self.tenures().into_values();
        let since: BTreeMap<&Name, Time> = tenures.map(|(since, name)| (name, since)).collect();
        let holding = |(name, placement): (&Name, &Placement)| {
            let since = *since.get(name)?;
            Some(Holding { name: name.clone(), placement: placement.clone(), since })
        };
        self.holders.iter().filter_map(holding).collect()
    }

    /// Start and name of each named placement. The key is the number of placements made earlier.
    fn tenures(&self) -> BTreeMap<u64, (Time, &Name)> {
        let mut found = BTreeMap::new();
        for (name, placement) in &self.holders {
            let mut own = self.pool.tenures(placement);
            if let Some((since, number)) = own.find(|(_, number)| !found.contains_key(number)) {
                found.insert(number, (since, name));
            }
        }
        found
    }

    /// Returns the complete state, including placements without a name.
    #[must_use]
    pub fn state(&self) -> NamedPoolState {
        let name_of = self.tenures();
        let held = self.pool.in_order().into_iter();
        let names = held.map(|held| name_of.get(&held.number).map(|own| own.1.clone())).collect();
        NamedPoolState { names, snapshot: self.pool.snapshot() }
    }

    /// Replaces the state by `state`, which a named pool with the same configuration has returned.
    ///
    /// # Errors
    /// The errors of [`Pool::restore`], and missing or duplicate names; then nothing is changed.
    pub fn restore(&mut self, state: &NamedPoolState) -> Result<(), RestoreError> {
        let NamedPoolState { names, snapshot } = state;
        if names.len() != snapshot.held.len() {
            let (names, placements) = (names.len(), snapshot.held.len());
            return Err(RestoreError::Names { names, placements });
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = names.iter().flatten().find(|name| !seen.insert(*name)) {
            return Err(RestoreError::NameTwice(twice.clone()));
        }
        self.pool.restore(snapshot)?;
        let held = names.iter().zip(self.pool.in_order());
        self.holders =
            held.filter_map(|(name, held)| Some((name.clone()?, held.placement.clone()))).collect();
        Ok(())
    }
}
