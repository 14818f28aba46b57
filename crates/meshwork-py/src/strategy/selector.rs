//! Adapter for selectors written in Python.

use meshwork::job::Job as Asked;
use meshwork::offer::{Offers as Model, Proposal};
use meshwork::registry::{Params, Problem};
use meshwork::rng::Stream;
use meshwork::select::Selector;
use pyo3::prelude::*;

use super::ask::Rng;
use super::job::Job;
use super::lent::lend_offers;
use super::offers::Offers;
use super::{Instance, instance};

pub(crate) fn build(params: &Params) -> Result<Box<dyn Selector>, Problem> {
    Ok(Box::new(InPython { instance: instance("selector", params, &[]) }))
}

struct InPython {
    instance: Instance,
}

impl Selector for InPython {
    fn select(
        &mut self,
        job: &Asked,
        offers: &mut Model<'_>,
        rng: &mut Stream,
    ) -> Option<Proposal> {
        let selected = Python::attach(|py| -> PyResult<Option<Proposal>> {
            let (drawn, lent) = (Py::new(py, Rng::new(rng))?, Py::new(py, Offers::nothing())?);
            let selected = lend_offers(py, &lent.get().lent, offers, || {
                let given = (Job::of(job), lent.clone_ref(py), drawn.clone_ref(py));
                let site = self.instance.object.bind(py).call_method1("select", given)?;
                let site: Option<usize> = site.extract()?;
                site.map_or(Ok(None), |site| lent.get().proposal(site))
            });
            rng.go_to(drawn.get().stream().position());
            selected
        });
        selected.unwrap_or_else(|error| {
            self.instance.give_up(&format!("when it was asked where {} goes", job.request), error)
        })
    }

    fn fork(&self) -> Box<dyn Selector> {
        Box::new(InPython { instance: self.instance.fork() })
    }
}
