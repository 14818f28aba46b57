//! `meshwork ops`: questions of those who operate a machine.

mod check;
mod fidelity;
mod import;

use crate::args::Ops;
use crate::output::{Ended, Output};

/// Answers one of them.
pub(crate) fn run(out: &mut Output, asked: &Ops) -> Ended {
    match asked {
        Ops::Check(arguments) => check::run(out, arguments),
        Ops::Fidelity(arguments) => fidelity::run(out, arguments),
        Ops::Import(arguments) => import::run(out, arguments),
    }
}
