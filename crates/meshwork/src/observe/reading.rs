//! Where the numerator and the denominator of each metric are stored.

use super::MachineState;
use super::areas::NAMED;
use super::batches::{Ratio, Sums};
use super::metrics::{Integrand, Measure};

/// Place at which the numerator and the denominator of a metric are stored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// Index of a ratio whose numerator and denominator are summed for this metric alone.
    Ratio(usize),
    /// Index of a numerator, summed for this metric alone, and index of a denominator. The
    /// denominator is an integral over time.
    OverArea(usize, usize),
    /// Indices of two integrals over time: numerator, then denominator.
    Areas(usize, usize),
}

impl Reading {
    /// Returns where the numerator and the denominator of a metric are stored. If the metric
    /// integrates a function that is no named state variable, this function is appended to
    /// `further`.
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
