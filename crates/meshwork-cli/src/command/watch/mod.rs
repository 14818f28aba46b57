//! `meshwork watch`: draws a run while it is in progress.

mod canvas;
#[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "the terminal pans and scrolls"))]
mod reel;
#[cfg(feature = "tui")]
mod screen;
#[cfg_attr(not(feature = "tui"), expect(dead_code, reason = "the terminal pans and scrolls"))]
mod view;

use std::io::IsTerminal;
use std::time::Duration;

use meshwork::catalogue::Catalogue;
use meshwork::job::Time;
use meshwork_lab::Study;
use meshwork_lab::study::Replications;
use meshwork_lab::study::asked::EXPERIMENT;
use meshwork_lab::study::clock::Clock;
use meshwork_lab::study::expand::{Point, count, point_at};
use meshwork_lab::watch::{Live, Scene};
use meshwork_operator::instant::RunName;

use crate::args::Watch;
use crate::output::{Ended, Output, Stop, Verdict, colour_is_welcome};
use canvas::Canvas;
use reel::{Reel, Target};
use view::View;

/// Maximum number of lines of a frame: more than any screen has, and small enough for 16 bits.
const MAX_LINES: usize = 1000;

/// Number of events between two frames on a terminal that cannot move its cursor.
const EVERY: u64 = 100;

/// Shows a run on the terminal. On request, or without a terminal, prints frames of text instead.
pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &Watch) -> Ended {
    let stored = arguments.file.join(EXPERIMENT);
    let file = if stored.is_file() { &stored } else { &arguments.file };
    let study = Study::read_in(catalogue, file, &arguments.settings)?;
    let scenarios = count(&study)?;
    let run = arguments.run();
    let (scenario, replication) = (run.scenario - 1, run.replication - 1);
    let watched = point_at(&study, scenario)?;
    has_replication(&study, run)?;
    arguments.memory.check(watched.scenario.memory(), "this run takes")?;
    let (point, live) = Live::start(&study, scenario, replication)?;
    let title = title(&study, &point, scenarios, run);
    let on_screen = !arguments.wants_frames()
        && std::io::stdout().is_terminal()
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    let colours = on_screen && colour_is_welcome();
    let mut view = View::new(title, Scene::new(point.scenario.topologies()), colours);
    view.seconds = Clock::of(&study, &point.scenario, None).unit_seconds();
    view.is_square = on_screen;
    let start = move || {
        let (_, live) = Live::start(&study, scenario, replication).map_err(|refused| refused.0)?;
        Ok(live)
    };
    let reel = Reel::new(view, live, Box::new(start));
    if on_screen { on_terminal(reel, arguments) } else { frames(out, reel, arguments) }
}

#[cfg(feature = "tui")]
fn on_terminal(reel: Reel, arguments: &Watch) -> Ended {
    screen::show(reel, begin(arguments))
}

#[cfg(not(feature = "tui"))]
fn on_terminal(_: Reel, _: &Watch) -> Ended {
    Err(Stop::Wrong(
        "a run is played on the terminal by the feature `tui`, without which this program was built: build it with \
         `--features full`, or ask for frames of text, as in `--every 10`"
            .to_owned(),
    ))
}

/// Time or event at which the display begins; `None` if the command line gives neither.
fn begin(arguments: &Watch) -> Option<Target> {
    let time = arguments.from.map(|time| Target::Time(Time::new(time)));
    time.or_else(|| arguments.from_event.map(Target::Event))
}

fn has_replication(study: &Study, run: RunName) -> Result<(), Stop> {
    let most = match study.replications {
        Replications::Fixed(most) | Replications::Precision { most, .. } => most,
        Replications::Windows { .. } => return Ok(()),
    };
    if run.replication <= most {
        return Ok(());
    }
    Err(Stop::Wrong(format!(
        "{}: there is no replication {}, each scenario has at most {most}",
        study.file, run.replication
    )))
}

fn title(study: &Study, point: &Point, scenarios: u64, run: RunName) -> String {
    let mut title = study.name.clone();
    if scenarios > 1 {
        let swept: Vec<String> =
            point.swept.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        title += &format!(" · scenario {} of {scenarios}: {}", run.scenario, swept.join(", "));
    }
    if run.replication > 1 {
        title += &format!(" · replication {}", run.replication);
    }
    title
}

fn frames(out: &mut Output, mut reel: Reel, arguments: &Watch) -> Ended {
    const PATIENCE: Duration = Duration::from_secs(60);
    let width = usize::from(arguments.width);
    // A terminal without cursor movement gets fewer frames, unless frames are requested.
    let is_asked = arguments.wants_frames() || !std::io::stdout().is_terminal();
    let every = arguments.every.unwrap_or(if is_asked { 1 } else { EVERY });
    let until = arguments.until.map(Time::new);
    let begin = begin(arguments);
    if let Some(begin) = begin {
        while !reel.go(begin, PATIENCE).map_err(Stop::Failed)? {}
    }
    // If the user gives an instant at which the output begins, this instant gets a frame.
    let (mut frames, mut is_due) = (0, begin.is_some());
    loop {
        if arguments.max_frames.is_some_and(|most| frames == most) {
            return Ok(Verdict::Done);
        }
        let mut is_last = false;
        if !is_due {
            let events = reel.events();
            match until {
                // Apply one event. The last frame is due when all events up to and including the
                // time `until` are applied.
                Some(until) => {
                    is_last = reel.go(Target::Time(until), PATIENCE).map_err(Stop::Failed)?;
                }
                None => {
                    reel.step(PATIENCE);
                }
            }
            if let Some(ended) = reel.over() {
                ended.map_err(|sentence| Stop::Failed(sentence.to_owned()))?;
                is_last = true;
            }
            if reel.events() == events && !is_last {
                continue;
            }
        }
        let events = reel.events();
        if is_due || is_last || events.is_multiple_of(every) {
            is_due = false;
            frames += 1;
            if frames > 1 {
                out.line("")?;
            }
            out.line(&format!("== frame {frames} · event {events} =="))?;
            let view = reel.view();
            let height = view.height(width).min(MAX_LINES);
            let mut page = Canvas::blank(width as u16, height as u16);
            view.draw(page.area, &mut page);
            let lines = page.lines();
            let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
            for line in &lines[..used] {
                out.line(line)?;
            }
            // Flush, so that a reader of the pipe sees each frame at once.
            out.flush()?;
        }
        if is_last {
            return Ok(Verdict::Done);
        }
    }
}
