//! Page of `meshwork run --serve`: results so far, progress, and the machine of one run.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use meshwork::observe::Observer;
use meshwork_lab::run::{Results, Run, RunProgress, ScenarioRuns, Watcher};
use meshwork_lab::study::asked::StudyRequest;
use meshwork_lab::study::expand::{Point, expand};
use meshwork_lab::text::visible::visible_json;
use meshwork_lab::watch::recording::Recording;
use meshwork_lab::watch::{RunSnapshot, Spectator};
use meshwork_lab::{Refused, Study};
use meshwork_report::{Content, Report};
use serde_json::{Value as Json, json};

use crate::args::ServeUntil;
use crate::output::{Stop, tell};
use crate::serve::http::Resource;
use crate::serve::{Answer, HTML, JSON, Server, Source};

/// Maximum number of waiting jobs that the state of a live run lists.
const MAX_WAITING: usize = 20;

/// Shortest interval between two reports, except for the last one.
///
/// It is at least `MAKE_SHARE` times the time that making a report takes, so that the processors
/// are left to the runs.
const MAKE_EVERY: Duration = Duration::from_millis(700);
const MAKE_SHARE: u32 = 8;

/// Longest wait after the last run, in which open pages fetch the final results.
const FAREWELL: Duration = Duration::from_secs(4);

/// Time for which a page counts as open after its last request.
const OPEN: Duration = Duration::from_secs(3);

/// All studies of one command, with their results so far, for a page in the browser.
pub(super) struct Watched {
    studies: Vec<Followed>,
    /// Index of the study that runs now.
    current: AtomicUsize,
    spectator: Spectator,
    state: Mutex<State>,
    made: Mutex<Option<Made>>,
}

struct Followed {
    study: Study,
    points: Vec<Point>,
}

#[derive(Default)]
struct State {
    /// Runs that have ended, by study and scenario, each in the order of replications.
    runs: Vec<Vec<InOrder>>,
    progress: Vec<RunProgress>,
    /// Number of changes of the results so far, by which a page detects new results.
    version: u64,
    has_ended: bool,
    /// Time of the last request of a page.
    ///
    /// `given` is the version of the results that was last sent to a page.
    asked: Option<Instant>,
    given: Option<u64>,
}

/// Runs of a scenario in the order of their replications. Runs may end in another order.
#[derive(Clone, Default)]
struct InOrder {
    /// Runs of the first replications of a scenario, up to the first one that has not ended.
    runs: ScenarioRuns,
    /// Runs that have ended although an earlier replication has not.
    early: BTreeMap<u64, Run>,
}

impl InOrder {
    fn insert(&mut self, run: Run) {
        self.early.insert(run.replication, run);
        while let Some(next) = self.early.remove(&(self.runs.len() as u64)) {
            self.runs.push(next);
        }
    }

    fn all(self) -> ScenarioRuns {
        let mut runs = self.runs;
        self.early.into_values().for_each(|run| runs.push(run));
        runs
    }
}

/// Report with the time and the duration of its creation.
struct Made {
    version: u64,
    at: Instant,
    took: Duration,
    body: Arc<Vec<u8>>,
}

impl Watched {
    /// Creates the state of the page before any run has ended.
    ///
    /// # Errors
    ///
    /// If a study cannot be expanded into scenarios.
    pub(super) fn new(studies: &[Study]) -> Result<Watched, Refused> {
        let follow = |study: &Study| Ok(Followed { study: study.clone(), points: expand(study)? });
        let studies = studies.iter().map(follow).collect::<Result<Vec<Followed>, Refused>>()?;
        let state = State {
            runs: studies
                .iter()
                .map(|followed| vec![InOrder::default(); followed.points.len()])
                .collect(),
            progress: vec![RunProgress::default(); studies.len()],
            ..State::default()
        };
        Ok(Watched {
            studies,
            current: AtomicUsize::new(0),
            spectator: Spectator::default(),
            state: Mutex::new(state),
            made: Mutex::default(),
        })
    }

    pub(super) fn begin(&self, study: usize) {
        self.current.store(study, Ordering::Release);
    }

    pub(super) fn progress(&self, progress: RunProgress) {
        let study = self.current.load(Ordering::Acquire);
        self.state().progress[study] = progress;
    }

    fn end(&self) {
        let mut state = self.state();
        state.has_ended = true;
        state.version += 1;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Report on the results so far, with the version of the results.
    fn report(&self) -> (u64, Report) {
        let (version, runs, progress) = {
            let state = self.state();
            (state.version, state.runs.clone(), state.progress.clone())
        };
        let contents: Vec<Content> = self
            .studies
            .iter()
            .zip(runs)
            .zip(progress)
            .map(|((followed, runs), progress)| Content {
                results: Results::of(
                    runs.into_iter().map(InOrder::all).collect(),
                    &followed.study.replications,
                ),
                study: followed.study.clone(),
                asked: StudyRequest::of(&followed.study, &BTreeMap::new()),
                points: followed.points.clone(),
                missing: progress.total.saturating_sub(progress.done),
                versions: vec![env!("CARGO_PKG_VERSION").to_owned()],
                folder: None,
                notes: Vec::new(),
                choice: None,
            })
            .collect();
        (version, Report::of(&contents))
    }

    /// Report as JSON; `None` if the client already has the current version.
    ///
    /// The report is made anew only if results have changed. In addition, either all runs have
    /// ended, or the shortest interval since the last report has passed.
    fn fetched(&self, known: Option<&str>) -> Option<Answer> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let (version, has_ended) = {
            let state = self.state();
            (state.version, state.has_ended)
        };
        let is_due = made.as_ref().is_none_or(|made| {
            let rest = MAKE_EVERY.max(made.took * MAKE_SHARE);
            made.version != version && (has_ended || made.at.elapsed() >= rest)
        });
        if is_due {
            let began = Instant::now();
            let (version, report) = self.report();
            let object = json!({ "data": report.data(), "results": report.results() });
            let body = Arc::new(visible_json(object).to_string().into_bytes());
            *made = Some(Made { version, at: Instant::now(), took: began.elapsed(), body });
        }
        let made = made.as_ref()?;
        self.state().given = Some(made.version);
        let tag = made.version.to_string();
        (known != Some(&tag)).then(|| Answer { kind: JSON, tag, body: Arc::clone(&made.body) })
    }

    /// JSON of the progress, and of the machine of the displayed run.
    fn now(&self) -> Json {
        let mut state = self.state();
        state.asked = Some(Instant::now());
        let sum = |of: fn(&RunProgress) -> u64| state.progress.iter().map(of).sum::<u64>();
        let current = self.current.load(Ordering::Acquire);
        let object = json!({
            "study": self.studies[current].study.name,
            "studies": self.studies.len(),
            "done": sum(|p| p.done), "total": sum(|p| p.total), "failed": sum(|p| p.failed),
            "jobs": sum(|p| p.jobs),
            "ended": state.has_ended, "version": state.version.to_string(),
        });
        drop(state);
        let mut object = object;
        object["machine"] = self.spectator.view().map_or(Json::Null, |view| machine(&view));
        object
    }

    /// Whether a page is open that lacks the latest results.
    fn is_awaited(&self) -> bool {
        let state = self.state();
        let is_open = state.asked.is_some_and(|asked| asked.elapsed() < OPEN);
        is_open && state.given != Some(state.version)
    }
}

impl Watcher for Watched {
    fn ended(&self, point: usize, run: &Run) {
        let study = self.current.load(Ordering::Acquire);
        let mut state = self.state();
        state.runs[study][point].insert(run.clone());
        state.version += 1;
    }

    fn observer(&self, point: &Point, replication: u64) -> Option<Box<dyn Observer + '_>> {
        self.spectator.follow(point, replication)
    }
}

impl Source for Watched {
    fn answer(&self, resource: Resource, known: Option<&str>) -> Option<Answer> {
        match resource {
            Resource::Page => {
                let (_, report) = self.report();
                let page = report.live().into_bytes();
                Some(Answer { kind: HTML, tag: String::new(), body: Arc::new(page) })
            }
            Resource::Report => self.fetched(known),
            Resource::Machine => {
                let body = Arc::new(visible_json(self.now()).to_string().into_bytes());
                Some(Answer { kind: JSON, tag: String::new(), body })
            }
        }
    }
}

fn machine(view: &RunSnapshot) -> Json {
    let RunSnapshot { scenario, replication, scene, ended } = view;
    json!({
        "scenario": scenario, "replication": replication + 1, "time": scene.now().units(), "ended": ended,
        "running": scene.running().len(), "waiting": scene.waiting().len(), "finished": scene.finished(),
        "recording": Recording::still(scenario, *replication, scene, MAX_WAITING),
    })
}

/// Starts a server and prints its address.
///
/// # Errors
///
/// If no port is available.
pub(super) fn serve(source: Arc<dyn Source>) -> Result<Server, Stop> {
    let server = Server::start(source)
        .map_err(|error| Stop::Failed(format!("--serve: no port can be had ({error})")))?;
    tell(&format!("Watch at {}", server.address()));
    Ok(server)
}

/// Keeps the server running after the last run.
///
/// With `Stay`, or with `Auto` on a terminal, it runs until the user presses Enter. Otherwise it
/// runs until open pages have fetched the final results, for at most `FAREWELL`.
pub(super) fn leave(watched: &Watched, until: ServeUntil) {
    watched.end();
    if until.stays() {
        tell("All has run. The page stays until you press Enter or Ctrl-C.");
        let mut line = String::new();
        let is_over = io::stdin().read_line(&mut line).is_ok_and(|bytes| bytes == 0);
        // Standard input has ended, so nobody can press Enter: the server stays until it is
        // terminated.
        if is_over && until == ServeUntil::Stay {
            loop {
                thread::park();
            }
        }
        return;
    }
    let began = Instant::now();
    while watched.is_awaited() && began.elapsed() < FAREWELL {
        thread::sleep(Duration::from_millis(50));
    }
}
