//! Integration tests of the crate `meshwork-operator`, linked into one program.

mod instants;
mod live;
