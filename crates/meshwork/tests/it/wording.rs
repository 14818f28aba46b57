//! Checks the rules of CONTRIBUTING.md ("Wording") that a machine can check.

use std::fs;
use std::path::{Path, PathBuf};

const COLUMNS: usize = 100;

const SENTENCE: usize = 100;

/// Openings that make a first sentence useless in an index, which shows only this sentence.
const OPENINGS: [&str; 9] =
    ["The same", "That of", "Those ", "As ", "So many", "So much", "Who ", "Whoever ", "What "];

const FOLDERS: [&str; 9] = [
    "crates/meshwork",
    "crates/meshwork-slurm",
    "crates/meshwork-lab",
    "crates/meshwork-report",
    "crates/meshwork-operator",
    "crates/meshwork-cli",
    "crates/meshwork-py",
    "benches",
    "fuzz",
];

/// Paths of doc comments that become help texts of the command, to which other rules apply.
const HELP: [&str; 2] = ["meshwork-cli/src/args/", "meshwork-cli/src/memory.rs"];

#[test]
fn comments_follow_the_rules_of_wording() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in FOLDERS {
        rust_files(&root.join(folder), &mut files);
    }
    let (mut docs, mut wrong) = (0, Vec::new());
    for path in &files {
        let shown = path.to_string_lossy();
        let text = fs::read_to_string(path).unwrap();
        let comments = comments(&text);
        let is_help = HELP.iter().any(|part| shown.contains(part));
        let place = |line: usize| format!("{}:{}", path.display(), line + 1);
        let mut at = 0;
        while at < comments.len() {
            let block = block_from(&comments[at..]);
            let first = &block[0];
            for comment in block.iter().filter(|comment| !comment.is_code && !is_help) {
                if comment.columns > COLUMNS {
                    wrong.push(format!("{}: {} columns", place(comment.line), comment.columns));
                }
            }
            if first.is_doc && !is_help {
                docs += 1;
                let sentence = first_sentence(block);
                if sentence.chars().count() > SENTENCE {
                    wrong.push(format!("{}: a long first sentence: {sentence}", place(first.line)));
                }
                if OPENINGS.iter().any(|opening| sentence.starts_with(opening)) {
                    wrong.push(format!(
                        "{}: an opening that says nothing: {sentence}",
                        place(first.line)
                    ));
                }
            }
            at += block.len();
        }
    }
    assert!(docs > 2000, "only {docs} doc comments were looked at");
    assert!(wrong.is_empty(), "{} places:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_checks_of_wording_find_what_they_are_for() {
    let text = "/// The same, but longer.\nfn f() {}\n\n//! Sums two numbers, e.g. 1 and 2. And more.\n\
                let url = \"http://x\"; // a remark\n/// ```\n/// // code\n/// ```\n\n/// >>> 1\n";
    let found = comments(text);
    assert_eq!(found.len(), 7);
    assert_eq!(found.iter().filter(|comment| comment.is_doc).count(), 6);
    assert_eq!(found[2].text, "a remark");
    assert!(found[4].is_code && found[6].is_code && !found[2].is_code);
    assert_eq!(first_sentence(&found[1..2]), "Sums two numbers, e.g. 1 and 2.");
}

#[derive(Debug)]
struct Comment {
    /// Index of the line in the file, from 0.
    line: usize,
    /// Width of the source line in characters, including its code.
    columns: usize,
    /// Mark that begins the comment: `///`, `//!` or `//`.
    mark: &'static str,
    is_doc: bool,
    /// Whether the line is inside a code fence or a Python session.
    is_code: bool,
    text: String,
}

/// Line comments of a source file. If a string has a line that begins with `//`, this line counts
/// as a comment too.
fn comments(text: &str) -> Vec<Comment> {
    let (mut found, mut is_code) = (Vec::new(), false);
    for (line, whole) in text.lines().enumerate() {
        let Some(start) = comment_start(whole) else {
            is_code = false;
            continue;
        };
        let rest = &whole[start..];
        let mark = ["///", "//!", "//"].into_iter().find(|mark| rest.starts_with(mark)).unwrap();
        let is_doc = mark != "//" && !rest.starts_with("////");
        let body = rest[mark.len()..].trim().to_owned();
        let is_fence = body.starts_with("```");
        found.push(Comment {
            line,
            columns: whole.chars().count(),
            mark,
            is_doc,
            is_code: is_code
                || is_fence
                || [">>> ", "... "].iter().any(|mark| body.starts_with(mark)),
            text: body,
        });
        is_code ^= is_fence;
    }
    found
}

/// Byte position of a line's comment, outside of strings; `None` if the line has no comment.
fn comment_start(line: &str) -> Option<usize> {
    let (mut is_text, mut is_escaped) = (false, false);
    let bytes = line.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' if at == 0 || bytes[at - 1] != b'\'' => is_text = !is_text,
            b'/' if !is_text && bytes.get(at + 1) == Some(&b'/') => return Some(at),
            _ => {}
        }
    }
    None
}

/// First block of comment lines in a list that is not empty.
///
/// The lines of a block are adjacent and have the same mark, such as `///`. A line that is not a
/// doc comment is a block by itself.
fn block_from(comments: &[Comment]) -> &[Comment] {
    let follows = |pair: &[Comment]| {
        pair[1].line == pair[0].line + 1 && pair[1].mark == pair[0].mark && pair[0].is_doc
    };
    let more = comments.windows(2).take_while(|pair| follows(pair)).count();
    &comments[..=more]
}

/// First sentence of a block of comment lines, or its whole first paragraph if no sentence ends in
/// it.
fn first_sentence(block: &[Comment]) -> String {
    let lines = block.iter().take_while(|comment| !comment.text.is_empty() && !comment.is_code);
    let paragraph = lines.map(|comment| comment.text.as_str()).collect::<Vec<_>>().join(" ");
    let ends = paragraph.match_indices(['.', ':', '!', '?']).map(|(at, _)| at + 1);
    let is_end = |at: &usize| {
        let before = &paragraph[..at - 1];
        let is_short = [" e.g", " i.e", " vs", " al"].iter().any(|short| before.ends_with(short));
        !is_short && paragraph[*at..].chars().next().is_none_or(char::is_whitespace)
    };
    let end = ends.into_iter().find(is_end).unwrap_or(paragraph.len());
    paragraph[..end].to_owned()
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            let skipped = ["target", "node_modules", ".venv"];
            if !skipped.iter().any(|name| path.ends_with(name)) {
                rust_files(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
