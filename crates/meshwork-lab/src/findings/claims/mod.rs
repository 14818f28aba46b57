//! Verdicts on the claims of a paper, computed from the runs of a study.
//!
//! A claim says how a metric of some scenarios, the judged ones, relates to a bound or to the
//! metric of reference scenarios. It fixes the values of some swept keys. Each combination of the
//! values of the other swept keys is a *cell*, in which the claim is tested. In a cell,
//! replications are compared pairwise, since they have the same jobs, and the 95 % interval of the
//! difference decides: the claim holds if the whole interval is on the right side of the bound,
//! fails if it is on the wrong side, and is open if the interval contains the bound. With one
//! replication, or if the claim says so, means alone decide.
//!
//! | file | columns |
//! |---|---|
//! | `claims.csv` | `claim, source, metric, verdict, needed, hold, fail, open, detail` |

mod reason;

use std::fmt;
use std::path::Path;

use serde_json::{Value as Json, json};
use toml::Value;

use crate::files::write_whole;
use crate::run::Results;
use crate::statistics::{half_width, mean};
use crate::study::expand::Point;
use crate::study::{
    ClaimCheck, Needed, PaperClaim, Refused, Relation, Study, SweptValues, Test, same,
};
use crate::text::number::trimmed;
use crate::text::visible::visible;
use crate::text::{label, swept_json};
use meshwork_slurm::cell::written;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClaimVerdict {
    BorneOut,
    /// The claim cannot hold in enough cells, even if it held in all cells that are still open.
    NotBorneOut,
    /// Undecided: whether the claim holds in enough cells depends on the cells that are still open.
    Undecided,
    NotCheckable,
}

impl fmt::Display for ClaimVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ClaimVerdict::BorneOut => "borne out",
            ClaimVerdict::NotBorneOut => "not borne out",
            ClaimVerdict::Undecided => "undecided",
            ClaimVerdict::NotCheckable => "not checkable",
        })
    }
}

/// Verdict on a claim in one cell, from the worst to the best. A cell is a combination of swept
/// values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CellState {
    No,
    Open,
    Yes,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ClaimCell {
    pub at: SweptValues,
    pub holds: CellState,
    /// Size of the jobs that are judged. `None` if jobs of all sizes count.
    pub size: Option<u64>,
    /// Mean of the metric in the judged scenario. For a trend along a key, it is the mean at the
    /// key's last value.
    pub of: Option<f64>,
    /// Mean of the metric in the reference scenario, or in the best of the other scenarios. For a
    /// trend along a key, it is the mean at the key's first value.
    pub to: Option<f64>,
    pub by_difference: bool,
}

impl ClaimCell {
    /// Ratio of the two compared means, or their difference if the claim is about a difference.
    ///
    /// It is `None` if a mean is unknown, or if the ratio would divide by 0.
    pub fn comparison(&self) -> Option<f64> {
        let (of, to) = (self.of?, self.to?);
        if self.by_difference { Some(of - to) } else { (to.abs() > 0.0).then(|| of / to) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub claim: PaperClaim,
    pub verdict: ClaimVerdict,
    pub needed: u64,
    pub cells: Vec<ClaimCell>,
    pub why: Option<String>,
}

impl Judgement {
    pub fn count(&self, holds: CellState) -> u64 {
        self.cells.iter().filter(|cell| cell.holds == holds).count() as u64
    }

    /// JSON object with the claim, its verdict, and the result in each cell (combination of swept
    /// values).
    pub fn json(&self) -> Json {
        let cell = |cell: &ClaimCell| {
            let at = swept_json(&cell.at);
            let holds = match cell.holds {
                CellState::Yes => Json::Bool(true),
                CellState::No => Json::Bool(false),
                CellState::Open => Json::Null,
            };
            json!({ "at": at, "size": cell.size, "holds": holds, "of": cell.of, "to": cell.to })
        };
        json!({
            "claim": self.claim.text,
            "source": self.claim.source,
            "verdict": self.verdict.to_string(),
            "needed": self.needed,
            "hold": self.count(CellState::Yes),
            "fail": self.count(CellState::No),
            "open": self.count(CellState::Open),
            "why": self.why,
            "cells": self.cells.iter().map(cell).collect::<Vec<Json>>(),
        })
    }

    /// Formats the result in one cell: `0.41 times (21.3 against 52) at workload.load = 0.4`.
    pub fn words(cell: &ClaimCell) -> String {
        let mut at = label(&cell.at);
        if let Some(size) = cell.size {
            let comma = if at.is_empty() { "" } else { ", " };
            at = format!("{at}{comma}size {size}");
        }
        let at = if at.is_empty() { at } else { format!(" at {at}") };
        match (cell.of, cell.to, cell.comparison()) {
            (Some(of), Some(to), Some(compared)) => {
                let unit = match compared < 0.0 {
                    _ if !cell.by_difference => "times",
                    true => "less",
                    false => "more",
                };
                let size = digits(if cell.by_difference { compared.abs() } else { compared });
                format!("{size} {unit} ({} against {}){at}", digits(of), digits(to))
            }
            (Some(of), Some(to), None) => format!("{} against {}{at}", digits(of), digits(to)),
            (Some(of), None, _) => format!("{}{at}", digits(of)),
            (None, ..) => format!("nothing measured{at}"),
        }
    }
}

fn digits(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let places = (3 - number.abs().log10().floor() as i32).clamp(0, 9) as usize;
    trimmed(format!("{number:.places$}"))
}

pub fn judge(study: &Study, points: &[Point], results: &Results) -> Vec<Judgement> {
    let court = Court { points, results, is_whole: !study.sets_sweep() };
    study.claims.iter().map(|claim| court.judge(claim)).collect()
}

/// Judgements of all claims of a study that was not run. The text `why` gives the reason.
pub fn unchecked(study: &Study, why: &str) -> Vec<Judgement> {
    let judgement = |claim: &PaperClaim| match &claim.check {
        ClaimCheck::No(own) => not_checkable(claim, own.clone()),
        ClaimCheck::Cells(_) => not_checkable(claim, why.to_owned()),
    };
    study.claims.iter().map(judgement).collect()
}

fn not_checkable(claim: &PaperClaim, why: String) -> Judgement {
    Judgement {
        claim: claim.clone(),
        verdict: ClaimVerdict::NotCheckable,
        needed: 0,
        cells: Vec::new(),
        why: Some(why),
    }
}

pub fn write(judgements: &[Judgement], folder: &Path) -> Result<(), Refused> {
    let path = folder.join("claims.csv");
    if judgements.is_empty() {
        drop(std::fs::remove_file(path));
        return Ok(());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let to_memory = "a table in memory can always be written";
    let header =
        ["claim", "source", "metric", "verdict", "needed", "hold", "fail", "open", "detail"];
    writer.write_record(header).expect(to_memory);
    for judgement in judgements {
        let metric = match &judgement.claim.check {
            ClaimCheck::Cells(test) => test.metric.as_str(),
            ClaimCheck::No(_) => "",
        };
        let cells: Vec<String> = judgement.cells.iter().map(Judgement::words).collect();
        let detail = judgement.why.clone().unwrap_or_else(|| cells.join("; "));
        let count = |holds| judgement.count(holds).to_string();
        let row = [
            judgement.claim.text.clone(),
            judgement.claim.source.clone().unwrap_or_default(),
            metric.to_owned(),
            judgement.verdict.to_string(),
            judgement.needed.to_string(),
            count(CellState::Yes),
            count(CellState::No),
            count(CellState::Open),
            detail,
        ];
        let row = row.iter().map(|cell| written(&visible(cell)).into_owned());
        writer.write_record(row).expect(to_memory);
    }
    let text = writer.into_inner().expect(to_memory);
    write_whole(&path, &text).map_err(Refused::from)
}

/// Test of a claim, limited to jobs of certain sizes; `None` stands for all sizes.
///
/// `of_size` applies to the judged scenario, `to_size` to the reference.
struct Ask<'a> {
    test: &'a Test,
    of_size: Option<u64>,
    to_size: Option<u64>,
}

struct Court<'a> {
    points: &'a [Point],
    results: &'a Results,
    /// Whether the sweep is as in the study file, unchanged by any setting.
    is_whole: bool,
}

type Measured = (u64, f64);

/// Replication number that stands for all replications of a scenario, if their results are
/// identical.
const EVERY: u64 = u64::MAX;

impl Court<'_> {
    fn judge(&self, claim: &PaperClaim) -> Judgement {
        let not_checkable = |why| not_checkable(claim, why);
        let test = match &claim.check {
            ClaimCheck::No(why) => return not_checkable(why.clone()),
            ClaimCheck::Cells(test) => test,
        };
        let mut cells = Vec::new();
        if test.sizes.is_empty() {
            cells.extend(self.cells(test, None));
        }
        for &sizes in &test.sizes {
            let of_size = self.cells(test, Some(sizes));
            cells.extend(of_size.into_iter().map(|cell| ClaimCell { size: Some(sizes.0), ..cell }));
        }
        if cells.is_empty() {
            return not_checkable("the sweep as it was run has none of its scenarios".to_owned());
        }
        if cells.iter().all(|cell| cell.of.is_none()) {
            return not_checkable(format!("no run measured {}", test.metric));
        }
        let mut judgement = Judgement {
            claim: claim.clone(),
            verdict: ClaimVerdict::Undecided,
            needed: test.needed.of(cells.len() as u64),
            cells,
            why: None,
        };
        let (hold, open) = (judgement.count(CellState::Yes), judgement.count(CellState::Open));
        if judgement.needed > judgement.cells.len() as u64 {
            judgement.verdict = ClaimVerdict::NotCheckable;
            judgement.why = Some(format!(
                "it is about {} scenarios, and the sweep as it was run has {}",
                judgement.needed,
                judgement.cells.len()
            ));
        } else if hold >= judgement.needed {
            judgement.verdict = ClaimVerdict::BorneOut;
        } else if hold + open < judgement.needed {
            judgement.verdict = ClaimVerdict::NotBorneOut;
            if !self.is_whole && matches!(test.needed, Needed::AtLeast(2..)) {
                judgement.verdict = ClaimVerdict::NotCheckable;
                judgement.why = Some(format!(
                    "it counts scenarios of the whole sweep, and the sweep as it was run has {}",
                    judgement.cells.len()
                ));
            }
        }
        judgement
    }

    fn cells(&self, test: &Test, sizes: Option<(u64, u64)>) -> Vec<ClaimCell> {
        let ask =
            Ask { test, of_size: sizes.map(|pair| pair.0), to_size: sizes.map(|pair| pair.1) };
        match &test.relation {
            Relation::Bounds { of, to, above, below, by_difference } => {
                self.bounds(&ask, of, to.as_ref(), (*above, *below), *by_difference)
            }
            Relation::Extreme { of, lowest, within } => self.extreme(&ask, of, *lowest, *within),
            Relation::Trend { of, to, along, rises } => {
                self.trend(&ask, of, to.as_ref(), along, *rises)
            }
        }
    }

    fn bounds(
        &self,
        ask: &Ask<'_>,
        of: &SweptValues,
        to: Option<&SweptValues>,
        (above, below): (Option<f64>, Option<f64>),
        by_difference: bool,
    ) -> Vec<ClaimCell> {
        let cell = |index: usize| {
            let ours = self.ours(index, ask);
            // A claim without a reference compares the metric with 1.
            let theirs = match to {
                None => ours.iter().map(|&(replication, _)| (replication, 1.0)).collect(),
                Some(to) => self.theirs(self.partner(index, to)?, ask),
            };
            let side = |bound: f64, sign: f64| {
                let beyond =
                    |a: f64, b: f64| if by_difference { a - b - bound } else { a - bound * b };
                let differences = paired(&ours, &theirs, |a, b| sign * beyond(a, b));
                is_positive(&differences, ask.test.by_means)
            };
            let sides = [above.map(|bound| side(bound, 1.0)), below.map(|bound| side(bound, -1.0))];
            Some(ClaimCell {
                at: self.place(index, ask.test, of),
                size: None,
                holds: both(sides.into_iter().flatten()),
                of: mean_of(&ours),
                to: to.and_then(|_| mean_of(&theirs)),
                by_difference,
            })
        };
        self.judged(ask.test, of).filter_map(cell).collect()
    }

    fn extreme(
        &self,
        ask: &Ask<'_>,
        of: &SweptValues,
        lowest: bool,
        within: f64,
    ) -> Vec<ClaimCell> {
        let cell = |index: usize| {
            let ours = self.ours(index, ask);
            let rivals: Vec<Vec<Measured>> =
                self.rivals(index, of).map(|rival| self.theirs(rival, ask)).collect();
            let side = |theirs: &Vec<Measured>| {
                let slack = if lowest { 1.0 + within } else { 1.0 - within };
                let sign = if lowest { 1.0 } else { -1.0 };
                let differences = paired(&ours, theirs, |a, b| sign * (slack * b - a));
                if ask.test.by_means {
                    is_not_negative(&differences)
                } else {
                    is_positive(&differences, false)
                }
            };
            let best = rivals.iter().filter_map(|values| mean_of(values));
            let best = if lowest { best.reduce(f64::min) } else { best.reduce(f64::max) };
            ClaimCell {
                at: self.place(index, ask.test, of),
                size: None,
                holds: both(rivals.iter().map(side)),
                of: mean_of(&ours),
                to: best,
                by_difference: false,
            }
        };
        self.judged(ask.test, of).map(cell).collect()
    }

    fn trend(
        &self,
        ask: &Ask<'_>,
        of: &SweptValues,
        to: Option<&SweptValues>,
        along: &str,
        rises: bool,
    ) -> Vec<ClaimCell> {
        let quotient = |index: usize| -> Vec<Measured> {
            let ours = self.ours(index, ask);
            match to {
                None => ours,
                Some(to) => match self.partner(index, to) {
                    None => Vec::new(),
                    Some(partner) => {
                        let theirs = self.theirs(partner, ask);
                        let of_theirs = matches!(ours[..], [(EVERY, _)]);
                        let replications = if of_theirs { &theirs } else { &ours };
                        let both = |&(replication, _): &Measured| {
                            let a = of_replication(&ours, replication)?;
                            let b = of_replication(&theirs, replication)?;
                            (b.abs() > 0.0).then(|| (replication, a / b))
                        };
                        replications.iter().filter_map(both).collect()
                    }
                },
            }
        };
        let mut of_all: Vec<usize> = self.judged(ask.test, of).collect();
        let mut cells = Vec::new();
        while let Some(&first) = of_all.first() {
            let is_alike = |&other: &usize| self.are_alike(first, other, |key| key == along);
            let line: Vec<usize> = of_all.iter().copied().filter(is_alike).collect();
            of_all.retain(|index| !line.contains(index));
            if line.len() < 2 {
                continue; // one point has no trend
            }
            let (start, end) = (quotient(first), quotient(line[line.len() - 1]));
            let sign = if rises { 1.0 } else { -1.0 };
            let differences = paired(&end, &start, |a, b| sign * (a - b));
            let mut at = self.place(first, ask.test, of);
            at.retain(|(key, _)| key != along);
            let holds = is_positive(&differences, ask.test.by_means);
            let (of, to) = (mean_of(&end), mean_of(&start));
            cells.push(ClaimCell { at, size: None, holds, of, to, by_difference: false });
        }
        cells
    }

    /// Scenarios that the claim judges: those with the swept values `of`. A key that is in
    /// `test.only` but not in `of` must have one of the values listed in `test.only`.
    fn judged<'b>(
        &'b self,
        test: &'b Test,
        of: &'b SweptValues,
    ) -> impl Iterator<Item = usize> + 'b {
        (0..self.points.len()).filter(move |&index| {
            let swept = &self.points[index].swept;
            let has = |key: &str, wanted: &Value| {
                swept.iter().any(|(own, value)| own == key && same(value, wanted))
            };
            of.iter().all(|(key, value)| has(key, value))
                && test.only.iter().all(|(key, values)| {
                    // A value in `of` takes precedence over `where`.
                    of.iter().any(|(own, _)| own == key)
                        || values.iter().any(|value| has(key, value))
                })
        })
    }

    /// Index of the reference scenario, equal to scenario `index` except for the swept values in
    /// `to`.
    ///
    /// `None` if there is none.
    fn partner(&self, index: usize, to: &SweptValues) -> Option<usize> {
        let swept = &self.points[index].swept;
        self.points.iter().position(|other| {
            other.swept.iter().zip(swept).all(|((key, theirs), (_, ours))| {
                let wanted = to.iter().find(|(own, _)| own == key).map_or(ours, |(_, value)| value);
                same(theirs, wanted)
            })
        })
    }

    /// Scenarios that may differ from scenario `index` only in the swept keys that `of` contains.
    fn rivals<'b>(&'b self, index: usize, of: &'b SweptValues) -> impl Iterator<Item = usize> + 'b {
        let is_judged = |key: &str| of.iter().any(|(own, _)| own == key);
        (0..self.points.len())
            .filter(move |&other| other != index && self.are_alike(index, other, is_judged))
    }

    /// Whether two scenarios have the same values of all swept keys, except for some keys.
    fn are_alike(&self, a: usize, b: usize, may_differ: impl Fn(&str) -> bool) -> bool {
        let mut swept = self.points[a].swept.iter().zip(&self.points[b].swept);
        swept.all(|((key, ours), (_, theirs))| may_differ(key) || same(ours, theirs))
    }

    /// Values of a scenario in the swept keys that the claim leaves open. They identify a cell of
    /// the claim.
    fn place(&self, index: usize, test: &Test, of: &SweptValues) -> SweptValues {
        let is_open = |key: &str| {
            let one = test.only.iter().any(|(own, values)| own == key && values.len() == 1);
            !one && !of.iter().any(|(own, _)| own == key)
        };
        self.points[index].swept.iter().filter(|(key, _)| is_open(key)).cloned().collect()
    }

    fn ours(&self, index: usize, ask: &Ask<'_>) -> Vec<Measured> {
        self.values(index, &ask.test.metric, ask.of_size)
    }

    fn theirs(&self, index: usize, ask: &Ask<'_>) -> Vec<Measured> {
        self.values(index, &ask.test.metric, ask.to_size)
    }

    fn values(&self, index: usize, metric: &str, size: Option<u64>) -> Vec<Measured> {
        let runs = &self.results.runs[index];
        let mut measured: Vec<Measured> = match size {
            None => runs.measured(metric).collect(),
            Some(size) => runs.measured_of_size(size, metric),
        };
        if self.results.is_constant(index) {
            measured.iter_mut().for_each(|(replication, _)| *replication = EVERY);
        }
        measured
    }
}

fn mean_of(values: &[Measured]) -> Option<f64> {
    mean(&values.iter().map(|(_, value)| *value).collect::<Vec<f64>>())
}

fn paired(
    ours: &[Measured],
    theirs: &[Measured],
    difference: impl Fn(f64, f64) -> f64,
) -> Vec<f64> {
    if let &[(EVERY, a)] = ours {
        return theirs.iter().map(|&(_, b)| difference(a, b)).collect();
    }
    let both =
        |&(replication, a): &Measured| Some(difference(a, of_replication(theirs, replication)?));
    ours.iter().filter_map(both).collect()
}

/// Value of the metric in a replication. `None` if the replication did not measure it.
fn of_replication(values: &[Measured], replication: u64) -> Option<f64> {
    if let &[(EVERY, value)] = values {
        return Some(value);
    }
    let place = values.binary_search_by_key(&replication, |(other, _)| *other).ok()?;
    Some(values[place].1)
}

/// Tests the claim that a mean difference is above 0. The 95 % interval of the difference decides,
/// or the mean alone if `by_means`.
fn is_positive(differences: &[f64], by_means: bool) -> CellState {
    let Some(mean) = mean(differences) else { return CellState::Open };
    let half = if by_means { None } else { half_width(differences) };
    let half = half.unwrap_or(0.0);
    if mean - half > 0.0 {
        CellState::Yes
    } else if mean + half < 0.0 || half <= 0.0 {
        CellState::No
    } else {
        CellState::Open
    }
}

/// Tests the claim that a mean difference is at least 0. The mean alone decides.
fn is_not_negative(differences: &[f64]) -> CellState {
    match mean(differences) {
        None => CellState::Open,
        Some(mean) if mean >= 0.0 => CellState::Yes,
        Some(_) => CellState::No,
    }
}

/// State of a claim in a cell, from the states of its conditions. If one fails, the claim fails.
fn both(parts: impl Iterator<Item = CellState>) -> CellState {
    parts.min().unwrap_or(CellState::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;
    use crate::run::store::{RunFindings, RunMetric, SizeFindings};
    use crate::study::expand::expand;
    use crate::tests::study_with;

    const STUDY: &str = "[machine]\ntopology = 'flat'\nprocessors = 4\n\
        [workload]\nname = 'synthetic'\nsizes = 'uniform'\n\
        runtimes = { name = 'exponential', mean = 5.0 }\n[measure]\njobs = 10\n\
        [sweep]\nscheduler = ['fcfs', 'sjf', 'easy']\n'workload.load' = [0.5, 1]\n";

    fn finding(wait: f64) -> RunMetric {
        RunMetric::new("wait", (!wait.is_nan()).then_some(wait), Vec::new())
    }

    fn judged(claim: &str) -> Judgement {
        judged_with(&[], claim, &WAITS)
    }

    fn verdict(claim: &str) -> ClaimVerdict {
        judged(claim).verdict
    }

    fn judged_with(settings: &[&str], claim: &str, waits: &[&[f64]]) -> Judgement {
        let text = format!("{STUDY}[[claim]]\ntext = 't'\nmetric = 'wait'\n{claim}");
        let study = study_with(&text, settings).unwrap();
        let run = |(replication, &wait): (usize, &f64)| Run {
            key: String::new(),
            replication: replication as u64,
            result: Ok(RunFindings {
                metrics: vec![finding(wait)],
                // Jobs of size 4 wait twice as long as those of size 1.
                by_size: [(1, 1.0), (4, 2.0)]
                    .map(|(size, times)| SizeFindings {
                        size,
                        jobs: 1,
                        metrics: vec![finding(times * wait)],
                    })
                    .to_vec(),
                finished: 1,
                end: 1.0,
                ..RunFindings::default()
            }),
        };
        let runs =
            waits.iter().map(|values| values.iter().enumerate().map(run).collect()).collect();
        let results = Results { runs, ..Results::default() };
        judge(&study, &expand(&study).unwrap(), &results).remove(0)
    }

    /// Mean waits of fcfs, sjf and easy at load 0.5 and 1, in three replications each.
    const WAITS: [&[f64]; 6] = [
        &[10.0, 12.0, 11.0],
        &[20.0, 26.0, 23.0],
        &[5.0, 6.1, 5.6],
        &[19.0, 27.0, 23.5],
        &[5.1, 6.0, 5.5],
        &[8.0, 9.0, 10.0],
    ];

    #[test]
    fn a_ratio_is_judged_replication_by_replication() {
        let claim = "of = { scheduler = 'sjf' }\nto = { scheduler = 'fcfs' }\nbelow = 0.7\n";
        let judgement = judged(&format!("{claim}where = {{ 'workload.load' = 0.5 }}"));
        assert_eq!((judgement.verdict, judgement.needed), (ClaimVerdict::BorneOut, 1));
        assert_eq!(Judgement::words(&judgement.cells[0]), "0.5061 times (5.567 against 11)");
        let everywhere = judged(claim);
        assert_eq!(everywhere.verdict, ClaimVerdict::NotBorneOut);
        assert_eq!((everywhere.count(CellState::Yes), everywhere.count(CellState::No)), (1, 1));
        assert_eq!(everywhere.cells[1].at, [("workload.load".to_owned(), Value::Integer(1))]);
        assert_eq!(verdict(&format!("{claim}in = 'any'")), ClaimVerdict::BorneOut);
        let close = "of = { scheduler = 'sjf' }\nto = { scheduler = 'fcfs' }\nbelow = 1\n\
                     where = { 'workload.load' = 1 }\n";
        assert_eq!(verdict(close), ClaimVerdict::Undecided, "the interval contains 1");
        let by_means = judged(&format!("{close}decide = 'means'"));
        assert_eq!(by_means.verdict, ClaimVerdict::NotBorneOut);
    }

    #[test]
    fn a_metric_alone_is_judged_by_its_own_interval() {
        let claim =
            |bounds: &str| format!("of = {{ scheduler = 'easy', 'workload.load' = 1 }}\n{bounds}");
        assert_eq!(verdict(&claim("above = 5")), ClaimVerdict::BorneOut);
        assert_eq!(verdict(&claim("above = 8")), ClaimVerdict::Undecided);
        assert_eq!(verdict(&claim("above = 1\nbelow = 5")), ClaimVerdict::NotBorneOut);
    }

    #[test]
    fn the_lowest_of_all_is_found() {
        let judgement = judged("lowest = { scheduler = 'easy' }");
        let holds: Vec<CellState> = judgement.cells.iter().map(|cell| cell.holds).collect();
        assert_eq!(holds, [CellState::Open, CellState::Yes]);
        assert_eq!(judgement.verdict, ClaimVerdict::Undecided);
        let counted = judged("lowest = { scheduler = 'sjf' }\ndecide = 'means'\nin = 1");
        assert_eq!(
            (counted.verdict, counted.count(CellState::Yes)),
            (ClaimVerdict::NotBorneOut, 0)
        );
        let within = "lowest = { scheduler = 'sjf' }\ndecide = 'means'\nwithin = 0.005\nin = 1";
        assert_eq!(judged(within).count(CellState::Yes), 0);
        let within = within.replace("0.005", "0.01");
        assert_eq!(verdict(&within), ClaimVerdict::BorneOut);
        let highest = "highest = { scheduler = 'fcfs' }\nwhere = { workload.load = 0.5 }";
        assert_eq!(verdict(highest), ClaimVerdict::BorneOut);
    }

    #[test]
    fn a_trend_is_judged_from_its_first_point_to_its_last() {
        let rises = "of = { scheduler = 'easy' }\nalong = 'workload.load'";
        assert_eq!(verdict(rises), ClaimVerdict::BorneOut);
        let ratio =
            "of = { scheduler = 'sjf' }\nto = { scheduler = 'fcfs' }\nalong = 'workload.load'\n";
        let judgement = judged(ratio);
        assert_eq!(judgement.verdict, ClaimVerdict::BorneOut);
        assert!(judgement.cells[0].of.unwrap() > judgement.cells[0].to.unwrap());
        let falls = judged(&format!("{ratio}trend = 'falls'"));
        assert_eq!(falls.verdict, ClaimVerdict::NotBorneOut);
    }

    #[test]
    fn jobs_of_a_size_are_judged_by_themselves() {
        let claim = "of = { scheduler = 'easy' }\nsizes = [1, 4]\nbelow = 12";
        let judgement = judged(claim);
        let found: Vec<(Option<u64>, CellState)> =
            judgement.cells.iter().map(|cell| (cell.size, cell.holds)).collect();
        let (yes, no) = (CellState::Yes, CellState::No);
        assert_eq!(
            found,
            [(Some(1), yes), (Some(1), yes), (Some(4), CellState::Open), (Some(4), no)]
        );
        let claim =
            "of = { scheduler = 'fcfs' }\nsizes = [4]\nthan_size = 1\nabove = 1.9\nbelow = 2.1";
        let judgement = judged(claim);
        assert_eq!(judgement.verdict, ClaimVerdict::BorneOut);
        assert_eq!(
            Judgement::words(&judgement.cells[0]),
            "2 times (22 against 11) at workload.load = 0.5, size 4"
        );
    }

    #[test]
    fn a_count_of_settings_is_not_refuted_by_a_part_of_the_sweep() {
        let cut = |claim: &str| judged_with(&["sweep.'workload.load'=[0.5, 1]"], claim, &WAITS);
        let never = "highest = { scheduler = 'easy' }\ndecide = 'means'\nin = 2";
        assert_eq!(verdict(never), ClaimVerdict::NotBorneOut);
        let judgement = cut(never);
        assert_eq!(judgement.verdict, ClaimVerdict::NotCheckable);
        assert_eq!(
            judgement.why.as_deref(),
            Some("it counts scenarios of the whole sweep, and the sweep as it was run has 2")
        );
        assert_eq!(cut(&never.replace("in = 2", "in = 'all'")).verdict, ClaimVerdict::NotBorneOut);
        let twice = "lowest = { scheduler = 'easy' }\ndecide = 'means'\nin = 2";
        assert_eq!(cut(twice).verdict, ClaimVerdict::BorneOut);
    }

    #[test]
    fn what_was_not_measured_decides_nothing() {
        let none: [&[f64]; 6] = [&[f64::NAN]; 6];
        let claim = "of = { scheduler = 'easy' }\nbelow = 1";
        let judgement = judged_with(&[], claim, &none);
        assert_eq!(judgement.verdict, ClaimVerdict::NotCheckable);
        assert_eq!(judgement.why.as_deref(), Some("no run measured wait"));
        let too_few = judged(&format!("{claim}\nin = 3"));
        assert_eq!(
            too_few.why.as_deref(),
            Some("it is about 3 scenarios, and the sweep as it was run has 2")
        );
        let mut some = WAITS;
        some[4] = &[f64::NAN];
        assert_eq!(
            judged_with(&[], "of = { scheduler = 'easy' }\nbelow = 100", &some).verdict,
            ClaimVerdict::Undecided
        );
    }
}
