//! Makes the machine of a study from a published trace that lists nodes.

use std::collections::{BTreeMap, BTreeSet};

use toml::Value;

use super::{Holds, MachineColumns, Recognized, recognized};
use crate::inputs::Files;
use crate::text::number::count;
use crate::text::table;

pub struct PublishedMachine {
    pub(crate) text: String,
    pub(crate) nodes: u64,
    pub(crate) lost: Vec<String>,
}

/// Node of a trace: the names of its groups (such as clusters), its own name, and its type.
type Listed = (Vec<String>, String, NodeType);

/// Type of a node: cores, memory, number of GPUs, and model of the GPUs. Each is the text in the
/// trace, or `None` if the trace does not give it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NodeType([Option<String>; 4]);

impl NodeType {
    const NAMES: [&'static str; 4] = ["cpu", "mem", "gpu", "model"];

    fn words(&self) -> String {
        let known = NodeType::NAMES.iter().zip(&self.0);
        let known: Vec<String> =
            known.filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?))).collect();
        known.join(", ")
    }
}

pub fn machine_text(path: &str) -> Result<PublishedMachine, String> {
    let found = recognized(&Files::default(), path)?;
    let wanted = "only a table of the nodes of a published trace becomes a machine";
    let found = found.ok_or_else(|| format!("{path}: this is no published trace: {wanted}"))?;
    let Holds::Nodes(columns) = &found.format.holds else {
        return Err(format!("{path}: this is {}: {wanted}", found.format.name));
    };
    let mut nodes = listed(path, &found, columns)?;
    if nodes.is_empty() {
        return Err(format!("{path}: the table has no nodes"));
    }
    nodes.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    let count_of = Value::Integer(nodes.len() as i64);
    let mut machine = table([("topology", "flat".into()), ("processors", count_of)]);
    let types = types(&nodes);
    let is_typed = types.is_some();
    machine.extend(types.map(|types| ("nodes".to_owned(), types)));
    let mut study = table([("machine", machine.into())]);
    if let Some(switches) = switches(&nodes, columns.above.len()) {
        let allocator = table([("name", "tree".into()), ("switches", switches.into())]);
        study.insert("allocator".to_owned(), allocator.into());
    }
    let mut kinds: BTreeMap<&NodeType, u64> = BTreeMap::new();
    nodes.iter().for_each(|(.., kind)| *kinds.entry(kind).or_default() += 1);
    let mut text = format!("# {}: {} nodes.\n", found.format.name, count(nodes.len() as u64));
    for (kind, number) in &kinds {
        text += &format!("# {} nodes: {}\n", count(*number), kind.words());
    }
    text += &format!("\n{study}");
    let mut lost = vec![format!("read as {}", found.format.name)];
    let has = |at: usize| nodes.iter().filter(|(.., kind)| kind.0[at].is_some()).count() as u64;
    let kinds = NodeType::NAMES.iter().enumerate().map(|(at, name)| (name, has(at)));
    let kinds: Vec<String> = kinds
        .filter(|(_, nodes)| *nodes > 0)
        .map(|(name, nodes)| format!("{name} of {} nodes", count(nodes)))
        .collect();
    if !is_typed {
        lost.push(format!(
            "stays in comments, because types of nodes have a number of cores: {}",
            kinds.join(", ")
        ));
    }
    if !found.unknown.is_empty() {
        lost.push(format!("left out: {}", found.unknown.join(", ")));
    }
    let repeated = found.rows.len() - nodes.len();
    if repeated > 0 {
        lost.push(format!(
            "left out, because the node is there before: {} rows",
            count(repeated as u64)
        ));
    }
    Ok(PublishedMachine { text, nodes: nodes.len() as u64, lost })
}

/// Value of the machine key `nodes`. `None` if some node has an unknown number of cores.
fn types(nodes: &[Listed]) -> Option<Value> {
    let mut kinds: BTreeMap<&NodeType, Vec<usize>> = BTreeMap::new();
    for (at, (.., kind)) in nodes.iter().enumerate() {
        kinds.entry(kind).or_default().push(at);
    }
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut list = Vec::new();
    for (kind, places) in kinds {
        let NodeType([_, _, _, model]) = kind;
        let whole = |at: usize| {
            let amount = kind.0[at].as_ref()?.parse::<f64>().ok()?;
            (amount >= 1.0).then_some(amount as i64)
        };
        let (cpu, gpu) = (whole(0)?, whole(2));
        let base = model.as_deref().filter(|_| gpu.is_some()).unwrap_or("plain");
        let further = (2..).map(|number| format!("{base}-{number}"));
        let mut tried = std::iter::once(base.to_owned()).chain(further);
        let name = tried.find(|name| names.insert(name.clone()))?;
        let on = ranges(&places);
        let mut table = table([("type", name.into()), ("on", on.into()), ("cpu", cpu.into())]);
        table.extend(whole(1).map(|mem| ("mem".to_owned(), mem.into())));
        if let Some(gpu) = gpu {
            table.insert("gpu".to_owned(), gpu.into());
            table.extend(model.clone().map(|model| ("gpu_type".to_owned(), model.into())));
        }
        list.push(Value::Table(table));
    }
    Some(Value::Array(list))
}

fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [only] => only.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    runs.collect::<Vec<String>>().join(",")
}

fn listed(path: &str, found: &Recognized, columns: &MachineColumns) -> Result<Vec<Listed>, String> {
    let mut seen = BTreeSet::new();
    let mut nodes = Vec::new();
    for given in &found.rows {
        let failed = |what: String| format!("{path}:{}: {what}", given.line);
        let name = found.text(given, columns.name);
        let name = name.ok_or_else(|| failed(format!("`{}` is empty", columns.name)))?.into_owned();
        if !seen.insert(name.clone()) {
            continue;
        }
        let amount = |column: Option<&str>, factor: f64| -> Result<Option<String>, String> {
            let Some(column) = column else { return Ok(None) };
            let amount = found.amount(given, column).map_err(failed)?;
            Ok(amount.map(|amount| (amount * factor).to_string()))
        };
        let (cpu, factor) = columns.cpu.unzip();
        let text = |column: &str| found.text(given, column).map(|text| text.into_owned());
        let kind = NodeType([
            amount(cpu, factor.unwrap_or(1.0))?,
            amount(columns.memory, 1.0)?,
            amount(columns.gpus, 1.0)?,
            columns.model.and_then(text),
        ]);
        let above = columns.above.iter().map(|column| text(column).unwrap_or_default()).collect();
        nodes.push((above, name, kind));
    }
    Ok(nodes)
}

/// Switches of a tree over `nodes`, which are sorted by group. Each group of nodes gets a switch.
/// The leaf switches come first.
fn switches(nodes: &[Listed], levels: usize) -> Option<Vec<Value>> {
    let last = levels.checked_sub(1)?;
    let unit = |key: &str, numbers: &[usize]| {
        let numbers = numbers.iter().map(|&number| Value::Integer(number as i64)).collect();
        Value::Table(table([(key, Value::Array(numbers))]))
    };
    let mut switches: Vec<Value> = Vec::new();
    // Groups of the level that was handled last, each with the index of its switch.
    let mut below: Vec<(&[String], usize)> = Vec::new();
    let mut first = 0;
    for leaf in nodes.chunk_by(|a, b| a.0 == b.0) {
        below.push((&leaf[0].0[..last], switches.len()));
        switches.push(unit("nodes", &(first..first + leaf.len()).collect::<Vec<_>>()));
        first += leaf.len();
    }
    // If there are several levels of groups, no switch joins the groups of the topmost level.
    for level in (last.min(1)..=last).rev() {
        let mut next: Vec<(&[String], usize)> = Vec::new();
        for group in below.chunk_by(|a, b| a.0 == b.0) {
            let above = &group[0].0[..level.saturating_sub(1)];
            if let [(_, only)] = group {
                next.push((above, *only));
                continue;
            }
            next.push((above, switches.len()));
            let children: Vec<usize> = group.iter().map(|(_, switch)| *switch).collect();
            switches.push(unit("children", &children));
        }
        below = next;
    }
    Some(switches)
}
