//! Tests of `meshwork watch`: the frames that it prints, and its behaviour on a terminal.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Scratch, call, examples, meshwork, read, said, skip};

fn frames() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frames")
}

fn expected(name: &str) -> String {
    std::fs::read_to_string(frames().join(name)).unwrap()
}

#[test]
fn the_frames_of_a_tiny_study() {
    let said = call(&frames(), "watch tiny.toml --width 70").succeeded();
    assert_eq!(said.out, expected("tiny.txt"), "{}", said.out);
}

#[test]
fn a_scenario_of_a_sweep_and_only_some_of_its_frames() {
    let arguments = ["watch", "tiny.toml", "--run", "2", "--width", "70"];
    let ask = |more: &[&str]| meshwork(&frames(), &[&arguments[..], more].concat()).out;
    let every = ask(&["--every", "3", "--until", "5.5"]);
    let heads: Vec<&str> = every.lines().filter(|line| line.starts_with("==")).collect();
    assert_eq!(
        heads,
        [
            "== frame 1 · event 3 ==",
            "== frame 2 · event 6 ==",
            "== frame 3 · event 9 ==",
            "== frame 4 · event 10 =="
        ]
    );
    assert!(every.contains("tiny · scenario 2 of 2: scheduler = \"easy\"\n"), "{every}");
    let last = every.lines().rfind(|line| line.starts_with("time "));
    assert!(last.unwrap().starts_with("time 5.500 "), "{every}");
    let folder = Scratch::new();
    let results = folder.to_str().unwrap();
    meshwork(&frames(), &["run", "tiny.toml", "--quiet", "--out", results]).ended(0);
    let stored =
        ["watch", results, "--run", "2", "--width", "70", "--every", "3", "--until", "5.5"];
    assert_eq!(meshwork(&frames(), &stored).out, every);
    let (mut older, end) = (stored.to_vec(), ["--scenario", "2", "--replication", "1"]);
    older.splice(2..4, end);
    assert_eq!(meshwork(&frames(), &older).out, every, "the options before `--run`");
    let first = ask(&["--every", "3", "--max-frames", "1"]);
    assert_eq!(every.split("\n\n== ").next().unwrap(), first.trim_end());
}

#[test]
fn an_endless_study_can_be_left_and_a_wrong_one_is_refused() {
    let study = examples().join("load.toml");
    let study = study.to_str().unwrap();
    let endless = ["watch", study, "--set", "measure={time=1e12}", "--max-frames", "3"];
    let said = meshwork(Path::new("."), &endless);
    assert_eq!((said.status, said.out.matches("== frame").count()), (Some(0), 3));
    for (arguments, sentence) in [
        (&["watch", study, "--run", "9"][..], "there is no scenario 9, the study has 8 of them"),
        (
            &["watch", study, "--run", "2/9"],
            "there is no replication 9, each scenario has at most 5",
        ),
        (&["watch", "none.toml"], "there is no such file"),
    ] {
        let said = meshwork(Path::new("."), arguments).refused();
        assert!(said.err.ends_with(&format!("{sentence}\n")), "{said:?}");
    }
}

#[test]
fn nodes_that_jobs_share_are_drawn() {
    let study = examples().join("shared_nodes.toml");
    let study = study.to_str().unwrap();
    let said = meshwork(Path::new("."), &["watch", study, "--every", "400", "--max-frames", "1"])
        .succeeded();
    for part in [" % of 512 GPUs, ", "█"] {
        said.out_has(part);
    }
}

/// A terminal of tmux for one test; it is closed when dropped.
struct Terminal {
    socket: String,
}

impl Terminal {
    /// Opens a terminal and waits for its shell; `None` if tmux is not installed.
    fn open(name: &str) -> Option<Terminal> {
        let terminal = Terminal { socket: format!("meshwork-test-{}-{name}", std::process::id()) };
        let shell =
            ["-f", "/dev/null", "new-session", "-d", "-x", "90", "-y", "26", "env PS1='$ ' sh"];
        let opened = terminal.tmux(&shell)?;
        opened.status.success().then_some(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> Option<Output> {
        Command::new("tmux")
            .args(["-L", &self.socket])
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .ok()
    }

    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat()).unwrap();
    }

    /// Reads the screen again and again until its text satisfies `is_so`; returns this text.
    fn screen(&self, is_so: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let screen = said(&self.tmux(&["capture-pane", "-p"]).unwrap()).out;
            if is_so(&screen) {
                return screen;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain:\n{screen}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

#[test]
fn on_a_terminal_it_is_played_paused_stepped_and_left_without_a_trace() {
    let Some(terminal) = Terminal::open("played") else {
        skip("tools", "there is no tmux here, or it cannot open a terminal");
        return;
    };
    terminal.screen(|screen| screen.contains('$'));
    let study = examples().join("load.toml").canonicalize().unwrap();
    let command = format!(
        "{} watch {}; echo status=$?; stty -a | grep -c -- -icanon",
        env!("CARGO_BIN_EXE_meshwork"),
        study.display()
    );
    for leave in ["q", "C-c"] {
        terminal.press(&["clear; ", &command, "Enter"]);
        terminal.screen(|screen| {
            screen.contains("8 events a second") && screen.contains("16 × 16 mesh")
        });
        terminal.press(&["Space"]);
        let paused = terminal.screen(|screen| screen.contains("[paused]"));
        terminal.press(&["."]);
        let stepped = terminal.screen(|screen| screen.lines().nth(3) != paused.lines().nth(3));
        assert!(stepped.contains("[paused]"));
        terminal.press(&["+"]);
        terminal.press(&["Space"]);
        terminal.screen(|screen| screen.contains("16 events a second"));
        terminal.press(&[leave]);
        let left = terminal.screen(|screen| screen.contains("status=0\n0\n"));
        assert!(!left.contains("utilization"), "the other screen is left:\n{left}");
    }
}

/// Shell command that starts `meshwork watch` and writes its process number to a file.
fn watching(folder: &Path) -> String {
    let study = examples().join("load.toml").canonicalize().unwrap();
    format!(
        "sh -c 'echo $$ > {}; exec {} watch {}'",
        folder.join("number").display(),
        env!("CARGO_BIN_EXE_meshwork"),
        study.display()
    )
}

fn number(folder: &Path) -> String {
    read(folder, "number").trim().to_owned()
}

fn is_playing(screen: &str) -> bool {
    screen.contains("8 events a second") && screen.contains("16 × 16 mesh")
}

/// Whether a process exists and is no zombie.
fn lives(number: &str) -> bool {
    let said = Command::new("ps").args(["-o", "stat=", "-p", number]).output().unwrap();
    let state = String::from_utf8(said.stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

#[test]
fn signals_end_it_and_the_terminal_is_as_it_was() {
    let Some(terminal) = Terminal::open("signals") else {
        skip("tools", "there is no tmux here, or it cannot open a terminal");
        return;
    };
    terminal.screen(|screen| screen.contains('$'));
    let folder = Scratch::new();
    let command = format!("{}; echo status=$?; stty -a | grep -c -- -icanon", watching(&folder));
    for signal in ["-TERM", "-HUP"] {
        terminal.press(&["clear; ", &command, "Enter"]);
        terminal.screen(is_playing);
        let killed = Command::new("kill").args([signal, &number(&folder)]).status();
        assert!(killed.unwrap().success());
        let left = terminal.screen(|screen| screen.contains("status=0\n0\n"));
        assert!(!left.contains("utilization"), "the other screen is left:\n{left}");
    }
}

#[test]
fn it_ends_with_its_terminal() {
    // In a new session, the program gets no signal when the terminal closes, but its input ends.
    for (name, before) in [("closed", "exec "), ("ended", "setsid -w ")] {
        let Some(terminal) = Terminal::open(name) else {
            skip("tools", "there is no tmux here, or it cannot open a terminal");
            return;
        };
        terminal.screen(|screen| screen.contains('$'));
        let folder = Scratch::new();
        terminal.press(&["clear; ", before, &watching(&folder), "Enter"]);
        terminal.screen(is_playing);
        let number = number(&folder);
        assert!(lives(&number));
        drop(terminal);
        let begun = Instant::now();
        while lives(&number) {
            if begun.elapsed() > Duration::from_secs(30) {
                let _ = Command::new("kill").args(["-KILL", &number]).status();
                panic!("{name}: it goes on without its terminal");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
