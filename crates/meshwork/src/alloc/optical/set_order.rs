//! Order in which RFold tries equally good candidates: as listed, or as in RFold's original
//! program.

use crate::registry::{Param, Params, Words};

/// Rule that breaks ties between equally good shapes, or between corners of a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// Ties go to the candidate that comes first in the list of shapes or corners.
    Listed,
    /// Ties go to the candidate that comes first when a CPython set of the candidates is iterated.
    ///
    /// RFold's original program breaks ties in this way, so results can be compared job by job.
    Original,
}

static WORDS: Words<Ties, 2> = Words::new([("listed", Ties::Listed), ("original", Ties::Original)]);

impl Ties {
    pub(super) const PARAM: Param = Param::new("ties", WORDS.kind()).is("\"listed\"").help(
        "which of equal shapes, or of corners of a cube, comes first: as they are listed, or \
             as RFold's program happens to walk them, so that runs can be compared with its own",
    );

    pub(super) fn read(params: &Params) -> Ties {
        params.meaning("ties", &WORDS)
    }

    /// Removes duplicates from the candidates, and sorts the others into the order of trial.
    pub(super) fn sort(self, triples: impl IntoIterator<Item = [u32; 3]>) -> Vec<[u32; 3]> {
        match self {
            Ties::Original => set_order(triples),
            Ties::Listed => {
                let mut distinct = Vec::new();
                for triple in triples {
                    if !distinct.contains(&triple) {
                        distinct.push(triple);
                    }
                }
                distinct
            }
        }
    }
}

const PRIME_1: u64 = 11_400_714_785_074_694_791;
const PRIME_2: u64 = 14_029_467_366_897_019_727;
const PRIME_5: u64 = 2_870_177_450_012_600_261;

/// Hash of a tuple of three small numbers in CPython since version 3.8: xxHash over the numbers.
fn hash(triple: [u32; 3]) -> u64 {
    let over = triple.iter().fold(PRIME_5, |hash, &number| {
        let hash = hash.wrapping_add(u64::from(number).wrapping_mul(PRIME_2));
        hash.rotate_left(31).wrapping_mul(PRIME_1)
    });
    match over.wrapping_add(3 ^ (PRIME_5 ^ 3_527_539)) {
        u64::MAX => 1_546_275_796,
        hash => hash,
    }
}

/// Inserts a triple of numbers into a hash table; returns whether it was new.
///
/// The size of the table is a power of two.
fn insert(table: &mut [Option<[u32; 3]>], triple: [u32; 3]) -> bool {
    const PROBES: usize = 9;
    let (mask, hash) = (table.len() - 1, hash(triple));
    let (mut slot, mut perturb) = (hash as usize & mask, hash);
    loop {
        let last = if slot + PROBES <= mask { slot + PROBES } else { slot };
        for held in &mut table[slot..=last] {
            match held {
                None => {
                    *held = Some(triple);
                    return true;
                }
                Some(other) if *other == triple => return false,
                Some(_) => {}
            }
        }
        perturb >>= 5;
        slot = (slot.wrapping_mul(5).wrapping_add(1).wrapping_add(perturb as usize)) & mask;
    }
}

/// Sorts triples of numbers into the order in which a CPython set of them is iterated.
///
/// The triples are inserted into the set one by one.
fn set_order(triples: impl IntoIterator<Item = [u32; 3]>) -> Vec<[u32; 3]> {
    let mut table = vec![None; 8];
    let mut filled = 0;
    for triple in triples {
        if !insert(&mut table, triple) {
            continue;
        }
        filled += 1;
        if filled * 5 >= (table.len() - 1) * 3 {
            let slots = (4 * filled + 1).next_power_of_two().max(8);
            let held = std::mem::replace(&mut table, vec![None; slots]);
            for triple in held.into_iter().flatten() {
                insert(&mut table, triple);
            }
        }
    }
    table.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values were computed with CPython 3.11.
    #[test]
    fn triples_come_as_they_do_from_a_python_set() {
        assert_eq!(hash([0, 0, 0]), 3_010_437_511_937_009_226);
        let six = [[1, 2, 3], [3, 2, 1], [2, 1, 3], [1, 1, 1], [5, 5, 5], [7, 0, 7]];
        assert_eq!(
            Ties::Original.sort(six),
            [[5, 5, 5], [7, 0, 7], [1, 2, 3], [2, 1, 3], [3, 2, 1], [1, 1, 1]]
        );
        assert_eq!(Ties::Listed.sort([six, six].concat()), six);
        let forty = Ties::Original.sort((0..40).map(|i| [i % 9, i % 7, i / 3]));
        assert_eq!(forty[..4], [[3, 0, 7], [6, 1, 5], [4, 4, 1], [2, 1, 9]]);
        assert_eq!(forty[36..], [[8, 5, 8], [5, 5, 1], [1, 2, 12], [2, 4, 3]]);
    }

    #[test]
    fn a_table_that_grows_keeps_every_triple_once() {
        let all = (0..200).map(|i| [i % 7, i % 5, i % 3]);
        let mut sorted = Ties::Original.sort(all.clone().chain(all));
        assert_eq!(sorted.len(), 105);
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 105);
    }
}
