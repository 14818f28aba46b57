//! Reports of skipped tests. This file is included in the tests of every crate.

use std::io::Write;

/// Reports that the calling test is skipped because the computer lacks `need`.
///
/// The variable `MESHWORK_REQUIRE` names what must not be lacking, separated by commas: `browser`,
/// `slurm`, `python`, `logs` or `tools`. A line with the test and the reason is written to the file
/// that the variable `MESHWORK_SKIPPED` names.
///
/// # Panics
/// If `MESHWORK_REQUIRE` names `need`.
#[expect(clippy::print_stderr, reason = "a test that skips must say so")]
#[allow(clippy::disallowed_methods, reason = "what may be skipped is no part of a result")]
pub(crate) fn skip(need: &str, why: &str) {
    let required = std::env::var("MESHWORK_REQUIRE").unwrap_or_default();
    assert!(!names(&required, need), "`{need}` is required, but {why}");
    eprintln!("SKIPPED ({need}): {why}");
    if let Some(path) = std::env::var_os("MESHWORK_SKIPPED") {
        let thread = std::thread::current();
        let line = format!("{need}\t{}\t{why}\n", thread.name().unwrap_or("a test"));
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
    }
}

fn names(list: &str, need: &str) -> bool {
    list.split(',').any(|name| name.trim() == need)
}

#[test]
fn a_need_is_required_by_its_whole_name() {
    assert!(names("browser, slurm", "slurm") && names("logs", "logs"));
    assert!(!names("", "logs") && !names("browser,slurm", "logs") && !names("browsers", "browser"));
}
