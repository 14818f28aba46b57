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
use meshwork::workload::swf::Header;
use serde::{Deserialize, Serialize};

use crate::statistics::Interval;
use crate::study::Study;
use meshwork_slurm::date::written;

const UNITS: [(&str, f64); 4] =
    [("seconds", 1.0), ("minutes", 60.0), ("hours", 3600.0), ("days", 86_400.0)];

pub const UNIT_NAMES: [&str; 4] = ["seconds", "minutes", "hours", "days"];

/// Date at which the clock of a log shows 0, as stated in the log's header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogStart {
    pub unix: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

impl LogStart {
    /// Date that the header of a log states for clock time 0; `None` if it states none.
    #[must_use]
    pub fn of(header: &Header) -> Option<LogStart> {
        let number = |label| -> Option<i64> {
            let word = header.get(label)?.split_whitespace().next()?;
            word.parse().ok()
        };
        let zone = header.get("TimeZoneString").filter(|zone| !zone.is_empty());
        Some(LogStart {
            unix: number("UnixStartTime").filter(|&unix| unix > 0)?,
            offset: number("TimeZone").filter(|offset| offset.abs() < 100_000),
            zone: zone.map(str::to_owned),
        })
    }

    #[must_use]
    pub fn at(unix: f64) -> LogStart {
        LogStart { unix: unix as i64, offset: None, zone: None }
    }

    /// Label of the log's time zone. It is `local time` if only the offset is known, and `UTC`
    /// otherwise.
    #[must_use]
    pub fn place(&self) -> String {
        match (self.offset, &self.zone) {
            (Some(_), Some(zone)) => zone.clone(),
            (Some(_), None) => "local time".to_owned(),
            (None, _) => "UTC".to_owned(),
        }
    }

    /// Date and time of an instant in seconds on the log's clock, in local time if it is known.
    ///
    /// ```
    /// use meshwork_lab::study::clock::LogStart;
    /// let start = LogStart { unix: 749_433_603, offset: None, zone: None };
    /// assert_eq!(start.date(0.0), "1993-10-01 00:00:03 UTC");
    /// let west = LogStart { offset: Some(-28_800), ..start };
    /// assert_eq!(west.date(86_400.0), "1993-10-01 16:00:03");
    /// ```
    #[must_use]
    pub fn date(&self, instant: f64) -> String {
        let seconds =
            self.unix.saturating_add(self.offset.unwrap_or(0)).saturating_add(instant as i64);
        let zone = if self.offset.is_some() { "" } else { " UTC" };
        written(seconds) + zone
    }
}

/// Unit of a scenario's clock, and unit in which times are shown.
///
/// The data of a page call it `clock`. A time `t` is shown as `t / factor`, in `unit`s if the unit
/// is known. If `start` is given, `t` is the date `start.unix + t` in seconds since 1970-01-01 UTC.
/// It is shown in local time, which is `offset` seconds ahead of UTC.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Clock {
    /// Shown unit: `seconds`, `minutes`, `hours` or `days`; `None` if the clock's unit is unknown.
    pub unit: Option<&'static str>,
    /// Number of units of the clock in one unit in which times are shown.
    pub factor: f64,
    /// Date at which the clock shows 0. `None` if the clock is not that of a log with dates.
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
    #[must_use]
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
        Clock { unit, factor, start: start.filter(|_| is_as_logged).cloned() }
    }

    /// Clock for scenarios that are shown side by side. If the units differ, it has neither unit
    /// nor date. If only the dates differ, it has no date.
    #[must_use]
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

    /// Length of the shown unit in seconds, and local date at which the clock is 0. The date is in
    /// seconds since 1970.
    #[must_use]
    pub fn seconds(&self) -> Option<(f64, i64)> {
        let start = self.start.as_ref()?;
        let (_, seconds) = UNITS.into_iter().find(|(unit, _)| self.unit == Some(unit))?;
        Some((seconds, start.unix.saturating_add(start.offset.unwrap_or(0))))
    }

    #[must_use]
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

    /// Converts a metric's value to the shown unit; `unit` is the metric's own, such as `time`.
    #[must_use]
    pub fn shown(&self, value: Interval, unit: &str) -> Interval {
        let scaled = |number: Option<f64>| number.map(|number| number * self.scale(unit));
        Interval { mean: scaled(value.mean), half_width: scaled(value.half_width), ..value }
    }

    /// Unit of a metric as the label of an axis; `time units` if the unit of the clock is unknown.
    #[must_use]
    pub fn on_axis(&self, unit: &str) -> String {
        match (self.unit, unit) {
            (None, "time") => "time units".to_owned(),
            (None, "jobs per time") => "jobs per time unit".to_owned(),
            _ => self.unit(unit),
        }
    }

    /// Unit of a metric in words, such as `hours` for `time` and `jobs per hour` for `jobs per
    /// time`.
    #[must_use]
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
    use std::path::Path;

    use super::*;
    use crate::study::expand::expand;

    fn clock(workload: &str, unit: &str, start: Option<f64>) -> Clock {
        let text = format!(
            "{unit}\nworkload = {workload}\nmachine = {{ topology = 'flat', processors = 8 }}\nmeasure.jobs = 9"
        );
        let study = Study::parse("a.toml", &text, Path::new(""), &[]).unwrap();
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

    #[test]
    fn the_header_says_when_a_log_begins() {
        let header = |text: &[&str]| {
            let mut header = Header::default();
            text.iter().for_each(|line| header.add(line));
            LogStart::of(&header)
        };
        let zone = Some("US/Pacific".to_owned());
        assert_eq!(
            header(&[
                " UnixStartTime: 749454003",
                " TimeZone: -28800",
                " TimeZoneString: US/Pacific"
            ]),
            Some(LogStart { unix: 749_454_003, offset: Some(-28_800), zone })
        );
        assert_eq!(header(&[" UnixStartTime: 0"]), None, "0 is what logs say that do not know");
        assert_eq!(header(&[" TimeZone: 3600"]), None);
    }
}
