//! Adapter for workloads written in Python, which yield jobs one by one.

use meshwork::job::{Job, Time};
use meshwork::registry::Params;
use meshwork::rng::Stream;
use meshwork::topology::Topology as Wired;
use meshwork::workload::table::{Cell, Listed, Row};
use meshwork::workload::{BuildError, Submission, Submissions, WorkloadContext, WorkloadError};
use meshwork_lab::inputs::row;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyMapping, PySequence, PyString};

use super::ask::Rng;
use super::{Instance, instance};
use crate::values::repr;

pub(crate) fn build(
    params: &Params,
    setting: &WorkloadContext<'_>,
) -> Result<Submissions, BuildError> {
    let machine: Vec<Wired> = setting.sites.iter().map(|(site, _)| site.clone()).collect();
    let instance = instance("workload", params, &machine);
    let jobs = Python::attach(|py| -> PyResult<_> {
        let rng = Rng::new(&Stream::new(setting.seed, setting.replication, "workload"));
        let jobs = instance.object.bind(py).call_method1(intern!(py, "jobs"), (rng,))?;
        Ok(jobs.try_iter()?.unbind().into_any())
    });
    let jobs = jobs.unwrap_or_else(|error| instance.give_up("when it was asked for jobs", error));
    let owners = setting.owners;
    Ok(Box::new(Jobs { instance, jobs, owners, given: 0, last: Time::ZERO, is_over: false }))
}

struct Jobs {
    instance: Instance,
    jobs: Py<PyAny>,
    /// Whether the owners of jobs, such as users, are read from Python.
    owners: bool,
    given: u64,
    last: Time,
    is_over: bool,
}

impl Jobs {
    /// Next job, or a message about an invalid one; `None` if there are no more jobs.
    fn row(&self, py: Python<'_>) -> PyResult<Option<Result<Row, String>>> {
        let Some(given) = self.jobs.bind(py).try_iter()?.next().transpose()? else {
            return Ok(None);
        };
        columns(&given).map(|cells| Some(self.read(cells)))
    }

    fn read(&self, cells: Result<Vec<(String, Cell<'_>)>, String>) -> Result<Row, String> {
        let cells = cells?;
        let cells = cells.iter().map(|(column, cell)| (column.as_str(), cell.clone()));
        row(self.given + 1, cells)
    }

    fn job(&mut self, row: Row) -> Result<Job, String> {
        let number = row.job;
        let name = self.instance.name.to_string();
        // Read the job as a table of one row, whose reader validates it.
        let listed = Listed::read(Box::new(std::iter::once(Ok(row))), &name);
        let place = format!("{name}:{}: ", self.given + 1);
        let listed =
            listed.map_err(|error| error.0.strip_prefix(&place).unwrap_or(&error.0).to_owned())?;
        let Some((mut job, _)) = listed.jobs.into_iter().next() else {
            return Err("it is no job".to_owned());
        };
        if job.arrival < self.last {
            return Err(format!(
                "submit is {}, but the job before it has {}: jobs come in the order of submission",
                job.arrival, self.last
            ));
        }
        self.last = job.arrival;
        self.given += 1;
        if number.is_none() {
            job.number = self.given;
        }
        if !self.owners {
            job.owner = None;
        }
        Ok(job)
    }
}

impl Iterator for Jobs {
    type Item = Result<Submission, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let row = Python::attach(|py| self.row(py)).unwrap_or_else(|error| {
            let next = self.given + 1;
            self.instance.give_up(&format!("when it was asked for its job {next}"), error)
        });
        let Some(row) = row else {
            self.is_over = true;
            return None;
        };
        let job = row.and_then(|row| self.job(row));
        self.is_over = job.is_err();
        Some(job.map(Submission::Job).map_err(|what| {
            let (name, next) = (&self.instance.name, self.given + 1);
            WorkloadError(format!("the workload `{name}`, job {next}: {what}"))
        }))
    }
}

/// Cells of a job by column name. The job is a mapping, or an object with columns as attributes.
fn columns(given: &Bound<'_, PyAny>) -> PyResult<Result<Vec<(String, Cell<'static>)>, String>> {
    let no_job = || {
        format!(
            "it is {}, but must be a mapping of the columns of a table of jobs, or have them as attributes",
            repr(given)
        )
    };
    let mapping = if given.is_instance_of::<PyMapping>() {
        given.clone()
    } else if given.hasattr(intern!(given.py(), "_asdict"))? {
        given.call_method0(intern!(given.py(), "_asdict"))?
    } else {
        match given.getattr(intern!(given.py(), "__dict__")) {
            Ok(attributes) => attributes,
            Err(_) => return Ok(Err(no_job())),
        }
    };
    let Ok(mapping) = mapping.cast::<PyMapping>() else { return Ok(Err(no_job())) };
    let mut cells = Vec::new();
    for item in mapping.items()?.iter() {
        let (column, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let column: String = column.str()?.to_string();
        if value.is_none() {
            continue;
        }
        let Some(cell) = cell(&value)? else {
            let given = repr(&value);
            return Ok(Err(format!(
                "`{column}` is {given}, but must be a number, a text or a truth value"
            )));
        };
        cells.push((column, cell));
    }
    Ok(Ok(cells))
}

fn cell(value: &Bound<'_, PyAny>) -> PyResult<Option<Cell<'static>>> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Some(Cell::Text(value.extract::<bool>()?.to_string().into())));
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(Some(Cell::Number(value.extract()?)));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(Cell::Text(text.to_string().into())));
    }
    if value.hasattr(intern!(value.py(), "item"))? {
        // The value is a number of NumPy.
        return Ok(value.extract::<f64>().ok().map(Cell::Number));
    }
    if value.is_instance_of::<PySequence>()
        && let Some(sides) = crate::values::numbers::<u32>(value)
    {
        return Ok(Some(Cell::Text(meshwork::job::sides_text(&sides).into())));
    }
    Ok(None)
}
