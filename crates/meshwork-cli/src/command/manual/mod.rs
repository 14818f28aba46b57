//! `meshwork manual`: writes the generated pages and pictures of the manual.
//!
//! The command is hidden from users. It must be run after a strategy is added, which a test checks.

mod advice;
mod drawing;
mod example;
mod pictures;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use meshwork::access;
use meshwork::alloc::parts::nodes::{NODES, TYPES};
use meshwork::catalogue::Catalogue;
use meshwork::energy;
use meshwork::failures;
use meshwork::registry::{About, DefaultValue, EntrySource, Kind, Param};
use meshwork::workload::table;
use meshwork_report::markup::capitalized;

use super::list::{KINDS, Listed, capabilities, has_columns, words};
use crate::output::{Ended, Stop, Verdict};

/// Heading in `SUMMARY.md` below which all lines are generated.
const PART: &str = "# Reference";

/// Writes the generated parts of the manual: `reference/`, `img/` and the end of `SUMMARY.md`.
pub(crate) fn run(catalogue: &Catalogue, folder: &Path) -> Ended {
    let summary = folder.join("SUMMARY.md");
    let shown = summary.display();
    let text = fs::read_to_string(&summary)
        .map_err(|error| Stop::Wrong(format!("{shown}: this cannot be read ({error})")))?;
    let Some((chapters, _)) = text.split_once(PART) else {
        return Err(Stop::Wrong(format!(
            "{shown}: there is no line `{PART}`, below which to write"
        )));
    };
    let mut pages = pages(catalogue);
    pages.extend(pictures::all(catalogue));
    pages.push(("SUMMARY.md".to_owned(), format!("{chapters}{PART}\n\n{}", contents(catalogue))));
    for (name, text) in pages {
        let file = folder.join(&name);
        let parent = file.parent().expect("a page is in the folder");
        fs::create_dir_all(parent).and_then(|()| fs::write(&file, text)).map_err(|error| {
            Stop::Failed(format!("{}: this cannot be written ({error})", file.display()))
        })?;
    }
    Ok(Verdict::Done)
}

/// Lines of `SUMMARY.md` that link the generated pages.
fn contents(catalogue: &Catalogue) -> String {
    let mut text = "- [All that there is](reference/README.md)\n\
         - [The keys of a study](reference/study.md)\n"
        .to_owned();
    for kind in KINDS {
        let (title, folder) = (title(kind), kind.plural());
        text += &format!("- [{title}](reference/{folder}/README.md)\n");
        for about in catalogue.entries(kind.family) {
            text += &format!("  - [{0}](reference/{folder}/{0}.md)\n", about.name);
        }
    }
    text
}

/// Pages of the reference by their paths in the manual's folder.
fn pages(catalogue: &Catalogue) -> Vec<(String, String)> {
    let mut pages = vec![
        ("reference/README.md".to_owned(), everything(catalogue)),
        ("reference/study.md".to_owned(), study()),
    ];
    for kind in KINDS {
        let folder = kind.plural();
        pages.push((format!("reference/{folder}/README.md"), overview(catalogue, kind)));
        for about in catalogue.entries(kind.family) {
            let name = about.name;
            pages.push((format!("reference/{folder}/{name}.md"), page(catalogue, kind, about)));
            if let Some(picture) = story(catalogue, kind, about) {
                pages.push((format!("img/allocator-{name}.svg"), picture));
            }
        }
    }
    pages
}

/// SVG picture of an allocator on a small machine.
///
/// `None` for entries of other kinds, and for allocators that do not serve the pictured machine.
fn story(catalogue: &Catalogue, kind: &Listed, about: &About) -> Option<String> {
    (kind.word() == "allocator").then(|| drawing::of(catalogue, about)).flatten()
}

fn title(kind: &Listed) -> String {
    capitalized(&kind.plural().replace('_', " "))
}

fn everything(catalogue: &Catalogue) -> String {
    let mut text = "# All that there is\n\n\
         These pages are written by `meshwork manual` from the same lists that the program reads, so they say what \
         your version does. On the terminal the same is `meshwork list`.\n"
        .to_owned();
    for kind in KINDS {
        let folder = kind.plural();
        let names: Vec<String> = catalogue
            .entries(kind.family)
            .iter()
            .map(|about| format!("[`{0}`]({folder}/{0}.md)", about.name))
            .collect();
        let (title, introduction) = (title(kind), kind.introduction());
        let _ = write!(
            text,
            "\n## [{title}]({folder}/README.md)\n\n{introduction}\n\n{}\n",
            names.join(" · ")
        );
    }
    text
}

fn overview(catalogue: &Catalogue, kind: &Listed) -> String {
    let mut text = format!("# {}\n\n{}\n\n", title(kind), kind.introduction());
    if kind.word() == "allocator" {
        text += drawing::HISTORY;
    }
    text += "| name | what it is |\n|---|---|\n";
    for about in catalogue.entries(kind.family) {
        let _ = writeln!(text, "| [`{0}`]({0}.md) | {1} |", about.name, cell(about.summary));
    }
    if !kind.family.common.is_empty() {
        text += "\n## Parameters of all of them\n\n";
        parameters(&mut text, kind.family.common, "../");
    }
    text
}

fn page(catalogue: &Catalogue, kind: &Listed, about: &About) -> String {
    let article = if kind.family.kind.starts_with('a') { "An" } else { "A" };
    let (what, folder) = (kind.family.kind, kind.plural());
    let mut text = format!(
        "# {}\n\n[{article} {what}](README.md): {}.\n\n{}\n\n",
        about.name, about.summary, about.definition
    );
    text += &advice::of(catalogue, kind, about.name);
    if kind.word() == "topology" {
        text += &format!("![{0}](../../img/topology-{0}.svg)\n\n", about.name);
    }
    if story(catalogue, kind, about).is_some() {
        text += &format!(
            "[The same story](README.md) for every allocator: jobs A to H arrive, B, D and F end (dashed), and I, J \
             and K arrive. A job that is not there found no room:\n\n\
             ![Where {0} places the jobs of the story](../../img/allocator-{0}.svg)\n\n",
            about.name
        );
    }
    text += "| | |\n|---|---|\n";
    if !about.aliases.is_empty() {
        let aliases: Vec<String> = about.aliases.iter().map(|a| format!("`{a}`")).collect();
        let _ = writeln!(text, "| also called | {} |", aliases.join(", "));
    }
    for (name, value) in capabilities(catalogue, kind, about.name) {
        let _ = writeln!(text, "| {name} | {} |", words(&value));
    }
    let _ = writeln!(text, "| cost | {} |", cell(about.complexity));
    let _ = writeln!(text, "| source | {} |", cell(about.source));
    if has_columns(about) {
        text += &columns();
    }
    text += "\n## Parameters\n\n";
    if about.params.is_empty() {
        text += "It has none";
        text += if kind.family.common.is_empty() { ".\n" } else { " of its own.\n" };
    } else {
        parameters(&mut text, about.params, "../");
    }
    if !kind.family.common.is_empty() {
        let _ = writeln!(
            text,
            "\n[Those of all {}](README.md#parameters-of-all-of-them) come to these.",
            folder.replace('_', " ")
        );
    }
    let _ = write!(text, "\n## Example\n\n{}", example::of(catalogue, kind, about));
    text
}

/// Two tables for the manual: columns of job tables, and columns of per-job output only.
fn columns() -> String {
    let mut text = "\n## Columns\n\n\
         Times are on the clock of `submit`. A field of a log says the same as the column beside it.\n\n\
         | name | what it says of a job | holds | unit | field of a log |\n|---|---|---|---|---|\n"
        .to_owned();
    for column in &table::COLUMNS {
        let field = column.field.map_or_else(String::new, |field| (field + 1).to_string());
        let (name, help) = (column.name, cell(column.help));
        let (holds, unit) = (column.holds.word(), column.unit);
        let _ = writeln!(text, "| `{name}` | {help} | {holds} | {unit} | {field} |");
    }
    text += "\nPer-job output is such a table. What happened stands in columns that are not read:\n\n\
         | name | what it says of a job | holds | unit |\n|---|---|---|---|\n";
    for outcome in &table::OUTCOMES {
        let (name, help) = (outcome.name, cell(outcome.help));
        let (holds, unit) = (outcome.holds.word(), outcome.unit);
        let _ = writeln!(text, "| `{name}` | {help} | {holds} | {unit} |");
    }
    text
}

/// Appends a Markdown table of parameters.
///
/// `up` is the relative path to the folder that contains the folders of manual pages.
fn parameters<'a>(text: &mut String, params: impl IntoIterator<Item = &'a Param>, up: &str) {
    text.push_str("| name | what it means | may be | left out |\n|---|---|---|---|\n");
    for param in params {
        let default = match param.default {
            DefaultValue::Required => "it must be given".to_owned(),
            DefaultValue::Is(value) => format!("`{value}`"),
            DefaultValue::Absent(meaning) => cell(meaning),
        };
        let may_be = match param.kind {
            Kind::Component(family) | Kind::Components(family) | Kind::Names(family) => {
                let what = cell(&param.kind.to_string());
                match KINDS.iter().find(|kind| std::ptr::eq(kind.family, family)) {
                    Some(kind) => format!("{what} ([list]({up}{}/README.md))", kind.plural()),
                    // Entries of a kind that has no pages of its own are listed here.
                    None => {
                        let word = |about: &&About| format!("`{}` ({})", about.name, about.summary);
                        let words: Vec<String> = (family.entries)().iter().map(word).collect();
                        format!("{what}: {}", words.join(", "))
                    }
                }
            }
            Kind::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
                format!("one of {}", words.join(", "))
            }
            _ => cell(&param.kind.to_string()),
        };
        let _ =
            writeln!(text, "| `{}` | {} | {may_be} | {default} |", param.name, cell(param.help));
    }
}

/// Appends tables of parameters, each below its title.
fn tables(text: &mut String, tables: &[(&str, &[Param])]) {
    for (title, params) in tables {
        if !title.is_empty() {
            *text += &format!("\n{title}\n\n");
        }
        parameters(text, *params, "");
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn study() -> String {
    let mut text = "# The keys of a study\n\n\
         A study is one TOML file. `meshwork show study.toml` prints it with every default filled in, and `--set KEY=VALUE` \
         changes any key from the command line.\n\n## The scenario\n\n"
        .to_owned();
    text += "`machine` is a table with a `topology` ([list](topologies/README.md)), or with `sites`, or the name of a machine ([list](machines/README.md)).\n\n";
    parameters(&mut text, meshwork::scenario::PARAMS, "");
    text += "\n## `[measure]`\n\n";
    parameters(&mut text, meshwork::scenario::MEASURE, "");
    text += "\n## `[failures]`\n\n\
         What goes out of service: see [machines that fail](../failures.md).\n\n";
    tables(
        &mut text,
        &[
            ("", failures::PARAMS),
            ("### `[failures.checkpoint]`", failures::CHECKPOINT),
            ("### `[[failures.maintenance]]`", failures::MAINTENANCE),
            ("### `[[failures.drain]]`", failures::DRAIN),
        ],
    );
    text += "\n## `[energy]`\n\n\
         What the machine takes: see [energy](../energy.md).\n\n";
    parameters(&mut text, energy::PARAMS, "");
    text += "\n## `machine`, besides its topology\n\n\
         Which nodes are for whom: see [partitions and reservations](../partitions.md).\n\n";
    tables(
        &mut text,
        &[
            ("", access::PARAMS),
            ("### `[[machine.partitions]]`", access::PARTITION),
            ("### `[[machine.reservations]]`", access::RESERVATION),
            ("### Types of nodes", TYPES),
            ("### `[[machine.nodes]]`", NODES),
        ],
    );
    text += "\n## The study around it\n\n";
    parameters(&mut text, meshwork_lab::study::PARAMS.iter().copied(), "");
    text += "\n## `windows`\n\n";
    parameters(&mut text, meshwork_lab::study::WINDOWS, "");
    text += "\n## Tables\n\n\
         | table | what it says |\n|---|---|\n\
         | `[sweep]` | each key with a list of values: their cross product is run |\n\
         | `[compare]` | a swept key and its baseline: every other value is compared with it, on the same jobs |\n\
         | `[output]` | `jobs = [\"csv\", \"parquet\", \"batsim\"]` writes one row for each job, into `jobs/` of the folder of results |\n\
         | `[quick]` | what `meshwork reproduce --quick` lays over the study |\n\
         | `[[claim]]` | a sentence that the runs are to bear out: see [claims](../claims.md) |\n";
    text
}
