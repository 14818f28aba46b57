//! Builds topologies of base blocks, which are joined to larger blocks of the listed sizes.

use meshwork::alloc::listed::blocks::Blocks;
use meshwork::geometry::NodeSet;
use meshwork::topology::Node;

use super::{Builder, NamedNodes, Structure};
use crate::finding::Fatal;
use crate::topology::{NodeGroup, SlurmTopology};
use meshwork::job::hostlist::{compressed, names};

/// Highest possible level of a block. A block of level *n* consists of 2ⁿ base blocks.
const HIGHEST_LEVEL: u32 = 15;

impl Builder<'_> {
    pub(super) fn blocks(
        &mut self,
        topology: &SlurmTopology,
        sizes: Option<&(Vec<u32>, usize)>,
        blocks: &[NodeGroup],
    ) -> Result<Structure, Fatal> {
        let (mut base, mut levels) = (0, vec![0, 1, 2, 3]);
        if let Some((sizes, line)) = sizes {
            base = sizes[0];
            levels.clear();
            for &size in sizes {
                let level = size.checked_div(base).filter(|times| times.is_power_of_two());
                let level = level
                    .map(u32::ilog2)
                    .filter(|&level| size.is_multiple_of(base) && level <= HIGHEST_LEVEL);
                let Some(level) = level else {
                    let says = format!(
                        "the block size {size} is not the base size {base} times a power of two up to 2^{HIGHEST_LEVEL}"
                    );
                    let slurm =
                        format!("fatal: Invalid BlockSizes value in topology {}", topology.name);
                    return self.fatal(*line, says, &[&slurm]);
                };
                if levels.contains(&level) {
                    self.findings.warn(*line, format!("the block size {size} is listed twice"));
                } else if levels.last().is_some_and(|&last| last > level) {
                    self.findings
                        .warn(*line, format!("the block size {size} is listed after a larger one"));
                }
                levels.push(level);
            }
        }
        if blocks.is_empty() {
            let slurm = "fatal: No blocks configured, failed to create context for topology plugin";
            return self.fatal(topology.line, "this topology lists no blocks", &[slurm]);
        }
        let mut named: Vec<NamedNodes> = Vec::new();
        for block in blocks {
            let name = self.name("block", block.name.as_ref(), block.line)?.clone();
            let nodes = match &block.nodes {
                None => {
                    self.findings.warn(block.line, format!("the block {name} has no nodes"));
                    NodeSet::empty(self.hosts.count())
                }
                Some(list) => {
                    let names = names(&list.text).or_else(|says| {
                        let error = format!("error: hostlist_create on {} error:", list.text);
                        let slurm = format!(
                            "fatal: Invalid node name ({}) in block config ({name})",
                            list.text
                        );
                        self.fatal(list.line, says, &[&error, &slurm])
                    })?;
                    let nodes: Vec<Node> = self.nodes(&names).into_iter().flatten().collect();
                    self.set(&format!("the block {name}"), list.line, &nodes)
                }
            };
            if base == 0 {
                base = nodes.count();
            }
            named.push(NamedNodes { name, line: block.line, nodes });
        }
        if base == 0 {
            return self.fatal(topology.line, "no block has a node", &[]);
        }
        self.warn_of_blocks(topology, sizes, base, &levels, &named);
        let sets = named.iter().map(|block| block.nodes.clone()).collect();
        let blocks = Blocks::new(self.hosts.count(), base, &levels, sets);
        levels.push(0);
        levels.sort_unstable();
        levels.dedup();
        Ok(Structure::Block(blocks, named, base, levels))
    }

    fn warn_of_blocks(
        &mut self,
        topology: &SlurmTopology,
        sizes: Option<&(Vec<u32>, usize)>,
        base: u32,
        levels: &[u32],
        named: &[NamedNodes],
    ) {
        self.warn_of_nodes(topology, "block", "Blocks", &self.union(named));
        self.warn_of_unknown(topology, "block");
        self.warn_of_shared("block", named);
        let sized = |is: fn(&u32, &u32) -> bool| {
            let are = named
                .iter()
                .filter(|block| !block.nodes.is_empty() && is(&block.nodes.count(), &base));
            let names: Vec<&NamedNodes> = are.collect();
            let list = compressed(names.iter().map(|block| block.name.as_str()));
            names.first().map(|first| (first.line, list))
        };
        if let Some((line, list)) = sized(u32::lt) {
            let says = format!(
                "{list}: fewer nodes than the base size {base}, so jobs of whole blocks do not fit"
            );
            self.findings.warn(line, says);
        }
        if let Some((line, list)) = sized(u32::gt) {
            let says = format!(
                "{list}: more nodes than the base size {base}, so a job of all of them counts as one of two blocks"
            );
            self.findings.warn(line, says);
        }
        let Some((_, line)) = sizes else { return };
        let highest = levels.iter().copied().max().unwrap_or(0);
        let parts = (named.len() as u64).next_power_of_two();
        if 1_u64 << highest > parts {
            let size = u64::from(base) << highest;
            let says = format!(
                "the block size {size} is larger than the {} blocks that there are",
                named.len()
            );
            self.findings.warn(*line, says);
        }
        for level in levels.iter().copied().filter(|&level| level > 0) {
            let joined = 1_usize << level;
            if joined < named.len() && !named.len().is_multiple_of(joined) {
                let says = format!(
                    "{} blocks are no multiple of the {joined} that a block of {} joins: the last {} are joined alone",
                    named.len(),
                    u64::from(base) << level,
                    named.len() % joined
                );
                self.findings.warn(*line, says);
            }
        }
    }
}
