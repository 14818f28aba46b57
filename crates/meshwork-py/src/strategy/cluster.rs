//! The machine and its queue, for schedulers written in Python.

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

/// The machine and its queue, passed to `schedule` and valid during that call.
///
/// Jobs are identified by their position in the order of arrival. Every call costs some
/// microseconds, so an array is faster than one call for each job.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> @mw.register
/// ... class Shortest:
/// ...     "The shortest first, by estimates."
/// ...     def schedule(self, cluster: mw.Cluster):
/// ...         while cluster.waiting_jobs:
/// ...             shortest = cluster.waiting[cluster.waiting_estimates.argmin()]
/// ...             if not cluster.start(shortest):
/// ...                 break
/// >>> jobs = {"submit": [0, 1, 2], "runtime": [9, 5, 3], "nodes": [4, 4, 4]}
/// >>> mw.Study(machine=mw.flat(4), workload=jobs, scheduler="shortest").run().jobs()["start"].tolist()
/// [0.0, 12.0, 9.0]
#[pyclass(frozen, module = "meshwork")]
pub(crate) struct Cluster {
    pub(super) lent: Lent<Model<'static>>,
    topologies: Vec<Arc<Wired>>,
    /// Identifiers of jobs in the simulation, by their positions in the order of arrival.
    tickets: Mutex<BTreeMap<u64, Ticket>>,
}

impl Cluster {
    pub(super) fn new(topologies: &[Wired]) -> Cluster {
        let topologies = topologies.iter().map(|one| Arc::new(one.clone())).collect();
        Cluster { lent: Lent::nothing(), topologies, tickets: Mutex::default() }
    }

    /// Records the identifiers of jobs that have joined the queue.
    pub(super) fn note(&self, joined: impl Iterator<Item = Ticket>) {
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        tickets.extend(joined.map(|ticket| (ticket.id.0, ticket)));
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
    /// The current time.
    #[getter]
    fn now(&self) -> PyResult<f64> {
        self.ask(|cluster| cluster.now().units())
    }

    /// The jobs that joined the queue at this instant.
    #[getter]
    fn arrivals(&self) -> PyResult<Vec<u64>> {
        self.ask(|cluster| cluster.arrivals().iter().map(|ticket| ticket.id.0).collect())
    }

    /// The jobs that ended at this instant.
    #[getter]
    fn departures(&self) -> PyResult<Vec<u64>> {
        self.ask(|cluster| {
            cluster.departures().iter().map(|departure| departure.ran.id.0).collect()
        })
    }

    /// The waiting jobs, in order of arrival.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.wholes(py, |cluster| cluster.waiting().map(|ticket| ticket.id.0 as i64).collect())
    }

    /// The number of processors requested by each waiting job.
    #[getter]
    fn waiting_nodes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.wholes(py, |cluster| of_waiting(cluster, |job| job.request.nodes() as i64))
    }

    /// The estimated run time of each waiting job.
    #[getter]
    fn waiting_estimates(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.numbers(py, |cluster| of_waiting(cluster, |job| job.estimate))
    }

    /// The arrival time of each waiting job.
    #[getter]
    fn waiting_submits(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.numbers(py, |cluster| of_waiting(cluster, |job| job.arrival.units()))
    }

    /// The running jobs, ordered by expected end.
    #[getter]
    fn running(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.wholes(py, |cluster| cluster.running().map(|(key, _)| key.id.0 as i64).collect())
    }

    /// The number of processors held by each running job.
    #[getter]
    fn running_nodes(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.wholes(py, |cluster| {
            cluster.running().map(|(_, running)| i64::from(running.held)).collect()
        })
    }

    /// The expected end of each running job.
    #[getter]
    fn running_ends(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.numbers(py, |cluster| {
            cluster.running().map(|(_, running)| running.expected_end.units()).collect()
        })
    }

    /// The number of waiting jobs.
    #[getter]
    fn waiting_jobs(&self) -> PyResult<usize> {
        self.ask(|cluster| cluster.waiting_jobs())
    }

    /// The waiting job at the head of the queue, or `None`.
    #[getter]
    fn head(&self) -> PyResult<Option<u64>> {
        self.ask(|cluster| cluster.head().map(|ticket| ticket.id.0))
    }

    /// The number of free processors on all sites.
    #[getter]
    fn free_nodes(&self) -> PyResult<u64> {
        let sites = self.topologies.len();
        self.ask(|cluster| (0..sites).map(|at| u64::from(cluster.site(at).free_nodes())).sum())
    }

    /// The number of sites.
    #[getter]
    fn sites(&self) -> usize {
        self.topologies.len()
    }

    /// Return a snapshot of a site, which does not follow later changes.
    fn site(&self, index: usize) -> PyResult<Site> {
        let topology = self.topologies.get(index).ok_or_else(|| {
            PyIndexError::new_err(format!(
                "there is no site {index}: there are {}",
                self.topologies.len()
            ))
        })?;
        let site = Site::new(Arc::clone(topology));
        self.ask(|cluster| {
            for holding in cluster.busy_nodes().filter(|holding| holding.site == index) {
                site.claimed(holding.placement, holding.since);
            }
            site.sync(cluster.site(index).free());
        })?;
        Ok(site)
    }

    /// Return a waiting or running job.
    fn job(&self, job: u64) -> PyResult<Job> {
        let unknown = match self.ticket(job) {
            Ok(ticket) => return self.ask(|cluster| Job::of(cluster.job(ticket))),
            Err(unknown) => unknown,
        };
        let running = self.ask(|cluster| {
            let found = cluster.running().find(|(key, _)| key.id.0 == job);
            found.map(|(_, running)| Job::of(&running.job))
        })?;
        running.ok_or(unknown)
    }

    /// Start a waiting job if it can be placed, and return whether it started.
    ///
    /// Selector, sizing and allocator choose the processors of the job. If the guard `beside` is
    /// given, the job starts only if it does not delay the reservation of that guard.
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

    /// Reserve the earliest start of a waiting job, assuming that running jobs end at their
    /// estimates.
    ///
    /// Return the reservation as a guard, or `None` if the job can never start.
    fn reserve(&self, job: u64) -> PyResult<Option<Guard>> {
        let ticket = self.ticket(job)?;
        self.ask(|cluster| {
            let earliest = cluster.earliest(ticket)?;
            Some(Guard(Mutex::new(cluster.guard(earliest))))
        })
    }

    /// Report to observers that a job was promised a start no later than `by`.
    fn promise(&self, job: u64, by: f64) -> PyResult<()> {
        let ticket = self.ticket(job)?;
        if by.is_nan() {
            return Err(wrong("the instant of a promise is nan, but must be a number"));
        }
        self.ask(|cluster| cluster.promise(ticket, Time::new(by)))
    }

    /// Remove a waiting job from the queue without running it.
    fn turn_away(&self, job: u64) -> PyResult<()> {
        let ticket = self.ticket(job)?;
        self.ask(|cluster| cluster.turn_away(ticket))?;
        self.gone(job);
        Ok(())
    }
}

/// A reservation for a waiting job, which backfilled jobs must not delay.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> @mw.register
/// ... class Backfills:
/// ...     "EASY backfilling."
/// ...     plans, serves_all = True, True
/// ...     def schedule(self, cluster: mw.Cluster):
/// ...         for job in cluster.waiting.tolist():
/// ...             if not cluster.start(job):
/// ...                 break
/// ...         if cluster.head is not None and (guard := cluster.reserve(cluster.head)) is not None:
/// ...             for job in cluster.waiting.tolist()[1:]:
/// ...                 cluster.start(job, beside=guard)
/// >>> jobs = {"submit": [0, 1, 2], "runtime": [9, 5, 3], "nodes": [3, 4, 1]}
/// >>> mw.Study(machine=mw.flat(4), workload=jobs, scheduler="backfills").run().jobs()["start"].tolist()
/// [0.0, 9.0, 2.0]
#[pyclass(frozen, module = "meshwork")]
pub(crate) struct Guard(Mutex<Promise>);

#[pymethods]
impl Guard {
    /// The reserved start time.
    #[getter]
    fn at(&self) -> f64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).reservation.at.units()
    }

    /// The index of the reserved site.
    #[getter]
    fn site(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).reservation.site
    }
}
