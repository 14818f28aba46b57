//! `meshwork ops`: commands for the operators of a machine.

mod agent;
mod check;
mod compare;
mod fidelity;
mod import;
mod instant;
mod live;
mod propose;
mod shadow;
mod state;
mod when;

use meshwork::catalogue::Catalogue;
use meshwork_slurm::check::of_conf;
use meshwork_slurm::site::Reading;

use crate::args::ops::Ops;
use crate::output::{Ended, Output, Stop, say};

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, asked: &Ops) -> Ended {
    match asked {
        Ops::Agent(arguments) => agent::run(out, catalogue, arguments),
        Ops::Check(arguments) => check::run(out, arguments),
        Ops::Compare(arguments) => compare::run(out, arguments),
        Ops::Defrag(arguments) => state::run_defrag(out, catalogue, arguments),
        Ops::Explain(arguments) => state::run_explain(out, catalogue, arguments),
        Ops::Fidelity(arguments) => fidelity::run(out, arguments),
        Ops::Import(arguments) => import::run(out, arguments),
        Ops::Propose(arguments) => propose::run(out, arguments),
        Ops::Shadow(arguments) => shadow::run(out, catalogue, arguments),
        Ops::When(arguments) => when::run(out, arguments),
    }
}

/// Warns of wrong keys and values in the `slurm.conf` of a site.
///
/// They are not errors, because Slurm ran with this file when the history was recorded.
fn warn_of_conf(reading: &Reading) {
    let findings = reading.conf.as_ref().map(of_conf).unwrap_or_default();
    findings.0.iter().for_each(|finding| say("warning", &reading.files.place(finding)));
}

/// Refuses a `slurm.conf` with which Slurm would not start, and warns of other wrong values.
fn lint_conf(reading: &Reading) -> Result<(), Stop> {
    let findings = reading.conf.as_ref().map(of_conf).unwrap_or_default();
    if let Some(fatal) = findings.first_fatal() {
        return Err(Stop::Wrong(reading.files.sentence(fatal)));
    }
    findings.0.iter().for_each(|finding| say("warning", &reading.files.sentence(finding)));
    Ok(())
}

/// Joins job numbers to a text such as `job 39 or job 40`.
fn any_of(names: &[&str]) -> String {
    let jobs: Vec<String> = names.iter().map(|name| format!("job {name}")).collect();
    jobs.join(" or ")
}
