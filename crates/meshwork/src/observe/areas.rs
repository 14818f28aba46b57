//! Integrals over time of the machine's state.

use super::MachineState;

/// State variable over which a metric integrates.
#[derive(Clone, Copy, Debug)]
pub enum Integrand {
    /// The constant 1, so that the integral is the elapsed time.
    Time,
    /// All processors.
    Nodes,
    /// Processors held by jobs.
    Held,
    /// Processors requested by the running jobs.
    Asked,
    /// Processors held in excess of the request.
    Surplus,
    /// Waiting jobs.
    Waiting,
    /// Free processors, while the oldest waiting job requests no more than are free.
    FreeInVain,
    /// Any other function of the state.
    Of(fn(&MachineState) -> f64),
}

/// Number of integrands with a name. If any metric integrates over time, all of them are summed up:
/// several metrics share each of them, and none needs a function call.
pub(super) const NAMED: usize = 7;

impl Integrand {
    /// Whether the integrand depends, or may depend, on [`MachineState::blocked_by_shape`].
    pub(super) fn looks_at_what_blocks(self) -> bool {
        matches!(self, Integrand::FreeInVain | Integrand::Of(_))
    }

    /// Index among the named integrands, or else the function to integrate.
    pub(super) fn place(self) -> Result<usize, fn(&MachineState) -> f64> {
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

/// Values of the named integrands, in index order.
#[inline]
pub(super) fn values(state: &MachineState) -> [f64; NAMED] {
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

/// Converts a count to a float in one instruction; a conversion from `u64` takes several.
#[inline]
pub(super) fn number(count: u64) -> f64 {
    count as i64 as f64
}
