//! Build of the program that made a run: a digest of the program's code.
//!
//! A stored run may be reused only if the same code would produce it. The version of the model is
//! not enough to tell: a developer who edits a strategy compiles different code under the same
//! version. So a digest of the model's source is part of a run's key. If a program adds strategies
//! that are not part of the model, the digest covers its whole executable instead.

use std::fs::File;

use meshwork::catalogue::Catalogue;
use meshwork::scenario::SOURCE;

/// Returns the build (digest of the code) of a program with the strategies of `catalogue`.
///
/// ```
/// use meshwork_lab::run::build;
/// assert_eq!(build::of(&meshwork::catalogue::Catalogue::standard()), build::standard());
/// ```
pub fn of(catalogue: &Catalogue) -> String {
    if catalogue.is_standard() { standard() } else { own() }
}

/// Returns the build of a program whose strategies are all in the model.
///
/// ```
/// assert_eq!(meshwork_lab::run::build::standard().len(), 32);
/// ```
pub fn standard() -> String {
    SOURCE.to_owned()
}

/// Returns the build of a program that adds strategies to the model: a digest of the executable.
pub fn own() -> String {
    let digest = || {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(std::env::current_exe().ok()?).ok()?).ok()?;
        Some(hasher.finalize().to_hex()[..32].to_owned())
    };
    digest().unwrap_or_else(standard)
}
