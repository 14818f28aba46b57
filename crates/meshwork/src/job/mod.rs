//! A job: when it arrives, which processors it asks for, how long it runs; and the clock.

mod dims;
pub mod hostlist;
mod wants;

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Arc;

pub use dims::Dims;
pub(crate) use wants::EXCLUSIVE;
pub use wants::Wants;

/// A job's place in the order of arrival: 0 for the first job of the run. It names the job in
/// events, and breaks every tie between jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JobId(pub u64);

/// An instant of the simulated clock, in the workload's own unit (seconds, for a log).
///
/// A number that is never NaN, with a total order. Whole seconds up to 2⁵³ are exact, so instants
/// of a log tie when they should. Differences are plain `f64`.
///
/// ```
/// use meshwork::job::Time;
/// let start = Time::new(2.0);
/// assert_eq!((start + 1.5) - start, 1.5);
/// assert!(start < start + 0.5);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "f64", into = "f64"))]
pub struct Time(f64);

impl Time {
    /// The beginning of the clock.
    pub const ZERO: Time = Time(0.0);

    /// The instant `units` after the beginning of the clock.
    ///
    /// # Panics
    /// If `units` is NaN: workloads are checked where they are read, so a NaN here is a bug.
    #[must_use]
    pub fn new(units: f64) -> Time {
        assert!(!units.is_nan(), "an instant is a number");
        Time(units + 0.0) // turns −0 into 0: equal instants are the same
    }

    /// The next instant that can be told from this one.
    #[must_use]
    pub fn next(self) -> Time {
        Time(self.0.next_up() + 0.0)
    }

    /// Units since the beginning of the clock.
    #[must_use]
    pub fn units(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Time {
    type Error = NotANumber;

    fn try_from(units: f64) -> Result<Time, NotANumber> {
        if units.is_nan() { Err(NotANumber) } else { Ok(Time::new(units)) }
    }
}

impl From<Time> for f64 {
    fn from(time: Time) -> f64 {
        time.0
    }
}

/// NaN where an instant must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("NaN is given, but an instant is a number")]
pub struct NotANumber;

impl Eq for Time {}

/// Neither NaN nor −0 is an instant, so that numbers are compared as they are: in one instruction, where `total_cmp` takes
/// ten. Every heap and every sorted list of a run is made of such comparisons.
impl Ord for Time {
    #[inline]
    fn cmp(&self, other: &Time) -> Ordering {
        if self.0 < other.0 {
            Ordering::Less
        } else if self.0 > other.0 {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    }
}

impl PartialOrd for Time {
    #[inline]
    fn partial_cmp(&self, other: &Time) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn lt(&self, other: &Time) -> bool {
        self.0 < other.0
    }

    #[inline]
    fn le(&self, other: &Time) -> bool {
        self.0 <= other.0
    }

    #[inline]
    fn gt(&self, other: &Time) -> bool {
        self.0 > other.0
    }

    #[inline]
    fn ge(&self, other: &Time) -> bool {
        self.0 >= other.0
    }
}

impl Add<f64> for Time {
    type Output = Time;
    fn add(self, span: f64) -> Time {
        Time::new(self.0 + span)
    }
}

impl Sub for Time {
    type Output = f64;
    fn sub(self, earlier: Time) -> f64 {
        self.0 - earlier.0
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a waiting job waits for, at an instant.
///
/// The job is looked at alone: it is what the machine, as it is, would answer if only this job asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Cause {
    /// Too few nodes are free.
    Nodes,
    /// Enough nodes are free, but not as they would have to lie.
    Shape,
    /// It could start, but somebody comes before it.
    Priority,
    /// It could start, but nodes are kept for those that come before it.
    Reserved,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 4] = [Cause::Nodes, Cause::Shape, Cause::Priority, Cause::Reserved];

    /// In one word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Cause::Nodes => "nodes",
            Cause::Shape => "shape",
            Cause::Priority => "priority",
            Cause::Reserved => "reserved",
        }
    }
}

/// Which processors a job asks for.
///
/// A closed choice: every `match` on it shows who has to be asked when a form is added.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Request {
    /// So many processors, in whatever form the site's allocator hands them out.
    Nodes(u32),
    /// A block with these sides. Sides that are left out are 1.
    Block(Dims),
    /// A subcube of this dimension: 2ᵏ processors.
    Subcube(u32),
    /// So many processors, and conditions on which they may be; made by [`wanting`](Request::wanting).
    Wanting(Box<Wants>),
}

impl Request {
    /// A block with these sides.
    #[must_use]
    pub fn block(sides: &[u32]) -> Request {
        Request::Block(Dims::from_slice(sides))
    }

    /// So many processors under conditions: a plain count, if there are none.
    #[must_use]
    pub fn wanting(wants: Wants) -> Request {
        if wants == Wants::of(wants.nodes) {
            return Request::Nodes(wants.nodes);
        }
        Request::Wanting(Box::new(wants))
    }

    /// The least power of two that holds as many processors, as an exponent: the dimension of the
    /// subcube that the request needs. Jobs of one class are of like size on any machine.
    ///
    /// ```
    /// use meshwork::job::Request;
    /// assert_eq!(Request::Subcube(3).size_class(), 3);
    /// assert_eq!(Request::Nodes(9).size_class(), 4);
    /// assert_eq!(Request::block(&[1, 1]).size_class(), 0);
    /// ```
    #[must_use]
    #[inline]
    pub fn size_class(&self) -> u32 {
        u64::BITS - self.nodes().saturating_sub(1).leading_zeros()
    }

    /// How many processors are asked for.
    ///
    /// ```
    /// use meshwork::job::Request;
    /// assert_eq!(Request::Nodes(7).nodes(), 7);
    /// assert_eq!(Request::block(&[3, 5]).nodes(), 15);
    /// assert_eq!(Request::Subcube(3).nodes(), 8);
    /// ```
    #[must_use]
    #[inline]
    pub fn nodes(&self) -> u64 {
        match self {
            Request::Nodes(count) => u64::from(*count),
            Request::Block(sides) => {
                sides.iter().fold(1, |product: u64, &side| product.saturating_mul(u64::from(side)))
            }
            Request::Subcube(dimension) => 1_u64.checked_shl(*dimension).unwrap_or(u64::MAX),
            Request::Wanting(wants) => u64::from(wants.nodes),
        }
    }
}

/// As the `table` workload writes it: `7`, `3x5`, or `2^3` for a subcube; conditions by the names of their columns.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Nodes(count) => write!(f, "{count}"),
            Request::Block(sides) => f.write_str(&sides_text(sides)),
            Request::Subcube(dimension) => write!(f, "2^{dimension}"),
            Request::Wanting(wants) => wants.fmt(f),
        }
    }
}

/// Sides as users write them: `3x5`.
#[must_use]
pub fn sides_text(sides: &[u32]) -> String {
    let sides: Vec<String> = sides.iter().map(u32::to_string).collect();
    sides.join("x")
}

/// Whose job it is, what it runs and where it was submitted, by the names that its log or table has for them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// The user, where that is known.
    pub user: Option<String>,
    /// The user's group, where that is known.
    pub group: Option<String>,
    /// The program that it runs, where that is known.
    pub application: Option<String>,
    /// The queue that it was submitted to, where that is known.
    pub queue: Option<String>,
    /// The partition of the machine that it was submitted to, where that is known.
    pub partition: Option<String>,
}

/// What was agreed on for one job when it was submitted, where anything was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Terms {
    /// How urgent it is, from 0 to 1.
    pub priority: f64,
    /// By when it is to have ended. It moves with the arrival, where a job is made to arrive at another instant.
    pub deadline: Option<Time>,
    /// After which other job it was submitted, where its workload says.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub after: Option<After>,
}

/// That a job was submitted after another one had ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct After {
    /// The workload's number for that other job.
    pub number: u64,
    /// How long after its end, in units of the clock.
    pub think: f64,
}

/// One job, as its workload gives it. It never changes during a run.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Job {
    /// The workload's own number for it: field 1 of a log, 1, 2, 3 … where jobs are drawn.
    pub number: u64,
    /// When it joins the queue.
    pub arrival: Time,
    /// What it asks for.
    pub request: Request,
    /// How long it runs on the processors it asked for, at speed 1, in units of the clock.
    pub runtime: f64,
    /// How long its user says it will run: all that a scheduler may know of its end. Where the
    /// workload has no estimate this is the run time.
    pub estimate: f64,
    /// Whose it is, where the workload knows and something is decided or measured by it; jobs of one
    /// owner share it. It is no part of what is serialized.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub owner: Option<Arc<Owner>>,
    /// What was agreed on for it; nothing, for most.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub terms: Option<Box<Terms>>,
}

impl Job {
    /// A job of which nothing else is known: its estimate is its run time, and it is nobody's.
    ///
    /// ```
    /// use meshwork::job::{Job, Request, Time};
    /// let job = Job { estimate: 9.0, ..Job::new(1, Time::ZERO, Request::Nodes(4), 5.0) };
    /// assert_eq!((job.runtime, job.estimate, job.owner), (5.0, 9.0, None));
    /// ```
    #[must_use]
    pub fn new(number: u64, arrival: Time, request: Request, runtime: f64) -> Job {
        Job { number, arrival, request, runtime, estimate: runtime, owner: None, terms: None }
    }

    /// After which other job it was submitted, where its workload says.
    #[must_use]
    pub fn after(&self) -> Option<After> {
        self.terms.as_ref()?.after
    }

    /// By when it is to have ended, where that was agreed on.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.terms.as_ref()?.deadline
    }

    /// Makes it arrive at another instant: its deadline is as long after it as before.
    ///
    /// ```
    /// use meshwork::job::{Job, Request, Terms, Time};
    /// let mut job = Job::new(1, Time::new(3.0), Request::Nodes(4), 5.0);
    /// job.terms = Some(Box::new(Terms { deadline: Some(Time::new(10.0)), ..Terms::default() }));
    /// job.move_to(Time::new(20.0));
    /// assert_eq!(job.deadline(), Some(Time::new(27.0)));
    /// ```
    pub fn move_to(&mut self, arrival: Time) {
        if let Some(terms) = &mut self.terms {
            terms.deadline = terms.deadline.map(|deadline| arrival + (deadline - self.arrival));
        }
        self.arrival = arrival;
    }

    /// Makes it so many times longer, with its estimate and the time that it is left until its deadline.
    pub(crate) fn lengthen(&mut self, factor: f64) {
        self.runtime *= factor;
        self.estimate *= factor;
        if let Some(terms) = &mut self.terms {
            let arrival = self.arrival;
            terms.deadline = terms.deadline.map(|end| arrival + (end - arrival) * factor);
        }
    }

    /// Makes its user think so many times longer before it is submitted.
    pub(crate) fn delay(&mut self, factor: f64) {
        if let Some(after) = self.terms.as_mut().and_then(|terms| terms.after.as_mut()) {
            after.think *= factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minus_zero_is_zero() {
        assert_eq!(Time::new(-0.0).cmp(&Time::ZERO), Ordering::Equal);
        let below = Time::new(-f64::from_bits(1));
        assert_eq!(below.next().units().to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn instants_are_ordered_as_by_total_cmp() {
        let numbers =
            [f64::NEG_INFINITY, -1e300, -1.0, -f64::MIN_POSITIVE, -f64::from_bits(1), 0.0]
                .into_iter()
                .chain([f64::from_bits(1), 1.0, 1.0 + f64::EPSILON, 1e300, f64::INFINITY]);
        for a in numbers.clone() {
            for b in numbers.clone() {
                let (one, other, order) = (Time::new(a), Time::new(b), a.total_cmp(&b));
                assert_eq!((one.cmp(&other), one.partial_cmp(&other)), (order, Some(order)));
                assert_eq!((one < other, one > other), (order.is_lt(), order.is_gt()));
                assert_eq!((one <= other, one >= other), (order.is_le(), order.is_ge()));
            }
        }
    }

    #[test]
    fn a_huge_request_saturates() {
        assert_eq!(Request::block(&[u32::MAX, u32::MAX, u32::MAX]).nodes(), u64::MAX);
        assert_eq!(Request::Subcube(64).nodes(), u64::MAX);
    }
}
