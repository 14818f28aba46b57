//! Buddy system: blocks of 2ᵏ nodes whose first node is a multiple of their length.

use super::{free_subcubes, number};
use crate::alloc::{Allocator, AllocatorEntry, Ask, Claim, RecallError};
use crate::form::{Asks, Finds};
use crate::geometry::cube::{Subcube, keep_bases, parts};
use crate::job::Request;
use crate::machine::{Placement, Site};
use crate::registry::{About, Param, Words};
use crate::topology::{Node, Wiring};

/// Registry entry of the allocator `buddy`.
pub static ENTRY: AllocatorEntry = AllocatorEntry::new(
    About::new(
        "buddy",
        "aligned subcubes in the low dimensions, halved and merged with their buddies",
    )
    .definition(
        "A request is rounded up to 2ᵏ nodes, and gets a block that begins at a multiple of 2ᵏ: a \
         subcube of the k lowest dimensions. The smallest free block that is large enough is \
         halved until its size is right; the other halves, the buddies, are listed, and two free \
         buddies are one block again. As a bitmap, the lowest free aligned block is taken. It \
         recognises 2ⁿ⁻ᵏ of the subcubes of dimension k of an n-cube.",
    )
    .complexity(
        "With lists O(n) to halve and to merge, and one word for each 4096 blocks \
             that a list could hold to find the lowest in it; as a bitmap O(k · 2ⁿ / \
             64), and nothing is kept but which nodes are free.",
    )
    .source(
        "Knowlton, A fast storage allocator, CACM 8(10), 1965; Knuth, The Art of \
             Computer Programming, volume 1",
    )
    .params(&[
        Param::new("form", FORMS.kind()).is("\"lists\"").help(
            "lists of free blocks, where the smallest block that is large enough is halved; or \
                 a bitmap, where the lowest free block is taken",
        ),
        Param::new("order", ORDERS.kind()).is("\"address\"").help(
            "which block of a list is taken: the lowest, or the one listed last; a bitmap \
                 takes the lowest in any case",
        ),
    ]),
    |params, topology| {
        let dimension = topology.grid().dimensions() as u32;
        Ok(match (params.meaning("form", &FORMS), params.meaning("order", &ORDERS)) {
            (Form::Bitmap, _) => Box::new(Bitmap { dimension, buffer: Vec::new() }),
            (Form::Lists, Order::Recent) => Box::new(Buddy::<Stacks>::new(dimension)),
            (Form::Lists, Order::Address) => Box::new(Buddy::<Sorted>::new(dimension)),
        })
    },
)
.serves(&[Wiring::Hypercube])
.asks(Asks::Subcube)
.finds(Finds::SomeBlocks)
.contiguous(true);

#[derive(Clone, Copy)]
enum Form {
    Lists,
    Bitmap,
}

static FORMS: Words<Form, 2> = Words::new([("lists", Form::Lists), ("bitmap", Form::Bitmap)]);

#[derive(Clone, Copy)]
enum Order {
    Address,
    Recent,
}

static ORDERS: Words<Order, 2> =
    Words::new([("address", Order::Address), ("recent", Order::Recent)]);

#[derive(Clone)]
struct Bitmap {
    dimension: u32,
    buffer: Vec<u64>,
}

impl Allocator for Bitmap {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: &Request::Subcube(k), site, .. } = ask else { return None };
        if k > self.dimension {
            return None;
        }
        let mask = (1 << k) - 1;
        self.buffer.clear();
        self.buffer.extend_from_slice(site.free().words());
        keep_bases(&mut self.buffer, mask);
        let word = self.buffer.iter().position(|&word| word != 0)?;
        let base = word as u32 * 64 + self.buffer[word].trailing_zeros();
        Some(Subcube { base, mask }.block(self.dimension).into())
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

/// Buddy system with a list of free blocks for each dimension.
///
/// The lists always contain the largest aligned free blocks. If nodes are claimed that this
/// allocator did not propose, they are carved out of the free blocks that contain them.
#[derive(Clone)]
struct Buddy<L> {
    dimension: u32,
    lists: L,
}

/// Lists of aligned free blocks, one for each dimension *k* of blocks.
///
/// The block with the number `index` in the list of dimension *k* begins at the node `index` · 2ᵏ.
trait BlockLists: Send + Clone + 'static {
    fn empty(dimension: u32) -> Self;
    /// Bit set of the dimensions for which the lists contain a block.
    fn filled(&self) -> u32;
    /// Number of the block that is taken first from the list of a dimension; `None` if it is empty.
    fn first(&self, dimension: u32) -> Option<u32>;
    fn insert(&mut self, dimension: u32, index: u32);
    /// Removes a block from its list; returns whether it was there.
    fn remove(&mut self, dimension: u32, index: u32) -> bool;
    /// All blocks, ordered such that inserting them one by one restores the lists.
    ///
    /// The result is empty if the lists do not depend on the order of insertion.
    fn in_order(&self) -> Vec<Subcube> {
        Vec::new()
    }
}

fn aligned(dimension: u32, base: Node) -> Subcube {
    Subcube { base, mask: (1 << dimension) - 1 }
}

impl<L: BlockLists> Buddy<L> {
    fn new(dimension: u32) -> Buddy<L> {
        let mut lists = L::empty(dimension);
        lists.insert(dimension, 0);
        Buddy { dimension, lists }
    }

    fn claim(&mut self, base: Node, dimension: u32) {
        let mut j = dimension;
        while !self.lists.remove(j, base >> j) {
            j += 1;
            debug_assert!(j <= self.dimension, "a node is claimed that is not free");
        }
        while j > dimension {
            j -= 1;
            self.lists.insert(j, base >> j ^ 1);
        }
    }

    fn give_back(&mut self, base: Node, dimension: u32) {
        let mut k = dimension;
        while k < self.dimension && self.lists.remove(k, base >> k ^ 1) {
            k += 1;
        }
        self.lists.insert(k, base >> k);
    }
}

impl<L: BlockLists> Allocator for Buddy<L> {
    fn choose(&mut self, ask: Ask<'_>) -> Option<Placement> {
        let Ask { request: &Request::Subcube(k), .. } = ask else { return None };
        let large_enough = self.lists.filled().checked_shr(k).unwrap_or(0);
        if large_enough == 0 {
            return None;
        }
        let j = k + large_enough.trailing_zeros();
        let base = self.lists.first(j)? << j;
        Some(aligned(k, base).block(self.dimension).into())
    }

    fn claimed(&mut self, placement: &Placement, _site: &Site, _claim: Claim) {
        for_each_aligned_block(placement, |base, dimension| self.claim(base, dimension));
    }

    fn released(&mut self, placement: &Placement, _site: &Site) {
        for_each_aligned_block(placement, |base, dimension| self.give_back(base, dimension));
    }

    fn memory(&self) -> Vec<u64> {
        self.lists.in_order().into_iter().map(number).collect()
    }

    fn recall(&mut self, memory: &[u64], site: &Site) -> Result<(), RecallError> {
        // Lists ordered by address are restored by the claims.
        if self.lists.in_order().is_empty() && memory.is_empty() {
            return Ok(());
        }
        let cubes = free_subcubes(memory, site)?;
        self.lists = L::empty(self.dimension);
        for cube in cubes {
            let dimension = cube.dimension();
            if cube.mask != (1 << dimension) - 1 {
                return Err(RecallError::NotAligned);
            }
            self.lists.insert(dimension, cube.base >> dimension);
        }
        Ok(())
    }

    fn fork(&self) -> Box<dyn Allocator> {
        Box::new(self.clone())
    }
}

/// Visits the aligned blocks into which the subcubes of a placement can be divided.
///
/// The arguments of `visit` are the first node and the dimension of a block. The dimension is the
/// largest *k* for which the subcube extends along all of the *k* lowest dimensions. There is one
/// block for each combination of coordinates in the other dimensions of the subcube.
fn for_each_aligned_block(placement: &Placement, mut visit: impl FnMut(Node, u32)) {
    for block in &placement.blocks {
        let cube = Subcube::of(block);
        let dimension = cube.mask.trailing_ones();
        let above = cube.mask >> dimension << dimension;
        if above == 0 {
            visit(cube.base, dimension);
            continue;
        }
        parts(above).for_each(|part| visit(cube.base | part, dimension));
    }
}

/// Lists in which the block at the lowest address is taken first, stored as one bitmap per
/// dimension.
#[derive(Clone)]
struct Sorted {
    lists: Vec<BlockSet>,
    filled: u32,
}

#[derive(Clone, Default)]
struct BlockSet {
    words: Vec<u64>,
    /// One bit for each word of the set: 1 if the word is not 0.
    summary: Vec<u64>,
    count: u32,
}

impl BlockLists for Sorted {
    fn empty(dimension: u32) -> Sorted {
        let list = |k: u32| {
            let words = 1_usize << (dimension - k).saturating_sub(6);
            BlockSet { words: vec![0; words], summary: vec![0; words.div_ceil(64)], count: 0 }
        };
        Sorted { lists: (0..=dimension).map(list).collect(), filled: 0 }
    }

    fn filled(&self) -> u32 {
        self.filled
    }

    fn first(&self, dimension: u32) -> Option<u32> {
        let list = &self.lists[dimension as usize];
        let lowest = |words: &[u64], from: usize| {
            let word = words[from..].iter().position(|&word| word != 0)? + from;
            Some(word as u32 * 64 + words[word].trailing_zeros())
        };
        let word = lowest(&list.summary, 0)?;
        lowest(&list.words, word as usize)
    }

    #[inline]
    fn insert(&mut self, dimension: u32, index: u32) {
        let list = &mut self.lists[dimension as usize];
        list.words[index as usize / 64] |= 1 << (index % 64);
        list.summary[index as usize / 4096] |= 1 << (index / 64 % 64);
        list.count += 1;
        self.filled |= 1 << dimension;
    }

    fn remove(&mut self, dimension: u32, index: u32) -> bool {
        let list = &mut self.lists[dimension as usize];
        let word = &mut list.words[index as usize / 64];
        if *word >> (index % 64) & 1 == 0 {
            return false;
        }
        *word &= !(1 << (index % 64));
        if *word == 0 {
            list.summary[index as usize / 4096] &= !(1 << (index / 64 % 64));
        }
        list.count -= 1;
        if list.count == 0 {
            self.filled &= !(1 << dimension);
        }
        true
    }
}

/// Stacks of free blocks, one for each dimension: the block that was inserted last is taken first.
#[derive(Clone)]
struct Stacks {
    /// For each stack, the first node of its top block, which was inserted last.
    ///
    /// The index of a stack is the dimension of its blocks. An empty stack has [`NONE`].
    heads: Vec<u32>,
    /// For each node, the block that begins there and is in one of the lists of free blocks.
    blocks: Vec<Listed>,
    filled: u32,
}

#[derive(Clone, Copy)]
struct Listed {
    /// Dimension of the block; [`NONE`] if no block in a list begins at this node.
    dimension: u32,
    newer: u32,
    older: u32,
}

const NONE: u32 = u32::MAX;

impl BlockLists for Stacks {
    fn empty(dimension: u32) -> Stacks {
        let nothing = Listed { dimension: NONE, newer: NONE, older: NONE };
        let blocks = vec![nothing; 1 << dimension];
        Stacks { heads: vec![NONE; dimension as usize + 1], blocks, filled: 0 }
    }

    fn in_order(&self) -> Vec<Subcube> {
        let older = |&base: &u32| Some(self.blocks[base as usize].older).filter(|&b| b != NONE);
        let list = |(k, &head): (usize, &u32)| {
            let newest = Some(head).filter(|&head| head != NONE);
            let mut list: Vec<Subcube> =
                std::iter::successors(newest, older).map(|base| aligned(k as u32, base)).collect();
            list.reverse();
            list
        };
        self.heads.iter().enumerate().flat_map(list).collect()
    }

    fn filled(&self) -> u32 {
        self.filled
    }

    fn first(&self, dimension: u32) -> Option<u32> {
        let base = self.heads[dimension as usize];
        (base != NONE).then_some(base >> dimension)
    }

    fn insert(&mut self, dimension: u32, index: u32) {
        let base = index << dimension;
        let older = std::mem::replace(&mut self.heads[dimension as usize], base);
        self.blocks[base as usize] = Listed { dimension, newer: NONE, older };
        if older != NONE {
            self.blocks[older as usize].newer = base;
        }
        self.filled |= 1 << dimension;
    }

    fn remove(&mut self, dimension: u32, index: u32) -> bool {
        let block = &mut self.blocks[(index << dimension) as usize];
        if block.dimension != dimension {
            return false;
        }
        let Listed { newer, older, .. } = *block;
        block.dimension = NONE;
        if older != NONE {
            self.blocks[older as usize].newer = newer;
        }
        if newer != NONE {
            self.blocks[newer as usize].older = older;
        } else {
            self.heads[dimension as usize] = older;
            if older == NONE {
                self.filled &= !(1 << dimension);
            }
        }
        true
    }
}
