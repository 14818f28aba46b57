//! Sets of nodes, stored as bits of 64-bit words.

use std::ops::Range;

use crate::topology::Node;

/// A set of nodes of one site, with one bit for each node of the site.
///
/// ```
/// use meshwork::geometry::NodeSet;
/// let mut free = NodeSet::full(100);
/// free.remove_range(10, 80);
/// assert_eq!(free.count(), 20);
/// assert_eq!(free.first_from(10), Some(90));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSet {
    words: Vec<u64>,
    len: u32,
}

impl NodeSet {
    /// The empty set, for a site of `len` nodes.
    #[must_use]
    pub fn empty(len: u32) -> NodeSet {
        NodeSet { words: vec![0; len.div_ceil(64) as usize], len }
    }

    /// The set of all nodes of a site of `len` nodes.
    #[must_use]
    pub fn full(len: u32) -> NodeSet {
        let mut set = NodeSet::empty(len);
        set.insert_range(0, len);
        set
    }

    /// Number of nodes of the site, whether they are in the set or not.
    #[must_use]
    pub fn universe(&self) -> u32 {
        self.len
    }

    /// The 64-bit words of the set. Node 0 is the lowest bit. Bits past the last node are 0.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The 64-bit words of the set, to be changed. Bits past the last node must remain 0.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Whether a node is in the set.
    #[must_use]
    pub fn contains(&self, node: Node) -> bool {
        self.words[node as usize / 64] >> (node % 64) & 1 == 1
    }

    /// Adds a node to the set.
    pub fn insert(&mut self, node: Node) {
        debug_assert!(node < self.len);
        self.words[node as usize / 64] |= 1 << (node % 64);
    }

    /// Removes a node from the set.
    pub fn remove(&mut self, node: Node) {
        self.words[node as usize / 64] &= !(1 << (node % 64));
    }

    /// Adds the `count` nodes that begin at `start` to the set. **O(count / 64)**.
    pub fn insert_range(&mut self, start: Node, count: u32) {
        debug_assert!(start + count <= self.len);
        for_each_word(start, count, |word, mask| self.words[word] |= mask);
    }

    /// Removes the `count` nodes that begin at `start` from the set. **O(count / 64)**.
    pub fn remove_range(&mut self, start: Node, count: u32) {
        for_each_word(start, count, |word, mask| self.words[word] &= !mask);
    }

    /// Whether all of the `count` nodes that begin at `start` are in the set. **O(count / 64)**.
    #[must_use]
    pub fn contains_range(&self, start: Node, count: u32) -> bool {
        let mut all = true;
        for_each_word(start, count, |word, mask| all &= self.words[word] & mask == mask);
        all
    }

    /// Whether none of the `count` nodes that begin at `start` is in the set. **O(count / 64)**.
    #[must_use]
    pub fn is_clear_of_range(&self, start: Node, count: u32) -> bool {
        let mut none = true;
        for_each_word(start, count, |word, mask| none &= self.words[word] & mask == 0);
        none
    }

    /// Number of nodes of the set among the `count` nodes that begin at `start`. **O(count / 64)**.
    #[must_use]
    pub fn count_range(&self, start: Node, count: u32) -> u32 {
        let mut found = 0;
        for_each_word(start, count, |word, mask| found += (self.words[word] & mask).count_ones());
        found
    }

    /// Number of nodes in the set. **O(n / 64)** for a site of *n* nodes.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether no node is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The lowest node of the set; `None` if the set is empty.
    #[must_use]
    pub fn first(&self) -> Option<Node> {
        self.first_from(0)
    }

    /// The lowest node of the set that is not below `start`; `None` if there is none.
    #[must_use]
    pub fn first_from(&self, start: Node) -> Option<Node> {
        let mut index = start as usize / 64;
        let mut word = self.words.get(index)? & (u64::MAX << (start % 64));
        while word == 0 {
            index += 1;
            word = *self.words.get(index)?;
        }
        Some(index as u32 * 64 + word.trailing_zeros())
    }

    /// Length of the run of consecutive nodes in the set that begins at `start`.
    #[must_use]
    pub fn run_length(&self, start: Node) -> u32 {
        let mut index = start as usize / 64;
        let mut gaps = !self.words[index] & (u64::MAX << (start % 64));
        while gaps == 0 {
            index += 1;
            match self.words.get(index) {
                Some(&word) => gaps = !word,
                None => return self.len - start,
            }
        }
        (index as u32 * 64 + gaps.trailing_zeros()).min(self.len) - start
    }

    /// The nodes of the set, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = Node> + '_ {
        (0..)
            .zip(&self.words)
            .flat_map(|(index, &word)| bits(word).map(move |bit| index * 64 + bit))
    }

    /// Resizes this buffer to end with the last word of `other` that is not 0. Its contents are
    /// then unspecified.
    pub(crate) fn fit_to(&mut self, other: &NodeSet) {
        let words = other.words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        self.words.resize(words, 0);
        self.len = other.len.min(words as u32 * 64);
    }

    /// Resizes this buffer to the size of another set. Its contents are then unspecified.
    pub(crate) fn fit_as(&mut self, other: &NodeSet) {
        self.words.resize(other.words.len(), 0);
        self.len = other.len;
    }

    /// Removes every node from the set.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Makes this set a copy of another one, and reuses its memory.
    pub fn copy_from(&mut self, other: &NodeSet) {
        self.words.clone_from(&other.words);
        self.len = other.len;
    }

    /// Copies a range of `count` nodes of `other` to this set. In `other` the range begins at
    /// `from`, in this set at `start`. **O(count / 64)**.
    pub fn copy_range(&mut self, start: Node, other: &NodeSet, from: Node, count: u32) {
        let bits = |at: u32, count: u32| {
            let (word, shift) = (at as usize / 64, at % 64);
            let low = other.words[word] >> shift;
            let high = other.words.get(word + 1).filter(|_| shift > 0);
            (low | high.map_or(0, |high| high << (64 - shift))) & u64::MAX >> (64 - count)
        };
        let mut done = 0;
        while done < count {
            // Nodes up to the end of a word of this set are copied at once.
            let (at, shift) = (start + done, (start + done) % 64);
            let some = (count - done).min(64 - shift);
            let word = &mut self.words[at as usize / 64];
            *word &= !(u64::MAX >> (64 - some) << shift);
            *word |= bits(from + done, some) << shift;
            done += some;
        }
    }

    /// Replaces this set by all nodes that are not in `other`. **O(n / 64)** for *n* nodes.
    pub fn assign_complement(&mut self, other: &NodeSet) {
        for (word, &bits) in self.words.iter_mut().zip(&other.words) {
            *word = !bits;
        }
        self.clear_past_the_end();
    }

    /// Removes all nodes that are not in `other`.
    pub fn intersect(&mut self, other: &NodeSet) {
        for (word, &mask) in self.words.iter_mut().zip(&other.words) {
            *word &= mask;
        }
    }

    /// Replaces this set by the intersection of two sets. Both sets have the same number of words.
    pub fn assign_intersection(&mut self, one: &NodeSet, other: &NodeSet) {
        for ((word, &a), &b) in self.words.iter_mut().zip(&one.words).zip(&other.words) {
            *word = a & b;
        }
    }

    /// Replaces this set by (`one` ∪ `more`) ∩ `other`. A set that is `None` is left out of the
    /// formula.
    pub(crate) fn assign_shared(
        &mut self,
        other: Option<&NodeSet>,
        one: &NodeSet,
        more: Option<&NodeSet>,
    ) {
        match (other, more) {
            (Some(other), None) => self.assign_intersection(one, other),
            (other, more) => {
                self.copy_from(one);
                if let Some(more) = more {
                    self.unite(more);
                }
                if let Some(other) = other {
                    self.intersect(other);
                }
            }
        }
    }

    /// Adds the nodes of another set to this set.
    pub fn unite(&mut self, other: &NodeSet) {
        for (word, &mask) in self.words.iter_mut().zip(&other.words) {
            *word |= mask;
        }
    }

    pub(crate) fn assign_union(&mut self, one: &NodeSet, other: &NodeSet) {
        for ((word, &a), &b) in self.words.iter_mut().zip(&one.words).zip(&other.words) {
            *word = a | b;
        }
    }

    /// Whether this set and `other` share a node. **O(n / 64)** for a site of *n* nodes.
    #[must_use]
    pub fn meets(&self, other: &NodeSet) -> bool {
        self.words.iter().zip(&other.words).any(|(word, mask)| word & mask != 0)
    }

    /// Whether this set and `other` share a node that is not in `outside`. **O(n / 64)** for *n*
    /// nodes.
    #[must_use]
    pub fn meets_outside(&self, other: &NodeSet, outside: &NodeSet) -> bool {
        let words = self.words.iter().zip(&other.words).zip(&outside.words);
        words.into_iter().any(|((word, mask), outside)| word & mask & !outside != 0)
    }

    /// Whether every node of this set is in `other` too. **O(n / 64)** for *n* nodes.
    #[must_use]
    pub fn is_within(&self, other: &NodeSet) -> bool {
        self.words.iter().zip(&other.words).all(|(word, mask)| word & !mask == 0)
    }

    /// Number of nodes that are both in this set and in `other`. **O(n / 64)** for *n* nodes.
    #[must_use]
    pub fn count_shared(&self, other: &NodeSet) -> u32 {
        let shared = |(word, mask): (&u64, &u64)| (word & mask).count_ones();
        self.words.iter().zip(&other.words).map(shared).sum()
    }

    /// Removes the nodes of another set from this set.
    pub fn subtract(&mut self, other: &NodeSet) {
        for (word, &mask) in self.words.iter_mut().zip(&other.words) {
            *word &= !mask;
        }
    }

    /// Removes every node *v* for which *v* + `by` is not in the set. **O(n / 64)** for *n* nodes.
    pub fn keep_if_above(&mut self, by: u32) {
        self.keep_if_above_within(0..self.words.len(), by);
    }

    /// Applies [`keep_if_above`](NodeSet::keep_if_above) to the words in the range `words` only.
    /// Returns this range without the empty words at its two ends.
    pub(crate) fn keep_if_above_within(&mut self, words: Range<usize>, by: u32) -> Range<usize> {
        let (skip, bits) = (by as usize / 64, by % 64);
        let Range { mut start, mut end } = words;
        // First come words for which all numbers higher by `by` exist, then a word for which some
        // may exist, then words for which none exist.
        let whole = end.min(self.words.len().saturating_sub(skip + 1)).max(start);
        for i in start..whole {
            let (low, high) = (self.words[i + skip], self.words[i + skip + 1]);
            self.words[i] &= low >> bits | (high << 1) << (63 - bits);
        }
        if whole < end {
            let above = self.words.get(whole + skip).map_or(0, |word| word >> bits);
            self.words[whole] &= above;
            self.words[whole + 1..end].fill(0);
        }
        while start < end && self.words[start] == 0 {
            start += 1;
        }
        while start < end && self.words[end - 1] == 0 {
            end -= 1;
        }
        start..end
    }

    /// Replaces this set by *v* − `by` for every node *v* of `other`. Negative results are left
    /// out.
    pub fn assign_shifted_down(&mut self, other: &NodeSet, by: u32) {
        self.with_shifted_down(other, by, |word, above| *word = above);
    }

    /// Replaces this set by *v* + `by` for every node *v* of `other`. Results past the last node
    /// are left out.
    pub fn assign_shifted_up(&mut self, other: &NodeSet, by: u32) {
        let (skip, bits) = ((by as usize / 64).min(self.words.len()), by % 64);
        let (emptied, kept) = self.words.split_at_mut(skip);
        let from = &other.words[..kept.len()];
        emptied.fill(0);
        if bits == 0 {
            kept.copy_from_slice(from);
        } else if let Some((first, all_but_first)) = kept.split_first_mut() {
            *first = from[0] << bits;
            for (word, pair) in all_but_first.iter_mut().zip(from.windows(2)) {
                *word = pair[1] << bits | pair[0] >> (64 - bits);
            }
        }
        self.clear_past_the_end();
    }

    /// Replaces this set by `other`, rotated within each group of `group` consecutive nodes. Each
    /// node moves down by `by`, and around the end of its group if necessary. `group` is a multiple
    /// or a divisor of 64, and divides the number of nodes.
    pub(crate) fn assign_rotated_down(&mut self, other: &NodeSet, group: u32, by: u32) {
        self.with_rotated_down(other, group, by, |_, ahead| ahead);
    }

    /// Replaces this set by the nodes that `other` and [its rotation](Self::assign_rotated_down)
    /// share. Returns whether there are any.
    pub(crate) fn assign_kept_if_ahead(&mut self, other: &NodeSet, group: u32, by: u32) -> bool {
        let mut any = 0;
        self.with_rotated_down(other, group, by, |here, ahead| {
            any |= here & ahead;
            here & ahead
        });
        any != 0
    }

    /// Replaces this set by the nodes of `other` whose successor along a ring is in `other` too.
    /// The successor of a node *v* is *v* + `by` if *v* is in `straight_on`, otherwise *v* −
    /// `back`. Returns whether any node is left.
    pub(crate) fn assign_kept_if_ahead_or_back(
        &mut self,
        other: &NodeSet,
        by: u32,
        back: u32,
        straight_on: &NodeSet,
    ) -> bool {
        let ((skip, bits), (skip_back, bits_back)) =
            ((by as usize / 64, by % 64), (back as usize / 64, back % 64));
        let (words, straight_on) = (&other.words, &straight_on.words);
        let count = words.len();
        let mut any = 0;
        let join = |here: u64, straight_on: u64, ahead: [u64; 2], back: [u64; 2]| {
            let ahead = ahead[0] >> bits | (ahead[1] << 1) << (63 - bits);
            let back = back[0] << bits_back | (back[1] >> 1) >> (63 - bits_back);
            here & (ahead & straight_on | back & !straight_on)
        };
        // For the words in the middle, all words ahead and back exist. Slices of equal length
        // compile to a loop without bounds checks.
        let begin = (skip_back + 1).min(count);
        let end = count.saturating_sub(skip + 1).max(begin);
        let (length, out) = (end - begin, &mut self.words);
        let here = &words[begin..end];
        let mask = &straight_on[begin..end];
        let ahead = [skip, skip + 1].map(|by| words.get(begin + by..begin + by + length));
        let back = [skip_back, skip_back + 1].map(|by| &words[begin - by.min(begin)..][..length]);
        if let [Some(low), Some(high)] = ahead {
            let out = &mut out[begin..end];
            // For rotations by whole words, no two words need to be joined.
            if bits == 0 && bits_back == 0 {
                for (i, word) in out.iter_mut().enumerate() {
                    *word = here[i] & (low[i] & mask[i] | back[0][i] & !mask[i]);
                    any |= *word;
                }
            } else {
                for (i, word) in out.iter_mut().enumerate() {
                    *word = join(here[i], mask[i], [low[i], high[i]], [back[0][i], back[1][i]]);
                    any |= *word;
                }
            }
        }
        let word = |at: Option<usize>| at.and_then(|at| words.get(at)).copied().unwrap_or(0);
        for i in (0..begin).chain(end..count) {
            let ahead = [skip, skip + 1].map(|by| word(Some(i + by)));
            let back = [skip_back, skip_back + 1].map(|by| word(i.checked_sub(by)));
            out[i] = join(words[i], straight_on[i], ahead, back);
            any |= out[i];
        }
        any != 0
    }

    /// Sets each word to `make(a, b)`, for words *a* of another set and words *b* of its rotated
    /// copy.
    ///
    /// The copy is [rotated down](Self::assign_rotated_down) by `by`.
    #[inline(always)]
    fn with_rotated_down(
        &mut self,
        other: &NodeSet,
        group: u32,
        by: u32,
        mut make: impl FnMut(u64, u64) -> u64,
    ) {
        if group < 64 {
            // Groups are lanes of one word: the upper bits of each lane move down, the others wrap
            // around.
            let lane = u64::MAX / ((1 << group) - 1);
            let stays = lane * ((1 << (group - by)) - 1);
            for (word, &from) in self.words.iter_mut().zip(&other.words) {
                *word = make(from, from >> by & stays | from << (group - by) & !stays);
            }
            self.clear_past_the_end();
            return;
        }
        let (length, skip, bits) = (group as usize / 64, by as usize / 64, by % 64);
        let groups = self.words.chunks_exact_mut(length).zip(other.words.chunks_exact(length));
        for (to, from) in groups {
            let (first, second) = from.split_at(skip);
            let (front, back) = to.split_at_mut(length - skip);
            let (here_in_front, here_behind) = from.split_at(length - skip);
            if bits == 0 {
                for ((word, &here), &ahead) in front.iter_mut().zip(here_in_front).zip(second) {
                    *word = make(here, ahead);
                }
                for ((word, &here), &ahead) in back.iter_mut().zip(here_behind).zip(first) {
                    *word = make(here, ahead);
                }
                continue;
            }
            let join = |low: u64, high: u64| low >> bits | high << (64 - bits);
            // A word is joined from two adjacent words of one part. The last word of each part
            // takes its upper bits from the first word of the other part.
            for ((word, &here), pair) in front.iter_mut().zip(here_in_front).zip(second.windows(2))
            {
                *word = make(here, join(pair[0], pair[1]));
            }
            for ((word, &here), pair) in back.iter_mut().zip(here_behind).zip(first.windows(2)) {
                *word = make(here, join(pair[0], pair[1]));
            }
            let last = length - skip - 1;
            front[last] = make(here_in_front[last], join(second[last], from[0]));
            if skip > 0 {
                back[skip - 1] = make(here_behind[skip - 1], join(first[skip - 1], second[0]));
            }
        }
    }

    /// Adds *v* − `by` for every node *v* of `other`. Negative results are left out. **O(n / 64)**
    /// for *n* nodes.
    pub fn unite_shifted_down(&mut self, other: &NodeSet, by: u32) {
        self.with_shifted_down(other, by, |word, above| *word |= above);
    }

    /// Calls `change(word, shifted)` for each word of this set.
    ///
    /// `shifted` is the word with the same index in a copy of `other` whose node numbers are all
    /// lower by `by`.
    #[inline(always)]
    fn with_shifted_down(&mut self, other: &NodeSet, by: u32, change: impl Fn(&mut u64, u64)) {
        let (skip, bits) = ((by as usize / 64).min(other.words.len()), by % 64);
        let from = &other.words[skip..];
        let shared = self.words.len().min(from.len());
        let (kept, beyond) = self.words.split_at_mut(shared);
        if bits == 0 {
            kept.iter_mut().zip(from).for_each(|(word, &above)| change(word, above));
        } else {
            for (word, pair) in kept.iter_mut().zip(from.windows(2)) {
                change(word, pair[0] >> bits | pair[1] << (64 - bits));
            }
            if shared == from.len()
                && let (Some(word), Some(above)) = (kept.last_mut(), from.last())
            {
                change(word, above >> bits);
            }
        }
        beyond.iter_mut().for_each(|word| change(word, 0));
    }

    /// Adds *v* + `by` for every node *v* of `other`. Results past the last node are left out.
    /// **O(n / 64)** for *n* nodes.
    pub fn unite_shifted_up(&mut self, other: &NodeSet, by: u32) {
        let (skip, bits) = ((by as usize / 64).min(self.words.len()), by % 64);
        let kept = &mut self.words[skip..];
        let from = &other.words[..kept.len()];
        if bits == 0 {
            kept.iter_mut().zip(from).for_each(|(word, &add)| *word |= add);
        } else if let Some((first, all_but_first)) = kept.split_first_mut() {
            *first |= from[0] << bits;
            for (word, pair) in all_but_first.iter_mut().zip(from.windows(2)) {
                *word |= pair[1] << bits | pair[0] >> (64 - bits);
            }
        }
        self.clear_past_the_end();
    }

    fn clear_past_the_end(&mut self) {
        if !self.len.is_multiple_of(64)
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << (self.len % 64)) - 1;
        }
    }
}

/// Numbers of the bits of a word that are 1, lowest first.
pub(crate) fn bits(word: u64) -> impl Iterator<Item = u32> {
    let all = std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
    all.take_while(|rest| *rest != 0).map(u64::trailing_zeros)
}

/// Calls `visit(index, mask)` for every word that has some of the `count` bits from `start` on.
/// `index` is the word's index, and `mask` has these bits of the word.
fn for_each_word(start: u32, count: u32, mut visit: impl FnMut(usize, u64)) {
    if count == 0 {
        return;
    }
    let last = start + count - 1;
    let (first_word, last_word) = (start as usize / 64, last as usize / 64);
    let (low, high) = (u64::MAX << (start % 64), u64::MAX >> (63 - last % 64));
    if first_word == last_word {
        visit(first_word, low & high);
        return;
    }
    visit(first_word, low);
    for word in first_word + 1..last_word {
        visit(word, u64::MAX);
    }
    visit(last_word, high);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Reference implementation of a set of nodes: the nodes, and the number of nodes of the site.
    #[derive(Clone, Debug)]
    struct Naive(BTreeSet<Node>, u32);

    fn sets() -> impl Strategy<Value = (NodeSet, Naive)> {
        (1_u32..300).prop_flat_map(|len| {
            prop::collection::btree_set(0..len, 0..len as usize + 1).prop_map(move |nodes| {
                let mut set = NodeSet::empty(len);
                nodes.iter().for_each(|&node| set.insert(node));
                (set, Naive(nodes, len))
            })
        })
    }

    fn same(set: &NodeSet, nodes: &BTreeSet<Node>) {
        assert!(set.iter().eq(nodes.iter().copied()), "{set:?} {nodes:?}");
        assert_eq!(set.count() as usize, nodes.len());
        assert_eq!(set.is_empty(), nodes.is_empty());
    }

    proptest! {
        #[test]
        fn shifts_agree_with_arithmetic((set, Naive(nodes, len)) in sets(), by in 0_u32..320) {
            let mut kept = set.clone();
            kept.keep_if_above(by);
            same(&kept, &nodes.iter().copied().filter(|n| nodes.contains(&(n + by))).collect());
            let mut down = NodeSet::empty(len);
            down.assign_shifted_down(&set, by);
            same(&down, &nodes.iter().filter(|&&n| n >= by).map(|n| n - by).collect());
            let mut up = NodeSet::empty(len);
            up.assign_shifted_up(&set, by);
            same(&up, &nodes.iter().map(|n| n + by).filter(|&n| n < len).collect());
            let (mut added_down, mut added_up) = (kept.clone(), kept);
            let before: BTreeSet<Node> = added_up.iter().collect();
            added_down.unite_shifted_down(&set, by);
            same(&added_down, &before.iter().copied().chain(down.iter()).collect());
            added_up.unite_shifted_up(&set, by);
            same(&added_up, &before.iter().copied().chain(up.iter()).collect());
        }

        #[test]
        fn ranges_agree_with_single_nodes(
            (set, Naive(nodes, len)) in sets(),
            a in any::<prop::sample::Index>(),
            b in any::<prop::sample::Index>(),
        ) {
            let (a, b) = (a.index(len as usize + 1) as u32, b.index(len as usize + 1) as u32);
            let (start, count) = (a.min(b), a.abs_diff(b));
            let range: BTreeSet<Node> = (start..start + count).collect();
            prop_assert_eq!(set.contains_range(start, count), range.is_subset(&nodes));
            prop_assert_eq!(set.is_clear_of_range(start, count), range.is_disjoint(&nodes));
            prop_assert_eq!(
                set.count_range(start, count) as usize,
                range.intersection(&nodes).count()
            );
            let mut added = set.clone();
            added.insert_range(start, count);
            same(&added, &nodes.union(&range).copied().collect());
            let mut removed = set;
            removed.remove_range(start, count);
            same(&removed, &nodes.difference(&range).copied().collect());
        }

        #[test]
        fn groups_turn_around_their_ends(
            group in prop::sample::select(vec![2_u32, 4, 16, 32, 64, 128, 192, 256]),
            groups in 1_u32..5,
            by in any::<prop::sample::Index>(),
            words in prop::collection::vec(any::<u64>(), 20),
        ) {
            let len = group * groups;
            let by = by.index(group as usize) as u32;
            let mut set = NodeSet::empty(len);
            (0..len).filter(|&n| words[n as usize / 64] >> (n % 64) & 1 == 1).for_each(|n| set.insert(n));
            let mut turned = NodeSet::empty(len);
            turned.assign_rotated_down(&set, group, by);
            let ahead = |n: u32| n / group * group + (n % group + by) % group;
            same(&turned, &(0..len).filter(|&n| set.contains(ahead(n))).collect());
            let both = |n: &u32| set.contains(*n) && set.contains(ahead(*n));
            let mut kept = NodeSet::full(len);
            prop_assert_eq!(kept.assign_kept_if_ahead(&set, group, by), (0..len).any(|n| both(&n)));
            same(&kept, &(0..len).filter(both).collect());
            let mut straight_on = NodeSet::empty(len);
            (0..len).filter(|n| n % group < group - by).for_each(|n| straight_on.insert(n));
            let mut kept = NodeSet::full(len);
            let any = kept.assign_kept_if_ahead_or_back(&set, by, group - by, &straight_on);
            prop_assert_eq!(any, (0..len).any(|n| both(&n)));
            same(&kept, &(0..len).filter(both).collect());
        }

        #[test]
        fn searches_agree_with_a_walk((set, Naive(nodes, len)) in sets()) {
            for start in 0..len {
                prop_assert_eq!(set.first_from(start), nodes.range(start..).next().copied());
                let run = (start..len).take_while(|n| nodes.contains(n)).count() as u32;
                prop_assert_eq!(set.run_length(start), run);
                prop_assert_eq!(set.contains(start), nodes.contains(&start));
            }
        }

        #[test]
        fn set_algebra(len in 1_u32..200, a in any::<[u64; 4]>(), b in any::<[u64; 4]>()) {
            let from = |bits: [u64; 4]| {
                let mut set = NodeSet::empty(len);
                (0..len).filter(|&n| bits[n as usize / 64] >> (n % 64) & 1 == 1).for_each(|n| set.insert(n));
                set
            };
            let (a, b) = (from(a), from(b));
            let (mut both, mut either, mut only) = (a.clone(), a.clone(), a.clone());
            both.intersect(&b);
            either.unite(&b);
            only.subtract(&b);
            prop_assert_eq!(both.count() + only.count(), a.count());
            prop_assert_eq!(either.count() + both.count(), a.count() + b.count());
            only.unite(&both);
            prop_assert_eq!(&only, &a);
            only.assign_complement(&a);
            prop_assert_eq!(only.count() + a.count(), len);
            only.intersect(&a);
            prop_assert!(only.is_empty());
        }
    }
}
