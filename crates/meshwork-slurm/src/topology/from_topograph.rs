//! Reads a model file of NVIDIA's topograph: switches, and nodes with their domains of fast links.
//!
//! The switches become the default topology `tree`. The domains become the topology `block`.

use std::collections::BTreeMap;

use meshwork::job::hostlist::names;

use super::{NodeGroup, SlurmTopology, Switch, Text, TopologyKind};
use crate::finding::{Fatal, LintFindings};
use crate::yaml::{Value, Yaml};

/// Suffixes of the annotation keys for a node's domains: the smaller domain, then the larger.
const DOMAINS: [&str; 2] = ["/sub-domain", "/domain"];

struct Listed {
    line: usize,
    switch: String,
    nodes: Vec<String>,
    domains: [Option<String>; 2],
}

/// Whether a YAML document is a Topograph model: it has switches or blocks, but no name.
pub(super) fn is_model(document: &Yaml) -> bool {
    let has = |key| document.get(key).is_some();
    matches!(document.value, Value::Map(_))
        && (has("switches") || has("blocks"))
        && !has("topology")
}

pub(super) fn read(
    document: &Yaml,
    findings: &mut LintFindings,
) -> Result<Vec<SlurmTopology>, Fatal> {
    findings.warn(
        document.line,
        "this is a model file of topograph, which Slurm does not read: its switches are taken as the topology \
         `tree`, and its domains as the topology `block`",
    );
    let listed = match document.get("blocks") {
        Some(blocks) => blocks
            .items()
            .iter()
            .map(|item| nodes(item, findings))
            .collect::<Result<Vec<_>, _>>()?,
        None => Vec::new(),
    };
    if listed.iter().all(|item| item.nodes.is_empty()) {
        let says =
            "this model has no nodes: list them as blocks: [{ switch: NAME, nodes: [NAMES] }]";
        return Err(findings.fatal(document.line, says, &[]));
    }
    let mut topologies = vec![SlurmTopology {
        name: "tree".to_owned(),
        line: document.line,
        is_default: true,
        kind: TopologyKind::Tree(switches(document, &listed, findings)?),
    }];
    topologies.extend(blocks(document.line, &listed));
    Ok(topologies)
}

fn filled(listed: &[Listed]) -> impl Iterator<Item = &Listed> {
    listed.iter().filter(|item| !item.nodes.is_empty())
}

/// Groups lists of nodes by name. Each group has a name, the line of its first list, and its nodes.
/// Groups are in the order of their first lists.
fn grouped<'a>(
    named: impl Iterator<Item = (&'a str, &'a Listed)>,
) -> Vec<(&'a str, usize, Vec<&'a str>)> {
    let mut groups: Vec<(&str, usize, Vec<&str>)> = Vec::new();
    for (name, item) in named {
        let own = item.nodes.iter().map(String::as_str);
        match groups.iter_mut().find(|(known, ..)| *known == name) {
            Some((.., nodes)) => nodes.extend(own),
            None => groups.push((name, item.line, own.collect())),
        }
    }
    groups
}

/// Switches of a model: first those that it lists, then the leaf switches that nodes name.
///
/// Leaf switches are in the order of their first nodes.
fn switches(
    document: &Yaml,
    listed: &[Listed],
    findings: &mut LintFindings,
) -> Result<Vec<Switch>, Fatal> {
    let leaves = grouped(filled(listed).map(|item| (&*item.switch, item)));
    let pairs: &[(String, usize, Yaml)] = match document.get("switches").map(|own| &own.value) {
        Some(Value::Map(pairs)) => pairs,
        Some(Value::Scalar(..)) | None => &[],
        Some(Value::List(_)) => {
            let says = "`switches` is a list, but must be a mapping of names to switches";
            return Err(findings.fatal(document.line, says, &[]));
        }
    };
    let is_leaf = |name: &str| leaves.iter().any(|(leaf, ..)| *leaf == name);
    let is_switch = |name: &str| is_leaf(name) || pairs.iter().any(|(own, ..)| own == name);
    let mut switches = Vec::new();
    for (name, line, switch) in pairs {
        let Some(children) = switch.get("switches") else {
            if !is_leaf(name) {
                findings.warn(
                    *line,
                    format!("the switch {name} has nothing below it, and is left out"),
                );
            }
            continue;
        };
        if is_leaf(name) {
            let says = format!("the switch {name} has switches as well as nodes below it");
            return Err(findings.fatal(*line, says, &[]));
        }
        let (kept, empty): (Vec<&str>, Vec<&str>) =
            children.items().iter().filter_map(scalar).partition(|child| is_switch(child));
        if !empty.is_empty() {
            let says =
                format!("nothing lies below {}, which are left out of {name}", empty.join(", "));
            findings.warn(children.line, says);
        }
        let children = Text { text: kept.join(","), line: children.line };
        switches.push(Switch {
            name: Some(name.clone()),
            line: *line,
            nodes: None,
            children: Some(children),
        });
    }
    switches.extend(leaves.iter().map(|(name, line, nodes)| Switch {
        name: Some((*name).to_owned()),
        line: *line,
        nodes: Some(Text { text: nodes.join(","), line: *line }),
        children: None,
    }));
    Ok(switches)
}

/// Topology `block` whose base blocks are the domains of nodes.
///
/// If every node is in a smaller domain, the smaller domains are used, otherwise the larger ones.
/// The listed block sizes are the number of nodes of the smallest of these domains, times 1, 2, 4,
/// …, up to the number of domains.
fn blocks(line: usize, listed: &[Listed]) -> Option<SlurmTopology> {
    let is_full = |&at: &usize| filled(listed).all(|item| item.domains[at].is_some());
    let level = (0..DOMAINS.len()).find(is_full)?;
    let domains =
        grouped(filled(listed).filter_map(|item| Some((item.domains[level].as_deref()?, item))));
    let base = domains.iter().map(|(.., nodes)| nodes.len() as u32).min()?;
    let sizes = (0..=domains.len().ilog2()).map(|level| base << level).collect();
    let groups = domains.into_iter().map(|(name, line, nodes)| NodeGroup {
        name: Some(name.to_owned()),
        line,
        nodes: Some(Text { text: nodes.join(","), line }),
    });
    let kind = TopologyKind::Block(Some((sizes, line)), groups.collect());
    Some(SlurmTopology { name: "block".to_owned(), line, is_default: false, kind })
}

fn nodes(item: &Yaml, findings: &mut LintFindings) -> Result<Listed, Fatal> {
    let Some(switch) = item.get("switch").and_then(scalar) else {
        let says = "this block does not name its switch: write `switch: NAME`";
        return Err(findings.fatal(item.line, says, &[]));
    };
    let mut all = Vec::new();
    for list in item.get("nodes").map_or(&[][..], Yaml::items) {
        let text = scalar(list).unwrap_or_default();
        let own = names(text).map_err(|says| findings.fatal(list.line, says, &[]))?;
        all.extend(own);
    }
    if all.is_empty() {
        findings.warn(item.line, format!("the block at {switch} has no nodes"));
    }
    let mut annotations: BTreeMap<&str, &str> = BTreeMap::new();
    if let Some(Value::Map(pairs)) = item.get("annotations").map(|own| &own.value) {
        annotations.extend(pairs.iter().filter_map(|(key, _, own)| Some((&**key, scalar(own)?))));
    }
    let domain = |end: &str| {
        let found = annotations.iter().find(|(key, _)| key.ends_with(end));
        found.map(|(_, name)| (*name).to_owned())
    };
    Ok(Listed {
        line: item.line,
        switch: switch.to_owned(),
        nodes: all,
        domains: DOMAINS.map(domain),
    })
}

fn scalar(item: &Yaml) -> Option<&str> {
    match &item.value {
        Value::Scalar(text, _) if !item.is_null() => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::from_yaml;
    use super::*;

    const MODEL: &str = "switches:
  core:
    labels: {topology.kubernetes.io/region: us-east}
    switches: [spine, r4]
  spine:
    switches: [r1, r2, r3]
blocks:
- switch: r1
  nodes: ['n[01-04]']
  annotations: {accelerator.example/domain: d1, accelerator.example/sub-domain: s1}
- switch: r2
  nodes: ['n[05-06]', n09]
  annotations: {accelerator.example/domain: d1, accelerator.example/sub-domain: s2}
- switch: r4
  nodes: n[10-15]
  annotations: {accelerator.example/domain: d2, accelerator.example/sub-domain: s3}
";

    fn read(text: &str) -> (Result<Vec<SlurmTopology>, Fatal>, Vec<(usize, String)>) {
        let mut findings = LintFindings::default();
        let read = from_yaml::read(text, &mut findings);
        let says = findings.0.into_iter().map(|own| (own.line.unwrap_or(0), own.says)).collect();
        (read, says)
    }

    #[test]
    fn switches_and_domains_become_topologies() {
        let (topologies, says) = read(MODEL);
        let topologies = topologies.unwrap();
        let TopologyKind::Tree(switches) = &topologies[0].kind else { panic!("{topologies:?}") };
        let of = |switch: &Switch| {
            let below = switch.nodes.as_ref().or(switch.children.as_ref()).unwrap();
            format!("{} {}", switch.name.as_deref().unwrap(), below.text)
        };
        let of: Vec<String> = switches.iter().map(of).collect();
        assert_eq!(
            of,
            [
                "core spine,r4",
                "spine r1,r2",
                "r1 n01,n02,n03,n04",
                "r2 n05,n06,n09",
                "r4 n10,n11,n12,n13,n14,n15"
            ]
        );
        assert!(
            says.iter().any(|(line, says)| *line == 6 && says.contains("below r3,")),
            "{says:?}"
        );
        let TopologyKind::Block(Some((sizes, _)), groups) = &topologies[1].kind else {
            panic!("{topologies:?}")
        };
        assert_eq!((sizes.as_slice(), groups.len()), (&[3, 6][..], 3));
        let (topologies, _) = read(&MODEL.replace("sub-domain: s2", "rail: s2"));
        let kind = &topologies.unwrap()[1].kind;
        assert!(
            matches!(kind, TopologyKind::Block(Some((sizes, _)), _) if *sizes == [6, 12]),
            "{kind:?}"
        );
        let (topologies, _) = read(&MODEL.replace("domain: ", "place: "));
        assert_eq!(topologies.unwrap().len(), 1);
    }

    #[test]
    fn what_is_wrong_with_a_model_is_said_with_its_line() {
        for (from, to, line, sentence) in [
            (
                "- switch: r2\n  ",
                "- ",
                11,
                "this block does not name its switch: write `switch: NAME`",
            ),
            ("n[01-04]", "n[01-", 9, "the list `n[01-` has a bracket that is not closed"),
            (
                "switch: r4",
                "switch: spine",
                5,
                "the switch spine has switches as well as nodes below it",
            ),
        ] {
            let (read, says) = read(&MODEL.replace(from, to));
            assert!(read.is_err(), "{sentence}");
            assert_eq!(says.last().unwrap(), &(line, sentence.to_owned()));
        }
        let (empty, says) = read("switches: {}\nblocks: []\n");
        assert!(empty.is_err());
        assert!(says.last().unwrap().1.starts_with("this model has no nodes"));
        let (list, says) = read("switches: [a]\nblocks: [{switch: a, nodes: n1}]\n");
        assert!(list.is_err());
        assert!(says.last().unwrap().1.starts_with("`switches` is a list"), "{says:?}");
    }
}
