//! `meshwork check`: runs a sample of the stored runs again and compares the results.

use meshwork::catalogue::Catalogue;
use meshwork_lab::run::check::{CheckVerdict as Found, CheckedRun, check};
use meshwork_lab::run::store::RUNS;
use serde_json::json;

use crate::args::Check;
use crate::output::{Ended, Output, Stop, Verdict, warn};
use meshwork_lab::text::number::count;

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Check) -> Ended {
    let folder = &arguments.dir;
    if !folder.join(RUNS).is_file() {
        let says = format!(
            "{}: there are no stored runs in this folder: give one that `meshwork run --out` wrote",
            folder.display()
        );
        return Err(Stop::Wrong(says));
    }
    let result = check(catalogue, folder, arguments.sample, arguments.threads.unwrap_or(0))
        .map_err(|error| Stop::Wrong(error.to_string()))?;
    warn(&result.warnings);
    let (mut different, mut failed) = (0, 0);
    for checked in &result.checked {
        let (word, sentence) = match &checked.verdict {
            Found::Same => ("same", None),
            Found::Different(sentence) => {
                different += 1;
                ("different", Some(sentence))
            }
            Found::Failed(sentence) => {
                failed += 1;
                ("failed", Some(sentence))
            }
        };
        if arguments.json {
            let CheckedRun { key, replication, .. } = checked;
            out.json(&json!({
                "key": key, "replication": replication, "verdict": word, "message": sentence
            }))?;
        } else if let Some(sentence) = sentence {
            let (key, number) = (&checked.key, checked.replication + 1);
            out.line(&format!("{word}: run {key}, replication {number}: {sentence}"))?;
        }
    }
    let replayed = result.checked.len() as u64;
    if !arguments.json {
        out.line(&format!(
            "{}: {} of {} stored runs replayed, {} the same, {different} different, {failed} failed",
            arguments.dir.display(),
            count(replayed),
            count(result.stored as u64),
            count(replayed - different - failed),
        ))?;
    }
    Ok(if different + failed > 0 { Verdict::RunFailed } else { Verdict::Done })
}
