//! Machines of a study that files of Slurm describe.

mod given;
pub mod scenario;

pub(crate) use given::{SITE_KEYS, open_sites};
