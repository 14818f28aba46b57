//! `meshwork report`.

use std::path::{Path, PathBuf};

use meshwork_lab::report::{Maps, Report as Page};
use meshwork_lab::run::store::write_whole;
use meshwork_lab::watch::recording::Window;

use crate::args::Report;
use crate::output::{Ended, Output, Stop, Verdict, say};

/// Writes the page of a folder.
pub(crate) fn run(out: &mut Output, arguments: &Report) -> Ended {
    let window = Window { from: arguments.from, jobs: arguments.jobs };
    let maps = Maps { runs: arguments.runs.clone(), window };
    let path = write(&arguments.dir, arguments.out.as_deref(), &maps)?;
    out.line(&format!("written to {}", path.display()))?;
    Ok(Verdict::Done)
}

/// Writes the page of a folder into a file, `report.html` in it where none is named; gives its path.
pub(super) fn write(folder: &Path, file: Option<&Path>, maps: &Maps) -> Result<PathBuf, Stop> {
    let page = Page::with_maps(folder, maps)?;
    for warning in &page.warnings {
        say("warning", warning);
    }
    let path = file.map_or_else(|| folder.join("report.html"), Path::to_path_buf);
    write_whole(&path, page.html().as_bytes()).map_err(Stop::Failed)?;
    Ok(path)
}
