//! The terminal as a stage: keys, speed, and the promise to leave it as it was.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use meshwork_lab::watch::{Live, Next};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::view::View;
use crate::output::{Ended, Stop, Verdict};

/// How long a picture stands at least.
const PICTURE: Duration = Duration::from_millis(33);

/// Events in a second, to begin with.
const SPEED: f64 = 8.0;

/// The slowest and the fastest.
const SPEEDS: (f64, f64) = (0.25, 1_048_576.0);

/// Shows the run until someone has seen enough.
pub(super) fn show(view: View, live: Live) -> Ended {
    let asked_to_end = signals();
    let stage = Stage::enter()?;
    let mut terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    let mut player = Player::new(view, live);
    let mut last = Instant::now();
    loop {
        terminal.draw(|frame| player.draw(frame.area(), frame.buffer_mut()))?;
        let picture_ends = Instant::now() + PICTURE;
        // Keys are heard while the picture stands, all that have been struck.
        while event::poll(picture_ends.saturating_duration_since(Instant::now()))? {
            if let Event::Key(key) = event::read()?
                && key.kind != KeyEventKind::Release
                && player.obey(key)
            {
                return player.ended(stage);
            }
        }
        if asked_to_end.load(Ordering::Relaxed) {
            return player.ended(stage);
        }
        player.play(last.elapsed(), picture_ends + PICTURE);
        last = Instant::now();
    }
}

/// The terminal in raw mode, on its other screen. Dropping it, on any way out and after a panic too,
/// gives the terminal back as it was.
struct Stage;

impl Stage {
    fn enter() -> io::Result<Stage> {
        enable_raw_mode()?;
        let stage = Stage;
        execute!(io::stdout(), EnterAlternateScreen, cursor::Hide)?;
        Ok(stage)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Nothing is left to be done about a terminal that has gone.
        let _ = execute!(io::stdout(), LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
    }
}

/// Set when the program is asked to end, so that it can clear the stage first.
fn signals() -> Arc<AtomicBool> {
    let asked = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // Without the handler a signal still ends the program, only less tidily.
        let _ = signal_hook::flag::register(signal, Arc::clone(&asked));
    }
    asked
}

/// A run, and how it is played.
struct Player {
    view: View,
    live: Live,
    is_paused: bool,
    /// Events in a second.
    speed: f64,
    /// Events that are due, the last one perhaps in part.
    due: f64,
    over: Option<Result<(), String>>,
}

impl Player {
    fn new(view: View, live: Live) -> Player {
        Player { view, live, is_paused: false, speed: SPEED, due: 0.0, over: None }
    }

    /// Does what a key says; whether that was to leave.
    fn obey(&mut self, key: KeyEvent) -> bool {
        let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c' | 'd') if with_control => return true,
            KeyCode::Char('q') | KeyCode::Esc => return true,
            KeyCode::Char(' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('.') | KeyCode::Right => {
                self.is_paused = true;
                self.due = 0.0;
                self.step(Duration::from_millis(200));
            }
            KeyCode::Char('+' | '=') | KeyCode::Up => self.speed = (self.speed * 2.0).min(SPEEDS.1),
            KeyCode::Char('-') | KeyCode::Down => self.speed = (self.speed / 2.0).max(SPEEDS.0),
            _ => {}
        }
        false
    }

    /// Lets happen what is due after so much time, as far as it can be had until then.
    fn play(&mut self, elapsed: Duration, until: Instant) {
        if self.is_paused || self.over.is_some() {
            return;
        }
        self.due += elapsed.as_secs_f64() * self.speed;
        while self.due >= 1.0 {
            if !self.step(Duration::ZERO) || Instant::now() >= until {
                // What could not be had in time is not made up for later.
                self.due = self.due.fract();
                return;
            }
            self.due -= 1.0;
        }
    }

    /// One event, if there is one within this time.
    fn step(&mut self, patience: Duration) -> bool {
        if self.over.is_some() {
            return false;
        }
        match self.live.next(patience) {
            Next::Happening(happening) => {
                self.view.apply(&happening);
                true
            }
            Next::Later => false,
            Next::Ended(Ok(outcome)) => {
                self.view.end(outcome.end);
                self.over = Some(Ok(()));
                false
            }
            Next::Ended(Err(sentence)) => {
                self.over = Some(Err(sentence));
                false
            }
        }
    }

    fn draw(&self, area: Rect, page: &mut Buffer) {
        if area.height < 3 {
            return self.view.draw(area, page);
        }
        self.view.draw(Rect { height: area.height - 1, ..area }, page);
        let state = match &self.over {
            Some(Ok(())) => "the end".to_owned(),
            Some(Err(sentence)) => format!("failed: {sentence}"),
            None if self.is_paused => "paused".to_owned(),
            None => format!("{} events a second", self.speed),
        };
        let keys = format!("[{state}]  space pause · → step · + - speed · q quit");
        let dim = self.view.style(Style::new().add_modifier(Modifier::DIM));
        page.set_stringn(area.x, area.bottom() - 1, keys, usize::from(area.width), dim);
    }

    /// How the command ends, once the stage is cleared.
    fn ended(self, stage: Stage) -> Ended {
        drop(stage);
        match self.over {
            Some(Err(sentence)) => Err(Stop::Failed(sentence)),
            _ => Ok(Verdict::Done),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use meshwork_lab::Study;
    use meshwork_lab::watch::Scene;

    use super::*;

    fn player(measure: &str) -> Player {
        let text = format!(
            "machine = {{ topology = 'mesh', dims = [4, 4] }}\nmeasure = {{ {measure} }}\n\
             [workload]\nname = 'synthetic'\nload = 0.5\nsizes = 'uniform'\n\
             runtimes = {{ name = 'exponential', mean = 5.0 }}\n"
        );
        let study = Study::parse("a.toml", &text, Path::new(""), &[]).unwrap();
        let (point, live) = Live::start(&study, 0, 0).unwrap();
        Player::new(View::new(String::new(), Scene::new(point.scenario.topologies()), false), live)
    }

    fn key(character: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(character), KeyModifiers::NONE)
    }

    fn events(player: &Player) -> u64 {
        player.view.scene().events()
    }

    /// Time for the thread of the run, and no limit for what is due.
    fn play(player: &mut Player, seconds: f64) {
        std::thread::sleep(Duration::from_millis(100));
        player.play(Duration::from_secs_f64(seconds), Instant::now() + Duration::from_secs(60));
    }

    #[test]
    fn keys_do_what_they_say() {
        let mut player = player("time = 1e12");
        play(&mut player, 2.0);
        assert_eq!(events(&player), 16, "two seconds at 8 events a second");
        assert!(!player.obey(key(' ')));
        play(&mut player, 9.0);
        assert_eq!(events(&player), 16, "paused");
        player.obey(key('.'));
        player.obey(KeyEvent::new(KeyCode::Right, KeyModifiers::NONE));
        assert_eq!(events(&player), 18, "two steps");
        player.obey(key(' '));
        player.obey(key('+'));
        play(&mut player, 1.0);
        assert_eq!(events(&player), 34, "twice as fast");
        for _ in 0..40 {
            player.obey(key('-'));
        }
        play(&mut player, 4.0);
        assert_eq!(events(&player), 35, "the slowest is one event in four seconds");
        for quit in [
            key('q'),
            KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE),
            KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
        ] {
            assert!(player.obey(quit));
        }
        assert!(!player.obey(key('x')));
    }

    #[test]
    fn a_run_that_is_over_stands_still() {
        let mut player = player("jobs = 3");
        player.obey(key('+'));
        for _ in 0..50 {
            play(&mut player, 10.0);
            if player.over.is_some() {
                break;
            }
        }
        assert_eq!(player.over, Some(Ok(())));
        let before = events(&player);
        player.obey(key('.'));
        assert_eq!(events(&player), before);
        let mut page = Buffer::empty(Rect::new(0, 0, 70, 20));
        player.draw(page.area, &mut page);
        let lines = super::super::view::lines(&page);
        assert!(lines[1].ends_with("3 finished"), "{lines:#?}");
        assert!(lines[19].starts_with("[the end]"), "{lines:#?}");
        for height in 0..4 {
            let mut page = Buffer::empty(Rect::new(0, 0, 3, height));
            player.draw(page.area, &mut page);
        }
    }
}
