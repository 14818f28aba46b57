//! Tests of the manual: its commands run, its studies are valid, and its links resolve.
//!
//! Its generated pages must be current. `UPDATE_EXPECTED=1 cargo test -p meshwork-cli --test it
//! manual::` rewrites the pages of the reference and the outputs of the commands; review the
//! difference before committing it.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::common::{Scratch, call, examples, put, without_progress};
use meshwork_lab::{Options, Study, run};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn update() -> bool {
    std::env::var_os("UPDATE_EXPECTED").is_some()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(folder).unwrap().to_path_buf(), read(&path));
            }
        }
    }
    files
}

/// Pages that the summary lists outside `reference/`.
fn chapters() -> Vec<String> {
    let summary = read(&docs().join("SUMMARY.md"));
    let links = summary.split("](").skip(1).map(|rest| rest.split(')').next().unwrap().to_owned());
    links.filter(|link| !link.starts_with("reference/")).collect()
}

struct Block {
    /// Language of a code block: the text after the opening fence, such as `console`.
    language: String,
    /// Last non-empty line before the code block.
    before: String,
    text: String,
    /// Range of the lines of the code block's text, counted from 0. The end is exclusive.
    lines: (usize, usize),
}

fn blocks(text: &str) -> Vec<Block> {
    let (mut blocks, mut open, mut before) = (Vec::new(), None::<Block>, "");
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                let (language, before) = (language.to_owned(), before.to_owned());
                let lines = (number + 1, number + 1);
                open = Some(Block { language, before, text: String::new(), lines });
            }
            (Some(_), Some("")) => {
                let mut block = open.take().unwrap();
                block.lines.1 = number;
                blocks.push(block);
            }
            (Some(block), _) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
        if !line.trim().is_empty() {
            before = line;
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// File name before a code block: in backticks and followed by a colon, at the end of a line.
fn named(block: &Block) -> Option<&str> {
    block
        .before
        .strip_suffix("`:")?
        .rsplit('`')
        .next()
        .filter(|name| name.contains('.') && !name.contains('/'))
}

#[test]
fn the_reference_is_up_to_date() {
    let folder = Scratch::new();
    fs::copy(docs().join("SUMMARY.md"), folder.join("SUMMARY.md")).unwrap();
    let said = call(&folder, "manual .");
    assert_eq!((said.status, said.out.as_str(), said.err.as_str()), (Some(0), "", ""));
    if update() {
        let _ = fs::remove_dir_all(docs().join("reference"));
        call(&docs(), "manual .").ended(0);
    }
    let (made, kept) = (tree(&folder.join("reference")), tree(&docs().join("reference")));
    assert!(made.len() > 100, "{} pages", made.len());
    let names = |tree: &BTreeMap<PathBuf, String>| tree.keys().cloned().collect::<BTreeSet<_>>();
    let stale: Vec<_> = names(&made).symmetric_difference(&names(&kept)).cloned().collect();
    let again =
        "write them anew with UPDATE_EXPECTED=1 cargo test -p meshwork-cli --test it manual::";
    assert!(stale.is_empty(), "pages are missing or belong to nothing: {stale:?}; {again}");
    for (name, text) in &made {
        assert!(kept[name] == *text, "reference/{} is out of date; {again}", name.display());
    }
    let summary = |folder: &Path| read(&folder.join("SUMMARY.md"));
    assert!(summary(&folder) == summary(&docs()), "SUMMARY.md is out of date; {again}");
    let (made, kept) = (tree(&folder.join("img")), tree(&docs().join("img")));
    for (name, text) in &made {
        let is_same = kept.get(name).is_some_and(|kept| kept == text);
        assert!(is_same, "img/{} is out of date; {again}", name.display());
    }
}

#[test]
fn every_entry_says_when_to_use_it() {
    for (name, text) in tree(&docs().join("reference")) {
        let is_told = text.contains("\n**When to use it.** ") && text.contains("\nSee also: [");
        let is_entry = !name.ends_with("README.md") && !name.ends_with("study.md");
        assert!(is_told || !is_entry, "{}", name.display());
    }
}

#[test]
fn every_picture_is_shown_and_every_picture_shown_is_there() {
    let pages: String = tree(&docs())
        .iter()
        .filter(|(name, _)| name.extension().is_some_and(|ending| ending == "md"))
        .map(|(_, text)| text.as_str())
        .collect::<String>()
        + &read(&docs().join("../README.md"))
        + &read(&docs().join("../ARCHITECTURE.md"));
    for (name, text) in tree(&docs().join("img")) {
        let name = name.display().to_string();
        assert!(pages.contains(&format!("img/{name})")), "{name} is in no page");
        assert!(text.starts_with("<svg ") && text.contains("<title>"), "{name}");
    }
}

#[test]
fn every_entry_is_defined_in_full_sentences() {
    let folder = Scratch::new();
    let entries = call(&folder, "list --json").out;
    for line in entries.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        for key in ["definition", "complexity"] {
            let text = entry[key].as_str().unwrap();
            assert!(text.len() > 8 && text.ends_with('.'), "{}: {key} is {text:?}", entry["name"]);
            assert!(!text.contains('\n') && !text.contains("  "), "{}: {text:?}", entry["name"]);
        }
        let (definition, summary) = (&entry["definition"], entry["summary"].as_str().unwrap());
        assert!(definition != summary && !summary.ends_with('.'), "{}", entry["name"]);
    }
}

/// Does `work` on all items, with one thread for each processor.
fn each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = Mutex::new(items.iter());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(item) = next.lock().unwrap().next() else { return };
                    work(item);
                }
            });
        }
    });
}

#[test]
fn the_example_of_every_page_of_the_reference_runs() {
    let mut studies = 0;
    let pages: Vec<(PathBuf, String)> = tree(&docs().join("reference"))
        .into_iter()
        .filter(|(name, _)| !name.ends_with("README.md") && !name.ends_with("study.md"))
        .collect();
    for (name, text) in &pages {
        let runs = blocks(text).iter().any(|b| b.language == "toml" || b.language == "console");
        assert!(runs, "{} has no example", name.display());
        studies += 1;
    }
    assert!(studies > 100, "{studies} examples");
    each(&pages, |(name, text)| {
        let shown = name.display().to_string();
        for block in blocks(text) {
            match block.language.as_str() {
                "toml" => {
                    let threads = ["replications=1".to_owned()];
                    let study = Study::parse(&shown, &block.text, &examples(), &threads)
                        .unwrap_or_else(|refused| panic!("{shown}: {refused}"));
                    let options = Options { threads: 1, ..Options::default() };
                    let finished = run(&study, &options)
                        .unwrap_or_else(|refused| panic!("{shown}: {refused}"));
                    assert_eq!(finished.failures, Vec::<String>::new(), "{shown}");
                    assert!(finished.summary.rows.len() >= 2, "{shown} compares nothing");
                }
                "console" => {
                    let folder = Scratch::new();
                    session(&folder, &shown, &block.text);
                }
                _ => {}
            }
        }
    });
}

/// Runs the commands of a session, and returns the session with their outputs.
///
/// The test fails if an output differs from the one that the page shows. A line `…` on the page
/// stands for any number of lines.
fn session(folder: &Path, page: &str, text: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_meshwork"));
    let path = std::env::join_paths(
        std::iter::once(binary.parent().unwrap().to_path_buf())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    let mut result = String::new();
    let commands: Vec<&str> = text.split_inclusive('\n').collect();
    let starts: Vec<usize> =
        (0..commands.len()).filter(|&line| commands[line].starts_with("$ ")).collect();
    assert_eq!(starts.first(), Some(&0), "{page}: a session begins with a command\n{text}");
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(commands.len());
        // A trailing backslash continues a command on the next line.
        let mut shown = start + 1;
        while commands[shown - 1].ends_with("\\\n") {
            shown += 1;
        }
        let command = commands[start..shown].concat();
        let expected = commands[shown..end].concat();
        let output = Command::new("sh")
            .args(["-c", &command[2..]])
            .current_dir(folder)
            .env("PATH", &path)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = without_progress(&String::from_utf8(said).unwrap());
        let fails = said.contains("error: ");
        assert_eq!(output.status.success(), !fails, "{page}: {command}{said}");
        result += &command;
        if expected.is_empty() {
            assert!(!fails, "{page}: {command}{said}");
        } else if is_shown(&expected, &said) {
            result += &expected;
        } else if update() {
            result += &said;
        } else {
            panic!("{page}: {command}gives\n{said}\nand not\n{expected}");
        }
    }
    result
}

/// Whether the output `said` matches `shown`, where a line `…` stands for any number of lines.
fn is_shown(shown: &str, said: &str) -> bool {
    let mut rest = said;
    let mut parts = shown.split("…\n");
    let first = parts.next().unwrap_or_default();
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    let mut last = first;
    for part in parts {
        let Some(place) = rest.find(part) else { return false };
        rest = &rest[place + part.len()..];
        last = part;
    }
    rest.is_empty() || (last.is_empty() && shown.ends_with("…\n"))
}

#[test]
fn every_command_of_the_manual_gives_what_it_shows() {
    let sessions = Mutex::new(0);
    let chapters = chapters().into_iter().filter(|name| name.ends_with(".md"));
    let pages: Vec<String> = chapters.chain(["../README.md".to_owned()]).collect();
    each(&pages, |name| {
        let file = docs().join(name);
        let text = read(&file);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let folder = Scratch::new();
        crate::examples::copied(&folder);
        let mut outputs = Vec::new();
        for block in blocks(&text) {
            if let Some(file) = named(&block) {
                put(&folder, file, &block.text);
            }
            if block.language == "console" {
                let said = session(&folder, name, &block.text);
                *sessions.lock().unwrap() += 1;
                if said != block.text {
                    outputs.push((block.lines, said));
                }
            }
        }
        figures_are_kept(name, &text, &folder);
        if update() {
            for ((from, to), said) in outputs.into_iter().rev() {
                lines.splice(from..to, said.lines().map(str::to_owned));
            }
            let new = lines.join("\n") + "\n";
            if new != text {
                fs::write(&file, new).unwrap();
            }
        }
    });
    let sessions = sessions.into_inner().unwrap();
    assert!(sessions > 20, "{sessions} sessions");
}

/// Compares the figures that a page's commands write with those stored in `docs/img`.
///
/// A figure `FOLDER/NAME.svg` is stored as `img/FOLDER/NAME.svg`. Pictures without a folder are
/// skipped, because `meshwork manual` writes them.
fn figures_are_kept(page: &str, text: &str, folder: &Path) {
    for rest in text.split("](img/").skip(1) {
        let name = rest.split(')').next().unwrap();
        if !name.contains('/') {
            continue;
        }
        let (made, kept) = (read(&folder.join(name)), docs().join("img").join(name));
        if update() {
            fs::create_dir_all(kept.parent().unwrap()).unwrap();
            fs::write(&kept, &made).unwrap();
        }
        assert!(read(&kept) == made, "{page}: img/{name} is not what its commands write");
    }
}

#[test]
fn every_study_and_every_json_line_in_a_chapter_can_be_read() {
    for name in chapters() {
        // The page `claims.md` shows the form of a claim, with an ellipsis in it.
        if name == "claims.md" {
            continue;
        }
        for block in blocks(&read(&docs().join(&name))) {
            if block.language == "toml" {
                let read = block.text.parse::<toml::Table>();
                assert!(read.is_ok(), "{name}: {}\n{}", read.unwrap_err(), block.text);
            }
        }
    }
}

#[test]
fn every_link_of_the_manual_leads_to_a_page_of_it() {
    let summary = read(&docs().join("SUMMARY.md"));
    let listed: BTreeSet<String> = summary
        .split("](")
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap().to_owned())
        .collect();
    let mut links = 0;
    for (name, text) in tree(&docs()) {
        if name.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let shown = name.to_str().unwrap().to_owned();
        assert!(shown == "SUMMARY.md" || listed.contains(&shown), "{shown} is not in SUMMARY.md");
        let prose: String = {
            let fenced = blocks(&text);
            let inside =
                |line: usize| fenced.iter().any(|b| (b.lines.0..b.lines.1).contains(&line));
            let lines = text.lines().enumerate().filter(|&(line, _)| !inside(line));
            lines.map(|(_, line)| format!("{line}\n")).collect()
        };
        for rest in prose.split("](").skip(1) {
            let target = rest.split(')').next().unwrap();
            if target.starts_with("http") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let at = docs().join(&name);
            let to = if file.is_empty() { at.clone() } else { at.parent().unwrap().join(file) };
            assert!(to.exists(), "{shown}: {target} leads nowhere");
            let slug = |line: &str| {
                let line = line.trim_start_matches('#').trim().to_lowercase();
                let plain: String =
                    line.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect();
                plain.replace(' ', "-")
            };
            if !anchor.is_empty() {
                let found = read(&to).lines().any(|l| l.starts_with('#') && slug(l) == anchor);
                assert!(found, "{shown}: {target} leads to no heading");
            }
            links += 1;
        }
    }
    assert!(links > 300, "only {links} links were found");
}
