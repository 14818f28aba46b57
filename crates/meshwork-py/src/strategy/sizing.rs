//! Adapter for sizings written in Python.

use meshwork::form::Asks;
use meshwork::job::{Constraints, Request};
use meshwork::registry::{Params, Problem};
use meshwork::sizing::{Demand as Model, Size, Sizing};
use meshwork::smallvec::SmallVec;
use meshwork::topology::Topology as Wired;
use pyo3::prelude::*;

use super::{Instance, instance};
use crate::place::{request, request_for};

pub(crate) fn build(params: &Params, topologies: &[Wired]) -> Result<Box<dyn Sizing>, Problem> {
    Ok(Box::new(InPython { instance: instance("sizing", params, topologies) }))
}

struct InPython {
    instance: Instance,
}

/// The request of a job and the load of the machine, passed to `sizes` and `fewest` of a sizing.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> @mw.register
/// ... class Halved:
/// ...     "Half of the processors for twice as long, where the whole is not to be had."
/// ...     stateless = True
/// ...     def sizes(self, demand: mw.Demand):
/// ...         return [(demand.wanted, 1.0), ((demand.wanted + 1) // 2, 2.0)]
/// ...     def fewest(self, demand: mw.Demand):
/// ...         return (demand.wanted + 1) // 2
/// >>> jobs = {"submit": [0, 1], "runtime": [9, 9], "nodes": [6, 4]}
/// >>> mw.Study(machine=mw.flat(8), workload=jobs, sizing="halved").run().jobs()["held"].tolist()
/// [6, 2]
#[pyclass(frozen, module = "meshwork")]
pub(crate) struct Demand {
    request: Request,
    /// The number of nodes of the site.
    #[pyo3(get)]
    nodes: u32,
    /// The number of running jobs.
    #[pyo3(get)]
    running: u64,
    /// The number of waiting jobs, including the job of this demand.
    #[pyo3(get)]
    waiting: u64,
}

#[pymethods]
impl Demand {
    /// The request of the job, in the form that the site's allocator takes.
    #[getter]
    fn request<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        request_for(py, &self.request)
    }

    /// The number of requested processors.
    #[getter]
    fn wanted(&self) -> u64 {
        self.request.nodes()
    }
}

impl Demand {
    fn of(demand: &Model<'_>) -> Demand {
        Demand {
            request: demand.request.clone(),
            nodes: demand.nodes,
            running: demand.counts.running,
            waiting: demand.counts.waiting,
        }
    }
}

impl InPython {
    fn asked(&self, py: Python<'_>, demand: &Model<'_>) -> PyResult<Vec<(Request, f64)>> {
        let sizes = self.instance.object.bind(py).call_method1("sizes", (Demand::of(demand),))?;
        let mut all = Vec::new();
        for size in sizes.try_iter()? {
            let (wanted, stretch): (Bound<'_, PyAny>, f64) = size?.extract()?;
            all.push((in_form(request(&wanted)?, demand), stretch));
        }
        Ok(all)
    }
}

/// Size chosen by a sizing in Python, in the form of the job's request.
///
/// If the request is a subcube or a count with constraints, the size from Python is a number of
/// processors. The constraints are kept.
fn in_form(request: Request, demand: &Model<'_>) -> Request {
    match (&request, demand.request, demand.asks) {
        (Request::Nodes(nodes), Request::Constrained(constraints), _) => {
            Request::Constrained(Box::new(Constraints { nodes: *nodes, ..(**constraints).clone() }))
        }
        (Request::Nodes(nodes), _, Asks::Subcube) if nodes.is_power_of_two() => {
            Request::Subcube(nodes.ilog2())
        }
        _ => request,
    }
}

impl Sizing for InPython {
    fn sizes(&self, demand: &Model<'_>) -> SmallVec<[Size; 1]> {
        let sizes = Python::attach(|py| self.asked(py, demand));
        let sizes = sizes.unwrap_or_else(|error| {
            self.instance
                .give_up(&format!("when it was asked for the sizes of {}", demand.request), error)
        });
        let is_right = |(request, stretch): &(Request, f64)| {
            std::mem::discriminant(request) == std::mem::discriminant(demand.request)
                && (1..=u64::from(demand.nodes)).contains(&request.nodes())
                && (1e-15..=1e15).contains(stretch)
        };
        if let Some((wrong, stretch)) = sizes.iter().find(|size| !is_right(size)) {
            self.instance.break_off(&format!(
                "gave the size {wrong} with stretch {stretch} for {}, but a size has the form of the request, from 1 to {} \
                 nodes, and a stretch from 1e-15 to 1e15",
                demand.request, demand.nodes
            ));
        }
        sizes.into_iter().map(|(request, stretch)| Size { request, stretch }).collect()
    }

    fn fewest(&self, demand: &Model<'_>) -> u64 {
        Python::attach(|py| {
            let fewest = self.instance.object.call_method1(py, "fewest", (Demand::of(demand),));
            let fewest = fewest.and_then(|fewest| fewest.extract(py));
            fewest.unwrap_or_else(|error| {
                self.instance.give_up(
                    &format!("when it was asked for the fewest processors of {}", demand.request),
                    error,
                )
            })
        })
    }

    fn arrived(&mut self, request: &Request) {
        if !self.instance.has_arrived {
            return;
        }
        Python::attach(|py| {
            let told = request_for(py, request)
                .and_then(|request| self.instance.object.call_method1(py, "arrived", (request,)));
            if let Err(error) = told {
                self.instance.give_up(&format!("when it was told that {request} arrived"), error);
            }
        });
    }

    fn fork(&self) -> Box<dyn Sizing> {
        Box::new(InPython { instance: self.instance.fork() })
    }
}
