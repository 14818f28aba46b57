//! Integration tests of the crate `meshwork-lab`, linked into one program.

use std::path::{Path, PathBuf};

#[path = "../../../../tests/candidates.rs"]
mod candidates;
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

/// File or folder beside the repository, or `None` with a message that the test is skipped.
fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
    if !path.exists() {
        skip::skip("logs", &format!("{} is not here", path.display()));
        return None;
    }
    Some(path)
}
