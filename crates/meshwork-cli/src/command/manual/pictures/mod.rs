//! Pictures of the manual, drawn from topologies, catalogue entries and runs of this program.
//!
//! The output is deterministic to the byte, so that a test can compare it with `docs/img/`. Colours
//! follow the reader's light or dark setting. Every picture has its own background, so that it is
//! readable on any page.

mod canvas;
mod diagrams;
mod interval;
mod machine;
mod topologies;

use meshwork::catalogue::Catalogue;

pub(super) use machine::{Held, story};

/// Pictures except those of allocators, by their paths in the manual's folder.
pub(super) fn all(catalogue: &Catalogue) -> Vec<(String, String)> {
    let mut pictures = vec![
        ("map", machine::half_free(catalogue)),
        ("life-of-a-job", diagrams::life(catalogue)),
        ("crates", diagrams::crates()),
        ("interval", interval::anatomy(catalogue)),
    ]
    .into_iter()
    .map(|(name, picture)| (format!("img/{name}.svg"), picture))
    .collect::<Vec<_>>();
    let wired = topologies::all().into_iter();
    pictures.extend(wired.map(|(name, picture)| (format!("img/topology-{name}.svg"), picture)));
    pictures
}
