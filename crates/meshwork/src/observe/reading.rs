//! How a metric is read out of what is summed up.

use super::State;
use super::areas::NAMED;
use super::batches::{Ratio, Sums};
use super::metrics::{Integrand, Measure};

/// Where the two sums are whose ratio a metric is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// Its own.
    Ratio(usize),
    /// Its own sum, over an integral over time.
    OverArea(usize, usize),
    /// Two such integrals.
    Areas(usize, usize),
}

impl Reading {
    /// That of a metric; integrands that have no name are added to the further ones.
    pub(super) fn of(
        measure: &Measure,
        metric: usize,
        further: &mut Vec<fn(&State) -> f64>,
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
