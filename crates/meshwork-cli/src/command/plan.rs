//! `meshwork plan`: prints the decision of a policy for one given state.

use std::io::Read;
use std::path::Path;

use meshwork::catalogue::Catalogue;
use meshwork_lab::Study;
use meshwork_lab::plan::ReadState;
use meshwork_lab::slurm::read_text;
use meshwork_lab::study::expand::expand;

use crate::args::Plan;
use crate::output::{Ended, Output, Stop, Verdict};

/// Maximum size in bytes of a state that is read from standard input.
const MOST: u64 = 1 << 28;

/// Prints starting jobs with their nodes, and reservations.
pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Plan) -> Ended {
    let study = Study::read_in(catalogue, &arguments.study, &arguments.settings)?;
    let points = expand(&study)?;
    let [point] = &points[..] else {
        return Err(Stop::Wrong(format!(
            "{}: a plan is made by one policy, and this study has {} scenarios: choose one with --set",
            arguments.study.display(),
            points.len()
        )));
    };
    let text = if arguments.state == Path::new("-") {
        let mut text = String::new();
        std::io::stdin()
            .lock()
            .take(MOST + 1)
            .read_to_string(&mut text)
            .map_err(|error| Stop::Failed(format!("standard input cannot be read ({error})")))?;
        if text.len() as u64 > MOST {
            let says = format!("-: this state is too long: at most {} MiB are read", MOST >> 20);
            return Err(Stop::Wrong(says));
        }
        text
    } else {
        read_text(&arguments.state).map_err(|trouble| Stop::Wrong(trouble.to_string()))?
    };
    let wrong = |says: String| Stop::Wrong(format!("{}: {says}", arguments.state.display()));
    let state = ReadState::read(&point.scenario, &text).map_err(wrong)?;
    out.json(&state.decide(&point.scenario).map_err(wrong)?)?;
    Ok(Verdict::Done)
}
