//! Options for choosing the best candidate, as texts from the command line or from Python.

use std::time::Duration;

use meshwork::observe::metrics::MetricEntry;
use meshwork::registry::{did_you_mean, name_of};
use meshwork::scenario::Scenario;
use toml::Value;

use crate::findings::columns::Meanings;
use crate::study::clock::Clock;
use crate::study::expand::{Point, measured};
use crate::study::set::assignment;
use crate::study::{Refused, Study, same};
use crate::text::label;

#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceRequest {
    /// Width of the indifference zone: a percentage such as `2%`, or a number in the metric's unit.
    pub within: String,
    /// Confidence level of the guarantee, such as `95%` or `0.95`.
    pub confidence: String,
    /// Limit on the length of the race: a number of runs, or a time such as `30m`.
    pub budget: Option<String>,
    /// Constraints on metrics, such as `p95_wait <= 4 h`.
    pub constraints: Vec<String>,
    /// Length of the last part of a log that the race must not read, such as `8w` for eight weeks.
    pub hold_out: Option<String>,
    /// Settings `KEY=VALUE` of swept keys that identify one candidate as the baseline.
    pub baseline: Vec<String>,
    /// Metric by which the race compares candidates. `None` stands for the first metric that the
    /// study measures.
    pub metric: Option<String>,
    pub second: Option<String>,
    /// Whether candidates are compared by differences of the metric. Otherwise ratios are compared.
    pub raw: bool,
    pub screen_above: usize,
}

impl Default for ChoiceRequest {
    fn default() -> ChoiceRequest {
        ChoiceRequest {
            within: "2%".to_owned(),
            confidence: "95%".to_owned(),
            budget: None,
            constraints: Vec::new(),
            hold_out: None,
            baseline: Vec::new(),
            metric: None,
            second: None,
            raw: false,
            screen_above: 300,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    Runs(u64),
    Time(Duration),
}

/// Indifference zone: candidates whose difference is at most this amount are regarded as equally
/// good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Within {
    /// Width of the indifference zone, as a fraction of the best candidate's metric.
    Share(f64),
    Units(f64),
}

const UNITS: [(&[&str], f64); 5] = [
    (&["s", "sec", "second", "seconds"], 1.0),
    (&["m", "min", "minute", "minutes"], 60.0),
    (&["h", "hour", "hours"], 3600.0),
    (&["d", "day", "days"], 86_400.0),
    (&["w", "week", "weeks"], 604_800.0),
];

/// Converts a time such as `8w`, `1h30m` or `90` to seconds. `None` if the text is not a time.
fn seconds(text: &str) -> Option<f64> {
    let (mut rest, mut sum) = (text.trim(), 0.0);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().ok()?;
        let after = rest[end..].trim_start();
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        sum += number * unit(&after[..end])?;
        rest = after[end..].trim_start();
    }
    (sum > 0.0 && sum.is_finite()).then_some(sum)
}

/// Length of the time unit `word` in seconds. An empty text means seconds.
fn unit(word: &str) -> Option<f64> {
    let word = if word.is_empty() { "s" } else { word };
    UNITS.iter().find(|(words, _)| words.contains(&word)).map(|(_, seconds)| *seconds)
}

/// Fraction that is written as `2%`, `2 %` or `0.02`; `None` if the text is none of these.
pub fn share(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0),
        None => text.parse().ok(),
    }
    .filter(|share| share.is_finite())
}

impl ChoiceRequest {
    /// Converts the options to arguments of `meshwork choose`. Options with their default value and
    /// the budget are left out.
    pub fn words(&self) -> Vec<String> {
        let plain = ChoiceRequest::default();
        let mut words = Vec::new();
        let mut add = |option: &str, value: &str| {
            words.extend([option.to_owned(), value.to_owned()]);
        };
        for (option, value, default) in [
            ("--within", &self.within, &plain.within),
            ("--confidence", &self.confidence, &plain.confidence),
        ] {
            if value != default {
                add(option, value);
            }
        }
        for (option, values) in
            [("--constraint", &self.constraints), ("--baseline", &self.baseline)]
        {
            values.iter().for_each(|value| add(option, value));
        }
        for (option, value) in
            [("--hold-out", &self.hold_out), ("--metric", &self.metric), ("--second", &self.second)]
        {
            value.iter().for_each(|value| add(option, value));
        }
        if self.screen_above != plain.screen_above {
            add("--screen-above", &self.screen_above.to_string());
        }
        words.extend(self.raw.then(|| "--raw".to_owned()));
        words
    }

    pub(super) fn within(&self) -> Result<Within, Refused> {
        let text = &self.within;
        let given = share(text).filter(|given| *given > 0.0);
        match given {
            Some(units) if self.raw && !text.contains('%') => Ok(Within::Units(units)),
            Some(given) if given < 1.0 => Ok(Within::Share(given)),
            _ => Err(Refused(format!(
                "--within {text}: must be a share above 0 and below 100 %, such as 2%{}",
                if self.raw { ", or a number in units of the metric" } else { "" }
            ))),
        }
    }

    /// Error probability, which is 1 minus the confidence level. The level must be at least 50 %.
    pub(super) fn alpha(&self) -> Result<f64, Refused> {
        let text = &self.confidence;
        share(text).filter(|given| (0.5..1.0).contains(given)).map(|given| 1.0 - given).ok_or_else(
            || {
                Refused(format!(
                    "--confidence {text}: must be at least 50 % and below 100 %, such as 95%"
                ))
            },
        )
    }

    pub fn budget(&self) -> Result<Option<Budget>, Refused> {
        let Some(text) = &self.budget else { return Ok(None) };
        if let Some(runs) = text.parse().ok().filter(|runs| *runs > 0) {
            return Ok(Some(Budget::Runs(runs)));
        }
        let time = seconds(text).and_then(|time| Duration::try_from_secs_f64(time).ok());
        time.map(|time| Some(Budget::Time(time))).ok_or_else(|| {
            Refused(format!(
                "--budget {text}: must be a number of runs, or a time such as 30m or 2h"
            ))
        })
    }

    /// Length in seconds of the held-out last part of a log.
    pub(super) fn hold_out(&self) -> Result<Option<f64>, Refused> {
        let Some(text) = &self.hold_out else { return Ok(None) };
        seconds(text).map(Some).ok_or_else(|| {
            Refused(format!("--hold-out {text}: must be a time such as 8w, 30d or 12h"))
        })
    }

    /// Index of the candidate that is the baseline. The option `--baseline` names it, or else the
    /// study's table `[compare]`.
    pub(super) fn baseline(
        &self,
        study: &Study,
        points: &[Point],
    ) -> Result<Option<usize>, Refused> {
        let mut given: Vec<(String, Value)> = Vec::new();
        for text in &self.baseline {
            let about = |error: Refused| Refused(error.0.replace("--set", "--baseline"));
            let (key, value) = assignment(text).map_err(about)?;
            let key = crate::study::set::plain(&key);
            let Some(axis) = study.sweep.iter().find(|axis| axis.key == key) else {
                let swept: Vec<&str> = study.sweep.iter().map(|axis| axis.key.as_str()).collect();
                return Err(Refused(format!(
                    "--baseline {text}: `{key}` is not swept ({})",
                    did_you_mean(&key, &swept)
                )));
            };
            let named = |own: &&Value| same(own, &value) || name_of(own) == value.as_str();
            let Some(value) = axis.values.iter().find(named) else {
                let values: Vec<String> = axis.values.iter().map(Value::to_string).collect();
                return Err(Refused(format!(
                    "--baseline {text}: must be one of the swept values of `{key}`: {}",
                    values.join(", ")
                )));
            };
            given.push((key, value.clone()));
        }
        let is_of_study = given.is_empty();
        if is_of_study {
            given = study.compare.iter().map(|own| (own.key.clone(), own.value.clone())).collect();
        }
        if given.is_empty() {
            return Ok(None);
        }
        let has = |point: &Point, (key, value): &(String, Value)| {
            point.swept.iter().any(|(own, swept)| own == key && same(swept, value))
        };
        let fits = |index: &usize| given.iter().all(|given| has(&points[*index], given));
        let fitting: Vec<usize> = (0..points.len()).filter(fits).collect();
        match fitting[..] {
            [one] => Ok(Some(one)),
            _ if is_of_study => Ok(None),
            _ => Err(Refused(format!(
                "--baseline {}: {} candidates have it, but the baseline must be one: give a value of every swept key, \
                 such as {}",
                self.baseline.join(" --baseline "),
                fitting.len(),
                fitting.first().map(|&own| label(&points[own].swept)).unwrap_or_default()
            ))),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    pub text: String,
    pub metric: String,
    pub is_upper: bool,
    pub limit: f64,
    /// Factor that converts a number in the unit of the option's text to the unit of the metric. It
    /// is 3,600 for hours if the metric is in seconds.
    pub(super) unit: f64,
    pub(super) unit_name: String,
}

impl Constraint {
    /// Parses a constraint such as `p95_wait <= 4 h` or `utilization >= 80 %`.
    pub(super) fn read(
        text: &str,
        study: &Study,
        scenario: &Scenario,
    ) -> Result<Constraint, Refused> {
        let wrong = |why: String| Refused(format!("--constraint '{text}': {why}"));
        let signs = ["<=", ">=", "<", ">"];
        let sign = signs.iter().find_map(|sign| Some((*sign, text.split_once(sign)?)));
        let Some((sign, (metric, limit))) = sign else {
            return Err(wrong(
                "must be a metric, <= or >=, and a limit, such as 'p95_wait <= 4 h'".to_owned(),
            ));
        };
        let (metric, limit) = (metric.trim().to_owned(), limit.trim());
        must_measure(study, scenario, &metric).map_err(|error| wrong(error.0))?;
        let end = limit.find(|c: char| c.is_ascii_alphabetic() && c != 'e' || c == '%');
        let (number, name) = limit.split_at(end.unwrap_or(limit.len()));
        let name = name.trim();
        let number: f64 =
            number.trim().parse().ok().filter(|n: &f64| n.is_finite()).ok_or_else(|| {
                wrong(format!("`{limit}` is no limit: write a number, as in 4 h or 80 %"))
            })?;
        let is_time = Meanings::of(&study.catalogue).unit(&metric) == "time";
        let length = match name {
            "" => 1.0,
            "%" => 0.01,
            _ if !is_time => {
                return Err(wrong(format!("{metric} is no time, so `{name}` is no unit of it")));
            }
            _ => {
                let seconds = unit(name).ok_or_else(|| {
                    wrong(format!("`{name}` is no unit of time: write s, min, h, d or w"))
                })?;
                let clock = Clock::of(study, scenario, None).unit_seconds();
                let clock = clock.ok_or_else(|| {
                    wrong(format!(
                        "the unit of the study's clock is not known: give `time_unit`, or the limit without `{name}`"
                    ))
                })?;
                seconds / clock
            }
        };
        Ok(Constraint {
            text: text.trim().to_owned(),
            metric,
            is_upper: sign.starts_with('<'),
            limit: number * length,
            unit: length,
            unit_name: name.to_owned(),
        })
    }

    /// Amount by which a value breaks the limit. It is 0 or negative if the value meets the limit.
    pub(super) fn excess(&self, value: f64) -> f64 {
        if self.is_upper { value - self.limit } else { self.limit - value }
    }

    /// Value of a metric, in the user's unit, that exceeds the limit of the metric by `excess`.
    pub(super) fn shown(&self, excess: f64) -> String {
        let value = if self.is_upper { self.limit + excess } else { self.limit - excess };
        let number = crate::text::number::significant(value / self.unit, 4);
        if self.unit_name.is_empty() { number } else { format!("{number} {}", self.unit_name) }
    }
}

pub(super) fn must_measure(
    study: &Study,
    scenario: &Scenario,
    metric: &str,
) -> Result<(), Refused> {
    let all: Vec<&str> =
        study.catalogue.list::<MetricEntry>().iter().map(|entry| entry.about.name).collect();
    if !all.contains(&metric) {
        let says = did_you_mean(metric, &all);
        return Err(Refused(format!("unknown metric `{metric}` ({says})")));
    }
    match measured(scenario) {
        Some(named) if !named.contains(&metric) => Err(Refused(format!(
            "the study does not measure {metric}: add it to `measure.metrics`, which has {}",
            named.join(", ")
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_shares_are_read_as_they_are_written() {
        for (text, expected) in [
            ("8w", 4_838_400.0),
            ("1h30m", 5400.0),
            ("90", 90.0),
            ("4 h", 14_400.0),
            ("2 min", 120.0),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for wrong in ["", "0", "w", "3 fortnights", "-1h", "1..2s"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
        assert_eq!(["2%", "2 %", "0.02"].map(share), [Some(0.02); 3]);
    }

    #[test]
    fn options_that_are_none_get_one_sentence() {
        let with = |change: &dyn Fn(&mut ChoiceRequest)| {
            let mut request = ChoiceRequest::default();
            change(&mut request);
            request
        };
        let refused = [
            with(&|r| r.within = "0%".into()).within().unwrap_err().0,
            with(&|r| r.confidence = "10%".into()).alpha().unwrap_err().0,
            with(&|r| r.budget = Some("some".into())).budget().unwrap_err().0,
            with(&|r| r.hold_out = Some("8x".into())).hold_out().unwrap_err().0,
        ];
        assert_eq!(
            refused,
            [
                "--within 0%: must be a share above 0 and below 100 %, such as 2%",
                "--confidence 10%: must be at least 50 % and below 100 %, such as 95%",
                "--budget some: must be a number of runs, or a time such as 30m or 2h",
                "--hold-out 8x: must be a time such as 8w, 30d or 12h",
            ]
        );
        let raw = with(&|r| (r.raw, r.within) = (true, "30".to_owned()));
        assert_eq!(raw.within().unwrap(), Within::Units(30.0));
        let runs = with(&|r| r.budget = Some("500".into()));
        assert_eq!(runs.budget().unwrap(), Some(Budget::Runs(500)));
    }
}
