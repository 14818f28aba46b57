//! Integration tests of the crate `meshwork-lab`, linked into one program.

#[path = "../../../../tests/skip.rs"]
mod skip;

mod catalogue;
mod choose;
mod columns;
mod converted;
mod kills;
mod peers;
mod readme;
mod slurm;
mod studies;
