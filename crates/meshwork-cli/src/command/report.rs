//! `meshwork report`: writes the HTML page of a results folder.

use std::path::{Path, PathBuf};

use meshwork::catalogue::Catalogue;
use meshwork_lab::files::{FileError, write_whole};
use meshwork_lab::text::number::plural;
use meshwork_lab::watch::recording::RecordingWindow;
use meshwork_report::{Maps, Report as Page};

use crate::args::Report;
use crate::output::{Ended, Output, PAGE_MARK, Stop, Verdict, must_be_ours, warn};

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Report) -> Ended {
    if let Some(until) = arguments.serve {
        return super::report_live::serve(catalogue, &arguments.dir, until);
    }
    if let Some(file) = &arguments.out {
        must_be_ours(file, PAGE_MARK)?;
    }
    let window = RecordingWindow { from: arguments.from, jobs: arguments.jobs };
    let maps = Maps { runs: arguments.runs.clone(), window };
    let page = read(catalogue, &arguments.dir, &maps)?;
    let path = write_page(&page, &arguments.dir, arguments.out.as_deref())?;
    for section in &page.sections {
        // The sentence on an unfinished study has the number of its runs.
        let runs = section.facts.first().filter(|_| section.missing > 0);
        let finding = section.findings.first().map(|finding| &finding.text);
        let Some(text) = finding.or(runs.map(|runs| &runs.text)) else { continue };
        let title = if page.sections.len() > 1 { &*format!("{}: ", section.title) } else { "" };
        out.paragraph(&format!("{title}{text}"))?;
    }
    out.line(&format!("written to {}", path.display()))?;
    if let Some(folder) = &arguments.figures {
        let count = write_figures(&page, folder)?;
        let shown = folder.display();
        out.line(&match count {
            0 => "no figure is written: there is nothing to draw where one scenario was run"
                .to_owned(),
            _ => format!("{} written to {shown}", plural(count, "figure")),
        })?;
    }
    Ok(Verdict::Done)
}

/// Writes the figures into a folder, and returns their number. A missing folder is created.
fn write_figures(page: &Page, folder: &Path) -> Result<u64, Stop> {
    let shown = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(Stop::Wrong(format!(
            "{shown}: this is a file, but figures are written into a folder"
        )));
    }
    let files = page.figure_files();
    if !files.is_empty() {
        std::fs::create_dir_all(folder).map_err(|error| FileError::making(folder, &error))?;
    }
    for (name, text) in &files {
        write_whole(&folder.join(name), text.as_bytes())?;
    }
    Ok(files.len() as u64)
}

/// Writes the report of a results folder, by default to `report.html`; returns the page's path.
pub(super) fn write(
    catalogue: &Catalogue,
    folder: &Path,
    file: Option<&Path>,
    maps: &Maps,
) -> Result<PathBuf, Stop> {
    write_page(&read(catalogue, folder, maps)?, folder, file)
}

fn read(catalogue: &Catalogue, folder: &Path, maps: &Maps) -> Result<Page, Stop> {
    let page = Page::with_maps_in(catalogue, folder, maps)?;
    warn(&page.warnings);
    Ok(page)
}

fn write_page(page: &Page, folder: &Path, file: Option<&Path>) -> Result<PathBuf, Stop> {
    let path = file.map_or_else(|| folder.join("report.html"), Path::to_path_buf);
    write_whole(&path, page.html().as_bytes())?;
    Ok(path)
}
