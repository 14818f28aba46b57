//! Integration tests of the crate `meshwork-report`, linked into one program.

#[path = "../../../../tests/candidates.rs"]
mod candidates;
#[path = "../../../../tests/clique.rs"]
mod clique;

mod additions;
mod certainty;
mod choice;
mod headlines;
mod maps;
mod report;
