//! Text format for lists of partitions, each with the node cards and switches that it occupies.

use std::collections::{BTreeMap, BTreeSet};

use super::known;
use crate::geometry::NodeSet;

/// Maximum number of names in the expanded brackets of a list, more than any machine needs.
const MAX_NAMES: usize = 1 << 22;

/// List of the partitions of a machine, with the node cards and switches that each one occupies.
///
/// The text has one item per line; `#` starts a comment. A line `cards 32 R[0-4][0-7]-N[00-15]`
/// names cards of 32 nodes each. Nodes are numbered card by card. A line `NAME: PART PART …`
/// defines a partition whose parts are cards and switches. Brackets contain numbers and ranges,
/// which are expanded with leading zeros as they are written.
///
/// ```
/// use meshwork::alloc::partitions::List;
/// let list = List::read("cards 4 a[0-3]\nleft: a[0-1] x\nright: a[2-3] x\nall: a[0-3] x").unwrap();
/// assert_eq!(list.nodes(), 16);
/// assert_eq!(list.sizes().collect::<Vec<u32>>(), [8, 16]);
/// let wrong = List::read("cards 4 a[0-\n").unwrap_err();
/// assert_eq!(wrong, "line 1: `a[0-` has a bracket that does not close");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    pub(super) cards: Vec<Card>,
    card_names: Vec<String>,
    switch_names: Vec<String>,
    pub(super) partitions: Vec<Partition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Card {
    pub(super) first: u32,
    pub(super) nodes: u32,
}

/// Partition, with the node cards and switches that it occupies exclusively.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    pub(super) name: String,
    pub(super) cards: NodeSet,
    pub(super) switches: NodeSet,
    pub(super) nodes: u32,
}

impl List {
    /// Reads a list of partitions from its text.
    ///
    /// # Errors
    /// If the text is not a valid list. The error is one sentence with the line, the problem and
    /// its correction.
    pub fn read(text: &str) -> Result<List, String> {
        let mut reader = Reader::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                reader.line(line).map_err(|what| format!("line {}: {what}", index + 1))?;
            }
        }
        reader.finish()
    }

    /// The production partitions of Intrepid, the Blue Gene/P of Argonne National Laboratory.
    ///
    /// ```
    /// use meshwork::alloc::partitions::List;
    /// assert_eq!(List::intrepid().partitions().count(), 1347);
    /// ```
    #[must_use]
    pub fn intrepid() -> List {
        List::read(&known::intrepid()).expect("it is written right")
    }

    pub(super) fn switches(&self) -> u32 {
        self.switch_names.len() as u32
    }

    /// For each partition, in the order of the list, its name and the names of its cards and
    /// switches.
    #[must_use]
    pub fn spelled_out(&self) -> Vec<(String, BTreeSet<String>, BTreeSet<String>)> {
        let names = |set: &NodeSet, names: &[String]| {
            set.iter().map(|member| names[member as usize].clone()).collect()
        };
        let spelled = |own: &Partition| {
            let cards = names(&own.cards, &self.card_names);
            (own.name.clone(), cards, names(&own.switches, &self.switch_names))
        };
        self.partitions.iter().map(spelled).collect()
    }

    /// Number of nodes of the machine.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.cards.last().map_or(0, |card| card.first + card.nodes)
    }

    /// Sizes of the partitions in nodes, in ascending order, each size once.
    pub fn sizes(&self) -> impl Iterator<Item = u32> {
        let sizes: BTreeSet<u32> =
            self.partitions.iter().map(|partition| partition.nodes).collect();
        sizes.into_iter()
    }

    /// Name, number of nodes and number of switches of each partition, in the order of the list.
    pub fn partitions(&self) -> impl Iterator<Item = (&str, u32, u32)> {
        self.partitions.iter().map(|own| (own.name.as_str(), own.nodes, own.switches.count()))
    }
}

#[derive(Default)]
struct Reader {
    cards: Vec<Card>,
    known: BTreeMap<String, u32>,
    switches: BTreeMap<String, u32>,
    partitions: Vec<(String, Vec<u32>, Vec<u32>)>,
    names: BTreeSet<String>,
    expanded: usize,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(rest) = line.strip_prefix("cards ") {
            return self.cards(rest);
        }
        let Some((name, parts)) = line.split_once(':') else {
            return Err(format!(
                "`{}` is neither `cards NODES NAMES` nor a partition `NAME: PARTS`",
                line.escape_debug()
            ));
        };
        let name = name.trim();
        if !self.names.insert(name.to_owned()) {
            return Err(format!("the partition `{name}` is there twice"));
        }
        let (mut cards, mut switches) = (Vec::new(), Vec::new());
        for part in parts.split_whitespace().map(|word| self.expand(word)).collect::<Vec<_>>() {
            for part in part? {
                if let Some(&card) = self.known.get(&part) {
                    cards.push(card);
                } else {
                    let next = self.switches.len() as u32;
                    switches.push(*self.switches.entry(part).or_insert(next));
                }
            }
        }
        if cards.is_empty() {
            return Err(format!("the partition `{name}` has no card that a line `cards` names"));
        }
        self.partitions.push((name.to_owned(), cards, switches));
        Ok(())
    }

    fn cards(&mut self, rest: &str) -> Result<(), String> {
        let (nodes, names) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest, ""));
        let most = crate::topology::MAX_NODES;
        let nodes =
            nodes.parse().ok().filter(|nodes| (1..=most).contains(nodes)).ok_or_else(|| {
                format!(
                    "`{}` is no number of nodes of a card: a whole number from 1 to {most}",
                    nodes.escape_debug()
                )
            })?;
        for word in names.split_whitespace() {
            for name in self.expand(word)? {
                let first = self.cards.last().map_or(0, |card| card.first + card.nodes);
                if first.checked_add(nodes).is_none_or(|end| end > most) {
                    return Err(format!("there are more than {most} nodes"));
                }
                let number = self.cards.len() as u32;
                if self.known.insert(name.clone(), number).is_some() {
                    return Err(format!("the card `{name}` is there twice"));
                }
                self.cards.push(Card { first, nodes });
            }
        }
        Ok(())
    }

    /// Expands the brackets of a word such as `R[0-4]` to a list of names.
    fn expand(&mut self, word: &str) -> Result<Vec<String>, String> {
        let mut all = vec![String::new()];
        let mut rest = word;
        while let Some((before, behind)) = rest.split_once('[') {
            let Some((ranges, further)) = behind.split_once(']') else {
                return Err(format!("`{word}` has a bracket that does not close"));
            };
            let mut numbers = Vec::new();
            for range in ranges.split(',') {
                let (low, high) = range.split_once('-').unwrap_or((range, range));
                let bounds = (low.parse::<u32>().ok(), high.parse::<u32>().ok());
                let (Some(first), Some(last)) = bounds else {
                    return Err(format!("`{range}` in `{word}` is no number or range of numbers"));
                };
                if first > last || (last - first) as usize >= MAX_NAMES {
                    return Err(format!("`{range}` in `{word}` is no range that can be counted"));
                }
                numbers.extend((first..=last).map(|n| format!("{n:0width$}", width = low.len())));
            }
            self.expanded = self.expanded.saturating_add(all.len().saturating_mul(numbers.len()));
            if self.expanded > MAX_NAMES {
                return Err(format!("the brackets stand for more than {MAX_NAMES} names"));
            }
            let with = |stem: &String| {
                let stem = format!("{stem}{before}");
                numbers.iter().map(move |number| format!("{stem}{number}")).collect::<Vec<String>>()
            };
            all = all.iter().flat_map(with).collect();
            rest = further;
        }
        all.iter_mut().for_each(|name| name.push_str(rest));
        Ok(all)
    }

    fn finish(self) -> Result<List, String> {
        if self.partitions.is_empty() {
            return Err("the list has no partition: a line `NAME: PARTS` for each".to_owned());
        }
        let (cards, switches) = (self.cards.len() as u32, self.switches.len() as u32);
        let set = |members: &[u32], universe: u32| {
            let mut set = NodeSet::empty(universe);
            members.iter().for_each(|&member| set.insert(member));
            set
        };
        let partition = |(name, own, wires): &(String, Vec<u32>, Vec<u32>)| {
            let own = set(own, cards);
            let nodes = own.iter().map(|card| self.cards[card as usize].nodes).sum();
            Partition { name: name.clone(), cards: own, switches: set(wires, switches), nodes }
        };
        let partitions = self.partitions.iter().map(partition).collect();
        let in_order = |named: BTreeMap<String, u32>| {
            let mut names: Vec<(u32, String)> = named.into_iter().map(|(n, i)| (i, n)).collect();
            names.sort_unstable();
            names.into_iter().map(|(_, name)| name).collect()
        };
        let (card_names, switch_names) = (in_order(self.known), in_order(self.switches));
        Ok(List { cards: self.cards, card_names, switch_names, partitions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_multiply_and_keep_their_digits() {
        let mut reader = Reader::default();
        let names = reader.expand("R[0-1][08-10]-M0").unwrap();
        let expected = ["R008-M0", "R009-M0", "R010-M0", "R108-M0", "R109-M0", "R110-M0"];
        assert_eq!(names, expected);
        assert_eq!(reader.expand("plain").unwrap(), ["plain"]);
        assert_eq!(reader.expand("a[1,3-4]").unwrap(), ["a1", "a3", "a4"]);
    }

    #[test]
    fn what_is_no_list_is_one_sentence() {
        for (text, sentence) in [
            ("", "the list has no partition: a line `NAME: PARTS` for each"),
            (
                "cards x a",
                "line 1: `x` is no number of nodes of a card: a whole number from 1 to 16777216",
            ),
            ("cards 1 a a", "line 1: the card `a` is there twice"),
            (
                "cards 1 a\n\nb",
                "line 3: `b` is neither `cards NODES NAMES` nor a partition `NAME: PARTS`",
            ),
            ("cards 1 a\np: a\np: a", "line 3: the partition `p` is there twice"),
            ("cards 1 a\np: b", "line 2: the partition `p` has no card that a line `cards` names"),
            ("cards 1 a[2-1]", "line 1: `2-1` in `a[2-1]` is no range that can be counted"),
            ("cards 1 a[x]", "line 1: `x` in `a[x]` is no number or range of numbers"),
            ("cards 1 a[0-4000][0-4000]", "line 1: the brackets stand for more than 4194304 names"),
            ("cards 16000000 a b", "line 1: there are more than 16777216 nodes"),
        ] {
            assert_eq!(List::read(text).unwrap_err(), sentence, "{text}");
        }
    }
}
