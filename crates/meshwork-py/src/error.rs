//! Converts error messages of the program to Python's exception classes in `meshwork._errors`.

use std::any::Any;
use std::fmt::Display;

use meshwork_lab::Refused;
use meshwork_lab::run::Stopped;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Builds an exception of a class in `meshwork._errors`, which is imported once.
fn exception(class: &'static PyOnceLock<Py<PyType>>, name: &str, sentence: impl Display) -> PyErr {
    let sentence = sentence.to_string();
    Python::attach(|py| match class.import(py, "meshwork._errors", name) {
        Ok(class) => PyErr::from_type(class.clone(), sentence),
        Err(error) => error,
    })
}

/// Creates an `InputError`, for wrong input.
pub(crate) fn wrong(sentence: impl Display) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    exception(&CLASS, "InputError", sentence)
}

/// Creates a `RunError`, for something that failed during a run.
pub(crate) fn failed(sentence: impl Display) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    exception(&CLASS, "RunError", sentence)
}

/// Creates a `StrategyError`, for a strategy in Python that cannot continue.
///
/// The cause of the exception is what the strategy raised, if anything. A `KeyboardInterrupt` is
/// returned unchanged, because an interrupt is not an error of the strategy.
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

/// Converts a result whose error is a text: the error becomes an `InputError`.
pub(crate) trait OrWrong<T> {
    /// Returns the value, or an `InputError` with the text of the error.
    fn or_wrong(self) -> PyResult<T>;
}

impl<T, E: Display> OrWrong<T> for Result<T, E> {
    fn or_wrong(self) -> PyResult<T> {
        self.map_err(wrong)
    }
}

/// The `InputError` for a refused study.
///
/// `without_line` is `None` for a study from a file. For a study that was built in Python, it is
/// the name by which messages refer to the study's text. The user never wrote this text, so a place
/// `name:line:` at the beginning of the message is removed.
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

/// One sentence for a panic: the reason why a run was stopped, or the report of a bug.
pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> String {
    if let Some(Stopped(sentence)) = panic.downcast_ref() {
        return sentence.clone();
    }
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a word");
    format!("this is a bug in Meshwork, please report it: {}", text.replace('\n', "; "))
}
