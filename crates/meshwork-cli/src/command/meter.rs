//! How far a study is, and how long it will take: a bar on a terminal, and a line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use meshwork_lab::findings::number::{count, plural};
use meshwork_lab::run::Progress;

use crate::output::tell;

/// When the first line is written where there is no terminal, and how long after that the next.
const FIRST_LINE: Duration = Duration::from_secs(5);
const NEXT_LINE: Duration = Duration::from_secs(15);

/// How often the words beside the bar change.
const NEW_WORDS: Duration = Duration::from_millis(200);

/// Shows progress on standard error.
pub(super) struct Meter {
    began: Instant,
    /// The bar; none where there is no terminal.
    bar: Option<ProgressBar>,
    /// What is counted.
    noun: &'static str,
    is_silent: bool,
    /// When something is to be said next.
    due: Mutex<Duration>,
}

impl Meter {
    /// One that says nothing.
    pub(super) fn silent() -> Meter {
        Meter {
            began: Instant::now(),
            bar: None,
            noun: "run",
            is_silent: true,
            due: Mutex::default(),
        }
    }

    /// A bar that counts something, if standard error is a terminal; lines, if it is not.
    pub(super) fn new(noun: &'static str) -> Meter {
        let bar = std::io::stderr().is_terminal().then(|| bar(noun));
        let due = if bar.is_some() { Duration::ZERO } else { FIRST_LINE };
        Meter { began: Instant::now(), bar, noun, is_silent: false, due: Mutex::new(due) }
    }

    /// So many of all have been seen to.
    pub(super) fn count(&self, done: usize, all: usize) {
        self.show(Progress { done: done as u64, total: all as u64, ..Progress::default() });
    }

    /// The study is this far.
    pub(super) fn show(&self, progress: Progress) {
        if self.is_silent {
            return;
        }
        let elapsed = self.began.elapsed();
        if let Some(bar) = &self.bar {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        }
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        if elapsed < *due {
            return;
        }
        match &self.bar {
            Some(bar) => {
                *due = elapsed + NEW_WORDS;
                let words = [left(&progress, elapsed), more(&progress)].concat();
                bar.set_message(format!("{words} · {} elapsed", self::words(elapsed)));
            }
            None => {
                *due = elapsed + NEXT_LINE;
                let Progress { done, total, .. } = progress;
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

    /// Nothing more is to be shown.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar on standard error. It is drawn at most ten times a second.
fn bar(noun: &str) -> ProgressBar {
    // What has no room in the line is left out, the least important last.
    let template = format!("{{bar:20}} {{pos}} of {{len}} {noun}s{{wide_msg}}");
    let style = ProgressStyle::with_template(&template)
        .expect("the template is right")
        .progress_chars("█▉▊▋▌▍▎▏ ");
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10))
        .with_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// What else is worth a word.
fn more(progress: &Progress) -> String {
    let mut text = String::new();
    if progress.failed > 0 {
        text += &format!(", {} failed", count(progress.failed));
    }
    if progress.reused > 0 {
        text += &format!(", {} from the store", count(progress.reused));
    }
    if progress.begun > 0.0 {
        text += &format!(", {:.1} more in those running", progress.begun);
    }
    if progress.jobs > 0 {
        text += &format!(" · {}", plural(progress.jobs, "job"));
    }
    text
}

/// How long it will take, as far as that can be told: runs from the store took no time, and say nothing of
/// how long the others take.
fn remaining(progress: &Progress, elapsed: Duration) -> Option<Duration> {
    let ran = progress.done.saturating_sub(progress.reused) as f64 + progress.begun;
    let left = (progress.total.saturating_sub(progress.done) as f64 - progress.begun).max(0.0);
    if ran <= 0.0 || left <= 0.0 {
        return None;
    }
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * left / ran).ok()
}

fn left(progress: &Progress, elapsed: Duration) -> String {
    let words = |time| format!(" · about {} remaining", words(time));
    remaining(progress, elapsed).map_or_else(String::new, words)
}

/// A time in words: `35 s`, `12 min`, `3.4 h`, `2.1 days`.
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
        // 900 runs came from the store in an instant; two of the other 100 took a minute.
        let progress = Progress { done: 902, total: 1000, reused: 900, ..Progress::default() };
        assert_eq!(remaining(&progress, minute), Some(49 * minute));
        let none = Progress { done: 900, total: 1000, reused: 900, ..Progress::default() };
        assert_eq!(remaining(&none, minute), None, "nothing has run yet: nobody knows");
        let half = Progress { total: 1, begun: 0.5, ..Progress::default() };
        assert_eq!(remaining(&half, minute), Some(minute), "the inside of a run counts");
        let over = Progress { done: 4, total: 4, ..Progress::default() };
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
