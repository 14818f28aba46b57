//! Types of the nodes that jobs share, and the counters (cells) of a node's free resources.

use std::sync::Arc;

use super::{Node, Topology};
use crate::job::{Piece, Pieces, WHOLE_SHARE};
use crate::registry::did_you_mean;

/// Type of nodes: the amounts of resources that each node of the type has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeType {
    /// Name of this type of nodes.
    pub name: String,
    /// Number of cores of a node.
    pub cpu: u32,
    /// Memory of a node in MiB.
    pub mem: u32,
    /// Number of GPUs of a node.
    pub gpu: u32,
    /// Amount of the resource `other`, whose meaning is left to the author of the study.
    pub other: u32,
    /// Number of equal islands, such as sockets, among which cores and GPUs are divided.
    pub islands: u32,
    /// Type of the node's GPUs; `None` if this type has the same name as the type of the node.
    pub gpu_type: Option<String>,
    /// Names of features. A job can ask for nodes that have a feature.
    pub features: Vec<String>,
    /// Weight of a node of this type. Some allocators prefer nodes of lower weight.
    pub weight: u32,
}

/// Index of the memory among the cells (counters of free resources) of a node.
pub const MEM: usize = 0;

/// Index of the resource `other` among the cells (counters of free resources) of a node.
pub const OTHER: usize = 1;

/// Index of the first island's cores among the cells (counters of free resources) of a node.
pub const CORES: usize = 2;

/// Value of a tally (a cell that counts running pieces of jobs) while no piece runs. Each running
/// piece subtracts 1.
const TALLY: u32 = 1 << 30;

impl NodeType {
    /// Index of the first GPU among the cells (counters of free resources) of a node.
    #[must_use]
    pub fn gpus_from(&self) -> usize {
        CORES + self.islands as usize
    }

    /// Index of the first tally among a node's cells. A tally is a counter of running pieces of
    /// jobs.
    ///
    /// The first tally counts pieces that share a GPU. Then follow the tallies of pieces with 1, 2,
    /// … GPUs.
    #[must_use]
    pub fn tallies_from(&self) -> usize {
        self.gpus_from() + self.gpu as usize
    }

    /// The cells of an idle node: memory, `other`, cores, GPUs, and tallies of running pieces.
    ///
    /// There is a cell for the cores of each island, and one for the thousandths of each GPU. A
    /// tally counts the running pieces of jobs that have a certain number of GPUs.
    #[must_use]
    pub fn idle(&self) -> Vec<u32> {
        let mut cells = vec![self.mem, self.other];
        cells.resize(self.gpus_from(), self.cpu / self.islands);
        cells.resize(self.tallies_from(), WHOLE_SHARE);
        if self.gpu > 0 {
            cells.resize(self.tallies_from() + self.gpu as usize + 1, TALLY);
        }
        cells
    }

    /// Number of running pieces of jobs that a tally counts if its value is `cell`.
    #[must_use]
    pub fn tallied(cell: u32) -> u32 {
        TALLY - cell
    }

    /// Index of the island to which a GPU belongs.
    #[must_use]
    pub fn island_of(&self, gpu: u32) -> u32 {
        gpu / (self.gpu / self.islands)
    }

    /// Amount of GPUs in `part`, a part of a node of this type, in thousandths of a GPU.
    #[must_use]
    pub fn gpu_shares(&self, part: &[(u16, u32)]) -> u64 {
        let gpus = self.gpus_from()..self.tallies_from();
        let own = part.iter().filter(|(cell, _)| gpus.contains(&(*cell as usize)));
        own.map(|(_, share)| u64::from(*share)).sum()
    }

    /// Type of the GPUs of these nodes; the name of the node type if no GPU type is given.
    #[must_use]
    pub fn gpu_model(&self) -> &str {
        self.gpu_type.as_deref().unwrap_or(&self.name)
    }

    /// Whether a piece of a job allows nodes of this type. A piece without types allows every node.
    ///
    /// A piece allows types by the name of the node type, of its GPU type or of a feature; `*`
    /// allows every type. Amounts of resources are not compared.
    #[must_use]
    pub fn suits(&self, piece: &Piece) -> bool {
        let is_one = |word: &str| {
            word == "*"
                || word == self.name
                || (self.gpu > 0 && word == self.gpu_model())
                || self.features.iter().any(|feature| feature == word)
        };
        piece.types.as_ref().is_none_or(|types| types.split('|').any(|word| is_one(word.trim())))
    }

    /// Whether an idle node of this type has the amounts that a piece asks for.
    #[must_use]
    pub fn holds(&self, piece: &Piece) -> bool {
        self.lack(piece) == 0
    }

    /// Resources that an idle node of this type lacks for a piece; 0 if it can hold the piece. The
    /// result is in thousandths of the requested amounts, summed over resources.
    fn lack(&self, piece: &Piece) -> u64 {
        let asked = [
            (piece.cpu, self.cpu),
            (piece.mem, self.mem),
            (piece.gpu, self.gpu),
            (piece.other, self.other),
        ];
        let lack = |(asked, own): (u32, u32)| {
            let less = u64::from(asked.saturating_sub(own));
            if less == 0 { 0 } else { 1 + less * 1000 / u64::from(asked) }
        };
        asked.into_iter().map(lack).sum()
    }

    /// The amounts of a node in words, as in `128 cores, 2000000 MiB and 8 GPUs`.
    #[must_use]
    pub fn in_words(&self) -> String {
        words_of([self.cpu, self.mem, self.gpu, self.other], &self.gpu.to_string())
    }
}

/// Amounts of resources in words. Cores are always named; memory, GPUs and `other` only if above 0.
fn words_of([cpu, mem, gpu, other]: [u32; 4], gpus: &str) -> String {
    let plural = |count: u32| if count == 1 { "" } else { "s" };
    let mut words = vec![format!("{cpu} core{}", plural(cpu))];
    if mem > 0 {
        words.push(format!("{mem} MiB"));
    }
    if gpu > 0 {
        words.push(format!("{gpus} GPU{}", if gpus == "1" { "" } else { "s" }));
    }
    if other > 0 {
        words.push(format!("{other} of `other`"));
    }
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} and {last}", words.join(", ")) }
}

/// The amounts of resources that one piece of a job asks for, in words.
#[must_use]
pub fn piece_in_words(piece: &Piece) -> String {
    words_of([piece.cpu, piece.mem, piece.gpu, piece.other], &piece.gpus_text())
}

/// The type of each node of a site, and which cells (counters of free resources) each node has.
///
/// The cells of all nodes are in one array.
#[derive(Debug, PartialEq, Eq)]
pub struct NodeTypes {
    types: Vec<NodeType>,
    of: Vec<u16>,
    /// Index of the first counter of each node's resources. The last entry is the number of
    /// counters.
    starts: Vec<u32>,
    cores: u64,
}

impl NodeTypes {
    /// Creates the types of all nodes of a site. `of` has the index in `types` for each node.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn new(types: Vec<NodeType>, of: Vec<u16>) -> Arc<NodeTypes> {
        let mut starts = Vec::with_capacity(of.len() + 1);
        let (mut at, mut cores) = (0, 0);
        let sizes: Vec<u32> = types.iter().map(|kind| kind.idle().len() as u32).collect();
        for &kind in &of {
            starts.push(at);
            at += sizes[kind as usize];
            cores += u64::from(types[kind as usize].cpu);
        }
        starts.push(at);
        Arc::new(NodeTypes { types, of, starts, cores })
    }

    /// The types of nodes of all sites together; `None` if nodes have no types.
    ///
    /// With a single site, the result also has the type of each node. With several sites, it has no
    /// nodes.
    #[must_use]
    pub fn of_sites(sites: &[Topology]) -> Option<Arc<NodeTypes>> {
        if let [only] = sites {
            return only.types().cloned();
        }
        let mut all: Vec<NodeType> = Vec::new();
        for kind in sites.iter().filter_map(Topology::types).flat_map(|types| &types.types) {
            if !all.contains(kind) {
                all.push(kind.clone());
            }
        }
        (!all.is_empty()).then(|| NodeTypes::new(all, Vec::new()))
    }

    /// Total amounts of all nodes of all sites, in the order of [`totals`](NodeTypes::totals).
    #[must_use]
    pub fn totals_of(sites: &[Topology]) -> [u64; 4] {
        let each = sites.iter().filter_map(Topology::types).map(|types| types.totals());
        each.fold([0; 4], |sums, own| std::array::from_fn(|at| sums[at] + own[at]))
    }

    /// The types of nodes of the site.
    #[must_use]
    pub fn types(&self) -> &[NodeType] {
        &self.types
    }

    /// Number of nodes of the site.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.of.len() as u32
    }

    /// Number of cores of all nodes together.
    #[must_use]
    pub fn cores(&self) -> u64 {
        self.cores
    }

    /// Index of a node's type in the list that [`types`](NodeTypes::types) returns.
    #[must_use]
    #[inline]
    pub fn index(&self, node: Node) -> usize {
        self.of[node as usize] as usize
    }

    /// The type of a node.
    #[must_use]
    #[inline]
    pub fn of(&self, node: Node) -> &NodeType {
        &self.types[self.index(node)]
    }

    /// Range of indices of a node's cells (resource amounts) among the cells of all nodes.
    #[must_use]
    #[inline]
    pub fn cells(&self, node: Node) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    /// Total amounts of all nodes together: cores, memory, GPUs and the resource `other`.
    #[must_use]
    pub fn totals(&self) -> [u64; 4] {
        let mut totals = [0; 4];
        for &kind in &self.of {
            let own = &self.types[kind as usize];
            for (total, own) in totals.iter_mut().zip([own.cpu, own.mem, own.gpu, own.other]) {
                *total += u64::from(own);
            }
        }
        totals
    }

    /// The reason why some piece of a request fits on no idle node; `None` if every piece fits on
    /// one.
    ///
    /// The reason is one sentence without a full stop.
    #[must_use]
    pub fn never(&self, request: &Pieces) -> Option<String> {
        for piece in &request.roles {
            let suiting = || self.types.iter().filter(|kind| kind.suits(piece));
            if suiting().any(|kind| kind.holds(piece)) {
                continue;
            }
            let of_type = piece
                .types
                .as_ref()
                .map_or_else(String::new, |types| format!(" of type `{types}`"));
            let asked = piece_in_words(piece);
            return Some(match suiting().min_by_key(|kind| kind.lack(piece)) {
                Some(nearest) => format!(
                    "no node{of_type} has {asked}: the nearest type, `{}`, has {}",
                    nearest.name,
                    nearest.in_words()
                ),
                None => format!("no node is{of_type}"),
            });
        }
        None
    }

    /// Words by which a request can name nodes: types of nodes and of GPUs, and features.
    fn words(&self) -> Vec<&str> {
        let mut words: Vec<&str> = self.types.iter().map(|kind| kind.name.as_str()).collect();
        let with_gpus = self.types.iter().filter(|kind| kind.gpu > 0);
        let features = self.types.iter().flat_map(|kind| &kind.features).map(String::as_str);
        for word in with_gpus.map(NodeType::gpu_model).chain(features) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words
    }

    /// Checks the types of nodes that a request names.
    ///
    /// # Errors
    /// If the request names a type that no node has. If it asks for GPUs without naming their type,
    /// and nodes have several types of GPUs. The error is the end of a sentence, such as "wants
    /// nodes of type …", to which the caller adds the subject.
    pub fn check(&self, request: &Pieces) -> Result<(), String> {
        for piece in &request.roles {
            match &piece.types {
                Some(types) => {
                    let word = Piece { types: None, ..piece.clone() };
                    let is_known = |one: &str| {
                        let named = Piece { types: Some(one.to_owned()), ..word.clone() };
                        self.types.iter().any(|kind| kind.suits(&named))
                    };
                    if let Some(unknown) = types.split('|').find(|one| !is_known(one)) {
                        let unknown = unknown.trim();
                        return Err(format!(
                            "wants nodes of type `{unknown}`, which no node has ({})",
                            did_you_mean(unknown, &self.words())
                        ));
                    }
                }
                None if piece.gpu > 0 => {
                    let mut models: Vec<&str> = self
                        .types
                        .iter()
                        .filter(|kind| kind.gpu > 0)
                        .map(NodeType::gpu_model)
                        .collect();
                    models.sort_unstable();
                    models.dedup();
                    if models.len() > 1 {
                        return Err(format!(
                            "wants GPUs and does not say which, but there are {}: give their `type`, or several \
                             as in `{}`",
                            models.join(" and "),
                            models.join("|")
                        ));
                    }
                }
                None => {}
            }
        }
        Ok(())
    }
}
