//! Converts error messages of the program to Python's exception classes in `meshwork._errors`.

use std::any::Any;
use std::fmt::Display;

use meshwork_lab::Refused;
use meshwork_lab::run::Stopped;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Exception of a class in `meshwork._errors`, which is imported at the first use.
fn exception(class: &'static PyOnceLock<Py<PyType>>, name: &str, sentence: impl Display) -> PyErr {
    let sentence = sentence.to_string();
    Python::attach(|py| match class.import(py, "meshwork._errors", name) {
        Ok(class) => PyErr::from_type(class.clone(), sentence),
        Err(error) => error,
    })
}

/// Returns the Python exception `InputError`, which reports wrong input.
pub(crate) fn wrong(sentence: impl Display) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    exception(&CLASS, "InputError", sentence)
}

/// Returns the Python exception `RunError`, which reports a failure during a run.
pub(crate) fn failed(sentence: impl Display) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    exception(&CLASS, "RunError", sentence)
}

/// Returns a `StrategyError`. Its cause is the exception that the strategy raised, if any.
///
/// A `KeyboardInterrupt` is returned unchanged, because an interrupt is not an error of the
/// strategy.
pub(crate) fn strategy(sentence: impl Display, cause: Option<PyErr>) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if let Some(interrupt) = cause
        .as_ref()
        .filter(|cause| Python::attach(|py| cause.is_instance_of::<PyKeyboardInterrupt>(py)))
    {
        return Python::attach(|py| interrupt.clone_ref(py));
    }
    let error = exception(&CLASS, "StrategyError", sentence);
    Python::attach(|py| error.set_cause(py, cause));
    error
}

/// Turns an error text into an `InputError`.
pub(crate) trait OrWrong<T> {
    fn or_wrong(self) -> PyResult<T>;
}

impl<T, E: Display> OrWrong<T> for Result<T, E> {
    fn or_wrong(self) -> PyResult<T> {
        self.map_err(wrong)
    }
}

/// `InputError` with the message about a refused study.
///
/// If the study was built in Python, `without_line` is its name in messages. The user never wrote
/// its text, so a prefix `name:line:` of the message is removed.
pub(crate) fn refused(refused: &Refused, without_line: Option<&str>) -> PyErr {
    let sentence = refused.0.as_str();
    let shorter = without_line.and_then(|file| {
        let rest = sentence.strip_prefix(file)?.strip_prefix(':')?;
        Some(
            rest.trim_start_matches(|c: char| c.is_ascii_digit())
                .strip_prefix(": ")
                .unwrap_or(rest)
                .trim_start(),
        )
    });
    wrong(shorter.unwrap_or(sentence))
}

/// Reason why a run was stopped, from the value of a panic.
///
/// Any other panic is a bug in Meshwork, and the text asks the user to report it.
pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> String {
    if let Some(Stopped(sentence)) = panic.downcast_ref() {
        return sentence.clone();
    }
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a word");
    format!("this is a bug in Meshwork, please report it: {}", text.replace('\n', "; "))
}
