//! Writes a proposal as a change of the topology file.

use std::fmt::Write;
use std::ops::Range;

use super::{Box3, TopologyLists};
use meshwork_slurm::finding::LintFindings;
use meshwork_slurm::topology::{SlurmTopology, SlurmTorus, TopologyKind, Xyz, from_yaml};

/// Returns the text of a `topology.yaml` after replacing the placement lists of one topology.
///
/// The placement lists are the boxes of a torus, or the sizes of aggregated blocks. All other lines
/// are unchanged. The result is `None` if the boxes are not on separate lines, or if the list of
/// block sizes is not on one line.
pub fn rewritten(text: &str, topology: &SlurmTopology, lists: &TopologyLists) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    match (&topology.kind, lists) {
        (TopologyKind::Torus3d(toruses), TopologyLists::Boxes(boxes)) => {
            let mut changes = Vec::new();
            for (torus, boxes) in toruses.iter().zip(boxes) {
                changes.extend(change_of(&lines, torus, boxes)?);
            }
            changes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
            for (range, own) in changes {
                lines.splice(range, own);
            }
        }
        (TopologyKind::Block(Some((_, line)), _), TopologyLists::Blocks(sizes)) => {
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            let own = lines.get_mut(line.checked_sub(1)?)?;
            let (before, after) = own.split_once('[')?;
            let (_, after) = after.split_once(']')?;
            *own = format!("{before}[{}]{after}", sizes.join(", "));
        }
        _ => return None,
    }
    let mut whole = lines.join("\n");
    if text.ends_with('\n') {
        whole.push('\n');
    }
    // Check that the result has the lists that were tried.
    let read = from_yaml::read(&whole, &mut LintFindings::default()).ok()?;
    let own = read.iter().find(|own| own.name == topology.name)?;
    (TopologyLists::of(own).as_ref() == Some(lists)).then_some(whole)
}

/// Range of the lines of a torus's placement list, and the lines that replace them.
///
/// If the list does not change, the inner result is `None`. If the boxes are not on lines of their
/// own, the outer result is `None`.
fn change_of(
    lines: &[String],
    torus: &SlurmTorus,
    boxes: &[Box3],
) -> Option<Option<(Range<usize>, Vec<String>)>> {
    let Some(first) = torus.placements.first() else { return boxes.is_empty().then_some(None) };
    let begin = first.line.checked_sub(1)?;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let dash = indent(lines.get(begin)?);
    let begins = |line: &str| indent(line) == dash && line.trim_start().starts_with("- ");
    let belongs = |line: &&String| line.trim().is_empty() || indent(line) > dash || begins(line);
    let mut end = begin + lines[begin..].iter().take_while(belongs).count();
    while end > begin && lines[end - 1].trim().is_empty() {
        end -= 1;
    }
    let starts: Vec<usize> = torus.placements.iter().map(|own| own.line - 1).collect();
    if !starts.iter().all(|&start| start < end && begins(&lines[start]))
        || !starts.windows(2).all(|pair| pair[0] < pair[1])
    {
        return None;
    }
    let own = TopologyLists::of(&SlurmTopology {
        name: String::new(),
        line: 0,
        is_default: false,
        kind: TopologyKind::Torus3d(vec![torus.clone()]),
    });
    let Some(TopologyLists::Boxes(own)) = own else { return None };
    if own[0] == boxes {
        return Some(None);
    }
    let margin = " ".repeat(dash);
    let mut changed = Vec::new();
    for one in boxes {
        match own[0].iter().position(|other| other == one) {
            Some(place) => {
                let until = starts.get(place + 1).copied().unwrap_or(end);
                changed.extend(lines[starts[place]..until].iter().cloned());
            }
            None => changed.extend(written(one).into_iter().map(|line| format!("{margin}{line}"))),
        }
    }
    Some(Some((begin..end, changed)))
}

fn written(own: &Box3) -> Vec<String> {
    let three = |[x, y, z]: Xyz| format!("{{x: {x}, y: {y}, z: {z}}}");
    let mut lines = vec![format!("- dims: {}", three(own.dims))];
    if own.spacing != own.dims {
        lines.push(format!("  anchor_spacing: {}", three(own.spacing)));
    }
    if own.seed != [0; 3] {
        lines.push(format!("  anchor_seed: {}", three(own.seed)));
    }
    lines
}

/// Text of placement lists in the standard form, for users who must edit the file by hand. They
/// must do so if the lists in the file are not written line by line.
pub fn listed(topology: &SlurmTopology, lists: &TopologyLists) -> String {
    let mut text = String::new();
    match (&topology.kind, lists) {
        (TopologyKind::Torus3d(toruses), TopologyLists::Boxes(boxes)) => {
            for (torus, boxes) in toruses.iter().zip(boxes) {
                let _ = writeln!(text, "- name: {}", torus.name.as_deref().unwrap_or_default());
                let _ = writeln!(text, "  placements:");
                for line in boxes.iter().flat_map(written) {
                    let _ = writeln!(text, "    {line}");
                }
            }
        }
        (_, TopologyLists::Blocks(sizes)) => {
            let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
            let _ = writeln!(text, "block_sizes: [{}]", sizes.join(", "));
        }
        _ => {}
    }
    text
}
