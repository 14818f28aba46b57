//! Takes snapshots of one of many concurrent runs at intervals, without delaying the runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use meshwork::job::Time;
use meshwork::observe::{Event, Observer};

use super::{RunEvent, Scene};
use crate::study::expand::Point;
use crate::text::label;

/// Least time between snapshots of a run.
const EVERY: Duration = Duration::from_millis(500);

/// Number of events between two readings of the clock. A reading takes longer than an event.
const EVENTS: u32 = 64;

/// Maximum number of nodes of a machine that can be observed. For a larger machine, a picture has
/// too few pixels, and a snapshot would take too long.
const MAX_NODES: u64 = 1 << 16;

/// State of the machine and queue of a run in progress.
#[derive(Clone, Debug)]
pub struct RunSnapshot {
    /// Swept values of the scenario as text. Empty if nothing is swept.
    pub scenario: String,
    /// Number of the replication, counted from 0.
    pub replication: u64,
    pub scene: Scene,
    pub ended: bool,
}

/// Latest snapshot of a run in progress, at most about half a second old.
///
/// One run is observed at a time. After it has ended, the next run that begins is observed. Runs
/// that are not observed cost nothing.
#[derive(Debug, Default)]
pub struct Spectator {
    is_busy: AtomicBool,
    view: Mutex<Option<(Instant, RunSnapshot)>>,
}

impl Spectator {
    pub fn view(&self) -> Option<RunSnapshot> {
        let view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        view.as_ref().map(|(_, view)| view.clone())
    }

    /// Stores a snapshot if the last one is old enough, or if `has_to_be` is true. Returns whether
    /// a snapshot was stored.
    fn take(&self, view: &RunSnapshot, has_to_be: bool) -> bool {
        let mut shown = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = has_to_be || shown.as_ref().is_none_or(|(taken, _)| taken.elapsed() >= EVERY);
        if is_due {
            *shown = Some((Instant::now(), view.clone()));
        }
        is_due
    }

    /// Returns an observer of a run. `None` if another run is observed, or if the machine is too
    /// large.
    pub fn follow(&self, point: &Point, replication: u64) -> Option<Box<dyn Observer + '_>> {
        let topologies = point.scenario.topologies();
        let nodes: u64 = topologies.iter().map(|site| u64::from(site.grid().nodes())).sum();
        if nodes > MAX_NODES || self.is_busy.swap(true, Ordering::AcqRel) {
            return None;
        }
        let scene = Scene::new(topologies);
        let view = RunSnapshot { scenario: label(&point.swept), replication, scene, ended: false };
        Some(Box::new(Follower { spectator: self, view, events: 0, is_shown: false }))
    }
}

struct Follower<'a> {
    spectator: &'a Spectator,
    view: RunSnapshot,
    events: u32,
    is_shown: bool,
}

impl Observer for Follower<'_> {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        let Some(happening) = RunEvent::of(now, event) else { return };
        // Within an instant some jobs have left and others not yet started.
        if self.events >= EVENTS && now > self.view.scene.now() {
            self.events = 0;
            self.is_shown |= self.spectator.take(&self.view, false);
        }
        self.events += 1;
        self.view.scene.apply(&happening);
    }
}

impl Drop for Follower<'_> {
    /// Stores a snapshot of the run's final state.
    fn drop(&mut self) {
        self.view.ended = true;
        self.spectator.take(&self.view, self.is_shown);
        self.spectator.is_busy.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Run, Watcher};
    use crate::study::expand::expand;
    use crate::tests::{study, synthetic};
    use crate::{Options, run};

    struct Watching {
        spectator: Spectator,
        ended: Mutex<Vec<(usize, u64)>>,
    }

    impl Watcher for Watching {
        fn ended(&self, point: usize, run: &Run) {
            self.ended.lock().unwrap().push((point, run.replication));
        }

        fn observer(&self, point: &Point, replication: u64) -> Option<Box<dyn Observer + '_>> {
            self.spectator.follow(point, replication)
        }
    }

    #[test]
    fn a_study_gives_the_same_whether_anyone_looks_or_not() {
        let head = "machine = { topology = 'mesh', dims = [8, 8] }\nmeasure = { jobs = 500 }\n\
                    replications = 3";
        let sweep = "[sweep]\nscheduler = ['fcfs', 'easy', 'sjf']\n";
        let study = study(&synthetic(head, 0.5, sweep));
        let alone = run(&study, &Options::default()).unwrap();
        let watching = Watching { spectator: Spectator::default(), ended: Mutex::default() };
        let options = Options { watcher: Some(&watching), threads: 2, ..Options::default() };
        let watched = run(&study, &options).unwrap();
        assert_eq!(alone.results, watched.results);
        let mut ended = watching.ended.into_inner().unwrap();
        ended.sort_unstable();
        let all: Vec<(usize, u64)> = (0..3).flat_map(|p| (0..3).map(move |r| (p, r))).collect();
        assert_eq!(ended, all);
        let view = watching.spectator.view().expect("500 jobs are more than 64 events");
        assert!(view.ended, "nothing runs any more");
        assert!(view.scenario.starts_with("scheduler = "), "{}", view.scenario);
        assert_eq!(view.scene.topologies(), &expand(&study).unwrap()[0].scenario.topologies()[..]);
        assert!(!watching.spectator.is_busy.into_inner());
    }

    #[test]
    fn only_one_run_is_followed_at_a_time() {
        let head = "machine = { topology = 'flat', processors = 4 }\nmeasure = { jobs = 5 }";
        let point = &expand(&study(&synthetic(head, 0.5, ""))).unwrap()[0];
        let spectator = Spectator::default();
        let first = spectator.follow(point, 0);
        assert!(first.is_some() && spectator.follow(point, 1).is_none());
        drop(first);
        assert!(spectator.follow(point, 2).is_some());
    }
}
