//! Shows the progress of a study and the estimated remaining time.
//!
//! On a terminal the progress is a bar, elsewhere it is occasional lines of text.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use meshwork_lab::run::RunProgress;
use meshwork_lab::text::number::{count, plural};

use crate::output::tell;

/// Time until the first line of progress on an output without a progress bar.
///
/// `NEXT_LINE` is the time between two later lines.
const FIRST_LINE: Duration = Duration::from_secs(5);
const NEXT_LINE: Duration = Duration::from_secs(15);

/// Shortest time between updates of the text next to the progress bar.
const NEW_WORDS: Duration = Duration::from_millis(200);

/// Display of a command's progress on standard error.
pub(super) struct Meter {
    began: Instant,
    /// Progress bar; `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
    /// Singular noun for the counted things, such as `run` or `job`.
    noun: &'static str,
    is_silent: bool,
    /// Earliest time of the next update of the progress text, counted from the creation of the
    /// meter.
    due: Mutex<Duration>,
}

impl Meter {
    pub(super) fn silent() -> Meter {
        Meter {
            began: Instant::now(),
            bar: None,
            noun: "run",
            is_silent: true,
            due: Mutex::default(),
        }
    }

    /// Shows a progress bar if standard error is a terminal, otherwise lines of text.
    pub(super) fn new(noun: &'static str) -> Meter {
        let bar = std::io::stderr().is_terminal().then(|| bar(noun));
        let due = if bar.is_some() { Duration::ZERO } else { FIRST_LINE };
        Meter { began: Instant::now(), bar, noun, is_silent: false, due: Mutex::new(due) }
    }

    /// Meter that only decides when a line of progress is due, for work of unknown length.
    pub(super) fn of_lines() -> Meter {
        Meter { due: Mutex::new(FIRST_LINE), ..Meter::silent() }
    }

    /// Whether it is time for a line of progress. If so, the next line is due after `NEXT_LINE`.
    pub(super) fn is_due(&self) -> bool {
        self.takes_turn(NEXT_LINE).is_some()
    }

    /// Elapsed time if an update of the text is due. The next update is then due after `pause`.
    fn takes_turn(&self, pause: Duration) -> Option<Duration> {
        let elapsed = self.began.elapsed();
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = elapsed >= *due;
        if is_due {
            *due = elapsed + pause;
        }
        is_due.then_some(elapsed)
    }

    pub(super) fn count(&self, done: usize, all: usize) {
        self.show(RunProgress { done: done as u64, total: all as u64, ..RunProgress::default() });
    }

    pub(super) fn show(&self, progress: RunProgress) {
        if self.is_silent {
            return;
        }
        if let Some(bar) = &self.bar {
            let is_first = bar.length() == Some(0);
            bar.set_length(progress.total);
            bar.set_position(progress.done);
            if is_first {
                bar.enable_steady_tick(Duration::from_millis(200));
            }
        }
        let pause = if self.bar.is_some() { NEW_WORDS } else { NEXT_LINE };
        let Some(elapsed) = self.takes_turn(pause) else { return };
        match &self.bar {
            Some(bar) => {
                let words = [left(&progress, elapsed), more(&progress)].concat();
                bar.set_message(format!("{words} · {} elapsed", self::words(elapsed)));
            }
            None => {
                let RunProgress { done, total, .. } = progress;
                tell(&format!(
                    "progress: {} of {}{} · {} elapsed{}",
                    count(done),
                    plural(total, self.noun),
                    more(&progress),
                    words(elapsed),
                    left(&progress, elapsed)
                ));
            }
        }
    }

    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Progress bar, drawn at most ten times a second once its length is known.
fn bar(noun: &str) -> ProgressBar {
    // Text that does not fit in the line is cut at its end, so the least important part is last.
    let template = format!("{{bar:20}} {{pos}} of {{len}} {noun}s{{wide_msg}}");
    let style = ProgressStyle::with_template(&template)
        .expect("the template is right")
        .progress_chars("█▉▊▋▌▍▎▏ ");
    ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10)).with_style(style)
}

/// Text after the count of finished runs in the progress bar of a study.
///
/// It states the number of failed runs, the number of runs taken from the store, the progress of
/// unfinished runs, and the number of finished jobs. The progress of unfinished runs is the sum of
/// their finished shares.
fn more(progress: &RunProgress) -> String {
    let mut text = String::new();
    if progress.failed > 0 {
        text += &format!(", {} failed", count(progress.failed));
    }
    if progress.reused > 0 {
        text += &format!(", {} from the store", count(progress.reused));
    }
    if progress.begun > 0.0 {
        text += &format!(", plus {:.1} in unfinished runs", progress.begun);
    }
    if progress.jobs > 0 {
        text += &format!(" · {}", plural(progress.jobs, "job"));
    }
    text
}

/// Estimated remaining time of a study, if known.
///
/// The estimate ignores stored runs, because they took no time.
fn remaining(progress: &RunProgress, elapsed: Duration) -> Option<Duration> {
    let ran = progress.done.saturating_sub(progress.reused) as f64 + progress.begun;
    let left = (progress.total.saturating_sub(progress.done) as f64 - progress.begun).max(0.0);
    if ran <= 0.0 || left <= 0.0 {
        return None;
    }
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * left / ran).ok()
}

fn left(progress: &RunProgress, elapsed: Duration) -> String {
    let words = |time| format!(" · about {} remaining", words(time));
    remaining(progress, elapsed).map_or_else(String::new, words)
}

/// Duration as `35 s`, `12 min`, `3.4 h` or `2.1 days`.
pub(super) fn words(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..99.5 => format!("{seconds:.0} s"),
        ..5970.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.1} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_runs_are_no_speed() {
        let minute = Duration::from_secs(60);
        // 900 runs were stored, so they took no time. Of the other 100 runs, two took a minute.
        let progress =
            RunProgress { done: 902, total: 1000, reused: 900, ..RunProgress::default() };
        assert_eq!(remaining(&progress, minute), Some(49 * minute));
        let none = RunProgress { done: 900, total: 1000, reused: 900, ..RunProgress::default() };
        assert_eq!(remaining(&none, minute), None, "nothing has run yet: nobody knows");
        let half = RunProgress { total: 1, begun: 0.5, ..RunProgress::default() };
        assert_eq!(remaining(&half, minute), Some(minute), "the inside of a run counts");
        let over = RunProgress { done: 4, total: 4, ..RunProgress::default() };
        assert_eq!(remaining(&over, minute), None);
    }

    #[test]
    fn times_are_short() {
        for (seconds, text) in
            [(7, "7 s"), (99, "99 s"), (100, "2 min"), (9000, "2.5 h"), (864_000, "10.0 days")]
        {
            assert_eq!(words(Duration::from_secs(seconds)), text);
        }
    }
}
