//! Which build of the program a run came from.
//!
//! A stored run may be taken for one that is wanted only if the same code would make it. The version of the model says so
//! for those who use releases; whoever edits a strategy builds the same version again and again. So a digest of
//! the model's source is part of a run's key. A program that adds strategies of its own has code elsewhere as well:
//! there the digest is that of the whole executable.

use std::fs::File;

use meshwork::catalogue::Catalogue;
use meshwork::scenario::SOURCE;

/// The build of a program with this catalogue.
///
/// ```
/// use meshwork_lab::run::build;
/// assert_eq!(build::of(&meshwork::catalogue::Catalogue::standard()), build::standard());
/// ```
#[must_use]
pub fn of(catalogue: &Catalogue) -> String {
    if catalogue.is_standard() { standard() } else { own() }
}

/// The build of a program whose strategies are all in the model: the same after it was built again from the same
/// source.
///
/// ```
/// assert_eq!(meshwork_lab::run::build::standard().len(), 32);
/// ```
#[must_use]
pub fn standard() -> String {
    SOURCE.to_owned()
}

/// The build of a program with strategies of its own: another one for every other executable. Where the executable
/// cannot be read it is that of the model.
#[must_use]
pub fn own() -> String {
    let digest = || {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(std::env::current_exe().ok()?).ok()?).ok()?;
        Some(hasher.finalize().to_hex()[..32].to_owned())
    };
    digest().unwrap_or_else(standard)
}
