//! Build of the program that made a run, which is a digest of the program's code.
//!
//! A stored run may be reused only if the same code would produce it. The model version suffices
//! for users of releases, but a developer who edits a strategy builds the same version repeatedly.
//! So a digest of the model's source is part of a run's key. A program with strategies of its own
//! has code outside the model, so its digest covers the whole executable.

use std::fs::File;

use meshwork::catalogue::Catalogue;
use meshwork::scenario::SOURCE;

/// Returns the build (digest of the code) of a program with the strategies of `catalogue`.
///
/// ```
/// use meshwork_lab::run::build;
/// assert_eq!(build::of(&meshwork::catalogue::Catalogue::standard()), build::standard());
/// ```
#[must_use]
pub fn of(catalogue: &Catalogue) -> String {
    if catalogue.is_standard() { standard() } else { own() }
}

/// Returns the build of a program whose strategies are all in the model. Compiling the same source
/// again gives the same build.
///
/// ```
/// assert_eq!(meshwork_lab::run::build::standard().len(), 32);
/// ```
#[must_use]
pub fn standard() -> String {
    SOURCE.to_owned()
}

/// Returns the build of a program with strategies of its own: a digest of the executable. If the
/// executable cannot be read, returns the build of the model.
#[must_use]
pub fn own() -> String {
    let digest = || {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(std::env::current_exe().ok()?).ok()?).ok()?;
        Some(hasher.finalize().to_hex()[..32].to_owned())
    };
    digest().unwrap_or_else(standard)
}
