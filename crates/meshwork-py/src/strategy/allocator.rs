//! Adapter for allocators written in Python.

use std::sync::Arc;

use meshwork::alloc::{Allocator, Ask as Question, Claim, RecallError};
use meshwork::geometry::NodeSet;
use meshwork::job::{Request, Time};
use meshwork::machine::{Placement as Nodes, Site as Model};
use meshwork::registry::{Params, Problem};
use meshwork::rng::Stream;
use meshwork::topology::Topology as Wired;
use pyo3::intern;
use pyo3::prelude::*;

use super::ask::{Ask, Rng};
use super::site::Site;
use super::{Instance, instance};
use crate::place::{Placement, placement};

pub(crate) fn build(params: &Params, topology: &Wired) -> Result<Box<dyn Allocator>, Problem> {
    let instance = instance("allocator", params, std::slice::from_ref(topology));
    let made = Python::attach(|py| -> PyResult<_> {
        let rng = Rng::new(&Stream::new(0, 0, "not drawn from"));
        Ok((Py::new(py, Site::new(Arc::new(topology.clone())))?, Py::new(py, rng)?))
    });
    let (site, rng) = made.unwrap_or_else(|error| instance.give_up("when it was made", error));
    Ok(Box::new(InPython { instance, site, rng }))
}

struct InPython {
    instance: Instance,
    site: Py<Site>,
    rng: Py<Rng>,
}

impl InPython {
    fn asked(&self, py: Python<'_>, request: &Request, now: Time) -> PyResult<Option<Nodes>> {
        let ask = Ask {
            request: request.clone(),
            site: self.site.clone_ref(py),
            now: now.units(),
            rng: self.rng.clone_ref(py),
        };
        let answer = self.instance.object.bind(py).call_method1(intern!(py, "choose"), (ask,))?;
        if answer.is_none() {
            return Ok(None);
        }
        placement(&answer, self.site.get().topology()).map(Some)
    }

    /// Reason why a placement is invalid; `None` if it is valid.
    fn is_wrong(placement: &Nodes, request: &Request, site: &Model) -> Option<String> {
        let grid = site.grid();
        if u64::from(placement.len()) < request.nodes() {
            return Some(format!(
                "which is {} nodes instead of {}",
                placement.len(),
                request.nodes()
            ));
        }
        let mut seen = NodeSet::empty(grid.nodes());
        for node in placement.nodes(grid) {
            let at = || format!("{:?}", grid.coordinates(node).as_slice());
            if !site.free().contains(node) {
                return Some(format!("of which the node {} is held", at()));
            }
            if seen.contains(node) {
                return Some(format!("which has the node {} twice", at()));
            }
            seen.insert(node);
        }
        None
    }

    fn told(&self, what: &'static str, placement: &Nodes, now: Option<Time>) {
        Python::attach(|py| {
            let topology = Arc::clone(self.site.get().topology());
            let placement = Placement { nodes: placement.clone(), topology };
            let object = self.instance.object.bind(py);
            let told = match now {
                Some(now) => {
                    object.call_method1(what, (placement, self.site.clone_ref(py), now.units()))
                }
                None => object.call_method1(what, (placement, self.site.clone_ref(py))),
            };
            if let Err(error) = told {
                self.instance.give_up(&format!("when it was told what was {what}"), error);
            }
        });
    }
}

impl Allocator for InPython {
    fn choose(&mut self, ask: Question<'_>) -> Option<Nodes> {
        let Question { request, site, now, rng, .. } = ask;
        // Check here whether enough nodes are free, so that a class in Python need not do it.
        if request.nodes() > u64::from(site.free_nodes()) {
            return None;
        }
        self.site.get().sync(site.free());
        let position = rng.position();
        let chosen = Python::attach(|py| {
            *self.rng.get().stream() = rng.clone();
            self.asked(py, request, now)
        });
        let drawn = self.rng.get().stream().position();
        if drawn != position {
            rng.go_to(drawn);
        }
        let chosen = chosen.unwrap_or_else(|error| {
            self.instance.give_up(&format!("when it was asked for {request} at {now}"), error)
        });
        if let Some(placement) = &chosen
            && let Some(why) = InPython::is_wrong(placement, request, site)
        {
            let text = placement.text(site.grid());
            self.instance.break_off(&format!("proposed {text} for {request} at {now}, {why}"));
        }
        chosen
    }

    fn claimed(&mut self, placement: &Nodes, _site: &Model, claim: Claim) {
        self.site.get().claimed(placement, claim.now);
        if self.instance.has_claimed {
            self.told("claimed", placement, Some(claim.now));
        }
    }

    fn released(&mut self, placement: &Nodes, _site: &Model) {
        self.site.get().released(placement);
        if self.instance.has_released {
            self.told("released", placement, None);
        }
    }

    fn memory(&self) -> Vec<u64> {
        if !self.instance.has_memory {
            return Vec::new();
        }
        Python::attach(|py| {
            let memory = self.instance.object.call_method0(py, "memory");
            let memory = memory.and_then(|memory| memory.extract(py));
            memory.unwrap_or_else(|error| {
                self.instance.give_up("when it was asked what it remembers", error)
            })
        })
    }

    fn recall(&mut self, memory: &[u64], site: &Model) -> Result<(), RecallError> {
        self.site.get().sync(site.free());
        if !self.instance.has_memory {
            return if memory.is_empty() {
                Ok(())
            } else {
                Err(RecallError::NothingToRecall(memory.len()))
            };
        }
        Python::attach(|py| {
            let recalled = self.instance.object.call_method1(
                py,
                "recall",
                (memory.to_vec(), self.site.clone_ref(py)),
            );
            recalled.map(drop).map_err(|error| RecallError::Other(error.value(py).to_string()))
        })
    }

    fn goes_by_free_nodes(&self) -> bool {
        self.instance.goes_by_free_nodes
    }

    fn fork(&self) -> Box<dyn Allocator> {
        let instance = self.instance.fork();
        let made = Python::attach(|py| -> PyResult<_> {
            Ok((
                Py::new(py, self.site.get().fork())?,
                Py::new(py, Rng::new(&self.rng.get().stream()))?,
            ))
        });
        let (site, rng) =
            made.unwrap_or_else(|error| instance.give_up("when it was copied", error));
        Box::new(InPython { instance, site, rng })
    }
}
