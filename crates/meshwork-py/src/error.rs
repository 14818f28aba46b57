//! Exceptions: the sentences of the program, in the classes of `meshwork._errors`.

use std::any::Any;
use std::fmt::Display;

use meshwork_lab::Refused;
use meshwork_lab::run::Stopped;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// An exception of this class with this sentence.
fn exception(class: &'static PyOnceLock<Py<PyType>>, name: &str, sentence: impl Display) -> PyErr {
    let sentence = sentence.to_string();
    Python::attach(|py| match class.import(py, "meshwork._errors", name) {
        Ok(class) => PyErr::from_type(class.clone(), sentence),
        Err(error) => error,
    })
}

/// What was given is wrong: `InputError`.
pub(crate) fn wrong(sentence: impl Display) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    exception(&CLASS, "InputError", sentence)
}

/// Something failed on the way: `RunError`.
pub(crate) fn failed(sentence: impl Display) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    exception(&CLASS, "RunError", sentence)
}

/// A strategy in Python cannot go on: `StrategyError`, raised from what it raised, if it did. What
/// interrupts it is no error of its own, and stays what it is.
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

/// As an `InputError`.
pub(crate) trait OrWrong<T> {
    /// The value, or an `InputError` with the sentence.
    fn or_wrong(self) -> PyResult<T>;
}

impl<T, E: Display> OrWrong<T> for Result<T, E> {
    fn or_wrong(self) -> PyResult<T> {
        self.map_err(wrong)
    }
}

/// A refusal of a study that was put together in Python has the line of a text that nobody wrote.
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

/// What something that unwound says, in one sentence.
pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> String {
    if let Some(Stopped(sentence)) = panic.downcast_ref() {
        return sentence.clone();
    }
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a word");
    format!("this is a bug in Meshwork, please report it: {}", text.replace('\n', "; "))
}
