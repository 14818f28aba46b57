//! Meaning of clock values: the unit of time, and the date at which a log begins.
//!
//! The model counts time in units of the workload's own clock, and does not know what they mean.
//! The clock counts seconds in logs in the Standard Workload Format, in models of such logs, and in
//! tables with dates.
//!
//! The key `time_unit` of a study has two meanings. If the clock is known to count seconds, times
//! are *shown* in this unit. Otherwise, it states the unit that the clock counts. Stored and
//! written times are always in units of the clock.

use meshwork::scenario::Scenario;
use serde::Serialize;

use crate::inputs::start::LogStart;
use crate::statistics::Interval;
use crate::study::Study;

const UNITS: [(&str, f64); 4] =
    [("seconds", 1.0), ("minutes", 60.0), ("hours", 3600.0), ("days", 86_400.0)];

pub const UNIT_NAMES: [&str; 4] = ["seconds", "minutes", "hours", "days"];

/// Unit of the clock of a scenario, and unit in which times are shown.
///
/// The data of a page have this object as `clock`. A time `t` is shown as `t / factor`, in the unit
/// `unit` if it is known. If there is a `start`, `t` is the date `start.unix + t` in seconds since
/// 1970-01-01 UTC. The date is shown `start.offset` seconds ahead of UTC, which is the log's time
/// zone when the log begins.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Clock {
    /// Shown unit: `seconds`, `minutes`, `hours` or `days`; `None` if the clock's unit is unknown.
    pub unit: Option<&'static str>,
    /// Length of the unit in which times are shown, in units of the clock.
    pub factor: f64,
    /// Date at which the clock shows 0; `None` unless the clock is from a log with dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<LogStart>,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { unit: None, factor: 1.0, start: None }
    }
}

impl Clock {
    /// Clock of a scenario. If known, `start` is the date at which the clock of its log or table is
    /// 0.
    pub fn of(study: &Study, scenario: &Scenario, start: Option<&LogStart>) -> Clock {
        let table = scenario.table();
        let workload = &table["workload"];
        let is_log = workload.get("name").and_then(|name| name.as_str()) == Some("swf");
        let asked = UNITS.into_iter().find(|(unit, _)| study.time_unit.as_deref() == Some(unit));
        let has_dates = is_log || start.is_some();
        let is_in_seconds = has_dates || scenario.is_in_seconds();
        let (unit, factor) = match asked {
            Some((unit, seconds)) if is_in_seconds => (Some(unit), seconds),
            Some((unit, _)) => (Some(unit), 1.0),
            None => (is_in_seconds.then_some("seconds"), 1.0),
        };
        // If arrivals are scaled, times of the clock do not correspond to dates.
        let scale = workload.get("arrival_scale").and_then(|scale| scale.as_float());
        let is_as_logged = scale.is_none_or(|scale| scale - 1.0 == 0.0);
        Clock { unit, factor, start: start.filter(|_| is_as_logged).map(LogStart::on_pages) }
    }

    /// Clock for scenarios that are shown side by side. If the units differ, it has neither unit
    /// nor date. If only the dates differ, it has no date.
    pub fn shared(clocks: impl IntoIterator<Item = Clock>) -> Clock {
        let mut clocks = clocks.into_iter();
        let Some(mut shared) = clocks.next() else { return Clock::default() };
        for clock in clocks {
            if clock.unit != shared.unit || clock.factor - shared.factor != 0.0 {
                return Clock::default();
            }
            shared.start = shared.start.filter(|start| clock.start.as_ref() == Some(start));
        }
        shared
    }

    /// Length in seconds of the unit in which times are shown, and local date of time 0.
    ///
    /// The date is in seconds since 1970.
    pub fn seconds(&self) -> Option<(f64, i64)> {
        let start = self.start.as_ref()?;
        let (_, seconds) = UNITS.into_iter().find(|(unit, _)| self.unit == Some(unit))?;
        Some((seconds, start.unix.saturating_add(start.ahead())))
    }

    pub fn unit_seconds(&self) -> Option<f64> {
        let (_, seconds) = UNITS.into_iter().find(|(unit, _)| self.unit == Some(unit))?;
        Some(seconds / self.factor)
    }

    /// Factor that converts a metric's value to the shown unit of time. `unit` is the metric's own
    /// unit, such as `time`.
    pub fn scale(&self, unit: &str) -> f64 {
        match unit {
            "time" => 1.0 / self.factor,
            "jobs per time" => self.factor,
            _ => 1.0,
        }
    }

    /// Converts a metric's value to the unit in which it is shown.
    ///
    /// `unit` is the unit in which the metric is measured, such as `time`.
    pub fn shown(&self, value: Interval, unit: &str) -> Interval {
        let scaled = |number: Option<f64>| number.map(|number| number * self.scale(unit));
        Interval { mean: scaled(value.mean), half_width: scaled(value.half_width), ..value }
    }

    /// Unit of a metric as the label of an axis; `time units` if the unit of the clock is unknown.
    pub fn on_axis(&self, unit: &str) -> String {
        match (self.unit, unit) {
            (None, "time") => "time units".to_owned(),
            (None, "jobs per time") => "jobs per time unit".to_owned(),
            _ => self.unit(unit),
        }
    }

    /// Unit of a metric in words, such as `hours` for `time` and `jobs per hour` for `jobs per
    /// time`.
    pub fn unit(&self, unit: &str) -> String {
        match (self.unit, unit) {
            (Some(own), "time") => own.to_owned(),
            (Some(own), "jobs per time") => format!("jobs per {}", own.trim_end_matches('s')),
            _ => unit.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::expand::expand;
    use crate::tests::study;

    fn clock(workload: &str, unit: &str, start: Option<f64>) -> Clock {
        let text = format!(
            "{unit}\nworkload = {workload}\nmachine = {{ topology = 'flat', processors = 8 }}\nmeasure.jobs = 9"
        );
        let study = study(&text);
        let points = expand(&study).unwrap();
        Clock::of(&study, &points[0].scenario, start.map(LogStart::at).as_ref())
    }

    #[test]
    fn models_of_logs_and_dates_are_in_seconds_and_an_abstract_clock_counts_the_unit() {
        const SYNTHETIC: &str = "{ name = 'synthetic', load = 0.5, sizes = { name = 'uniform', max = 4 }, \
                                 runtimes = { name = 'constant', value = 5.0 } }";
        let hours = "time_unit = 'hours'";
        for (workload, start, factor) in [
            ("{ name = 'swf', path = 'a.swf' }", None, 3600.0),
            ("{ name = 'lublin', jobs = 5 }", None, 3600.0),
            ("{ name = 'jann', jobs = 5 }", None, 3600.0),
            ("{ name = 'cirne_berman', jobs = 5 }", None, 3600.0),
            ("{ name = 'deep_learning', load = 0.5 }", None, 3600.0),
            ("{ name = 'table', path = 'a.csv' }", None, 1.0),
            ("{ name = 'table', path = 'a.csv' }", Some(1e9), 3600.0),
            (SYNTHETIC, None, 1.0),
        ] {
            let own = clock(workload, hours, start);
            assert_eq!((own.unit, own.factor), (Some("hours"), factor), "{workload}");
            assert_eq!(own.start, start.map(LogStart::at));
        }
        let lublin = clock("{ name = 'lublin', jobs = 5 }", "", None);
        assert_eq!((lublin.unit, lublin.on_axis("time").as_str()), (Some("seconds"), "seconds"));
        let abstract_ = clock(SYNTHETIC, "", None);
        assert_eq!((abstract_.unit, abstract_.on_axis("time").as_str()), (None, "time units"));
        let (model, own) = ("{ name = 'lublin', jobs = 5 }", SYNTHETIC);
        let both = [clock(model, hours, None), clock(own, hours, None)];
        assert_eq!(Clock::shared(both), Clock::default(), "hours of one are no hours of the other");
        let alike = [clock(own, hours, None), clock(own, hours, None)];
        assert_eq!(Clock::shared(alike).unit, Some("hours"));
    }
}
