//! Integrals over time of what a machine is doing.

use super::State;

/// What of the state of a machine a metric is an integral of.
#[derive(Clone, Copy, Debug)]
pub enum Integrand {
    /// Time itself.
    Time,
    /// All processors.
    Nodes,
    /// Processors that jobs hold.
    Held,
    /// Processors that those jobs asked for.
    Asked,
    /// Processors that jobs hold beyond what they asked for.
    Surplus,
    /// Jobs that wait.
    Waiting,
    /// Processors that are free though the oldest waiting job asks for no more.
    FreeInVain,
    /// Anything else.
    Of(fn(&State) -> f64),
}

/// How many integrands have a name of their own. They are so few that all are summed up wherever one is: several metrics
/// share each, and no function has to be called for any.
pub(super) const NAMED: usize = 7;

impl Integrand {
    /// Whether it goes by what blocks the oldest waiting job, or may.
    pub(super) fn looks_at_what_blocks(self) -> bool {
        matches!(self, Integrand::FreeInVain | Integrand::Of(_))
    }

    /// Its place among those that have a name, or what it is.
    pub(super) fn place(self) -> Result<usize, fn(&State) -> f64> {
        Ok(match self {
            Integrand::Time => 0,
            Integrand::Nodes => 1,
            Integrand::Held => 2,
            Integrand::Asked => 3,
            Integrand::Surplus => 4,
            Integrand::Waiting => 5,
            Integrand::FreeInVain => 6,
            Integrand::Of(value) => return Err(value),
        })
    }
}

/// The values of those that have a name, each in its place.
#[inline]
pub(super) fn values(state: &State) -> [f64; NAMED] {
    let free = state.nodes.saturating_sub(state.held);
    [
        1.0,
        number(state.nodes),
        number(state.held),
        number(state.asked),
        number(state.surplus),
        number(state.waiting),
        if state.blocked_by_shape { number(free) } else { 0.0 },
    ]
}

/// A count as a number: one instruction, where all 64 bits would take several.
#[inline]
pub(super) fn number(count: u64) -> f64 {
    count as i64 as f64
}
