//! Run that can be displayed forwards and backwards.
//!
//! A view is the state of the display after some events of the run. Some views are stored, so that
//! earlier events can be displayed again.

use std::collections::VecDeque;
use std::time::Duration;

use meshwork::job::Time;
use meshwork_lab::watch::{Live, Next, RunEvent};

use super::view::View;

/// Number of events between two stored views of a displayed run.
const MARK_EVERY: u64 = 512;

/// Largest number of stored views on machines of few nodes.
///
/// On larger machines, the owners of nodes in these views take at most about `MAX_BYTES` bytes.
const MAX_MARKS: usize = 64;
const MAX_BYTES: usize = 1 << 26;

/// Function that starts the run again; every start gives the same run.
pub(super) type Start = Box<dyn Fn() -> Result<Live, String>>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    /// Instant after this number of events since the beginning of the run.
    Event(u64),
    /// Instant after all events up to and including this time.
    Time(Time),
}

/// Next event of a run: at a known time, not computed yet, or none because the run is over.
enum Upcoming {
    At(Time),
    /// The next event is not computed yet.
    Later,
    /// The run has ended or failed.
    Over,
}

/// Run that can be displayed up to the latest computed event.
///
/// The latest events are kept, with stored views between them. To seek to an earlier event, the run
/// is simulated again.
pub(super) struct Reel {
    start: Start,
    live: Live,
    first: View,
    view: View,
    /// Latest events of the run: all except the first `since` ones.
    kept: VecDeque<RunEvent>,
    since: u64,
    /// Stored views, each with the number of events before it. The earliest view comes after the
    /// first `since` events of the run.
    marks: VecDeque<(u64, View)>,
    most_marks: usize,
    /// Once the run has ended, its end time or its error; `None` before.
    over: Option<Result<Time, String>>,
}

impl Reel {
    pub(super) fn new(view: View, live: Live, start: Start) -> Reel {
        let nodes = view.scene().topologies().iter().map(|site| site.grid().nodes() as usize);
        let most_marks = (MAX_BYTES / 16 / nodes.sum::<usize>().max(1)).clamp(2, MAX_MARKS);
        let marks = VecDeque::from([(0, view.clone())]);
        Reel {
            start,
            live,
            first: view.clone(),
            view,
            kept: VecDeque::new(),
            since: 0,
            marks,
            most_marks,
            over: None,
        }
    }

    pub(super) fn view(&self) -> &View {
        &self.view
    }

    pub(super) fn view_mut(&mut self) -> &mut View {
        &mut self.view
    }

    pub(super) fn events(&self) -> u64 {
        self.view.scene().events()
    }

    /// How the run ended, once the view shows the last event; `None` before.
    pub(super) fn over(&self) -> Option<Result<(), &str>> {
        let is_last = self.events() == self.since + self.kept.len() as u64;
        let over = self.over.as_ref().filter(|_| is_last)?;
        Some(over.as_ref().map(|_| ()).map_err(String::as_str))
    }

    /// Shows the next event if it is computed within `patience`. Returns whether it was shown.
    pub(super) fn step(&mut self, patience: Duration) -> bool {
        match self.upcoming(patience) {
            Upcoming::At(_) => {
                self.apply();
                true
            }
            Upcoming::Later => false,
            Upcoming::Over => {
                if let Some(Ok(end)) = self.over {
                    self.view.end(end);
                }
                false
            }
        }
    }

    /// Moves the view towards `target`: back in one step, or forwards by one event.
    ///
    /// Returns `true` if the view has reached `target` or the end of the run.
    pub(super) fn go(&mut self, target: Target, patience: Duration) -> Result<bool, String> {
        self.go_back(target)?;
        match (target, self.upcoming(patience)) {
            (_, Upcoming::Later) => Ok(false),
            (_, Upcoming::Over) => {
                self.step(Duration::ZERO);
                Ok(true)
            }
            (Target::Event(count), _) if self.events() >= count => Ok(true),
            (Target::Time(time), Upcoming::At(at)) if at > time => {
                self.view.wait_until(time);
                Ok(true)
            }
            _ => {
                self.apply();
                Ok(false)
            }
        }
    }

    /// Moves the view back if it is beyond `target`.
    ///
    /// If the events after `target` are kept, the view moves to `target`. Otherwise the run starts
    /// again, and the view moves to its start.
    fn go_back(&mut self, target: Target) -> Result<(), String> {
        let events = match target {
            Target::Event(count) if count < self.events() => count,
            Target::Time(time) if time < self.view.scene().now() => {
                let index = self.kept.partition_point(|happening| happening.at <= time) as u64;
                // If all kept events are later than the target time, seek from the start of the
                // run.
                if index == 0 && self.since > 0 { 0 } else { self.since + index }
            }
            _ => return Ok(()),
        };
        let like = self.view.clone();
        if events < self.since {
            self.live = (self.start)()?;
            self.kept.clear();
            self.marks = VecDeque::from([(0, self.first.clone())]);
            (self.since, self.over) = (0, None);
            self.view = self.first.clone();
        } else {
            let mark = self.marks.iter().rev().find(|(mark, _)| *mark <= events);
            self.view = mark.map_or(&self.first, |(_, view)| view).clone();
            while self.events() < events {
                let place = (self.events() - self.since) as usize;
                self.view.apply(&self.kept[place]);
            }
        }
        self.view.scroll_like(&like);
        Ok(())
    }

    /// Looks up the next event. If the event is not computed yet, waits at most `patience`.
    ///
    /// A computed event is kept.
    fn upcoming(&mut self, patience: Duration) -> Upcoming {
        let place = (self.events() - self.since) as usize;
        if let Some(happening) = self.kept.get(place) {
            return Upcoming::At(happening.at);
        }
        if self.over.is_some() {
            return Upcoming::Over;
        }
        match self.live.next(patience) {
            Next::Event(happening) => {
                let at = happening.at;
                self.kept.push_back(happening);
                Upcoming::At(at)
            }
            Next::Later => Upcoming::Later,
            Next::Ended(outcome) => {
                self.over = Some(outcome.map(|outcome| outcome.end));
                Upcoming::Over
            }
        }
    }

    /// Shows the next computed event, and stores a view at regular intervals.
    fn apply(&mut self) {
        let place = (self.events() - self.since) as usize;
        self.view.apply(&self.kept[place]);
        let events = self.events();
        let last = self.marks.back().map_or(0, |(mark, _)| *mark);
        if events < last + MARK_EVERY {
            return;
        }
        self.marks.push_back((events, self.view.clone()));
        if self.marks.len() > self.most_marks {
            self.marks.pop_front();
            let since = self.marks.front().map_or(0, |(mark, _)| *mark);
            self.kept.drain(..(since - self.since) as usize);
            self.since = since;
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;

    use meshwork_lab::Study;
    use meshwork_lab::watch::Scene;

    use super::super::canvas::Canvas;
    use super::*;

    fn reel(measure: &str) -> Reel {
        loaded(0.9, measure)
    }

    pub(in super::super) fn loaded(load: f64, measure: &str) -> Reel {
        let text = format!(
            "machine = {{ topology = 'mesh', dims = [4, 4] }}\nmeasure = {{ {measure} }}\n\
             [workload]\nname = 'synthetic'\nload = {load}\nsizes = 'uniform'\n\
             runtimes = {{ name = 'exponential', mean = 5.0 }}\n"
        );
        let study = Study::parse("a.toml", &text, Path::new(""), &[]).unwrap();
        let (point, live) = Live::start(&study, 0, 0).unwrap();
        let view = View::new(String::new(), Scene::new(point.scenario.topologies()), false);
        let start = move || Ok(Live::start(&study, 0, 0).unwrap().1);
        Reel::new(view, live, Box::new(start))
    }

    fn go(reel: &mut Reel, target: Target) {
        while !reel.go(target, Duration::from_secs(60)).unwrap() {}
    }

    fn page(reel: &Reel) -> Vec<String> {
        let mut page = Canvas::blank(70, 20);
        reel.view().draw(page.area, &mut page);
        page.lines()
    }

    #[test]
    fn every_event_looks_the_same_however_it_is_come_to() {
        let mut reel = reel("jobs = 60");
        let mut seen = vec![page(&reel)];
        while reel.step(Duration::from_secs(60)) {
            seen.push(page(&reel));
        }
        assert_eq!(reel.over(), Some(Ok(())));
        assert!(seen.len() > 100);
        // Skip the last event: its view now shows the end of the run, which was unknown when the
        // view was first seen.
        for count in [5, 0, 77, 76, 3, seen.len() - 2] {
            go(&mut reel, Target::Event(count as u64));
            assert_eq!(page(&reel), seen[count], "event {count}");
        }
        go(&mut reel, Target::Event(u64::MAX));
        assert!(reel.over().is_some(), "no further than to the end");
        go(&mut reel, Target::Event(1));
        assert_eq!((page(&reel), reel.over()), (seen[1].clone(), None));
    }

    #[test]
    fn what_is_no_longer_kept_is_simulated_again() {
        let mut reel = reel("time = 1e12");
        reel.most_marks = 2;
        go(&mut reel, Target::Event(40));
        let early = page(&reel);
        go(&mut reel, Target::Event(5000));
        let late = page(&reel);
        assert!(reel.since > 40 && reel.kept.len() < 2000, "{} {}", reel.since, reel.kept.len());
        go(&mut reel, Target::Event(40));
        assert_eq!(page(&reel), early);
        go(&mut reel, Target::Event(5000));
        assert_eq!(page(&reel), late);
    }

    #[test]
    fn at_a_time_all_has_happened_that_happens_by_then() {
        let mut reel = reel("time = 1e12");
        for time in [50.0, 20.0, 20.0, 0.5, 400.0, 20.0] {
            go(&mut reel, Target::Time(Time::new(time)));
            assert_eq!(reel.view().scene().now(), Time::new(time));
            let events = reel.events();
            reel.step(Duration::from_secs(60));
            assert!(reel.view().scene().now() > Time::new(time) && reel.events() == events + 1);
        }
    }
}
