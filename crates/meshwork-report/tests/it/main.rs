//! Integration tests of the crate `meshwork-report`, linked into one program.

#[path = "../../../../tests/clique.rs"]
mod clique;

mod additions;
mod certainty;
mod choice;
mod headlines;
mod maps;
mod report;
