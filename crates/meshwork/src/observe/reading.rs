//! Readings: for each metric, the two sums that it divides, and where these sums are stored.

use super::MachineState;
use super::areas::NAMED;
use super::batches::{Ratio, Sums};
use super::metrics::{Integrand, Measure};

/// Where the numerator and the denominator of a metric are stored, as indices.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// The ratio with this index, whose numerator and denominator are summed for this metric alone.
    Ratio(usize),
    /// The numerator is summed for this metric alone; the denominator is an integral over time.
    ///
    /// The values are the index of the numerator and the index of the denominator.
    OverArea(usize, usize),
    /// Indices of two integrals over time: the numerator and the denominator.
    Areas(usize, usize),
}

impl Reading {
    /// Returns where the two sums of a metric are stored. Functions to integrate other than the
    /// named state variables are appended to `further`.
    pub(super) fn of(
        measure: &Measure,
        metric: usize,
        further: &mut Vec<fn(&MachineState) -> f64>,
    ) -> Reading {
        let mut place = |integrand: Integrand| {
            integrand.place().unwrap_or_else(|value| {
                further.push(value);
                NAMED + further.len() - 1
            })
        };
        match *measure {
            Measure::OverTime(over, under) => Reading::Areas(place(over), place(under)),
            Measure::Net(_, under, _) | Measure::Rate(_, under) => {
                Reading::OverArea(metric, place(under))
            }
            _ => Reading::Ratio(metric),
        }
    }

    pub(super) fn read(self, sums: &Sums) -> Ratio {
        match self {
            Reading::Ratio(metric) => sums.ratios[metric],
            Reading::OverArea(metric, under) => {
                Ratio { over: sums.ratios[metric].over, under: sums.area(under) }
            }
            Reading::Areas(over, under) => Ratio { over: sums.area(over), under: sums.area(under) },
        }
    }
}
