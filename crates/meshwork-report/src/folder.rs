//! Reads studies from results folders: their text, their request and their stored runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use meshwork::catalogue::Catalogue;

use super::{Content, StoredChoice};
use meshwork_lab::run::known;
use meshwork_lab::run::store::{Archive, Head, RUNS, RunRecord, SEGMENTS, attempts};
use meshwork_lab::run::stored::Stored;
use meshwork_lab::study::Refused;
use meshwork_lab::study::asked::{EXPERIMENT, StudyRequest};
use meshwork_lab::study::papers::{PAPERS, sources};
use meshwork_lab::sweep::progress;

pub(super) fn read(catalogue: &Catalogue, folder: &Path) -> Result<Content, Refused> {
    let mut latest = String::new();
    let mut versions: Vec<String> = Vec::new();
    let archive = if folder.join(RUNS).exists() || folder.join(SEGMENTS).is_dir() {
        Archive::open(folder, |head, _| {
            if !versions.iter().any(|version| *version == head.version) {
                versions.push(head.version.to_string());
            }
            if latest != head.build {
                latest = head.build.to_string();
            }
        })?
    } else {
        Archive::default()
    };
    let Stored { study, asked, points, digests } =
        Stored::read(catalogue, folder, || guess(folder))?;
    let failures = progress::failures(folder, &points, &attempts(folder, |_, _| {})?);
    // Take the runs of the build that last ran the study, whichever build reads them.
    let build = if asked.build.is_empty() { &latest } else { &asked.build };
    let (results, missing) =
        known(catalogue, &points, &digests, &study.replications, build, &|index, number, key| {
            let stored = archive.findings(key).map(Ok);
            stored.or_else(|| failures.get(&(index, number)).cloned().map(Err))
        });
    Ok(Content {
        choice: StoredChoice::read(folder, &study.name),
        study,
        asked,
        points,
        results,
        missing,
        versions,
        folder: folder.file_name().map(|name| name.to_string_lossy().into_owned()),
        notes: archive.warnings().to_vec(),
    })
}

/// Reconstructs the request of a study from its runs, because older versions did not store
/// requests.
fn guess(folder: &Path) -> StudyRequest {
    let mut guess = StudyRequest::guess();
    let learn = |_: &Head<'_>, line: &[u8]| {
        if let Some(record) = RunRecord::read(line) {
            guess.learn(&record);
        }
    };
    // Errors were already reported when the archive was opened above.
    drop(Archive::open(folder, learn));
    guess
}

/// Folders of studies: `folder` itself, or else its subfolders. Studies of papers come first.
pub(super) fn studies(folder: &Path) -> Result<Vec<PathBuf>, Refused> {
    let shown = folder.display();
    if !folder.is_dir() {
        let what = if folder.exists() { "this is no folder" } else { "there is no such folder" };
        return Err(Refused(format!(
            "{shown}: {what}: give one that `meshwork run --out` or `meshwork reproduce` wrote"
        )));
    }
    let is_study = |folder: &Path| folder.join(EXPERIMENT).is_file();
    if is_study(folder) {
        return Ok(vec![folder.to_owned()]);
    }
    let inner = inner_folders(folder)?;
    let mut found: Vec<PathBuf> = inner.iter().filter(|path| is_study(path)).cloned().collect();
    if found.is_empty() {
        let deeper = inner.iter().find(|path| {
            inner_folders(path).is_ok_and(|inner| inner.iter().any(|path| is_study(path)))
        });
        return Err(Refused(match deeper {
            Some(deeper) => format!(
                "{shown}: there is no study in this folder, but there are some in {}: give that one",
                deeper.display()
            ),
            None => format!(
                "{shown}: there is no {EXPERIMENT} in this folder, nor in a folder in it: give one \
                 that `meshwork run --out` or `meshwork reproduce` wrote"
            ),
        }));
    }
    let places: BTreeMap<String, usize> = order();
    found.sort_by_cached_key(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        (places.get(&name).copied().unwrap_or(usize::MAX), name)
    });
    Ok(found)
}

fn inner_folders(folder: &Path) -> Result<Vec<PathBuf>, Refused> {
    let entries = std::fs::read_dir(folder).map_err(|error| {
        Refused(format!("{}: this folder cannot be read ({error})", folder.display()))
    })?;
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

/// Positions of the built-in studies of papers, by name. They are ordered by paper, and then by
/// name.
fn order() -> BTreeMap<String, usize> {
    let names: Vec<&str> =
        sources().map(|(file, _)| file.strip_suffix(".toml").unwrap_or(file)).collect();
    let mut places = BTreeMap::new();
    for paper in PAPERS {
        for name in names.iter().filter(|name| name.starts_with(paper.key)) {
            let next = places.len();
            places.insert((*name).to_owned(), next);
        }
    }
    places
}
