//! Tests that the source follows the rules of `ARCHITECTURE.md` and of the catalogue. The permitted
//! dependencies are read from the tables of that page, so page and code cannot differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use meshwork::alloc::ALLOCATORS;
use meshwork::catalogue::Catalogue;
use meshwork::engine::Setup;
use meshwork::facility::Facility;
use meshwork::failures::DURATIONS;
use meshwork::network::NETWORKS;
use meshwork::offer::ManagedSite;
use meshwork::pool::{NamedPool, Pool};
use meshwork::registry::{About, DefaultValue, Family, Kind, Param, abouts, resolve};
use meshwork::scenario::{Outcome, Scenario};
use meshwork::sched::SCHEDULERS;
use meshwork::select::SELECTORS;
use meshwork::sizing::SIZINGS;
use meshwork::topology::TOPOLOGIES;
use meshwork::workload::distribution::{RUNTIMES, SIZES};
use meshwork::workload::{self, WORKLOADS};
use meshwork::workload::{DEPENDENCIES, ESTIMATES, RESAMPLES};
use meshwork::{alloc, network, observe, scenario, sched, select, sizing};
use toml::Table;

/// Names that model code may not use, so that a run depends only on its inputs.
///
/// They belong to files, threads, clocks, the environment, printing and `unsafe`. Elementary
/// functions whose last bit differs between platforms come from `libm` instead.
const FORBIDDEN: &[&str] = &[
    "std::fs",
    "std::env",
    "std::thread",
    "std::time",
    "std::net",
    "std::process",
    "std::sync::mpsc",
    "io::stdin",
    "io::stdout",
    "io::stderr",
    "println!",
    "print!",
    "dbg!",
    "unsafe",
    "HashMap",
    "HashSet",
    ".ln(",
    ".ln_1p(",
    ".log(",
    ".log2(",
    ".log10(",
    ".exp(",
    ".exp2(",
    ".exp_m1(",
    ".powf(",
    ".powi(",
    ".cbrt(",
    ".hypot(",
    ".sin(",
    ".cos(",
    ".tan(",
    ".sinh(",
    ".cosh(",
    ".tanh(",
    ".atan(",
    ".atan2(",
    "f64::ln",
    "f64::exp",
    "f64::pow",
    "f64::sin",
    "f64::cos",
];

/// Proper names that may begin a description of a parameter; others begin in lower case.
const PROPER: &[&str] = &["Poisson", "Weibull", "Erlang", "Lublin", "Gray", "TOML", "SWF", "EASY"];

/// Name, without extension, of the only source file that may use the random number generator.
const GENERATOR: &str = "rng";

/// Names that two public types share, each with both meanings. All other names are unique.
const SHARED_NAMES: &[(&str, &str)] = &[
    ("Ended", "a job that ended, as a row of per-job output, and the end of a shard"),
    ("Instant", "a cell of a table of jobs, and an instant of a machine to be explained"),
    ("MachineState", "the state that observers see, and that of a Slurm machine"),
    ("Outcome", "the results of a run, and a column of per-job output"),
];

/// Folders of the model with one file per catalogue entry, and the entries of each folder.
fn folders() -> Vec<(&'static str, Vec<&'static About>)> {
    vec![
        ("topology", abouts(TOPOLOGIES)),
        ("alloc", abouts(ALLOCATORS)),
        ("sched", abouts(SCHEDULERS)),
        ("select", abouts(SELECTORS)),
        ("sizing", abouts(SIZINGS)),
        ("network", abouts(NETWORKS)),
        ("workload", [abouts(WORKLOADS), (RESAMPLES.entries)()].concat()),
    ]
}

fn families() -> Vec<&'static Family> {
    vec![
        &alloc::FAMILY,
        &alloc::parts::orders::FAMILY,
        &alloc::parts::within::FAMILY,
        &sched::FAMILY,
        &select::FAMILY,
        &sizing::FAMILY,
        &network::FAMILY,
        &network::traffic::FAMILY,
        &network::pattern::FAMILY,
        &workload::FAMILY,
        &observe::metrics::FAMILY,
        &scenario::SITE_FAMILY,
        &SIZES,
        &RUNTIMES,
        &ESTIMATES,
        &DEPENDENCIES,
        &RESAMPLES,
        &DURATIONS,
    ]
}

#[test]
fn modules_know_only_whom_they_may() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut count = 0;
    for item in fs::read_dir(crates).unwrap() {
        let folder = item.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        hold_to_table(&sources_in(&folder.join("src")), &format!("Within `{name}`"));
        count += 1;
    }
    assert!(count >= 7, "only {count} crates");
}

fn hold_to_table(sources: &[Source], heading: &str) {
    let allowed = who_may_know_whom(heading);
    let mut trespasses = Vec::new();
    let mut met = BTreeSet::new();
    let top = |file: &Source| file.module.first().cloned().unwrap_or_default();
    let modules: BTreeSet<String> = sources.iter().map(top).collect();
    for file in sources {
        let module = top(file);
        let is_test = |last: &String| ["tests", "twins"].contains(&last.as_str());
        if ["", "main"].contains(&&*module) || file.module.last().is_some_and(is_test) {
            continue; // the root declares the modules, and tests may use all of them
        }
        let Some(may) = allowed.get(&module) else {
            panic!("ARCHITECTURE.md has no row for the module `{module}`");
        };
        for known in file.known() {
            if modules.contains(&known) && known != module && !may.contains(&known) {
                trespasses.push(format!("{}: {module} may not know {known}", file.path.display()));
            }
        }
        met.insert(module);
    }
    assert!(trespasses.is_empty(), "{}", trespasses.join("\n"));
    let rows: BTreeSet<String> = allowed.into_keys().collect();
    assert_eq!(met, rows, "the table of ARCHITECTURE.md has a row for each module and no other");
}

#[test]
fn strategies_are_known_by_their_lists_alone() {
    let strategies: BTreeSet<Vec<String>> = sources()
        .into_iter()
        .filter(|file| file.code.contains("static ENTRY:"))
        .map(|file| file.module)
        .collect();
    assert!(strategies.len() >= 12, "{strategies:?}");
    for file in sources() {
        for path in file.paths() {
            let is_strategy = (1..=path.len()).any(|n| strategies.contains(&path[..n]));
            let is_at_home = file.module.first() == path.first();
            assert!(
                !is_strategy || is_at_home,
                "{}: knows the strategy {}",
                file.path.display(),
                path.join("::")
            );
        }
    }
}

#[test]
fn the_model_is_pure() {
    for file in sources() {
        for word in FORBIDDEN {
            let found = file.code.find(word).map(|at| file.code[..at].lines().count());
            assert_eq!(found, None, "{}: `{word}` at that line", file.path.display());
        }
        if file.module != [GENERATOR] {
            for word in ["chacha20", "rand_core"] {
                assert!(!file.code.contains(word), "{}: draws past rng", file.path.display());
            }
        }
    }
}

#[test]
fn every_strategy_has_a_file_of_its_name_and_every_such_file_is_in_its_list() {
    for (folder, entries) in folders() {
        let listed: BTreeSet<String> = entries.iter().map(|about| about.name.to_owned()).collect();
        let written: BTreeSet<String> = sources()
            .into_iter()
            .filter(|file| file.module.first().is_some_and(|module| module == folder))
            .filter(|file| file.code.contains("static ENTRY:"))
            .filter_map(|file| file.module.last().cloned())
            .collect();
        assert_eq!(written, listed, "files of {folder}/ with an ENTRY, and the names in its list");
    }
}

#[test]
fn what_a_user_holds_can_be_sent_to_another_thread() {
    fn is_send<T: Send + ?Sized>() {}
    is_send::<Catalogue>();
    is_send::<Pool>();
    is_send::<NamedPool>();
    is_send::<Scenario>();
    is_send::<Setup>();
    is_send::<Outcome>();
    is_send::<Facility>();
    is_send::<ManagedSite>();
    is_send::<workload::Submissions>();
    is_send::<dyn alloc::Allocator>();
    is_send::<dyn sched::Scheduler>();
    is_send::<dyn select::Selector>();
    is_send::<dyn sizing::Sizing>();
    is_send::<dyn network::Network>();
}

#[test]
fn public_types_have_a_name_of_their_own_in_the_workspace() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for item in fs::read_dir(crates).unwrap() {
        for file in sources_in(&item.unwrap().path().join("src")) {
            for name in public_types(&file.code) {
                places.entry(name.to_owned()).or_default().push(file.path.display().to_string());
            }
        }
    }
    assert!(places.len() > 400, "only {} public types were found", places.len());
    let shared: Vec<&(&str, &str)> = SHARED_NAMES
        .iter()
        .filter(|(name, _)| places.get(*name).is_none_or(|places| places.len() < 2))
        .collect();
    assert!(shared.is_empty(), "no longer shared: {shared:?}");
    places.retain(|name, places| {
        places.len() > 1 && SHARED_NAMES.iter().all(|(shared, _)| shared != name)
    });
    assert!(places.is_empty(), "one name for several public types: {places:#?}");
}

#[test]
fn names_are_snake_case_and_unique_with_their_aliases() {
    for family in families() {
        let mut seen = BTreeSet::new();
        let entries = (family.entries)();
        assert!(!entries.is_empty(), "no {}", family.kind);
        for about in entries {
            for name in about.aliases.iter().chain([&about.name]) {
                assert!(is_snake_case(name), "{} `{name}`", family.kind);
                assert!(seen.insert(*name), "two {}s are called `{name}`", family.kind);
                assert_eq!(family.find("", name).unwrap().name, about.name);
            }
        }
    }
}

#[test]
fn every_entry_says_in_one_line_what_it_is_and_where_it_comes_from() {
    for family in families() {
        for about in (family.entries)() {
            is_a_line(about.summary, &format!("{} {}: summary", family.kind, about.name));
            assert!(!about.source.trim().is_empty(), "{} has no source", about.name);
            assert!(!about.source.contains("  "), "{}: {}", about.name, about.source);
        }
    }
}

#[test]
fn every_parameter_says_what_it_means_and_defaults_are_of_their_own_kind() {
    let mut seen = 0;
    for family in families() {
        assert!(is_snake_case(family.key));
        for about in (family.entries)() {
            let place = format!("{} {}", family.kind, about.name);
            let all: Vec<&Param> = about.params.iter().chain(family.common).collect();
            seen += lint_params(&place, &all, &[family.key]);
        }
    }
    seen += lint_params("scenario", &scenario::PARAMS.iter().collect::<Vec<_>>(), &["machine"]);
    seen += lint_params("machine", &scenario::SITES.iter().collect::<Vec<_>>(), &[]);
    assert!(seen > 40, "only {seen} parameters were looked at");
}

#[test]
fn the_reader_of_source_sees_through_comments_strings_and_braces() {
    let code = blank(
        "/* crate::a /* crate::b */ */ use crate::{job::Time, rng}; // crate::c\n\
         let c = '\"'; let l: &'static str = \"\\\" crate::d\"; super::super::engine::go();\n\
         r#\"crate::e \" \"#; crate::shape::x()",
    );
    let file = Source {
        path: PathBuf::new(),
        module: vec!["workload".to_owned(), "swf".to_owned()],
        code,
    };
    assert_eq!(
        file.known().into_iter().collect::<Vec<_>>(),
        ["engine", "job", "rng", "shape"],
        "{}",
        file.code
    );
}

/// Checks that a description, which follows a name in lists, begins in lower case.
///
/// It may begin with a proper name. It has no full stop.
fn is_a_line(text: &str, place: &str) {
    assert!(!text.is_empty() && !text.contains('\n') && !text.contains("  "), "{place}: `{text}`");
    assert!(!text.ends_with('.') && text.trim() == text, "{place}: `{text}`");
    let is_name = PROPER.iter().any(|name| text.starts_with(name));
    assert!(is_name || !text.starts_with(char::is_uppercase), "{place}: `{text}`");
}

/// Checks descriptions of parameters, including nested tables, and counts the parameters.
fn lint_params(place: &str, params: &[&Param], taken: &[&str]) -> usize {
    let mut names: BTreeSet<&str> = taken.iter().copied().collect();
    let mut count = 0;
    for param in params {
        let at = format!("{place}: {}", param.name);
        // Slurm's own keys keep their spelling.
        let is_slurms = place.starts_with("scheduler slurm") && param.name.starts_with('P');
        assert!(is_snake_case(param.name) || is_slurms, "{at}");
        assert!(names.insert(param.name), "{at} is declared twice");
        is_a_line(param.help, &at);
        match &param.default {
            DefaultValue::Absent(meaning) => is_a_line(meaning, &at),
            DefaultValue::Required => {}
            DefaultValue::Is(text) => {
                // Reading an empty table fills in the default, and panics if it is not of its kind.
                let read = resolve("x", &[param], &Table::new(), &[]);
                assert!(read.unwrap().has(param.name), "{at}: {text}");
            }
        }
        count += 1;
        match &param.kind {
            Kind::Table(inner) | Kind::Tables(inner) => {
                count += lint_params(&at, &inner.iter().collect::<Vec<_>>(), &[]);
            }
            Kind::Choice(words) => {
                assert!(words.len() > 1 && words.iter().all(|word| is_snake_case(word)), "{at}");
            }
            _ => {}
        }
    }
    count
}

fn is_snake_case(name: &str) -> bool {
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(letters)
        && !name.ends_with('_')
        && !name.contains("__")
}

/// Modules that each module may use, from the table below a heading of `ARCHITECTURE.md`.
///
/// A module may use only modules whose rows are above its own row.
fn who_may_know_whom(heading: &str) -> BTreeMap<String, BTreeSet<String>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = fs::read_to_string(&page).expect("ARCHITECTURE.md stands at the root");
    let mut sections = text.split("\n## ").flat_map(|section| section.split("\n### "));
    let line = format!("{heading}\n");
    let section = sections.find(|section| section.starts_with(&line)).expect(heading);
    let mut rows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.split('|').collect();
        let names = |cell: &str| -> Vec<String> {
            cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        };
        let known: BTreeSet<String> = names(cells[2]).into_iter().collect();
        let below = known.iter().find(|module| !rows.contains_key(*module));
        assert_eq!(below, None, "{line} knows a module that has no row above it");
        for module in names(cells[1]) {
            let known = known.clone();
            assert!(rows.insert(module, known).is_none(), "two rows: {line}");
        }
    }
    rows
}

struct Source {
    path: PathBuf,
    /// Module path of the file, such as `["alloc", "first_fit"]`; empty for `lib.rs`.
    module: Vec<String>,
    code: String,
}

impl Source {
    /// Top-level modules of the crate that occur in paths of the file.
    fn known(&self) -> BTreeSet<String> {
        self.paths().into_iter().filter_map(|path| path.into_iter().next()).collect()
    }

    /// Every path that begins with `crate::` or `super::`, from the root of the crate. A list in
    /// braces gives one path per item.
    fn paths(&self) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        let mut words = Words { rest: &self.code };
        while let Some(word) = words.next() {
            let mut base = match word {
                "crate" if words.take("::") => Vec::new(),
                "super" if words.take("::") => self.parent(),
                _ => continue,
            };
            while words.peek() == Some("super") {
                words.next();
                words.take("::");
                base.pop();
            }
            follow(&mut words, &base, &mut found);
        }
        found
    }

    fn parent(&self) -> Vec<String> {
        let mut parent = self.module.clone();
        parent.pop();
        parent
    }
}

/// Adds the paths of a `use` tree such as `a::{b, c::d}` to `found`.
fn follow(words: &mut Words<'_>, base: &[String], found: &mut Vec<Vec<String>>) {
    let mut path = base.to_vec();
    loop {
        if words.take("{") {
            while !words.take("}") {
                follow(words, &path, found);
                if !words.take(",") && words.peek() != Some("}") {
                    return; // not a list of paths
                }
            }
            return;
        }
        match words.peek() {
            Some(name) if name.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                path.push(name.to_owned());
                words.next();
            }
            _ => break,
        }
        if !words.take("::") {
            break;
        }
    }
    if words.peek() == Some("as") {
        words.next();
        words.next();
    }
    found.push(path);
}

struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        Words { rest: self.rest }.next()
    }

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match rest.chars().next()? {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        let (word, rest) = rest.split_at(length);
        self.rest = rest;
        Some(word)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.next();
        }
        is_next
    }
}

fn public_types(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut words = Words { rest: code };
    while let Some(word) = words.next() {
        if word == "pub"
            && ["struct", "enum", "trait", "type"].iter().any(|kind| words.take(kind))
            && let Some(name) = words.next()
        {
            found.push(name);
        }
    }
    found
}

fn sources() -> Vec<Source> {
    sources_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

fn sources_in(root: &Path) -> Vec<Source> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(&folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.into_iter().map(|path| source(root, path)).collect()
}

fn source(root: &Path, path: PathBuf) -> Source {
    let text = fs::read_to_string(&path).unwrap();
    let code = blank(&text);
    // Tests at the end of a file may use every module.
    let tests = code.find("#[cfg(test)]\nmod tests {").unwrap_or(code.len());
    let relative = path.strip_prefix(root).unwrap().with_extension("");
    let mut module: Vec<String> =
        relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| last == "mod" || last == "lib") {
        module.pop();
    }
    Source { path, module, code: code[..tests].to_owned() }
}

/// A source text without its comments and without the contents of strings and characters.
fn blank(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if rest.starts_with("r\"") || rest.starts_with("r#") && raw_hashes(rest).is_some() {
            let end = format!("\"{}", "#".repeat(raw_hashes(rest).unwrap_or(0)));
            let open = end.len() + 1;
            rest[open..].find(&end).map_or(rest.len(), |at| open + at + end.len())
        } else if next == '"' {
            string(rest)
        } else if next == '\'' {
            character(rest)
        } else {
            0
        };
        if skipped == 0 {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        } else {
            // Newlines are kept, so that line numbers hold.
            code.extend(rest[..skipped].chars().filter(|&c| c == '\n'));
            code.push(' ');
            rest = &rest[skipped..];
        }
    }
    code
}

/// Number of `#` of a raw string at the beginning of the text; `None` for a raw identifier.
fn raw_hashes(rest: &str) -> Option<usize> {
    let hashes = rest[1..].chars().take_while(|&c| c == '#').count();
    rest[1 + hashes..].starts_with('"').then_some(hashes)
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Length of the character literal at the beginning of the text; 0 if a lifetime is there.
fn character(rest: &str) -> usize {
    let mut inside = rest.char_indices().skip(1);
    match inside.next() {
        Some((_, '\\')) => rest[3..].find('\'').map_or(0, |at| at + 4),
        Some((at, c)) if rest[at + c.len_utf8()..].starts_with('\'') => at + c.len_utf8() + 1,
        _ => 0,
    }
}
