//! Machines of studies that Slurm files describe.

mod given;
pub mod scenario;

pub(crate) use given::{SITE_KEYS, open_sites};
