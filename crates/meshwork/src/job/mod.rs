//! Jobs (their arrival, requested processors, run time and more) and the simulated clock.

mod dims;
pub mod hostlist;
mod constraints;
mod pieces;

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Arc;

pub use constraints::Constraints;
pub(crate) use constraints::EXCLUSIVE;
pub use dims::Dims;
pub use pieces::{Inside, Piece, Pieces, WHOLE_SHARE};

/// Index of a job in order of arrival, from 0, by which ties between jobs are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JobId(pub u64);

/// An instant of the simulated clock, in the workload's own unit (seconds, for a log).
///
/// Instants are totally ordered, because they are never NaN. Whole seconds up to 2⁵³ are exact, so
/// that equal instants of a log compare as equal. The difference of two instants is an `f64`.
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
    /// Instant 0, at which the clock starts.
    pub const ZERO: Time = Time(0.0);

    /// Returns the instant `units` after the start of the clock.
    ///
    /// # Panics
    /// If `units` is NaN. Workloads are checked when they are read, so that a NaN here is a bug.
    #[must_use]
    pub fn new(units: f64) -> Time {
        assert!(!units.is_nan(), "an instant is a number");
        Time(units + 0.0) // turns −0 into 0, so that equal instants are identical
    }

    /// Returns the smallest representable instant after this one.
    #[must_use]
    pub fn next(self) -> Time {
        Time(self.0.next_up() + 0.0)
    }

    /// Number of units of time from the start of the clock to this instant.
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

/// Error for NaN given as an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("NaN is given, but an instant is a number")]
pub struct NotANumber;

impl Eq for Time {}

/// Compares two instants directly as numbers, in one instruction, since none is NaN or −0.
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

/// Reason why a waiting job does not start, judged as if no other job were waiting.
///
/// A job that lacks nothing waits because others have precedence: `Priority` and `Reserved`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Cause {
    /// Too few nodes are free.
    Nodes,
    /// Enough nodes are free, but not in the required shape.
    Shape,
    /// The job could start, but jobs with precedence come first.
    Priority,
    /// The job could start, but the nodes are reserved for jobs with precedence.
    Reserved,
}

impl Cause {
    /// Every cause, in declaration order.
    pub const ALL: [Cause; 4] = [Cause::Nodes, Cause::Shape, Cause::Priority, Cause::Reserved];

    /// Returns the one-word name of the cause, such as `nodes`.
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

/// Processors that a job requests. The type is exhaustive, so a new variant makes the compiler list
/// each `match` to extend.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Request {
    /// A number of processors, placed in any shape that the site's allocator gives.
    Nodes(u32),
    /// A block with the given sides, one for each dimension of the machine. Sides left out are 1.
    Block(Dims),
    /// A subcube of dimension *k*, which has 2ᵏ processors.
    Subcube(u32),
    /// A number of processors under constraints, made by [`constrained`](Request::constrained).
    #[cfg_attr(feature = "serde", serde(rename = "wanting"))]
    Constrained(Box<Constraints>),
    /// Parts of nodes, such as some of their cores, on a machine whose nodes jobs share.
    Pieces(Box<Pieces>),
}

impl Request {
    /// Returns the request for a block with these sides.
    #[must_use]
    pub fn block(sides: &[u32]) -> Request {
        Request::Block(Dims::from_slice(sides))
    }

    /// Returns the request for processors under the constraints `constraints`.
    ///
    /// If these only set the number of processors, the result is [`Request::Nodes`].
    #[must_use]
    pub fn constrained(constraints: Constraints) -> Request {
        if constraints == Constraints::of(constraints.nodes) {
            return Request::Nodes(constraints.nodes);
        }
        Request::Constrained(Box::new(constraints))
    }

    /// Creates a request for pieces, which are parts of nodes.
    #[must_use]
    pub fn pieces(pieces: Pieces) -> Request {
        Request::Pieces(Box::new(pieces))
    }

    /// Base-2 logarithm of the number of requested processors, rounded up: the job's *size class*.
    /// It equals the dimension of the smallest subcube that holds the request. Jobs of one size
    /// class have similar sizes on any machine.
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

    /// Number of requested processors.
    ///
    /// ```
    /// use meshwork::job::Request;
    /// assert_eq!(Request::Nodes(7).nodes(), 7);
    /// assert_eq!(Request::block(&[3, 5]).nodes(), 15);
    /// assert_eq!(Request::Subcube(3).nodes(), 8);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn nodes(&self) -> u64 {
        match self {
            Request::Nodes(count) => u64::from(*count), // the common case, without a call
            other => other.nodes_in_a_form(),
        }
    }

    #[inline(never)]
    fn nodes_in_a_form(&self) -> u64 {
        match self {
            Request::Nodes(count) => u64::from(*count),
            Request::Block(sides) => {
                sides.iter().fold(1, |product: u64, &side| product.saturating_mul(u64::from(side)))
            }
            Request::Subcube(dimension) => 1_u64.checked_shl(*dimension).unwrap_or(u64::MAX),
            Request::Constrained(constraints) => u64::from(constraints.nodes),
            Request::Pieces(pieces) => pieces.cores(),
        }
    }
}

/// Formats a number, a block or a subcube as in the workload `table`: `7`, `3x5` or `2^3`.
/// Constraints follow the number of processors. A request for pieces has a form of its own.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Nodes(count) => write!(f, "{count}"),
            Request::Block(sides) => f.write_str(&sides_text(sides)),
            Request::Subcube(dimension) => write!(f, "2^{dimension}"),
            Request::Constrained(constraints) => constraints.fmt(f),
            Request::Pieces(pieces) => pieces.fmt(f),
        }
    }
}

/// Parses a number of processors (`12`), the sides of a block (`3x5`) or a subcube (`2^4`).
///
/// Constraints and pieces, which [`Display`](fmt::Display) also writes, are not parsed.
///
/// ```
/// use meshwork::Request;
/// for text in ["12", "3x5", "2^4"] {
///     assert_eq!(text.parse::<Request>().unwrap().to_string(), text);
/// }
/// assert!("0".parse::<Request>().is_err() && "3x".parse::<Request>().is_err());
/// ```
impl std::str::FromStr for Request {
    type Err = RequestError;

    fn from_str(text: &str) -> Result<Request, RequestError> {
        let wrong = || RequestError { given: text.to_owned() };
        let number = |part: &str| part.trim().parse::<u32>().ok().ok_or_else(wrong);
        if let Some(dimension) = text.trim().strip_prefix("2^") {
            let dimension = number(dimension)?;
            return if dimension < u32::BITS {
                Ok(Request::Subcube(dimension))
            } else {
                Err(wrong())
            };
        }
        let sides = text.split(['x', '×']).map(number).collect::<Result<Vec<u32>, _>>()?;
        match sides.as_slice() {
            sides if sides.contains(&0) => Err(wrong()),
            &[count] => Ok(Request::Nodes(count)),
            sides => Ok(Request::block(sides)),
        }
    }
}

/// Error: a text that does not describe a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is no request: write a number of processors, such as 12, a block, such as 3x5, or a subcube, \
     such as 2^4"
)]
#[non_exhaustive]
pub struct RequestError {
    /// Text that could not be read as a request.
    pub given: String,
}

/// Formats sides as users write them: `3x5`.
#[must_use]
pub fn sides_text(sides: &[u32]) -> String {
    let sides: Vec<String> = sides.iter().map(u32::to_string).collect();
    sides.join("x")
}

/// Names of a job's owner and program, and of the queue and partition to which it was submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// Name of the user; `None` if unknown.
    pub user: Option<String>,
    /// Group of the user; `None` if unknown.
    pub group: Option<String>,
    /// Program that the job runs; `None` if unknown.
    pub application: Option<String>,
    /// Queue to which the job was submitted; `None` if unknown.
    pub queue: Option<String>,
    /// Partition to which the job was submitted; `None` if unknown.
    pub partition: Option<String>,
}

/// Data that is set at the submission of a job: its priority, its deadline and its predecessor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Terms {
    /// Priority of the job from 0 to 1.
    pub priority: f64,
    /// Instant by which the job should end, shifted with the arrival; `None` if it has no deadline.
    pub deadline: Option<Time>,
    /// Predecessor after whose end the job was submitted; `None` if the workload gives none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub after: Option<After>,
}

/// Dependency of a job on another: it is submitted only after the other job has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct After {
    /// Number that the predecessor has in the workload.
    pub number: u64,
    /// Think time between the predecessor's end and the submission, in units of the clock.
    pub think: f64,
}

/// A job as its workload gives it. It does not change during a run.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Job {
    /// Number of the job in the workload: field 1 of a log, or 1, 2, 3 … for drawn jobs.
    pub number: u64,
    /// Instant at which the job joins the queue.
    pub arrival: Time,
    /// Processors that the job requests.
    pub request: Request,
    /// Run time on the requested processors at speed 1, in units of the clock.
    pub runtime: f64,
    /// Estimate of the run time by the user, in units of the clock; `runtime` if there is none.
    pub estimate: f64,
    /// Owner of the job, shared by all of its jobs; `None` if unknown or not used. Not serialized.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub owner: Option<Arc<Owner>>,
    /// Priority, deadline and predecessor of the job; `None` for most jobs.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub terms: Option<Box<Terms>>,
}

impl Job {
    /// Returns a job whose estimate is its run time, without owner, priority, deadline or
    /// predecessor.
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

    /// Predecessor after whose end the job was submitted, if the workload gives one.
    #[must_use]
    pub fn after(&self) -> Option<After> {
        self.terms.as_ref()?.after
    }

    /// Instant by which the job should end, if it has a deadline.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.terms.as_ref()?.deadline
    }

    /// Changes the arrival and shifts the deadline by the same amount.
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

    /// Multiplies run time, estimate and the time from arrival to deadline by `factor`.
    pub(crate) fn lengthen(&mut self, factor: f64) {
        self.runtime *= factor;
        self.estimate *= factor;
        if let Some(terms) = &mut self.terms {
            let arrival = self.arrival;
            terms.deadline = terms.deadline.map(|end| arrival + (end - arrival) * factor);
        }
    }

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
