//! Reads requests for pieces (parts of nodes), and checks them against a scenario's machine.

use std::sync::Arc;

use super::table::{Cell, Column, Row, pieces as of_row};
use super::{Submission, Submissions, WorkloadContext, WorkloadError};
use crate::job::{Job, Pieces, Request};
use crate::registry::{Params, Problem};
use crate::topology::Topology;
use crate::topology::types::NodeTypes;

/// Checks that a job's request for pieces (parts of nodes) can be met by some site's nodes and
/// types.
fn check(
    job: &Job,
    sites: &[Topology],
    types: Option<&Arc<NodeTypes>>,
) -> Result<(), WorkloadError> {
    let Request::Pieces(request) = &job.request else { return Ok(()) };
    let failed = |says: String| WorkloadError(format!("job {} {says}", job.number));
    suits(request, sites).map_err(failed)?;
    match types {
        Some(types) => types.check(request).map_err(failed),
        None => Err(failed(
            "has pieces with cores, memory or GPUs, but the nodes of the machine have no types: give \
             `machine.nodes`, such as [{ type = \"dgx\" }]"
                .to_owned(),
        )),
    }
}

/// Checks that some site has the kind of part in which all pieces must lie, such as a leaf switch.
/// The error text continues a sentence.
fn suits(request: &Pieces, sites: &[Topology]) -> Result<(), String> {
    let inside = request.inside;
    let has_parts =
        |site: &Topology| (0..site.nodes()).any(|node| site.part_of(inside, node).is_some());
    if sites.iter().any(has_parts) {
        return Ok(());
    }
    Err(format!(
        "wants its pieces inside a {}, which this machine does not have: fat trees, dragonflies and the allocator \
         `tree` do",
        inside.word().unwrap_or_default(),
    ))
}

pub(super) fn check_all<'j>(
    mut jobs: impl Iterator<Item = &'j Job>,
    setting: &WorkloadContext<'_>,
) -> Result<(), WorkloadError> {
    let sites = setting.topologies();
    let types = NodeTypes::of_sites(&sites);
    jobs.try_for_each(|job| check(job, &sites, types.as_ref()))
}

/// Checks requests for pieces (parts of nodes) while jobs are read. If the machine's nodes have no
/// types, nothing is checked.
pub(super) fn checked(jobs: Submissions, setting: &WorkloadContext<'_>) -> Submissions {
    let sites = setting.topologies();
    let types = NodeTypes::of_sites(&sites);
    if types.is_none() {
        return jobs;
    }
    Box::new(jobs.map(move |item| match item? {
        Submission::Job(job) => check(&job, &sites, types.as_ref()).map(|()| Submission::Job(job)),
        other => Ok(other),
    }))
}

/// Reads a request for pieces from a table of a study, and checks that it fits on an idle site.
pub(super) fn of_table(params: &Params, sites: &[Topology]) -> Result<Pieces, Problem> {
    let request = of_any_table(params, sites)?;
    let types = NodeTypes::of_sites(sites);
    match types.and_then(|types| never(&request, sites, &types)) {
        Some(says) => {
            Err(params.problem("cpu", format!("`{}` can never start: {says}", params.path())))
        }
        None => Ok(request),
    }
}

/// Reads a request for pieces like [`of_table`], but accepts pieces that fit on no node. Keys have
/// the names of columns of a table of jobs.
pub(super) fn of_any_table(params: &Params, sites: &[Topology]) -> Result<Pieces, Problem> {
    let Some(types) = NodeTypes::of_sites(sites) else {
        let says = format!(
            "`{}` asks for cores, memory or GPUs, but the nodes of the machine have no types: \
             give `machine.nodes`, such as [{{ type = \"dgx\" }}]",
            params.path()
        );
        return Err(Problem::new(params.path(), says));
    };
    let mut row = Row::default();
    for (key, value) in params.table() {
        let Some(column) = Column::named(key) else { continue };
        let cell = match value {
            toml::Value::Integer(number) => Cell::Number(*number as f64),
            toml::Value::Float(number) => Cell::Number(*number),
            toml::Value::Boolean(is_set) if *is_set => Cell::Text("node".into()),
            toml::Value::String(text) => Cell::Text(text.as_str().into()),
            _ => continue,
        };
        column.set(&mut row, cell).map_err(|says| params.problem(key, in_study(params, &says)))?;
    }
    let request = match of_row(row) {
        Ok(Request::Pieces(request)) => *request,
        Ok(_) => return Err(params.problem("pieces", "these are no pieces")),
        Err(says) => return Err(params.problem("pieces", in_study(params, &says))),
    };
    if let Err(says) = suits(&request, sites) {
        return Err(params.problem("inside", format!("`{}` {says}", params.path())));
    }
    if let Err(says) = types.check(&request) {
        return Err(params.problem("type", format!("`{}` {says}", params.path())));
    }
    Ok(request)
}

/// Reason why no idle site could hold all pieces of a request; `None` if some site could.
fn never(request: &Pieces, sites: &[Topology], types: &NodeTypes) -> Option<String> {
    let mut of_sites = sites.iter().filter_map(Topology::types);
    if of_sites.any(|types| types.never(request).is_none()) {
        return None;
    }
    let apart = || "its kinds of pieces need nodes of different sites".to_owned();
    Some(types.never(request).unwrap_or_else(apart))
}

/// Prefixes a sentence about a value in a study's table with the path of that table.
fn in_study(params: &Params, says: &str) -> String {
    format!("in `{}`, {says}", params.path())
}
