//! `meshwork reproduce`: runs the built-in studies of papers and checks their claims.

use std::path::PathBuf;

use meshwork::catalogue::Catalogue;
use meshwork_lab::Study;
use meshwork_lab::findings::claims::{self, ClaimVerdict as Judged, Judgement};
use meshwork_lab::gpus;
use meshwork_lab::lab::leave_out;
use meshwork_lab::study::expand;
use meshwork_lab::study::papers::{FGD, PAPERS, Paper, paper, studies};
use meshwork_report::Maps;
use serde_json::json;

use super::run::{one, tell};
use crate::args::Reproduce;
use crate::output::{Ended, Output, Stop, Verdict, say};
use crate::results;
use crate::table::{Column, print as print_table};
use crate::wrap::wrapped;

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Reproduce) -> Ended {
    if arguments.paper.as_deref() == Some(FGD) {
        return fgd(out, arguments);
    }
    if arguments.nodes.is_some() || arguments.tasks.is_some() || arguments.seeds.is_some() {
        let given = arguments.paper.as_deref().unwrap_or("all papers");
        return Err(Stop::Wrong(format!(
            "--nodes, --tasks and --seeds are for `meshwork reproduce {FGD}`, not for {given}"
        )));
    }
    let papers: Vec<&Paper> = match &arguments.paper {
        Some(key) => vec![paper(key)?],
        None => PAPERS.iter().collect(),
    };
    let mut chosen = Vec::new();
    for paper in papers {
        let figure = arguments.figure.as_deref();
        let found = studies(catalogue, paper, figure, arguments.quick, &arguments.settings)?;
        chosen.push((paper, found));
    }
    if arguments.list {
        return list(out, &chosen);
    }
    // An invalid request ends the command before anything is run.
    for study in chosen.iter().flat_map(|(_, studies)| studies) {
        expand::expand(study)?;
    }
    let mut verdict = Verdict::Done;
    let mut counts: Vec<(&Paper, Vec<Judged>)> = Vec::new();
    for (paper, studies) in &chosen {
        let mut judged = Vec::new();
        for study in studies {
            if !arguments.json {
                title(out, paper, study)?;
                out.flush()?;
            }
            let judgements = reproduce(out, study, arguments, &mut verdict)?;
            if arguments.json {
                for judgement in &judgements {
                    let mut object = judgement.json();
                    if let Some(fields) = object.as_object_mut() {
                        fields.shift_insert(0, "paper".to_owned(), json!(paper.key));
                        fields.shift_insert(1, "figure".to_owned(), json!(study.figure));
                        fields.shift_insert(2, "study".to_owned(), json!(study.name));
                    }
                    out.json(&object)?;
                }
            } else {
                results::claims::print(out, &judgements)?;
                out.line("")?;
            }
            out.flush()?;
            judged.extend(judgements.iter().map(|judgement| judgement.verdict));
        }
        counts.push((paper, judged));
    }
    if !arguments.json {
        summary(out, &counts)?;
        out.line("")?;
        out.line(&format!("written to {}: a folder for each study", base(arguments).display()))?;
    }
    out.flush()?;
    let page = super::report::write(catalogue, &base(arguments), None, &Maps::default())?;
    if !arguments.json {
        out.line(&format!("every figure beside its claims: {}", page.display()))?;
    }
    Ok(verdict)
}

/// Runs the experiment on fragmented GPUs from a trace of nodes and a trace of tasks.
fn fgd(out: &mut Output, arguments: &Reproduce) -> Ended {
    let (Some(nodes), Some(tasks)) = (&arguments.nodes, &arguments.tasks) else {
        return Err(Stop::Wrong(format!(
            "`meshwork reproduce {FGD}` needs --nodes FILE and --tasks FILE, a trace of nodes and one of tasks"
        )));
    };
    let (nodes, tasks) = (gpus::read_nodes(nodes)?, gpus::read_tasks(tasks)?);
    let seeds = arguments.seeds.unwrap_or(10);
    let means = gpus::fragmentation_experiment(&nodes, &tasks, seeds);
    if arguments.json {
        for (rule, points) in &means {
            for point in points {
                out.json(&json!({
                    "rule": rule,
                    "arrived": point.arrived,
                    "allocation": point.allocation,
                    "se": point.se,
                    "fragmentation": point.fragmentation,
                }))?;
            }
        }
        return Ok(Verdict::Done);
    }
    out.line(&format!(
        "{} nodes, {} tasks: allocated at each arrived load, in per cent of all GPUs; means of {seeds} \
         seeds, with standard errors",
        nodes.len(),
        tasks.len()
    ))?;
    out.line("")?;
    let rules = means.iter().map(|(rule, _)| (*rule).to_owned()).collect();
    let mut columns = vec![Column::words("rule", rules)];
    for load in [80, 90, 95, 100, 110, 120, 130] {
        let cells = means.iter().map(|(_, points)| {
            let point = points.iter().find(|point| point.arrived == load);
            point.map_or("-".to_owned(), |point| match point.se {
                Some(se) => format!("{:.2} ({se:.2})", point.allocation),
                None => format!("{:.2}", point.allocation),
            })
        });
        columns.push(Column::numbers(&format!("{load} %"), cells.collect()));
    }
    print_table(out, &columns[..1], &columns[1..], &[])?;
    Ok(Verdict::Done)
}

/// Folder that has a results folder for each study of a paper.
fn base(arguments: &Reproduce) -> PathBuf {
    if arguments.quick { arguments.out.join("quick") } else { arguments.out.clone() }
}

/// Runs a study of a paper and checks its claims.
///
/// If the log that the study needs is missing, the claims are reported as not checkable.
fn reproduce(
    out: &mut Output,
    study: &Study,
    arguments: &Reproduce,
    verdict: &mut Verdict,
) -> Result<Vec<Judgement>, Stop> {
    let folder = base(arguments).join(&study.name);
    let finished = match one(
        study,
        (Some(folder.clone()), false),
        (arguments.threads, arguments.memory),
        false,
        None,
        None,
    ) {
        Ok(finished) => finished,
        Err(refused) if study.obtain.is_some() => {
            say("warning", &format!("{} is left out: {refused}", study.name));
            let why = "the log that it reads is missing";
            leave_out(study, &folder, why)?;
            return Ok(claims::unchecked(study, why));
        }
        Err(refused) => return Err(refused.into()),
    };
    if arguments.tables {
        results::print(out, study, &finished)?;
        out.line("")?;
    }
    tell(&finished, false);
    if !finished.failures.is_empty() {
        *verdict = Verdict::RunFailed;
    }
    Ok(finished.claims)
}

fn title(out: &mut Output, paper: &Paper, study: &Study) -> Result<(), Stop> {
    let what = study.description.as_deref().unwrap_or_default();
    let head = format!("{} {}: {what}", paper.key, study.figure.as_deref().unwrap_or_default());
    out.title(&head)?;
    results::network::print(out, &expand::expand(study)?)
}

fn list(out: &mut Output, chosen: &[(&Paper, Vec<Study>)]) -> Ended {
    for (i, (paper, studies)) in chosen.iter().enumerate() {
        if i > 0 {
            out.line("")?;
        }
        out.title(&format!("{}: {}, {}", paper.key, paper.authors, paper.title))?;
        for study in studies {
            let runs = expand::count(study)?;
            let what = study.description.as_deref().unwrap_or_default();
            let figure = study.figure.as_deref().unwrap_or_default();
            let claims = study.claims.len();
            let text = format!("{figure}: {what} ({runs} scenarios, {claims} claims)");
            for line in wrapped(&text, out.width.saturating_sub(2), "    ") {
                out.line(&format!("  {line}"))?;
            }
        }
        if studies.is_empty() {
            out.line("  no study yet")?;
        }
    }
    Ok(Verdict::Done)
}

/// Prints a table with a row for each paper: how many of its claims have each verdict.
fn summary(out: &mut Output, counts: &[(&Paper, Vec<Judged>)]) -> Result<(), Stop> {
    let column = |verdict: Judged| {
        let cells = counts
            .iter()
            .map(|(_, judged)| judged.iter().filter(|&&own| own == verdict).count().to_string());
        Column::numbers(&verdict.to_string(), cells.collect())
    };
    let names =
        Column::words("paper", counts.iter().map(|(paper, _)| paper.key.to_owned()).collect());
    let verdicts = [Judged::BorneOut, Judged::NotBorneOut, Judged::Undecided, Judged::NotCheckable]
        .map(column);
    print_table(out, &[names], &verdicts, &[])
}
