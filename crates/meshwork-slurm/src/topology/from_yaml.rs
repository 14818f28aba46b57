//! Reads a `topology.yaml` as Slurm does, with a warning for each key that Slurm ignores.

use super::{
    ListedPlacement, NodeGroup, Region, SlurmTopology, SlurmTorus, Switch, Text, TopologyKind, Xyz,
    from_topograph,
};
use crate::finding::{Fatal, LintFindings};
use crate::yaml::{self, Value, Yaml};

const KINDS: [&str; 5] = ["block", "flat", "ring", "torus3d", "tree"];

/// Reads the topologies of a `topology.yaml`, in the order of the file.
pub fn read(text: &str, findings: &mut LintFindings) -> Result<Vec<SlurmTopology>, Fatal> {
    let document = yaml::read(text).map_err(|refused| {
        let slurm: Vec<&str> = refused.slurm.iter().map(String::as_str).collect();
        findings.fatal(refused.line, refused.says, &slurm)
    })?;
    let Some(document) = document else {
        let says = "this file is empty, and lists no topology: begin one with `- topology: NAME`";
        return Err(findings.fatal(1, says, &[yaml::FATAL]));
    };
    if from_topograph::is_model(&document) {
        return from_topograph::read(&document, findings);
    }
    let items = document.items();
    if items.is_empty() {
        let says = "this file lists no topology: begin one with `- topology: NAME`";
        return Err(findings.fatal(document.line, says, &[yaml::FATAL]));
    }
    items.iter().map(|item| topology(item, findings)).collect()
}

/// Whether a text is a model of topograph, and not a topology file of Slurm.
pub fn is_model(text: &str) -> bool {
    yaml::read(text).ok().flatten().is_some_and(|document| from_topograph::is_model(&document))
}

fn topology(item: &Yaml, findings: &mut LintFindings) -> Result<SlurmTopology, Fatal> {
    let known = [&["topology", "cluster_default"][..], &KINDS].concat();
    map(item, "a topology", &known, findings)?;
    let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| item.get(kind).is_some()).collect();
    let name = text(item, "topology", findings)?;
    if name.is_none() {
        findings.warn(
            item.line,
            "this topology has no name: no partition can ask for it with Topology=",
        );
    }
    let is_default = match item.get("cluster_default") {
        None => false,
        Some(value) => flag(value, "cluster_default", findings)?,
    };
    let kind = match kinds[..] {
        [] => {
            let says = format!(
                "this topology has none of {}, one of which says what it is",
                KINDS.join(", ")
            );
            let first = "error: _get_plugin_index_by_type: cannot create topo context for (null)";
            return Err(findings.fatal(item.line, says, &[first, yaml::FATAL]));
        }
        [one] => one,
        [_, second, ..] => {
            let says =
                format!("this topology has {}, but must have one of them", kinds.join(" and "));
            let line = item.get(second).map_or(item.line, |value| value.line);
            let failed = "error: Failed to load topology.yaml: Unspecified error";
            return Err(findings.fatal(line, says, &[failed, yaml::FATAL]));
        }
    };
    let body = item.get(kind).unwrap_or(item);
    let kind = match kind {
        "flat" => flat(body, findings)?,
        "torus3d" => {
            map(body, "`torus3d`", &["toruses"], findings)?;
            TopologyKind::Torus3d(each(body.get("toruses"), findings, torus)?)
        }
        "block" => {
            map(body, "`block`", &["block_sizes", "blocks"], findings)?;
            let sizes = given(body, "block_sizes");
            let sizes = sizes.map(|sizes| block_sizes(sizes, findings)).transpose()?.flatten();
            let block = |block: &Yaml, findings: &mut LintFindings| group(block, "block", findings);
            TopologyKind::Block(sizes, each(body.get("blocks"), findings, block)?)
        }
        "ring" => {
            map(body, "`ring`", &["rings"], findings)?;
            let ring = |ring: &Yaml, findings: &mut LintFindings| group(ring, "ring", findings);
            TopologyKind::Ring(each(body.get("rings"), findings, ring)?)
        }
        _ => {
            map(body, "`tree`", &["switches"], findings)?;
            TopologyKind::Tree(each(body.get("switches"), findings, switch)?)
        }
    };
    let name = name.map_or_else(String::new, |name| name.text);
    Ok(SlurmTopology { name, line: item.line, is_default, kind })
}

fn flat(body: &Yaml, findings: &mut LintFindings) -> Result<TopologyKind, Fatal> {
    let is_on = match &body.value {
        Value::Scalar(..) => flag(body, "flat", findings)?,
        _ => true,
    };
    if is_on {
        return Ok(TopologyKind::Flat);
    }
    let says = "`flat: false` leaves this topology without a kind: write `flat: true`";
    Err(findings.fatal(body.line, says, &[yaml::FATAL]))
}

/// Block sizes that the key `block_sizes` lists, with the line of the list; `None` if it is empty.
fn block_sizes(
    given: &Yaml,
    findings: &mut LintFindings,
) -> Result<Option<(Vec<u32>, usize)>, Fatal> {
    let sizes = each(Some(given), findings, |item, findings| {
        number(item, "block_sizes", u32::MAX, findings)
    })?;
    Ok((!sizes.is_empty()).then_some((sizes, given.line)))
}

fn group(item: &Yaml, key: &str, findings: &mut LintFindings) -> Result<NodeGroup, Fatal> {
    map(item, &format!("a {key}"), &[key, "nodes"], findings)?;
    let name = text(item, key, findings)?.map(|name| name.text);
    Ok(NodeGroup { name, line: item.line, nodes: text(item, "nodes", findings)? })
}

fn switch(item: &Yaml, findings: &mut LintFindings) -> Result<Switch, Fatal> {
    map(item, "a switch", &["switch", "nodes", "children", "link_speed"], findings)?;
    if let Some(speed) = item.get("link_speed") {
        findings.warn(speed.line, "`link_speed` is read and then used nowhere");
    }
    let name = text(item, "switch", findings)?.map(|name| name.text);
    let (nodes, children) = (text(item, "nodes", findings)?, text(item, "children", findings)?);
    Ok(Switch { name, line: item.line, nodes, children })
}

fn torus(item: &Yaml, findings: &mut LintFindings) -> Result<SlurmTorus, Fatal> {
    map(item, "a torus", &["name", "dims", "nodes", "regions", "placements"], findings)?;
    Ok(SlurmTorus {
        name: text(item, "name", findings)?.map(|name| name.text),
        line: item.line,
        dims: xyz(item, "dims", findings)?,
        nodes: text(item, "nodes", findings)?,
        regions: each(item.get("regions"), findings, |region, findings| {
            map(region, "a region", &["anchor", "dims", "nodes"], findings)?;
            Ok(Region {
                line: region.line,
                anchor: xyz(region, "anchor", findings)?,
                dims: xyz(region, "dims", findings)?,
                nodes: text(region, "nodes", findings)?,
            })
        })?,
        placements: each(item.get("placements"), findings, |placement, findings| {
            map(placement, "a placement", &["dims", "anchor_spacing", "anchor_seed"], findings)?;
            Ok(ListedPlacement {
                line: placement.line,
                dims: xyz(placement, "dims", findings)?,
                spacing: xyz(placement, "anchor_spacing", findings)?,
                seed: xyz(placement, "anchor_seed", findings)?,
            })
        })?,
    })
}

/// Converts the elements of a list. Any other value counts as a list with this one element.
fn each<T>(
    list: Option<&Yaml>,
    findings: &mut LintFindings,
    mut read: impl FnMut(&Yaml, &mut LintFindings) -> Result<T, Fatal>,
) -> Result<Vec<T>, Fatal> {
    let items = list.filter(|list| !list.is_null()).map_or(&[][..], Yaml::items);
    items.iter().map(|item| read(item, findings)).collect()
}

fn given<'a>(item: &'a Yaml, key: &str) -> Option<&'a Yaml> {
    item.get(key).filter(|given| !given.is_null())
}

/// Numbers `x`, `y` and `z` of a mapping; missing ones are 0.
fn xyz(item: &Yaml, key: &str, findings: &mut LintFindings) -> Result<Xyz, Fatal> {
    let Some(given) = given(item, key) else { return Ok([0; 3]) };
    map(given, &format!("`{key}`"), &["x", "y", "z"], findings)?;
    let mut three = [0; 3];
    for (number, axis) in three.iter_mut().zip(["x", "y", "z"]) {
        if let Some(value) = self::given(given, axis) {
            *number = self::number(value, &format!("{key}.{axis}"), u32::from(u16::MAX), findings)?;
        }
    }
    Ok(three)
}

fn number(value: &Yaml, key: &str, most: u32, findings: &mut LintFindings) -> Result<u32, Fatal> {
    let given = match &value.value {
        Value::Scalar(text, _) => text.trim().parse().ok().filter(|&number: &u32| number <= most),
        _ => None,
    };
    given.ok_or_else(|| {
        let shown = shown(value);
        let says = format!("`{key}` is {shown}, but must be a whole number from 0 to {most}");
        // Invalid sizes of blocks are refused later, when they are used.
        let slurm = if key == "block_sizes" { &[][..] } else { &[yaml::FATAL][..] };
        findings.fatal(value.line, says, slurm)
    })
}

fn flag(value: &Yaml, key: &str, findings: &mut LintFindings) -> Result<bool, Fatal> {
    let word = match &value.value {
        Value::Scalar(text, _) => text.trim().to_lowercase(),
        _ => String::new(),
    };
    match word.as_str() {
        "true" | "yes" | "on" | "y" | "t" | "1" => Ok(true),
        "false" | "no" | "off" | "n" | "f" | "0" | "~" | "null" => Ok(false),
        _ => {
            let says = format!("`{key}` is {}, but must be true or false", shown(value));
            Err(findings.fatal(value.line, says, &[yaml::FATAL]))
        }
    }
}

/// Value of a key as text; `None` if it is missing. Texts of a list are joined with commas.
fn text(item: &Yaml, key: &str, findings: &mut LintFindings) -> Result<Option<Text>, Fatal> {
    let Some(given) = given(item, key) else { return Ok(None) };
    let mut words = Vec::new();
    for part in given.items() {
        match &part.value {
            Value::Scalar(text, _) => words.push(text.clone()),
            _ => {
                let says = format!("`{key}` is {}, but must be a text", part.kind());
                return Err(findings.fatal(part.line, says, &[yaml::FATAL]));
            }
        }
    }
    Ok(Some(Text { text: words.join(","), line: given.line }))
}

/// Refuses a value other than a mapping, and warns of unknown and of repeated keys.
fn map(item: &Yaml, what: &str, known: &[&str], findings: &mut LintFindings) -> Result<(), Fatal> {
    let Value::Map(pairs) = &item.value else {
        let says = format!("{what} is {}, but must be a mapping with keys", shown(item));
        let failed =
            "error: Failed to load topology.yaml: Data parser expected a dictionary or object";
        return Err(findings.fatal(item.line, says, &[failed, yaml::FATAL]));
    };
    for (place, (key, line, _)) in pairs.iter().enumerate() {
        if !known.contains(&key.as_str()) {
            let meant = meshwork::registry::did_you_mean(key, known);
            findings.warn(*line, format!("the key `{key}` is overlooked without a word ({meant})"));
        } else if pairs[..place].iter().any(|(earlier, ..)| earlier == key) {
            findings.warn(*line, format!("`{key}` is given twice here, and only the last counts"));
        }
    }
    Ok(())
}

/// Maximum number of characters of a text that an error message repeats.
const SHOWN: usize = 60;

fn shown(value: &Yaml) -> String {
    match &value.value {
        Value::Scalar(text, _) if text.chars().count() > SHOWN => {
            format!("the text `{} …`", text.chars().take(SHOWN).collect::<String>())
        }
        Value::Scalar(text, true) => format!("\"{text}\""),
        Value::Scalar(text, false) if text.is_empty() => "empty".to_owned(),
        Value::Scalar(text, false) => text.clone(),
        _ => value.kind().to_owned(),
    }
}
