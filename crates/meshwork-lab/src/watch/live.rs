//! A run in progress whose events a consumer takes one by one, at its own speed.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use meshwork::job::Time;
use meshwork::observe::{Event, Observer};
use meshwork::scenario::Outcome;

use crate::inputs::Files;
use crate::run::event::RunEvent;
use crate::run::{caught, simulated};
use crate::study::expand::{Point, missing_input, missing_trace, point_at};
use crate::study::{Refused, Study};

/// Maximum number of events by which a run may be ahead of the consumer of its events.
const AHEAD: usize = 1024;

/// Running simulation whose events a consumer takes, and which waits for the consumer.
///
/// The simulation has a thread of its own, which is at most a fixed number of events ahead. So even
/// an endless study can be watched and left at any time, in bounded memory. Dropping the value ends
/// the run.
pub struct Live {
    happenings: Receiver<RunEvent>,
    run: Option<JoinHandle<Result<Outcome, String>>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    Event(RunEvent),
    Later,
    Ended(Result<Box<Outcome>, String>),
}

impl Live {
    /// Starts the run of a scenario and replication of a study, both counted from 0.
    ///
    /// # Errors
    /// The study is invalid or has no such scenario, its input cannot be opened, or no thread can
    /// be started.
    pub fn start(study: &Study, scenario: u64, replication: u64) -> Result<(Point, Live), Refused> {
        let point = point_at(study, scenario)?;
        let files = Files::of(study);
        if let Some(path) = point.scenario.input_path() {
            files
                .check(path)
                .map_err(|error| missing_input(study, scenario as usize, error.to_string()))?;
        }
        if let Some(path) = point.scenario.trace_path() {
            files
                .check(path)
                .map_err(|error| missing_trace(study, scenario as usize, error.to_string()))?;
        }
        let (sender, happenings) = sync_channel(AHEAD);
        let scenario = point.scenario.clone();
        let run = move || {
            let mut teller = Teller { sender, is_alone: false };
            caught(|| simulated(&scenario, replication, &files, &mut teller))
        };
        let run = thread::Builder::new()
            .name("run".to_owned())
            .spawn(run)
            .map_err(|error| Refused(format!("a thread cannot be started ({error})")))?;
        Ok((point, Live { happenings, run: Some(run) }))
    }

    /// Waits for the next event, at most for the time `patience`.
    pub fn next(&mut self, patience: Duration) -> Next {
        match self.happenings.recv_timeout(patience) {
            Ok(happening) => Next::Event(happening),
            Err(RecvTimeoutError::Timeout) => Next::Later,
            Err(RecvTimeoutError::Disconnected) => {
                let ended = self.run.take().map(JoinHandle::join);
                let fault = || Err("the run has ended before".to_owned());
                let ended = ended.and_then(Result::ok).unwrap_or_else(fault);
                Next::Ended(ended.map(Box::new))
            }
        }
    }
}

/// Observer that sends all events to a consumer, and ends the run if the consumer is gone.
struct Teller {
    sender: SyncSender<RunEvent>,
    is_alone: bool,
}

impl Observer for Teller {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        let Some(happening) = RunEvent::of(now, event) else { return };
        self.is_alone |= self.sender.send(happening).is_err();
    }

    fn is_done(&self) -> bool {
        self.is_alone
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;

    use super::*;
    use crate::run::event::EventKind;

    const ENDLESS: &str = "machine = { topology = 'mesh', dims = [8, 8] }\nmeasure = { time = 1e12 }\n\
        [workload]\nname = 'synthetic'\nload = 0.5\nsizes = 'uniform'\n\
        runtimes = { name = 'exponential', mean = 5.0 }\n";

    fn study(text: &str) -> Study {
        Study::parse("a.toml", text, Path::new(""), &[]).unwrap()
    }

    pub(crate) fn all(live: &mut Live) -> (Vec<RunEvent>, Result<Box<Outcome>, String>) {
        let mut seen = Vec::new();
        loop {
            match live.next(Duration::from_secs(60)) {
                Next::Event(happening) => seen.push(happening),
                Next::Later => panic!("a minute for one event"),
                Next::Ended(outcome) => return (seen, outcome),
            }
        }
    }

    #[test]
    fn an_endless_study_waits_for_whoever_looks_and_can_be_left() {
        let (_, mut live) = Live::start(&study(ENDLESS), 0, 0).unwrap();
        for _ in 0..10 * AHEAD {
            let next = live.next(Duration::from_secs(60));
            assert!(matches!(next, Next::Event(_)), "{next:?}");
        }
        let run = live.run.take().unwrap();
        assert!(!run.is_finished());
        drop(live);
        run.join().unwrap().unwrap();
    }

    #[test]
    fn nothing_is_lost_and_the_outcome_is_that_of_the_run() {
        let text = ENDLESS.replace("time = 1e12", "jobs = 3000");
        let (point, mut live) = Live::start(&study(&text), 0, 3).unwrap();
        let (seen, outcome) = all(&mut live);
        let finished = seen.iter().filter(|seen| seen.what == EventKind::Finished).count();
        assert_eq!(finished, 3000);
        let expected = point.scenario.run(3, &meshwork::workload::NoInputs, &mut ()).unwrap();
        assert_eq!(*outcome.unwrap(), expected);
        assert!(matches!(live.next(Duration::ZERO), Next::Ended(Err(_))));
    }

    #[test]
    fn a_run_that_fails_ends_with_its_sentence() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.swf"), "1 2 3\n").unwrap();
        let text = "machine = { topology = 'flat', processors = 4 }\n\
                    workload = { name = 'swf', path = 'a.swf' }\n";
        let study = Study::parse("a.toml", text, folder.path(), &[]).unwrap();
        let (_, mut live) = Live::start(&study, 0, 0).unwrap();
        let (seen, outcome) = all(&mut live);
        assert!(seen.is_empty() && outcome.unwrap_err().starts_with("a.swf:1: "));
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let refused = |study: &Study, scenario| {
            Live::start(study, scenario, 0).err().expect("this must be refused").0
        };
        let swept = study(&format!("{ENDLESS}[sweep]\nscheduler = ['fcfs', 'easy']\n"));
        assert_eq!(refused(&swept, 2), "a.toml: there is no scenario 3, the study has 2 of them");
        let missing = study(
            "machine = { topology = 'flat', processors = 4 }\n\
             [workload]\nname = 'swf'\npath = 'none.swf'\n",
        );
        assert_eq!(refused(&missing, 0), "a.toml:4: none.swf: there is no such file");
    }
}
