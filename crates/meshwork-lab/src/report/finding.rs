//! What a study found, in one sentence: which is lowest, and by how much.

use serde::Serialize;

use super::axes::Axis;
use super::figures::{claimed, every, index, title, word};
use super::sample::{compared, held};
use crate::findings::columns::value;
use crate::findings::number::Rounded;
use crate::findings::paired;
use crate::findings::statistics::Interval;
use crate::findings::summary::Summary;
use crate::run::Results;
use crate::study::Study;

/// What is the better the more there is of it.
const HIGHEST: [&str; 5] =
    ["utilization", "throughput", "carried_load", "jain_slowdown", "jain_wait"];

/// A sentence for the top of a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The sentence.
    pub text: String,
    /// Whether the intervals bear it.
    pub is_clear: bool,
}

/// How the best of some scenarios stands to the one after it.
struct Lead {
    best: usize,
    next: usize,
    /// The best minus the next on the same jobs, as a share of the next, in percent.
    share: Interval,
}

impl Lead {
    fn is_clear(&self) -> bool {
        self.share.excludes_zero()
    }
}

/// The scenarios that differ in one key only.
struct Contest<'a> {
    study: &'a Study,
    results: &'a Results,
    summary: &'a Summary,
    metric: &'a str,
    is_highest: bool,
}

/// The sentence, where values of some key are compared and have been measured.
pub(super) fn finding(
    study: &Study,
    summary: &Summary,
    results: &Results,
    metrics: &[String],
) -> Option<Finding> {
    let axes = Axis::all(study);
    let compared = compared(&axes)?;
    let metric = claimed(study).into_iter().find(|metric| metrics.contains(metric));
    let metric = metric.as_ref().or_else(|| metrics.first())?;
    let is_highest = HIGHEST.contains(&metric.as_str());
    let contest = Contest { study, results, summary, metric, is_highest };
    let others: Vec<usize> =
        (0..axes.len()).filter(|&i| i != compared && axes[i].count() > 1).collect();
    let scenarios = |fixed: &[usize]| -> Vec<usize> {
        let of = |value: usize| {
            let mut at = fixed.to_vec();
            at[compared] = value;
            index(&axes, &at)
        };
        (0..axes[compared].count()).map(of).collect()
    };
    let told = held(&axes, compared);
    let among = scenarios(&told);
    let lead = contest.lead(&among)?;
    let name = |scenario: usize| {
        let place = among.iter().position(|&other| other == scenario).unwrap_or_default();
        axes[compared].labels[place].clone()
    };
    let place: Vec<String> = others
        .iter()
        .map(|&axis| format!("{} = {}", word(&axes[axis].key), axes[axis].labels[told[axis]]))
        .collect();
    let mut text = contest.sentence(&lead, &among, &name);
    if !place.is_empty() {
        text = format!("At {}: {}{}", place.join(", "), text[..1].to_lowercase(), &text[1..]);
        text += &contest.elsewhere(
            &lead,
            &among,
            &name,
            every(&axes, &others).map(|at| scenarios(&at)),
        );
    }
    Some(Finding { text, is_clear: lead.is_clear() })
}

impl Contest<'_> {
    fn mean(&self, scenario: usize) -> Option<f64> {
        value(&self.summary.rows.get(scenario)?.metrics, self.metric).mean
    }

    /// One minus the other, in percent of the other.
    fn share(&self, one: usize, other: usize) -> Option<Interval> {
        let found = paired(self.study, self.results, one, other);
        let (_, difference, _) = found.into_iter().find(|(name, ..)| name == self.metric)?;
        let base = self.mean(other).filter(|base| *base != 0.0)?;
        let percent = |part: f64| 100.0 * part / base.abs();
        Some(Interval {
            mean: difference.mean.map(percent),
            half_width: difference.half_width.map(percent),
            ..difference
        })
    }

    /// Scenarios with a mean, the best first.
    fn ranked(&self, among: &[usize]) -> Vec<usize> {
        let mut ranked: Vec<(f64, usize)> =
            among.iter().filter_map(|&scenario| Some((self.mean(scenario)?, scenario))).collect();
        let sign = if self.is_highest { -1.0 } else { 1.0 };
        ranked.sort_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)));
        ranked.into_iter().map(|(_, scenario)| scenario).collect()
    }

    /// None where fewer than two were measured, or the next is 0.
    fn lead(&self, among: &[usize]) -> Option<Lead> {
        let [best, next, ..] = self.ranked(among)[..] else { return None };
        Some(Lead { best, next, share: self.share(best, next)? })
    }

    fn extreme(&self) -> &'static str {
        if self.is_highest { "highest" } else { "lowest" }
    }

    fn sentence(&self, lead: &Lead, among: &[usize], name: &dyn Fn(usize) -> String) -> String {
        let metric = title(self.metric).to_lowercase();
        let (best, next) = (name(lead.best), name(lead.next));
        let (extreme, side) =
            if self.is_highest { ("Highest", "above") } else { ("Lowest", "below") };
        let after = if among.len() > 2 { ", the next" } else { "" };
        let by = percent(&lead.share);
        if lead.share.half_width.is_none() {
            return format!(
                "{extreme} {metric}: {best}, {by} {side} {next}{after}. There are too few runs to say how certain that is."
            );
        }
        if lead.is_clear() {
            return format!("{extreme} {metric}: {best}, {by} {side} {next}{after}.");
        }
        // The first whom the best clearly beats.
        let beaten = self.ranked(among).into_iter().skip(2).find_map(|other| {
            let share = self.share(lead.best, other)?;
            share
                .excludes_zero()
                .then(|| format!(" {best} is {} {side} {}.", percent(&share), name(other)))
        });
        let beaten = beaten.unwrap_or_default();
        format!(
            "No {} {metric} can be told: {best} is {by} {side} {next}, which may be chance.{beaten}",
            extreme.to_lowercase()
        )
    }

    /// In how many of the other settings the same one leads.
    fn elsewhere(
        &self,
        lead: &Lead,
        among: &[usize],
        name: &dyn Fn(usize) -> String,
        settings: impl Iterator<Item = Vec<usize>>,
    ) -> String {
        let place = among.iter().position(|&scenario| scenario == lead.best);
        let (mut all, mut own, mut clear) = (0, 0, 0);
        for scenarios in settings {
            let Some(other) = self.lead(&scenarios) else { continue };
            all += 1;
            let is_same = scenarios.iter().position(|&scenario| scenario == other.best) == place;
            own += usize::from(is_same);
            clear += usize::from(is_same && other.is_clear());
        }
        if all < 2 {
            return String::new();
        }
        let extreme = self.extreme();
        let certain = match clear {
            0 => ", nowhere clearly".to_owned(),
            _ if clear == own => ", clearly".to_owned(),
            _ => format!(", clearly at {clear}"),
        };
        format!(" {} is {extreme} at {own} of {all} settings{certain}.", name(lead.best))
    }
}

/// `12 ± 3 %`, without its sign.
fn percent(share: &Interval) -> String {
    let rounded = Rounded::new(share.mean.map(f64::abs), share.half_width);
    match rounded.half_width {
        Some(half) => format!("{} ± {half} %", rounded.mean),
        None => format!("{} %", rounded.mean),
    }
}
