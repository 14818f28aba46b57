//! Reads a `topology.conf`: switches, blocks or rings, one per line.

use super::{NodeGroup, SlurmTopology, Switch, Text, TopologyKind};
use crate::finding::{Fatal, LintFindings};
use crate::lines::{ConfLine, lines};

/// Reads the topology of a `topology.conf`. The keys of the file determine the kind of topology.
pub fn read(text: &str, findings: &mut LintFindings) -> Result<SlurmTopology, Fatal> {
    let (mut switches, mut blocks, mut rings) = (Vec::new(), Vec::new(), Vec::new());
    let mut sizes = None;
    let lines = lines(text);
    for line in &lines {
        let Some((first, name)) = line.pairs.first() else { continue };
        match first.to_lowercase().as_str() {
            "switchname" => {
                warn_of_unknown(line, &["SwitchName", "Nodes", "Switches", "LinkSpeed"], findings);
                let switch = Switch {
                    name: Some(name.clone()),
                    line: line.number,
                    nodes: value(line, "Nodes"),
                    children: value(line, "Switches"),
                };
                if switch.nodes.is_some() && switch.children.is_some() {
                    let says = format!(
                        "the switch {name} has nodes and switches, but must have one of them"
                    );
                    let slurm = format!("error: switch {name} has both child switches and nodes");
                    return Err(findings.fatal(line.number, says, &[&slurm]));
                }
                switches.push(switch);
            }
            "blockname" => {
                warn_of_unknown(line, &["BlockName", "Nodes"], findings);
                blocks.push(group(line, name));
            }
            "ringname" => {
                warn_of_unknown(line, &["RingName", "Nodes"], findings);
                rings.push(group(line, name));
            }
            "blocksizes" => sizes = Some((block_sizes(line, name, findings)?, line.number)),
            "include" => {
                let says = "a topology.conf of several files is not read: write it as one";
                return Err(findings.fatal(line.number, says, &[]));
            }
            _ if lines.iter().any(begins_in_slurm_conf) => {
                let says = "this is a slurm.conf, and no topology file: give it with --conf";
                return Err(findings.fatal(line.number, says, &[]));
            }
            _ => {
                let says = format!(
                    "`{first}` begins no line of a topology.conf, which are SwitchName=, BlockName=, BlockSizes= or RingName= (a \
                     slurm.conf is given with --conf)"
                );
                return Err(findings.fatal(line.number, says, &[]));
            }
        }
    }
    let kinds = [!switches.is_empty(), !blocks.is_empty() || sizes.is_some(), !rings.is_empty()];
    let kind = match kinds {
        [true, false, false] => TopologyKind::Tree(switches),
        [false, true, false] => TopologyKind::Block(sizes, blocks),
        [false, false, true] => TopologyKind::Ring(rings),
        [false, false, false] => {
            let says = match lines.is_empty() {
                true => {
                    "this file is empty, and lists no switch, no block and no ring: a line begins with \
                         SwitchName=, BlockName= or RingName="
                }
                false => "this file lists no switch, no block and no ring",
            };
            return Err(findings.fatal(1, says, &[]));
        }
        _ => {
            let line = lines.last().map_or(1, |line| line.number);
            let says = "this file lists more than one of switches, blocks and rings";
            return Err(findings.fatal(line, says, &[]));
        }
    };
    Ok(SlurmTopology { name: "default".to_owned(), line: 1, is_default: true, kind })
}

fn begins_in_slurm_conf(line: &ConfLine) -> bool {
    let keys = ["ClusterName", "NodeName", "PartitionName"];
    keys.iter().any(|key| line.pairs[0].0.eq_ignore_ascii_case(key))
}

fn group(line: &ConfLine, name: &str) -> NodeGroup {
    NodeGroup { name: Some(name.to_owned()), line: line.number, nodes: value(line, "Nodes") }
}

fn value(line: &ConfLine, key: &str) -> Option<Text> {
    line.get(key).map(|text| Text { text: text.to_owned(), line: line.number })
}

fn block_sizes(
    line: &ConfLine,
    list: &str,
    findings: &mut LintFindings,
) -> Result<Vec<u32>, Fatal> {
    let sizes: Result<Vec<u32>, _> = list.split(',').map(|size| size.trim().parse()).collect();
    sizes.map_err(|_| {
        let says =
            format!("`BlockSizes` is {list}, but must be whole numbers with commas between them");
        findings.fatal(line.number, says, &[])
    })
}

fn warn_of_unknown(line: &ConfLine, known: &[&str], findings: &mut LintFindings) {
    for (key, _) in &line.pairs {
        if !known.iter().any(|known| known.eq_ignore_ascii_case(key)) {
            findings
                .warn(line.number, format!("the key `{key}` is not one of {}", known.join(", ")));
        }
    }
}
