//! Lists of nodes as users write them in a study: by number, by coordinates or as blocks.

use super::{Block, Placement};
use crate::job::Dims;
use crate::topology::{Node, Topology};

/// The index of a site, and nodes of this site.
pub(crate) type OfSite = (usize, Vec<Node>);

/// The sites of a machine. Nodes are numbered across sites, one site after the other.
pub(crate) struct Sites<'a>(pub(crate) &'a [Topology]);

impl Sites<'_> {
    pub(crate) fn nodes(&self) -> u64 {
        self.0.iter().map(|topology| u64::from(topology.nodes())).sum()
    }

    /// The site index of a node, and its number within the site; `None` if there is no such node.
    /// The parameter `number` counts the nodes of all sites, one site after the other.
    pub(crate) fn numbered(&self, number: u64) -> Option<(usize, Node)> {
        let mut rest = number;
        for (site, topology) in self.0.iter().enumerate() {
            let nodes = u64::from(topology.nodes());
            if rest < nodes {
                return Some((site, rest as Node));
            }
            rest -= nodes;
        }
        None
    }

    /// The node at coordinates such as `3,1`; `None` if there is no such node, or several sites.
    pub(crate) fn at(&self, coordinates: &str) -> Option<(usize, Node)> {
        let [topology] = self.0 else { return None };
        let grid = topology.grid();
        let coordinates: Dims =
            coordinates.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
        let lies_there = coordinates.len() == grid.dimensions()
            && coordinates.iter().zip(grid.sides()).all(|(at, side)| at < side);
        lies_there.then(|| (0, grid.node(&coordinates)))
    }

    /// Parses a node list of a study into sorted nodes by site, without duplicates.
    ///
    /// A list is `all`, or numbers and ranges such as `0-3,7`, or blocks such as `0,0:2x4`, joined
    /// by `;`. An error is the end of a sentence. Its subject, which the caller adds, is the key of
    /// the study.
    pub(crate) fn named(&self, text: &str) -> Result<Vec<OfSite>, String> {
        let text = text.trim();
        let mut found: Vec<Vec<Node>> = vec![Vec::new(); self.0.len()];
        if text == "all" {
            for (nodes, topology) in found.iter_mut().zip(self.0) {
                nodes.extend(0..topology.nodes());
            }
        } else if text.contains(':') {
            for part in text.split(';') {
                found[0].extend(self.block(part.trim())?);
            }
        } else {
            let list =
                text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
            for part in list.split(',') {
                for number in self.range(part.trim(), text)? {
                    let (site, node) = self.numbered(number).ok_or_else(|| self.unknown(number))?;
                    found[site].push(node);
                }
            }
        }
        for nodes in &mut found {
            nodes.sort_unstable();
            nodes.dedup();
        }
        Ok(found.into_iter().enumerate().filter(|(_, nodes)| !nodes.is_empty()).collect())
    }

    fn unknown(&self, number: u64) -> String {
        format!("names node {number}, but the machine has the nodes 0 to {}", self.nodes() - 1)
    }

    fn range(&self, part: &str, text: &str) -> Result<std::ops::RangeInclusive<u64>, String> {
        let wrong = || {
            format!(
                "is \"{text}\", but must be \"all\", numbers of nodes such as \"0-3,7\", or blocks such as \"0,0:2x4\""
            )
        };
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(wrong());
        }
        if last >= self.nodes() {
            return Err(self.unknown(last));
        }
        Ok(first..=last)
    }

    fn block(&self, text: &str) -> Result<Vec<Node>, String> {
        let [topology] = self.0 else {
            return Err(format!(
                "is \"{text}\", but the machine has {} sites: name nodes by numbers, one site after the other",
                self.0.len()
            ));
        };
        let grid = topology.grid();
        let wrong = || format!("names the block {text}, which does not lie on the {topology}");
        let (corner, sides) = text.split_once(':').ok_or_else(wrong)?;
        let (_, base) = self.at(corner).ok_or_else(wrong)?;
        let sides: Dims = sides
            .split('x')
            .map(|side| side.trim().parse().ok())
            .collect::<Option<_>>()
            .ok_or_else(wrong)?;
        if !grid.holds(base, &sides) {
            return Err(wrong());
        }
        Ok(Placement::from(Block { base, sides }).nodes(grid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_numbers_and_coordinates() {
        let one = [Topology::mesh(&[4, 3]).unwrap()];
        let one = Sites(&one);
        assert_eq!(one.named("0-2, 7,1").unwrap(), [(0, vec![0, 1, 2, 7])]);
        assert_eq!(one.named("[5]").unwrap(), [(0, vec![5])]);
        assert_eq!(one.named("0,1:2x2; 3,0:1x1").unwrap(), [(0, vec![3, 4, 5, 8, 9])]);
        assert_eq!(one.named("all").unwrap(), [(0, (0..12).collect())]);
        assert_eq!((one.at("3,2"), one.at("4,0"), one.at("3")), (Some((0, 11)), None, None));
        let two = [Topology::flat(3).unwrap(), Topology::mesh(&[2, 2]).unwrap()];
        let two = Sites(&two);
        assert_eq!(two.named("2-4").unwrap(), [(0, vec![2]), (1, vec![0, 1])]);
        assert_eq!((two.numbered(6), two.numbered(7)), (Some((1, 3)), None));
        for (sites, text, part) in [
            (&one, "12", "names node 12, but the machine has the nodes 0 to 11"),
            (&one, "3-1", "must be \"all\", numbers of nodes"),
            (&one, "some", "must be \"all\", numbers of nodes"),
            (&one, "", "must be \"all\", numbers of nodes"),
            (&one, "3,0:2x1", "the block 3,0:2x1, which does not lie on the 4 × 3 mesh"),
            (&one, "0,0:0x1", "which does not lie on"),
            (&one, "0,0:1", "which does not lie on"),
            (&two, "0,0:1x1", "the machine has 2 sites"),
        ] {
            let refused = sites.named(text).unwrap_err();
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }
}
