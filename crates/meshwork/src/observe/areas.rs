//! Integrals over time of the state of the machine.

use super::MachineState;

/// State variable of the machine. Some metrics use its integral over time.
#[derive(Clone, Copy, Debug)]
pub enum Integrand {
    /// The constant 1, whose integral over time is the elapsed time.
    Time,
    /// Number of processors of the machine.
    Nodes,
    /// Number of processors held by jobs.
    Held,
    /// Number of processors requested by the running jobs.
    Asked,
    /// Number of processors that jobs hold beyond the number that they requested.
    Surplus,
    /// Number of waiting jobs.
    Waiting,
    /// Number of free processors while some site has enough of them for the oldest waiting job. At
    /// other times, the value is 0.
    FreeInVain,
    /// Value that the function computes from the machine's state.
    ///
    /// It is for values for which this type has no other variant.
    Of(fn(&MachineState) -> f64),
}

/// Number of variants of [`Integrand`] that name a state variable. If any metric integrates over
/// time, all of them are integrated, which is cheap.
pub(super) const NAMED: usize = 7;

impl Integrand {
    /// Whether the integrand depends, or may depend, on [`MachineState::blocked_by_shape`].
    pub(super) fn looks_at_what_blocks(self) -> bool {
        matches!(self, Integrand::FreeInVain | Integrand::Of(_))
    }

    /// Index of the integrand among the named state variables.
    ///
    /// For [`Integrand::Of`], the error is the function to integrate.
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

/// Present values of the named state variables, in order of [`Integrand::place`].
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

/// Converts a count to a float by way of `i64`, in one instruction. A conversion from `u64` takes
/// several.
#[inline]
pub(super) fn number(count: u64) -> f64 {
    count as i64 as f64
}
