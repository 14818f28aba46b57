//! Offers of the sites for a job, for selectors written in Python.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use meshwork::offer::{Offers as Model, Proposal};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::lent::Lent;
use crate::error::wrong;
use crate::place::Placement;

/// The sites' offers for a job, passed to `select` and valid during that call.
///
/// Examples
/// --------
/// >>> import meshwork as mw
/// >>> @mw.register
/// ... class Roomiest:
/// ...     "The site with most free processors."
/// ...     stateless = True
/// ...     def select(self, job: mw.Job, offers: mw.Offers, rng: mw.Rng):
/// ...         rooms = sorted(offers.rooms(), key=lambda room: -room["free"])
/// ...         return next((room["site"] for room in rooms if offers.at(room["site"])), None)
/// >>> machine = mw.sites([mw.flat(4), mw.flat(8)])
/// >>> jobs = {"submit": [0, 1], "runtime": [9, 9], "nodes": [2, 2]}
/// >>> mw.Study(machine=machine, workload=jobs, selector="roomiest").run().jobs()["site"].tolist()
/// [1, 1]
#[pyclass(frozen, module = "meshwork")]
pub(crate) struct Offers {
    pub(super) lent: Lent<Model<'static>>,
    /// Placements that sites have proposed in this attempt to place a job.
    ///
    /// They are kept because an allocator that draws random numbers would propose another placement
    /// if it were called again.
    proposed: Mutex<BTreeMap<usize, Option<Proposal>>>,
}

impl Offers {
    pub(super) fn nothing() -> Offers {
        Offers { lent: Lent::nothing(), proposed: Mutex::default() }
    }

    /// Returns the placement that a site proposes for the job being placed; `None` if it has none.
    ///
    /// During one attempt to place a job, repeated calls return an equal proposal.
    pub(super) fn proposal(&self, site: usize) -> PyResult<Option<Proposal>> {
        let mut proposed = self.proposed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = proposed.get(&site) {
            return Ok(known.clone());
        }
        let asked =
            self.lent.with("offers", |offers| (site < offers.sites()).then(|| offers.at(site)))?;
        let asked = asked.ok_or_else(|| wrong(format!("there is no site {site}")))?;
        proposed.insert(site, asked.clone());
        Ok(asked)
    }
}

#[pymethods]
impl Offers {
    /// The number of sites.
    #[getter]
    fn sites(&self) -> PyResult<usize> {
        self.lent.with("offers", |offers| offers.sites())
    }

    /// Return the placement that a site proposes for the job, and the job's `stretch` there.
    ///
    /// The stretch is the expected run time divided by the requested run time. Return `None` if the
    /// site has no placement now.
    fn at(&self, site: usize) -> PyResult<Option<(Placement, f64)>> {
        let Some(proposal) = self.proposal(site)? else { return Ok(None) };
        let topology = self.lent.with("offers", |offers| offers.site(site).topology().clone())?;
        Ok(Some((
            Placement { nodes: proposal.placement, topology: Arc::new(topology) },
            proposal.stretch,
        )))
    }

    /// Return a list with a dictionary for every site on which the job fits.
    ///
    /// A dictionary has the index of the `site`, its number of `nodes`, its number of `free`
    /// processors, the number of processors that the job would hold (`held`), and the `speed` of
    /// the site. This draws no random numbers.
    fn rooms<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let fits = self.lent.with("offers", |offers| offers.fits())?.into_iter();
        let rooms = fits.map(|fit| {
            let dict = PyDict::new(py);
            dict.set_item("site", fit.site)?;
            dict.set_item("nodes", fit.nodes)?;
            dict.set_item("free", fit.free)?;
            dict.set_item("held", fit.held)?;
            dict.set_item("speed", fit.speed)?;
            Ok(dict)
        });
        rooms.collect()
    }

    /// Return the requested processors and the estimated run time of each other waiting job.
    fn others(&self) -> PyResult<Vec<(u64, f64)>> {
        self.lent.with("offers", |offers| {
            offers.queue().others().map(|job| (job.request.nodes(), job.estimate)).collect()
        })
    }
}
