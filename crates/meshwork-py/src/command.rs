//! The program's command line for Python: as a process, or as a function call with a result.

use std::ffi::OsString;

use meshwork_cli::Refusal;
use pyo3::prelude::*;

use crate::error::{failed, wrong};
use crate::running::apart;
use crate::strategy::catalogue;

/// Runs the command line and returns its exit status; the first word is the program name.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    let catalogue = catalogue::current();
    py.detach(|| meshwork_cli::main_of(&catalogue, words))
}

/// Runs one command of the program. Returns its output, and whether it succeeded.
///
/// It succeeded if no run has failed, and no check has found a difference.
#[pyfunction]
pub(crate) fn ask(py: Python<'_>, words: Vec<OsString>) -> PyResult<(String, bool)> {
    let catalogue = catalogue::current();
    let answer = py.detach(|| apart(|| meshwork_cli::ask(&catalogue, words)))?;
    match answer {
        Ok(answer) => Ok((answer.text, answer.all_well)),
        Err(Refusal::Wrong(sentence)) => Err(wrong(sentence)),
        Err(Refusal::Failed(sentence)) => Err(failed(sentence)),
    }
}

/// The version of the program, and the version of its simulation model.
#[pyfunction]
pub(crate) fn version() -> (&'static str, u32) {
    (env!("CARGO_PKG_VERSION"), meshwork::scenario::MODEL_VERSION)
}
