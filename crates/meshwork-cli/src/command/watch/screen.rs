//! Interactive display of a run on a terminal.
//!
//! The terminal's former state is restored on every exit.

#[cfg(unix)]
use std::fs::File;
#[cfg(unix)]
use std::io::IsTerminal as _;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::{
    Attribute, Color, Print, ResetColor, SetAttribute, SetBackgroundColor, SetForegroundColor,
};
use crossterm::terminal::{
    self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use meshwork::job::Time;
use meshwork_lab::text::visible::visible;

use super::canvas::{Canvas, Cell, Rect, Style};
use super::reel::{Reel, Target};
use super::view::fitted;
use crate::output::{Ended, Stop, Verdict};

const PICTURE: Duration = Duration::from_millis(33);

/// Longest time to wait for a key before other events are checked, such as a resized window.
const PATIENCE: Duration = Duration::from_millis(50);

const SPEED: f64 = 8.0;

/// Minimum and maximum speed of the playback, in events per second.
const SPEEDS: (f64, f64) = (0.25, 1_048_576.0);

/// Shows a run until the user leaves, or until the process is asked to end.
pub(super) fn show(reel: Reel, begin: Option<Target>) -> Ended {
    let asked_to_end = signals();
    let stage = Stage::enter()?;
    let struck = listen();
    let mut shown = None;
    let mut player = Player::new(reel, begin);
    let mut last = Instant::now();
    loop {
        let (width, height) = terminal::size()?;
        let mut page = Canvas::blank(width, height);
        player.draw(page.area, &mut page);
        write(shown.as_ref(), &page)?;
        shown = Some(page);
        let picture_ends = Instant::now() + PICTURE;
        // Handle all keys that arrive until the next frame is due.
        loop {
            let left = picture_ends.saturating_duration_since(Instant::now());
            let is_to_leave = match struck.recv_timeout(left) {
                Ok(event) => matches!(event?, Event::Key(key)
                    if key.kind != KeyEventKind::Release && player.obey(key)),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => true,
            };
            if is_to_leave {
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

/// Writes cells that differ from the page shown before.
fn write(shown: Option<&Canvas>, page: &Canvas) -> io::Result<()> {
    let shown = shown.filter(|shown| shown.area == page.area);
    let mut out = io::BufWriter::new(io::stdout().lock());
    if shown.is_none() {
        queue!(out, terminal::Clear(terminal::ClearType::All))?;
    }
    let mut style = Style::PLAIN;
    // Cell at which the terminal would write next without a cursor move.
    let mut next = None;
    for y in 0..page.area.height {
        for x in 0..page.area.width {
            let cell = page[(x, y)];
            let Some(character) = cell.character else { continue };
            if shown.is_some_and(|shown| shown[(x, y)] == cell) {
                continue;
            }
            if next != Some((x, y)) {
                queue!(out, cursor::MoveTo(x, y))?;
            }
            if cell.style != style {
                set(&mut out, cell)?;
                style = cell.style;
            }
            queue!(out, Print(character))?;
            let is_wide = x + 1 < page.area.width && page[(x + 1, y)].character.is_none();
            next = Some((x + 1 + u16::from(is_wide), y));
        }
    }
    queue!(out, SetAttribute(Attribute::Reset), ResetColor)?;
    out.flush()
}

fn set(out: &mut impl io::Write, cell: Cell) -> io::Result<()> {
    queue!(out, SetAttribute(Attribute::Reset), ResetColor)?;
    let Style { foreground, background, is_bold, is_dim } = cell.style;
    if let Some(colour) = foreground {
        queue!(out, SetForegroundColor(Color::AnsiValue(colour)))?;
    }
    if let Some(colour) = background {
        queue!(out, SetBackgroundColor(Color::AnsiValue(colour)))?;
    }
    if is_bold {
        queue!(out, SetAttribute(Attribute::Bold))?;
    }
    if is_dim {
        queue!(out, SetAttribute(Attribute::Dim))?;
    }
    Ok(())
}

/// Raw mode and alternate screen of the terminal. Both end on drop, even after a panic.
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
        // Errors are ignored: the terminal may be gone.
        let _ = execute!(io::stdout(), LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
    }
}

/// Starts a thread that reads events of the terminal.
///
/// A separate thread is needed because crossterm never returns from reading a closed terminal. A
/// blocked caller would notice neither signals nor failed writes.
fn listen() -> Receiver<io::Result<Event>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let line = Line::open();
        while line.wait() {
            loop {
                let event = match event::poll(Duration::ZERO) {
                    Ok(false) => break,
                    Ok(true) => event::read(),
                    Err(error) => Err(error),
                };
                let is_last = event.is_err();
                if sender.send(event).is_err() || is_last {
                    return;
                }
            }
        }
    });
    receiver
}

/// Standard input, or the controlling terminal if standard input is no terminal.
#[cfg(unix)]
struct Line(Option<File>);

#[cfg(unix)]
impl Line {
    fn open() -> Line {
        Line(if io::stdin().is_terminal() { None } else { File::open("/dev/tty").ok() })
    }

    /// Waits for input for at most `PATIENCE`. Returns whether the terminal still exists.
    fn wait(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdin = io::stdin();
        let own = match &self.0 {
            Some(file) => PollFd::new(file, PollFlags::IN),
            None => PollFd::new(&stdin, PollFlags::IN),
        };
        let mut lines = [own];
        let patience = Timespec { tv_sec: 0, tv_nsec: PATIENCE.subsec_nanos().into() };
        let waited = poll(&mut lines, Some(&patience));
        let said = lines[0].revents();
        if waited.is_err() || said.contains(PollFlags::NVAL) {
            // Some systems cannot poll a terminal.
            std::thread::sleep(PATIENCE);
        }
        !said.contains(PollFlags::HUP)
    }
}

#[cfg(not(unix))]
struct Line;

#[cfg(not(unix))]
impl Line {
    fn open() -> Line {
        Line
    }

    fn wait(&self) -> bool {
        event::poll(PATIENCE).is_ok()
    }
}

/// Flag that a termination signal sets, so that the terminal is restored before the program ends.
fn signals() -> Arc<AtomicBool> {
    let asked = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // Without the handler, a signal still ends the program, but leaves the terminal as it is.
        let _ = signal_hook::flag::register(signal, Arc::clone(&asked));
    }
    asked
}

struct Player {
    reel: Reel,
    is_paused: bool,
    /// Speed of the playback in events per second.
    speed: f64,
    /// Number of events that should have been shown so far.
    ///
    /// It need not be whole, since a slow playback shows less than one event per frame.
    due: f64,
    target: Option<Target>,
    /// Text that the user is typing, and whether it is a time or a number of events.
    asked: Option<(bool, String)>,
    /// Error of an attempt to start the run again.
    failed: Option<String>,
}

impl Player {
    fn new(reel: Reel, begin: Option<Target>) -> Player {
        let (is_paused, target) = (begin.is_some(), begin);
        Player { reel, is_paused, speed: SPEED, due: 0.0, target, asked: None, failed: None }
    }

    /// Handles a key. Returns `true` if the user wants to leave.
    fn obey(&mut self, key: KeyEvent) -> bool {
        let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if matches!(key.code, KeyCode::Char('c' | 'd') if with_control) {
            return true;
        }
        if self.asked.is_some() {
            self.write(key.code);
            return false;
        }
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return true,
            KeyCode::Char(' ') => {
                self.target = None;
                self.is_paused = !self.is_paused;
            }
            KeyCode::Left | KeyCode::Right | KeyCode::Up | KeyCode::Down
                if key.modifiers.contains(KeyModifiers::SHIFT) =>
            {
                let (columns, rows) = match key.code {
                    KeyCode::Left => (-8, 0),
                    KeyCode::Right => (8, 0),
                    KeyCode::Up => (0, -4),
                    _ => (0, 4),
                };
                self.reel.view_mut().pan(columns, rows);
            }
            KeyCode::Char('.') | KeyCode::Right => {
                self.stop();
                self.reel.step(Duration::from_millis(200));
            }
            KeyCode::Char(',') | KeyCode::Left => {
                self.go(Target::Event(self.reel.events().saturating_sub(1)));
            }
            KeyCode::Home => self.go(Target::Event(0)),
            KeyCode::Char('t') => self.asked = Some((true, String::new())),
            KeyCode::Char('e') => self.asked = Some((false, String::new())),
            KeyCode::Char('j') => self.reel.view_mut().scroll(1),
            KeyCode::Char('k') => self.reel.view_mut().scroll(-1),
            KeyCode::Tab => self.reel.view_mut().choose(true),
            KeyCode::BackTab => self.reel.view_mut().choose(false),
            KeyCode::PageDown => self.reel.view_mut().scroll(10),
            KeyCode::PageUp => self.reel.view_mut().scroll(-10),
            KeyCode::Char('+' | '=') | KeyCode::Up => self.speed = (self.speed * 2.0).min(SPEEDS.1),
            KeyCode::Char('-') | KeyCode::Down => self.speed = (self.speed / 2.0).max(SPEEDS.0),
            _ => {}
        }
        false
    }

    /// Handles a key while the user enters a time or a number of events.
    fn write(&mut self, key: KeyCode) {
        let Some((is_time, mut text)) = self.asked.take() else { return };
        match key {
            KeyCode::Esc => return,
            KeyCode::Enter => {
                let time = text.parse().ok().filter(|time: &f64| time.is_finite());
                let target = if is_time {
                    time.map(|time| Target::Time(Time::new(time)))
                } else {
                    text.parse().ok().map(Target::Event)
                };
                target.into_iter().for_each(|target| self.go(target));
                return;
            }
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char(c) if c.is_ascii_digit() || is_time && c == '.' => text.push(c),
            _ => {}
        }
        self.asked = Some((is_time, text));
    }

    fn stop(&mut self) {
        (self.is_paused, self.target, self.due) = (true, None, 0.0);
    }

    /// Pauses the playback, and starts to seek `target`.
    fn go(&mut self, target: Target) {
        self.stop();
        self.target = Some(target);
    }

    /// Continues a seek. Then, unless paused, shows the events that fell due in the time `elapsed`.
    ///
    /// Returns at about the instant `until`, even if it has not finished.
    fn play(&mut self, elapsed: Duration, until: Instant) {
        while let Some(target) = self.target {
            match self.reel.go(target, Duration::ZERO) {
                Ok(true) => self.target = None,
                // The seek continues after the next frame.
                Ok(false) if Instant::now() >= until => return,
                Ok(false) => {}
                Err(sentence) => (self.target, self.failed) = (None, Some(sentence)),
            }
        }
        if self.is_paused || self.reel.over().is_some() {
            return;
        }
        self.due += elapsed.as_secs_f64() * self.speed;
        while self.due >= 1.0 {
            if !self.reel.step(Duration::ZERO) || Instant::now() >= until {
                // Drop events that were due but could not be shown in time.
                self.due = self.due.fract();
                return;
            }
            self.due -= 1.0;
        }
    }

    fn draw(&self, area: Rect, page: &mut Canvas) {
        let view = self.reel.view();
        if area.height < 3 {
            return view.draw(area, page);
        }
        view.draw(Rect { height: area.height - 1, ..area }, page);
        let state = match (&self.failed, self.reel.over()) {
            (Some(sentence), _) => format!("failed: {sentence}"),
            (_, Some(Err(sentence))) => format!("failed: {sentence}"),
            _ if self.target.is_some() => "on the way".to_owned(),
            (_, Some(Ok(()))) => "the end".to_owned(),
            _ if self.is_paused => "paused".to_owned(),
            _ => format!("{} events a second", self.speed),
        };
        let keys = match &self.asked {
            Some((true, text)) => format!("go to time: {text}_   Enter goes · Esc does not"),
            Some((false, text)) => format!("go to event: {text}_   Enter goes · Esc does not"),
            None => format!(
                "[{state}]  space pause · ← → step · + - speed · t e go to · j k queue · tab job · q quit"
            ),
        };
        let dim = view.style(Style::DIM);
        let (y, width) = (area.bottom() - 1, usize::from(area.width));
        page.write(area.x, y, &fitted(&visible(&keys), width), width, dim);
    }

    /// Restores the terminal.
    fn ended(self, stage: Stage) -> Ended {
        drop(stage);
        let failed = self.failed.clone();
        let failed = failed.or_else(|| self.reel.over()?.err().map(str::to_owned));
        failed.map_or(Ok(Verdict::Done), |sentence| Err(Stop::Failed(sentence)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::reel::tests::loaded;
    use super::*;

    fn player(measure: &str) -> Player {
        Player::new(loaded(0.5, measure), None)
    }

    fn key(character: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(character), KeyModifiers::NONE)
    }

    fn events(player: &Player) -> u64 {
        player.reel.events()
    }

    /// Plays back `seconds` of a run, after a pause in which the run computes events.
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
    fn it_goes_back_and_to_any_time_or_event() {
        let mut player = player("time = 1e12");
        let press = |player: &mut Player, keys: &str| {
            for c in keys.chars() {
                player.obey(match c {
                    '\n' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
                    '\x08' => KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE),
                    c => key(c),
                });
            }
            play(player, 0.0);
        };
        press(&mut player, "e129\x08\n");
        assert_eq!((events(&player), player.is_paused), (12, true));
        press(&mut player, ",");
        player.obey(KeyEvent::new(KeyCode::Left, KeyModifiers::NONE));
        play(&mut player, 0.0);
        assert_eq!(events(&player), 10);
        press(&mut player, ".");
        assert_eq!(events(&player), 11);
        press(&mut player, "t100.5\n");
        assert_eq!(player.reel.view().scene().now(), Time::new(100.5));
        let then = events(&player);
        // Letters are ignored in the input, and an invalid number starts no seek.
        press(&mut player, "eq\nt.\n");
        assert_eq!((events(&player), player.asked.clone()), (then, None));
        player.obey(key('e'));
        let mut page = Canvas::blank(70, 20);
        player.draw(page.area, &mut page);
        assert!(page.lines()[19].starts_with("go to event: _"));
        assert!(
            !player.obey(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)),
            "it leaves the question only"
        );
        player.obey(KeyEvent::new(KeyCode::Home, KeyModifiers::NONE));
        play(&mut player, 0.0);
        assert_eq!(events(&player), 0);
    }

    #[test]
    fn a_run_that_is_over_stands_still() {
        let mut player = player("jobs = 3");
        player.obey(key('+'));
        for _ in 0..50 {
            play(&mut player, 10.0);
            if player.reel.over().is_some() {
                break;
            }
        }
        assert_eq!(player.reel.over(), Some(Ok(())));
        let before = events(&player);
        player.obey(key('.'));
        assert_eq!(events(&player), before);
        let mut page = Canvas::blank(70, 20);
        player.draw(page.area, &mut page);
        let lines = page.lines();
        assert!(lines[1].ends_with("3 finished"), "{lines:#?}");
        assert!(lines[19].starts_with("[the end]"), "{lines:#?}");
        for height in 0..4 {
            let mut page = Canvas::blank(3, height);
            player.draw(page.area, &mut page);
        }
    }
}
