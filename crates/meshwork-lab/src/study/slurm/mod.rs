//! Machines that a study describes by files of Slurm.

mod given;
pub mod scenario;

pub(crate) use given::{SITE_KEYS, open_sites};
