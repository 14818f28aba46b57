//! The compiled module `meshwork._meshwork`, on which the Python package `meshwork` is built.
//!
//! The public interface, its types and its documentation are in `python/meshwork`. This crate has
//! what must be Rust: studies that run without the GIL, pools, Arrow tables, and adapters for
//! strategies written in Python.

mod buffer;
mod command;
mod error;
mod frame;
mod guard;
mod gym;
mod jobs;
mod place;
mod pool;
mod running;
mod strategy;
mod study;
mod sweep;
mod table;
mod values;

use pyo3::prelude::*;

/// The compiled part of `meshwork`.
#[pymodule]
mod _meshwork {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::buffer::Buffer;
    #[pymodule_export]
    use crate::command::{ask, main, version};
    #[pymodule_export]
    use crate::frame::{check_jobs, job_columns, rows_as_csv, text_cell};
    #[pymodule_export]
    use crate::gym::Envs;
    #[pymodule_export]
    use crate::place::{Placement, Topology};
    #[pymodule_export]
    use crate::pool::Pool;
    #[pymodule_export]
    use crate::strategy::ask::{Ask, Rng};
    #[pymodule_export]
    use crate::strategy::catalogue::{conform, register, registered};
    #[pymodule_export]
    use crate::strategy::cluster::{Cluster, Guard};
    #[pymodule_export]
    use crate::strategy::job::Job;
    #[pymodule_export]
    use crate::strategy::observer::{Run, State};
    #[pymodule_export]
    use crate::strategy::offers::Offers;
    #[pymodule_export]
    use crate::strategy::site::Site;
    #[pymodule_export]
    use crate::strategy::sizing::Demand;
    #[pymodule_export]
    use crate::study::Study;
    #[pymodule_export]
    use crate::study::results::{Results, figures};
    #[pymodule_export]
    use crate::sweep::{collect, run_shard};
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
