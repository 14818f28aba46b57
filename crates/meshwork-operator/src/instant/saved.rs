//! Reads a saved state of `meshwork place`: the answer to `snapshot`, or the file of `--state`.

use std::borrow::Cow;
use std::path::Path;

use meshwork::catalogue::Catalogue;
use meshwork::job::{Job, Time};
use meshwork::pool::{Name, NamedPool, NamedPoolState, Pool};
use serde_json::Value as Json;

use super::{Instant, PlacedJob, as_held};
use meshwork_lab::files::seal::unseal;
use meshwork_lab::slurm::read_text;
use meshwork_slurm::FileProblem;

const FORMAT: u64 = 1;

const KEYS: [&str; 3] = ["format", "letters", "state"];

impl Instant {
    /// Reads a saved state of `meshwork place`. If the file has several, the last one counts.
    ///
    /// The saved state has no queue and no ends of jobs. Requests are derived from placements.
    /// `fits` returns an error if the machine would take too much memory.
    ///
    /// # Errors
    /// The file has no snapshot, or its snapshot is damaged or of another version.
    pub fn of_pool(
        catalogue: &Catalogue,
        file: &Path,
        fits: &dyn Fn(u64) -> Result<(), String>,
    ) -> Result<Instant, String> {
        let text = read_text(file).map_err(|trouble| trouble.to_string())?;
        let shown = file.display().to_string();
        let text = opened(&text).map_err(|says| format!("{shown}: {says}"))?;
        let (line, saved) = snapshots(&text).last().ok_or_else(|| {
            format!(
                "{shown}: no line is an answer of `meshwork place` to {{\"op\":\"snapshot\"}}, nor what --state keeps"
            )
        })?;
        let wrong = |says: String| FileProblem::at(&shown, line, says).to_string();
        let mut keys = saved.as_object().into_iter().flatten().map(|(key, _)| key);
        if let Some(unknown) = keys.find(|key| !KEYS.contains(&key.as_str())) {
            return Err(wrong(format!("the snapshot is damaged: it has a key `{unknown}`")));
        }
        let format = saved.get("format").and_then(Json::as_u64);
        if let Some(format) = format.filter(|&format| format != FORMAT) {
            return Err(wrong(format!(
                "the snapshot is of format {format}, and this program reads format {FORMAT}"
            )));
        }
        let state = saved.get("state").cloned().unwrap_or(Json::Null);
        let state: NamedPoolState = serde_json::from_value(state)
            .map_err(|error| wrong(format!("the snapshot is damaged: {error}")))?;
        let table = &state.snapshot.pool;
        let bytes =
            Pool::memory_in(catalogue, table).map_err(|problem| wrong(problem.to_string()))?;
        fits(bytes).map_err(&wrong)?;
        let pool = Pool::read_in(catalogue, table).map_err(|problem| wrong(problem.to_string()))?;
        let mut desk = NamedPool::new(pool);
        desk.restore(&state).map_err(|error| wrong(error.to_string()))?;
        Ok(Instant::of_desk(&desk))
    }

    /// State of a machine. Holders of nodes keep their names; unnamed ones get a name from their
    /// nodes.
    pub fn of_desk(desk: &NamedPool) -> Instant {
        let pool = desk.pool();
        let site = pool.ahead();
        let mut holdings = desk.holdings();
        let now = pool.now();
        let running = pool.held().map(|placement| {
            // Placements may be equal, so each holding names only one job.
            let own = holdings.iter().position(|own| own.placement == *placement);
            let own = own.map(|own| holdings.swap_remove(own));
            let name = match own.as_ref().map(|own| &own.name) {
                Some(Name::Text(text)) => text.clone(),
                Some(Name::Number(number)) => number.to_string(),
                None => format!("at {}", placement.text(pool.site().grid())),
            };
            let request = as_held(placement, &site);
            let since = own.map_or(now, |own| own.since);
            let job = Job::new(0, since, request, 1.0);
            PlacedJob {
                name,
                job,
                site: 0,
                placement: placement.clone(),
                since,
                until: None::<Time>,
            }
        });
        Instant {
            running: running.collect(),
            empty: vec![pool.ahead_empty()],
            sites: vec![site],
            now,
            waiting: Vec::new(),
            held_up: None,
        }
    }
}

/// Checks and removes the digest of a saved state, if the state has one.
fn opened(text: &str) -> Result<Cow<'_, str>, &'static str> {
    let damaged = "this state is damaged, or was changed by hand: its digest is another";
    Ok(match unseal(text.as_bytes()).ok_or(damaged)? {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(object) => Cow::Owned(String::from_utf8(object).map_err(|_| damaged)?),
    })
}

/// Finds snapshots in a text, each with its line number.
///
/// A line may be a snapshot, or an answer that contains one. If the text has several lines, the
/// text as a whole may also be a snapshot.
fn snapshots(text: &str) -> impl Iterator<Item = (usize, Json)> + '_ {
    let answers = (1..).zip(text.lines()).filter_map(|(line, answer)| {
        let mut answer: Json = serde_json::from_str(answer).ok()?;
        let own = match answer.get_mut("snapshot") {
            Some(snapshot) => snapshot.take(),
            None => answer,
        };
        own.get("state").is_some().then_some((line, own))
    });
    let whole = || serde_json::from_str::<Json>(text).ok().map(|whole| (1, whole));
    let whole = (text.lines().count() > 1).then(whole).flatten();
    answers.chain(whole.filter(|(_, whole)| whole.get("state").is_some()))
}

/// Whether a text contains a saved state, and not only answers to `show`.
pub fn is_saved(text: &str) -> bool {
    text.trim_start().starts_with('{') && snapshots(text).next().is_some()
}
