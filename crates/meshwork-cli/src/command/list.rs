//! `meshwork list`: prints the strategies, workloads, metrics and other entries of the catalogue.

use meshwork::catalogue::Catalogue;
use meshwork::form::{Asks, Finds};
use meshwork::registry::{About, DefaultValue, EntrySource, Family, Kind, Param, similar};
use meshwork::scenario::{SITE_FAMILY, known_types};
use meshwork::topology::types::NodeType;
use meshwork::workload::distribution::{RUNTIMES, SIZES};
use meshwork::workload::table;
use meshwork::workload::{DEPENDENCIES, ESTIMATES, RESAMPLES};
use serde_json::{Value as Json, json};
use toml::Table;

use crate::args::List;
use crate::number::{left, width};
use crate::output::{Ended, Output, Stop, Verdict};
use crate::wrap::wrapped;

pub(super) struct Listed {
    about: About,
    pub(super) family: &'static Family,
}

impl Listed {
    pub(super) fn word(&self) -> &'static str {
        self.about.name
    }

    pub(super) fn plural(&self) -> &'static str {
        self.about.aliases[0]
    }

    /// Purpose of a kind of catalogue entries, and the key by which a study selects an entry.
    pub(super) fn introduction(&self) -> &'static str {
        self.about.definition
    }
}

const fn kind(
    names: &'static [&'static str; 2],
    family: &'static Family,
    introduction: &'static str,
) -> Listed {
    let about = About::new(names[0], "").aliases(names.split_at(1).1).definition(introduction);
    Listed { about, family }
}

pub(super) static KINDS: &[Listed] = &[
    kind(
        &["topology", "topologies"],
        &SITE_FAMILY,
        "How the processors of a machine are wired. A study says it in the table `machine`; several of \
         them in `machine.sites` are a grid of sites.",
    ),
    kind(
        &["machine", "machines"],
        &meshwork::presets::FAMILY,
        "A machine that a study names, with its wiring and the rule by which it hands processors out: `machine = \"tpu_v4\"` in \
         the place of the table. The study may name another `allocator`, to compare it on the same jobs. What is known of \
         each, and what is not, stands on its page.",
    ),
    kind(
        &["workload", "workloads"],
        &meshwork::workload::FAMILY,
        "Where jobs come from. A study says it in the table `workload`. A workload knows the machine's \
         shape and never its state, so all strategies are compared on the same jobs.",
    ),
    kind(
        &["size", "sizes"],
        &SIZES,
        "What a synthetic job asks for: the key `sizes` of the workload `synthetic`.",
    ),
    kind(
        &["runtime", "runtimes"],
        &RUNTIMES,
        "How long a synthetic job runs: the key `runtimes` of the workload `synthetic`.",
    ),
    kind(
        &["estimate", "estimates"],
        &ESTIMATES,
        "What users say that their jobs will run, which is all that a scheduler knows: the key `estimates` of any \
         workload. Without it estimates are those of the workload.",
    ),
    kind(
        &["dependency", "dependencies"],
        &DEPENDENCIES,
        "Which jobs are submitted after others have ended: the key `dependencies` of the workloads `swf` and `table`, as a \
         word or as a table with `of`. Without it jobs arrive when they arrive, whatever becomes of others.",
    ),
    kind(
        &["resample", "resamples"],
        &RESAMPLES,
        "How each replication of a study gets another log, made of the jobs of one: the key `resample` of any workload that \
         ends, as a word or as a table with `by`. Without it every replication of a log has the same jobs.",
    ),
    kind(
        &["scheduler", "schedulers"],
        &meshwork::sched::FAMILY,
        "Which waiting job starts when: the key `scheduler`. It asks for a start and learns at once \
         whether it happened; it sees estimates and never run times.",
    ),
    kind(
        &["selector", "selectors"],
        &meshwork::select::FAMILY,
        "To which site a job goes, where a machine has several: the key `selector`.",
    ),
    kind(
        &["sizing", "sizings"],
        &meshwork::sizing::FAMILY,
        "With how many processors a job may start when it cannot have what it asked for: the key `sizing`.",
    ),
    kind(
        &["allocator", "allocators"],
        &meshwork::alloc::FAMILY,
        "Which free processors a job gets: the key `allocator`, for all sites or for one.",
    ),
    kind(
        &["order", "orders"],
        &meshwork::alloc::parts::orders::FAMILY,
        "Which of the nodes that have room for a piece is taken first, on machines whose nodes jobs share: the key `order`. \
         The `allocator` says which nodes are considered together, such as those of one leaf.",
    ),
    kind(
        &["within", "within_nodes"],
        &meshwork::alloc::parts::within::FAMILY,
        "Which cores and GPUs of its node a piece gets, on machines whose nodes jobs share: the key `within`.",
    ),
    kind(
        &["network", "networks"],
        &meshwork::network::FAMILY,
        "How long a placed job takes: the key `network`. All but `ideal` let jobs send messages, and \
         a job stays until its messages have arrived.",
    ),
    kind(
        &["pattern", "patterns"],
        &meshwork::network::pattern::FAMILY,
        "Which process of a job sends to which: the key `pattern` of the networks with messages.",
    ),
    kind(
        &["traffic", "traffic_patterns"],
        &meshwork::network::traffic::FAMILY,
        "Where packets go when a network is loaded without jobs, by `meshwork traffic`.",
    ),
    kind(
        &["metric", "metrics"],
        &meshwork::observe::metrics::FAMILY,
        "What is measured in a run: the list `measure.metrics`; without it, all that apply.",
    ),
];

/// Names of the kinds of catalogue entries, for suggestions when a kind is misspelt.
static KIND_FAMILY: Family = Family {
    kind: "kind",
    key: "kind",
    entries: || KINDS.iter().map(|kind| &kind.about).collect(),
    common: &[],
};

pub(crate) fn run(out: &mut Output, catalogue: &Catalogue, arguments: &List) -> Ended {
    let wrong = |problem: meshwork::registry::Problem| Stop::Wrong(problem.message);
    let kinds: Vec<&Listed> = match &arguments.kind {
        None => KINDS.iter().collect(),
        Some(given) => match (KIND_FAMILY.find("", given), &arguments.name) {
            (Ok(found), _) => KINDS.iter().filter(|kind| kind.word() == found.name).collect(),
            (Err(problem), None) => {
                let named = of_any_kind(catalogue, given);
                let node = known_types().find(|node| node.name == given.to_lowercase());
                if let Some(node) = &node {
                    print_node_type(out, node, arguments.json)?;
                }
                if named.is_empty() && node.is_some() {
                    return Ok(Verdict::Done);
                }
                if named.is_empty() {
                    let kinds: Vec<&str> = KINDS.iter().map(Listed::word).collect();
                    let meant = similar_entry(catalogue, given);
                    let Some(name) = meant.filter(|_| similar(given, &kinds).is_none()) else {
                        return Err(wrong(problem));
                    };
                    return Err(Stop::Wrong(format!(
                        "unknown kind or name `{given}` (did you mean `{name}`?)"
                    )));
                }
                return print_named(out, catalogue, &named, arguments.json);
            }
            (Err(problem), Some(_)) => return Err(wrong(problem)),
        },
    };
    if let (Some(name), [kind]) = (&arguments.name, &kinds[..]) {
        let about = kind.family.find_in(catalogue, "", name).map_err(wrong)?;
        return print_named(out, catalogue, &[(kind, about)], arguments.json);
    }
    let text = arguments.grep.as_deref().unwrap_or_default().to_lowercase();
    let mut found = false;
    for kind in kinds {
        let mut entries = catalogue.entries(kind.family);
        entries.retain(|about| contains(about, &text));
        if entries.is_empty() {
            continue;
        }
        if arguments.json {
            for about in entries {
                out.json(&as_json(catalogue, kind, about))?;
            }
            found = true;
            continue;
        }
        if found {
            out.line("")?;
        }
        found = true;
        out.headline(kind.plural())?;
        print_entries(out, catalogue, kind, &entries, arguments.kind.is_some())?;
    }
    match &arguments.grep {
        Some(text) if !found => Err(Stop::Wrong(format!("--grep {text}: no entry has this text"))),
        _ => Ok(Verdict::Done),
    }
}

/// Whether a description contains a text, which must be in lower case.
fn contains(about: &About, text: &str) -> bool {
    let texts = [about.name, about.summary, about.definition, about.source];
    texts.iter().chain(about.aliases).any(|own| own.to_lowercase().contains(text))
}

pub(super) fn of_any_kind(
    catalogue: &Catalogue,
    given: &str,
) -> Vec<(&'static Listed, &'static About)> {
    let name = given.to_lowercase();
    let find =
        |kind: &'static Listed| Some((kind, kind.family.find_in(catalogue, "", &name).ok()?));
    KINDS.iter().filter_map(find).collect()
}

/// Name of the catalogue entry that is spelled most like `given`; `None` if none is similar.
///
/// If no whole name is similar, single words of the names are compared.
fn similar_entry(catalogue: &Catalogue, given: &str) -> Option<&'static str> {
    let given = given.replace(['-', ' '], "_");
    let entries = KINDS.iter().flat_map(|kind| catalogue.entries(kind.family));
    let names: Vec<&'static str> = entries.map(|about| about.name).collect();
    similar(&given, &names).or_else(|| {
        let words = |name: &'static str| name.split('_').filter(|word| word.len() > 3);
        let word = similar(&given, &names.iter().copied().flat_map(words).collect::<Vec<_>>())?;
        names.iter().copied().find(|name| words(name).any(|own| own == word))
    })
}

fn print_named(
    out: &mut Output,
    catalogue: &Catalogue,
    named: &[(&Listed, &About)],
    json: bool,
) -> Ended {
    for (i, (kind, about)) in named.iter().enumerate() {
        if json {
            out.json(&as_json(catalogue, kind, about))?;
            continue;
        }
        if i > 0 {
            out.line("")?;
        }
        print_one(out, catalogue, kind, about)?;
    }
    Ok(Verdict::Done)
}

fn print_node_type(out: &mut Output, node: &NodeType, json: bool) -> Result<(), Stop> {
    let NodeType { name, cpu, mem, gpu, islands, gpu_type, .. } = node;
    if json {
        return out.json(&json!({
            "kind": "node_type", "name": name, "cpu": cpu, "mem": mem, "gpu": gpu,
            "gpu_type": gpu_type, "islands": islands,
        }));
    }
    let model = gpu_type.as_ref().map_or_else(String::new, |model| format!(" ({model})"));
    out.headline(&format!("{name}: a type of nodes"))?;
    out.line(&format!(
        "A node has {cpu} cores, {mem} MiB of memory and {gpu} GPUs{model}, on {islands} islands."
    ))?;
    out.line("")?;
    out.line(&format!("in a study: nodes = [{{ type = \"{name}\" }}] in the table `machine`"))?;
    out.line("")
}

fn print_entries(
    out: &mut Output,
    catalogue: &Catalogue,
    kind: &Listed,
    entries: &[&About],
    with_capabilities: bool,
) -> Result<(), Stop> {
    let columns = entries.iter().map(|about| width(about.name)).max().unwrap_or(0);
    for about in entries {
        print_item(out, about.name, columns, about.summary)?;
        if with_capabilities {
            let words: Vec<String> = capabilities(catalogue, kind, about.name)
                .into_iter()
                .map(|(name, value)| format!("{name} {}", words(&value)))
                .collect();
            if !words.is_empty() {
                print_item(out, "", columns, &words.join("; "))?;
            }
        }
    }
    Ok(())
}

fn print_item(out: &mut Output, name: &str, columns: usize, text: &str) -> Result<(), Stop> {
    let before = " ".repeat(columns + 4);
    let available = out.width.max(columns + 24) - columns - 4;
    for (i, line) in wrapped(text, available, "").iter().enumerate() {
        let name = format!("  {}  ", left(name, columns));
        out.line(format!("{}{line}", if i == 0 { &name } else { &before }).trim_end())?;
    }
    Ok(())
}

fn print_one(
    out: &mut Output,
    catalogue: &Catalogue,
    kind: &Listed,
    about: &About,
) -> Result<(), Stop> {
    let article = if kind.family.kind.starts_with('a') { "an" } else { "a" };
    out.headline(&format!("{}: {article} {}", about.name, kind.family.kind))?;
    for text in [about.summary, about.definition] {
        out.paragraph(text)?;
        out.line("")?;
    }
    let mut facts = Vec::new();
    if !about.aliases.is_empty() {
        facts.push(("also called", about.aliases.join(", ")));
    }
    facts.extend(
        capabilities(catalogue, kind, about.name)
            .into_iter()
            .map(|(name, value)| (name, words(&value))),
    );
    facts.push(("cost", about.complexity.to_owned()));
    facts.push(("source", about.source.to_owned()));
    let columns = facts.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    for (name, value) in facts {
        print_item(out, name, columns, &value)?;
    }
    if has_columns(about) {
        out.line("")?;
        out.headline("columns")?;
        let columns = table::COLUMNS.iter().map(|own| width(own.name)).max().unwrap_or(0);
        for own in &table::COLUMNS {
            print_item(out, own.name, columns, own.help)?;
            let unit = [own.holds.word(), own.unit].join("; ");
            print_item(out, "", columns, unit.trim_end_matches("; "))?;
        }
    }
    let params: Vec<&Param> = about.params.iter().chain(kind.family.common).collect();
    if params.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.headline("parameters")?;
    let columns = params.iter().map(|param| width(param.name)).max().unwrap_or(0);
    for param in params {
        print_item(out, param.name, columns, param.help)?;
        let default = match param.default {
            DefaultValue::Required => "it must be given".to_owned(),
            DefaultValue::Is(value) => format!("default {value}"),
            DefaultValue::Absent(meaning) => format!("left out: {meaning}"),
        };
        print_item(out, "", columns, &format!("{}; {default}", may_be(param)))?;
    }
    Ok(())
}

/// Text on the values that a parameter may have.
///
/// If they are names of entries, the text also has the command that lists these entries.
fn may_be(param: &Param) -> String {
    match param.kind {
        Kind::Component(family) | Kind::Components(family) => {
            let kind = KINDS.iter().find(|kind| std::ptr::eq(kind.family, family));
            let list =
                kind.map_or_else(String::new, |kind| format!(" (`meshwork list {}`)", kind.word()));
            format!("{}{list}", param.kind)
        }
        _ => param.kind.to_string(),
    }
}

/// Properties of a catalogue entry that are not parameters, such as the machines it supports.
pub(super) fn capabilities(
    catalogue: &Catalogue,
    kind: &Listed,
    name: &str,
) -> Vec<(&'static str, Json)> {
    match kind.word() {
        "allocator" => {
            let entry = catalogue.entry::<meshwork::alloc::AllocatorEntry>(name);
            let serves: Vec<&str> = entry.serves.iter().map(|wiring| wiring.name()).collect();
            let dimensions = entry.dimensions.map(|all| {
                let value = if let [only] = all { json!(only) } else { json!(all) };
                ("dimensions", value)
            });
            let mut facts = vec![("serves", json!(serves))];
            facts.extend(dimensions);
            facts.extend([
                (
                    "asks for",
                    json!(match entry.asks {
                        Asks::Nodes => "a count of processors",
                        Asks::Constrained => "a count of processors, and what else the job wants",
                        Asks::Block => "a block",
                        Asks::BlockOrNodes => "a block, or a count of processors",
                        Asks::Subcube => "a subcube",
                        Asks::Pieces => "pieces with cores, memory and GPUs",
                        Asks::Square => "a square with a power of two for a side",
                    }),
                ),
                ("contiguous", json!(entry.contiguous)),
                (
                    "finds",
                    json!(match entry.finds {
                        Finds::AnyNodes => "any free processors",
                        Finds::EveryBlock => "every free block",
                        Finds::SomeBlocks => "some free blocks, and may miss others",
                    }),
                ),
            ]);
            facts
        }
        "scheduler" => {
            let entry = catalogue.entry::<meshwork::sched::SchedulerEntry>(name);
            let serves: Vec<&str> = entry.serves.iter().map(|wiring| wiring.name()).collect();
            vec![
                ("serves", json!(serves)),
                ("plans with estimates", json!(entry.plans)),
                ("starts every job in the end", json!(entry.serves_all)),
                ("resizes jobs that run", json!(entry.malleable)),
            ]
        }
        "workload" => vec![(
            "ends by itself",
            json!(catalogue.entry::<meshwork::workload::WorkloadEntry>(name).ends),
        )],
        "metric" => vec![(
            "unit",
            json!(catalogue.entry::<meshwork::observe::metrics::MetricEntry>(name).unit),
        )],
        _ => Vec::new(),
    }
}

pub(super) fn words(value: &Json) -> String {
    match value {
        Json::Bool(true) => "yes".to_owned(),
        Json::Bool(false) => "no".to_owned(),
        Json::String(text) => text.clone(),
        Json::Array(list) => list.iter().map(words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn as_json(catalogue: &Catalogue, kind: &Listed, about: &About) -> Json {
    let params: Vec<Json> = about.params.iter().chain(kind.family.common).map(param_json).collect();
    let mut object = json!({
        "kind": kind.word(),
        "name": about.name,
        "aliases": about.aliases,
        "summary": about.summary,
        "definition": about.definition,
        "complexity": about.complexity,
        "source": about.source,
    });
    if let Some(fields) = object.as_object_mut() {
        for (name, value) in capabilities(catalogue, kind, about.name) {
            fields.insert(name.replace(' ', "_"), value);
        }
        fields.insert("parameters".to_owned(), params.into());
        if has_columns(about) {
            fields.insert("columns".to_owned(), table::COLUMNS.iter().map(column_json).collect());
        }
    }
    object
}

/// Whether the entry is the workload `table`.
pub(super) fn has_columns(about: &About) -> bool {
    std::ptr::eq(about, &raw const table::ENTRY.about)
}

fn column_json(column: &table::Column) -> Json {
    json!({
        "name": column.name,
        "holds": column.holds.word(),
        "unit": column.unit,
        "help": column.help,
        "field_of_a_log": column.field.map(|field| field + 1),
    })
}

fn param_json(param: &Param) -> Json {
    let (required, default) = match param.default {
        DefaultValue::Required => (true, Json::Null),
        DefaultValue::Absent(_) => (false, Json::Null),
        DefaultValue::Is(text) => {
            let table: Option<Table> = format!("value = {text}").parse().ok();
            let value = table.and_then(|table| serde_json::to_value(table.get("value")?).ok());
            (false, value.unwrap_or(Json::Null))
        }
    };
    let left_out = match param.default {
        DefaultValue::Absent(meaning) => json!(meaning),
        _ => Json::Null,
    };
    json!({
        "name": param.name,
        "may_be": param.kind.to_string(),
        "required": required,
        "default": default,
        "left_out": left_out,
        "help": param.help,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_can_be_asked_for_in_both_numbers() {
        for kind in KINDS {
            for word in [kind.word(), kind.plural()] {
                assert_eq!(KIND_FAMILY.find("", word).map(|about| about.name), Ok(kind.word()));
            }
        }
    }

    #[test]
    fn every_family_that_a_parameter_names_is_a_kind_or_told_in_place() {
        for kind in KINDS {
            let entries = (kind.family.entries)();
            for param in entries.iter().flat_map(|about| about.params).chain(kind.family.common) {
                if let Kind::Component(family) | Kind::Components(family) | Kind::Names(family) =
                    param.kind
                {
                    // A parameter may name entries of a kind that `meshwork list` does not know,
                    // which have no pages. Such entries are described on the page that lists the
                    // parameter. This suffices if each entry has a summary and no parameters.
                    let plain =
                        |about: &&About| !about.summary.is_empty() && about.params.is_empty();
                    assert!(
                        KINDS.iter().any(|kind| std::ptr::eq(kind.family, family))
                            || (family.entries)().iter().all(plain),
                        "{family:?}"
                    );
                }
            }
        }
    }
}
