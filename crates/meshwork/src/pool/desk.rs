//! A pool that is asked in operations: what a program beside it says and hears, as data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{DeskError, PlacedBlock, Pool, RestoreError, Room, Snapshot};
use crate::job::{Request, Time};
use crate::machine::Placement;

/// The name under which somebody holds processors: a whole number or a text; 7 and "7" are two names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Name {
    /// A whole number.
    Number(i64),
    /// A text.
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

/// Something to be done, and when.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Question {
    /// The instant; that of the question before where there is none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub at: Option<Time>,
    /// What.
    pub operation: Operation,
}

/// What a desk can be asked to do.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Operation {
    /// Take processors.
    Allocate(Name, Request),
    /// Hold a placement that somebody else has made.
    Adopt(Name, Vec<PlacedBlock>),
    /// Give back what this name holds.
    Release(Name),
    /// Say where a request would go, and change nothing.
    Can(Request),
    /// Say what is free, and the largest free block of this ratio.
    Free(Option<Vec<u32>>),
    /// Say who holds what.
    Show,
    /// Give all that there is to know.
    Snapshot,
    /// Become what another desk was.
    Restore(Box<State>),
}

/// What a desk says.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Answer {
    /// These processors: they are held from now on, or would be.
    Placed(Placement),
    /// None now; `never` says that an empty machine would have none either.
    NoRoom {
        /// Whether it is no use to wait.
        never: bool,
        /// Why, if a rule of the machine says so and not only its size.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        reason: Option<String>,
    },
    /// So many have been given back.
    Released(u32),
    /// What is free.
    Free(Room),
    /// Who holds what, by name.
    Held(Vec<Holding>),
    /// A desk as data.
    State(Box<State>),
    /// The desk is what that one was.
    Restored,
}

/// What somebody holds.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Holding {
    /// Who.
    pub name: Name,
    /// What.
    pub placement: Placement,
    /// Since when.
    pub since: Time,
}

/// A desk at one instant.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct State {
    /// Who holds the placements of the snapshot, in its order; `None` where it is nobody's name.
    pub names: Vec<Option<Name>>,
    /// The pool.
    pub snapshot: Snapshot,
}

/// A pool, and who holds what of it by the names of those who ask.
///
/// ```
/// use meshwork::job::Request;
/// use meshwork::pool::{Answer, Desk, Name, Operation, Pool, Question};
///
/// let pool = Pool::read(&toml::toml! { machine = { topology = "mesh", dims = [8, 8] } })?;
/// let mut desk = Desk::new(pool);
/// let mut ask = |operation| desk.answer(Question { at: None, operation });
/// ask(Operation::Allocate(Name::Number(7), Request::block(&[3, 5])))?;
/// assert_eq!(ask(Operation::Release(Name::Number(7)))?, Answer::Released(15));
/// assert_eq!(
///     ask(Operation::Release(Name::Number(7))).unwrap_err().to_string(),
///     "7 is not held, so it cannot be released"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Desk {
    pool: Pool,
    holders: BTreeMap<Name, Placement>,
}

impl Desk {
    /// A desk of which nobody holds anything yet; what the pool holds already stays held, by nobody's name.
    #[must_use]
    pub fn new(pool: Pool) -> Desk {
        Desk { pool, holders: BTreeMap::new() }
    }

    /// The pool.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// What this name holds.
    #[must_use]
    pub fn held_by(&self, name: &Name) -> Option<&Placement> {
        self.holders.get(name)
    }

    /// Does what is asked.
    ///
    /// # Errors
    /// If it cannot be done; nothing is changed then, and no time has passed.
    pub fn answer(&mut self, question: Question) -> Result<Answer, DeskError> {
        let Question { at, operation } = question;
        let now = self.pool.now();
        let at = at.unwrap_or(now);
        if at < now {
            return Err(DeskError::GoneBy { at, now });
        }
        // Every check comes before the first change, and time passes between the two.
        Ok(match operation {
            Operation::Allocate(name, request) => {
                self.is_new(&name)?;
                self.pool.advance(at)?;
                let Some(placement) = self.pool.allocate(&request) else {
                    return Ok(self.no_room(&request));
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
            Operation::Release(name) => {
                let Some(placement) = self.holders.get(&name).cloned() else {
                    return Err(DeskError::NotHeld(name));
                };
                self.pool.advance(at)?;
                self.pool.release(&placement)?;
                self.holders.remove(&name);
                Answer::Released(placement.len())
            }
            Operation::Can(request) => {
                self.pool.advance(at)?;
                let there = self.pool.can(&request).map(Answer::Placed);
                there.unwrap_or_else(|| self.no_room(&request))
            }
            Operation::Free(ratio) => {
                let room = self.pool.room(ratio.as_deref())?;
                self.pool.advance(at)?;
                Answer::Free(room)
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

    fn is_new(&self, name: &Name) -> Result<(), DeskError> {
        if self.holders.contains_key(name) {
            return Err(DeskError::HeldAlready(name.clone()));
        }
        Ok(())
    }

    fn no_room(&mut self, request: &Request) -> Answer {
        let never = !self.pool.could_hold(request);
        let reason = never.then(|| self.pool.never(request)).flatten();
        Answer::NoRoom { never, reason }
    }

    /// Who holds what, in the order of names.
    #[must_use]
    pub fn holdings(&self) -> Vec<Holding> {
        let holding = |(name, placement): (&Name, &Placement)| {
            let (since, _) = self.pool.tenure(placement)?;
            Some(Holding { name: name.clone(), placement: placement.clone(), since })
        };
        self.holders.iter().filter_map(holding).collect()
    }

    /// All that there is to know of it now. What is held by nobody's name is held so again.
    #[must_use]
    pub fn state(&self) -> State {
        let mut name_of: BTreeMap<u64, &Name> = BTreeMap::new();
        for (name, placement) in &self.holders {
            name_of.extend(self.pool.tenure(placement).map(|(_, number)| (number, name)));
        }
        let held = self.pool.in_order().into_iter();
        let names = held.map(|held| name_of.get(&held.number).copied().cloned()).collect();
        State { names, snapshot: self.pool.snapshot() }
    }

    /// Becomes what another desk was.
    ///
    /// # Errors
    /// Those of [`Pool::restore`], and if names are missing or come twice; nothing is changed then.
    pub fn restore(&mut self, state: &State) -> Result<(), RestoreError> {
        let State { names, snapshot } = state;
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
