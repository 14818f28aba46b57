//! The machine and its queue as a scheduler in Python sees them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use meshwork::cluster::{Cluster as Model, Guard as Promise, StartOptions, Ticket};
use meshwork::job::{Job as Asked, Time};
use meshwork::topology::Topology as Wired;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use super::job::Job;
use super::lent::Lent;
use super::site::Site;
use crate::buffer::{Buffer, Memory};
use crate::error::wrong;

/// A cluster, which can be asked during a call of `schedule` and not after it.
#[pyclass(frozen, module = "meshwork._meshwork")]
pub(crate) struct Cluster {
    pub(super) lent: Lent<Model<'static>>,
    topologies: Vec<Arc<Wired>>,
    /// The waiting jobs, by their place in the order of arrival.
    tickets: Mutex<BTreeMap<u64, Ticket>>,
}

impl Cluster {
    pub(super) fn new(topologies: &[Wired]) -> Cluster {
        let topologies = topologies.iter().map(|one| Arc::new(one.clone())).collect();
        Cluster { lent: Lent::nothing(), topologies, tickets: Mutex::default() }
    }

    /// Learns who arrived.
    pub(super) fn note(&self, cluster: &Model<'_>) {
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        tickets.extend(cluster.arrivals().iter().map(|&ticket| (ticket.id.0, ticket)));
    }

    fn ask<R>(&self, act: impl for<'c, 'o> FnOnce(&'c mut Model<'o>) -> R) -> PyResult<R> {
        self.lent.with("cluster", |cluster| act(cluster))
    }

    fn ticket(&self, job: u64) -> PyResult<Ticket> {
        let tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        tickets.get(&job).copied().ok_or_else(|| {
            wrong(format!(
                "the job {job} does not wait: it has started, or there is none of that number"
            ))
        })
    }

    fn gone(&self, job: u64) {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner).remove(&job);
    }

    fn wholes(&self, py: Python<'_>, of: impl Fn(&Model<'_>) -> Vec<i64>) -> PyResult<Py<PyAny>> {
        let values = self.ask(|cluster| of(cluster))?;
        Buffer::list(Memory::FixedWholes(values.into())).array(py)
    }

    fn numbers(&self, py: Python<'_>, of: impl Fn(&Model<'_>) -> Vec<f64>) -> PyResult<Py<PyAny>> {
        let values = self.ask(|cluster| of(cluster))?;
        Buffer::list(Memory::FixedNumbers(values.into())).array(py)
    }
}

fn of_waiting<T>(cluster: &Model<'_>, of: impl Fn(&Asked) -> T) -> Vec<T> {
    cluster.waiting().map(|ticket| of(cluster.job(ticket))).collect()
}

#[pymethods]
impl Cluster {
    #[getter]
    fn now(&self) -> PyResult<f64> {
        self.ask(|cluster| cluster.now().units())
    }

    #[getter]
    fn arrivals(&self) -> PyResult<Vec<u64>> {
        self.ask(|cluster| cluster.arrivals().iter().map(|ticket| ticket.id.0).collect())
    }

    #[getter]
    fn departures(&self) -> PyResult<Vec<u64>> {
        self.ask(|cluster| {
            cluster.departures().iter().map(|departure| departure.ran.id.0).collect()
        })
    }

    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.wholes(py, |cluster| cluster.waiting().map(|ticket| ticket.id.0 as i64).collect())
    }

    #[getter]
    fn waiting_nodes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.wholes(py, |cluster| of_waiting(cluster, |job| job.request.nodes() as i64))
    }

    #[getter]
    fn waiting_estimates(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.numbers(py, |cluster| of_waiting(cluster, |job| job.estimate))
    }

    #[getter]
    fn waiting_submits(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.numbers(py, |cluster| of_waiting(cluster, |job| job.arrival.units()))
    }

    #[getter]
    fn running(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.wholes(py, |cluster| cluster.running().map(|(key, _)| key.id.0 as i64).collect())
    }

    #[getter]
    fn running_nodes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.wholes(py, |cluster| {
            cluster.running().map(|(_, running)| i64::from(running.held)).collect()
        })
    }

    #[getter]
    fn running_ends(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.numbers(py, |cluster| {
            cluster.running().map(|(_, running)| running.expected_end.units()).collect()
        })
    }

    #[getter]
    fn waiting_jobs(&self) -> PyResult<usize> {
        self.ask(|cluster| cluster.waiting_jobs())
    }

    #[getter]
    fn head(&self) -> PyResult<Option<u64>> {
        self.ask(|cluster| cluster.head().map(|ticket| ticket.id.0))
    }

    #[getter]
    fn free_nodes(&self) -> PyResult<u64> {
        let sites = self.topologies.len();
        self.ask(|cluster| (0..sites).map(|at| u64::from(cluster.site(at).free_nodes())).sum())
    }

    #[getter]
    fn sites(&self) -> usize {
        self.topologies.len()
    }

    /// A site as it is now; what happens later it does not show.
    fn site(&self, index: usize) -> PyResult<Site> {
        let topology = self.topologies.get(index).ok_or_else(|| {
            PyIndexError::new_err(format!(
                "there is no site {index}: there are {}",
                self.topologies.len()
            ))
        })?;
        let site = Site::new(Arc::clone(topology));
        self.ask(|cluster| {
            for (_, running) in cluster.running().filter(|(_, running)| running.site == index) {
                site.claimed(&running.placement, running.start);
            }
            site.sync(cluster.site(index).free());
        })?;
        Ok(site)
    }

    fn job(&self, job: u64) -> PyResult<Job> {
        let ticket = self.ticket(job)?;
        self.ask(|cluster| Job::of(cluster.job(ticket)))
    }

    #[pyo3(signature = (job, beside = None))]
    fn start(&self, job: u64, beside: Option<&Bound<'_, Guard>>) -> PyResult<bool> {
        let ticket = self.ticket(job)?;
        let started = self.ask(|cluster| match beside {
            None => cluster.start(ticket, StartOptions::default()),
            Some(guard) => {
                let mut guard = guard.get().0.lock().unwrap_or_else(PoisonError::into_inner);
                cluster.start(ticket, StartOptions::beside(&mut guard))
            }
        })?;
        if started {
            self.gone(job);
        }
        Ok(started)
    }

    fn reserve(&self, job: u64) -> PyResult<Option<Guard>> {
        let ticket = self.ticket(job)?;
        self.ask(|cluster| {
            let earliest = cluster.earliest(ticket)?;
            Some(Guard(Mutex::new(cluster.guard(earliest))))
        })
    }

    fn promise(&self, job: u64, by: f64) -> PyResult<()> {
        let ticket = self.ticket(job)?;
        if by.is_nan() {
            return Err(wrong("the instant of a promise is nan, but must be a number"));
        }
        self.ask(|cluster| cluster.promise(ticket, Time::new(by)))
    }

    fn turn_away(&self, job: u64) -> PyResult<()> {
        let ticket = self.ticket(job)?;
        self.ask(|cluster| cluster.turn_away(ticket))?;
        self.gone(job);
        Ok(())
    }
}

/// A promise to a waiting job, which jobs that are started beside it do not delay.
#[pyclass(frozen, module = "meshwork._meshwork")]
pub(crate) struct Guard(Mutex<Promise>);

#[pymethods]
impl Guard {
    #[getter]
    fn at(&self) -> f64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).reservation.at.units()
    }

    #[getter]
    fn site(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).reservation.site
    }
}
