//! Integration tests of the crate `meshwork-lab`, linked into one program.

#[path = "../../../../tests/skip.rs"]
mod skip;
#[path = "../../../../tests/clique.rs"]
mod clique;

mod additions;
mod catalogue;
mod certainty;
mod choose;
mod columns;
mod converted;
mod headlines;
mod instants;
mod kills;
mod live;
mod maps;
mod peers;
mod readme;
mod report;
mod slurm;
mod studies;
