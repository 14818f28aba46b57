//! `meshwork report --serve`: serves the page of a results folder while processes still add
//! results.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use meshwork::catalogue::Catalogue;
use meshwork_lab::run::store::{RUNS, SEGMENTS};
use meshwork_lab::sweep::{SweepProgress, progress};
use meshwork_lab::text::visible::visible_json;
use meshwork_report::Report;
use serde_json::json;

use crate::args::ServeUntil;
use crate::output::{Ended, Stop, Verdict};
use crate::serve::http::Resource;
use crate::serve::{Answer, HTML, JSON, Source};

/// Shortest interval between two checks for new results.
///
/// After a page was made, the interval is longer by `REST_SHARE` times the time that making the
/// page took, but by at most a minute.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const REST_SHARE: u32 = 8;

/// Time after the last run, in which open pages fetch the final results.
const FAREWELL: Duration = Duration::from_secs(4);

/// Report that is ready to be sent, with its version.
#[derive(Default)]
struct Made {
    version: u64,
    page: Arc<Vec<u8>>,
    report: Arc<Vec<u8>>,
    now: Arc<Vec<u8>>,
}

struct Folder(Mutex<Made>);

impl Source for Folder {
    fn answer(&self, resource: Resource, known: Option<&str>) -> Option<Answer> {
        let made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (kind, tag, body) = match resource {
            Resource::Page => (HTML, String::new(), &made.page),
            Resource::Report => (JSON, made.version.to_string(), &made.report),
            Resource::Machine => (JSON, String::new(), &made.now),
        };
        (tag.is_empty() || known != Some(&tag)).then(|| Answer {
            kind,
            tag,
            body: Arc::clone(body),
        })
    }
}

/// Serves the page of a results folder until all runs have ended or the command is terminated.
pub(super) fn serve(catalogue: &Catalogue, folder: &Path, until: ServeUntil) -> Ended {
    let mut made = make(catalogue, folder, 1)?;
    let mut seen = signature(folder);
    let has_ended = |now: &SweepProgress| now.running + now.missing == 0;
    let mut is_over = has_ended(&made.1);
    let source = Arc::new(Folder(Mutex::new(made.0)));
    let _server = super::run_live::serve(Arc::<Folder>::clone(&source))?;
    let mut version = 1;
    loop {
        if is_over && !until.stays() {
            thread::sleep(FAREWELL);
            return Ok(Verdict::Done);
        }
        thread::sleep(LOOK_EVERY);
        let now = signature(folder);
        if now == seen {
            continue;
        }
        seen = now;
        version += 1;
        let began = Instant::now();
        // Making the page may fail for a moment, while files with results are incomplete.
        if let Ok(again) = make(catalogue, folder, version) {
            made = again;
            is_over = has_ended(&made.1);
            *source.0.lock().unwrap_or_else(PoisonError::into_inner) = made.0;
        }
        thread::sleep((began.elapsed() * REST_SHARE).min(Duration::from_secs(60)));
    }
}

fn make(catalogue: &Catalogue, folder: &Path, version: u64) -> Result<(Made, SweepProgress), Stop> {
    let (now, _) = progress(catalogue, folder)?;
    let maps = meshwork_report::Maps::none();
    let report = Report::with_maps_in(catalogue, folder, &maps)?;
    let name = report.sections.first().map_or("", |section| section.title.as_str());
    let state = json!({
        "study": name, "studies": 1, "done": now.done + now.failed, "total": now.total, "failed": now.failed,
        "ended": now.running + now.missing == 0, "version": version.to_string(), "machine": null,
    });
    let data = json!({ "data": report.data(), "results": report.results() });
    let bytes = |json| Arc::new(visible_json(json).to_string().into_bytes());
    let page = Arc::new(report.live().into_bytes());
    Ok((Made { version, page, report: bytes(data), now: bytes(state) }, now))
}

/// Lengths and modification times of all files with runs.
fn signature(folder: &Path) -> Vec<(u64, Option<SystemTime>)> {
    let segments = std::fs::read_dir(folder.join(SEGMENTS)).into_iter().flatten().flatten();
    let mut paths: Vec<_> = segments.map(|entry| entry.path()).collect();
    paths.sort();
    paths.push(folder.join(RUNS));
    let of = |path: &std::path::PathBuf| {
        let data = std::fs::metadata(path).ok()?;
        Some((data.len(), data.modified().ok()))
    };
    paths.iter().filter_map(of).collect()
}
