//! Allocates parts of nodes to jobs, in a partition whose nodes jobs share.

use std::collections::BTreeMap;

use meshwork::alloc::shared::{SharedBook, SharedDecision, SharedGrant, SharedRequest};
use meshwork::geometry::NodeSet;
use serde_json::{Value as Json, json};

use super::SharedSite;

#[derive(Clone, Debug)]
pub struct SharedAllocator<K: Ord> {
    site: SharedSite,
    book: SharedBook,
    held: BTreeMap<K, Vec<SharedGrant>>,
}

impl<K: Ord> SharedAllocator<K> {
    pub fn new(site: SharedSite) -> SharedAllocator<K> {
        let book = SharedBook::new(&site.machine);
        SharedAllocator { site, book, held: BTreeMap::new() }
    }

    pub fn site(&self) -> &SharedSite {
        &self.site
    }

    pub fn holds(&self, name: &K) -> bool {
        self.held.contains_key(name)
    }

    pub fn held(&self) -> impl Iterator<Item = (&K, &[SharedGrant])> {
        self.held.iter().map(|(name, grants)| (name, &grants[..]))
    }

    /// Decision on a request in the current state. It allocates nothing.
    pub fn ask(&mut self, request: &SharedRequest) -> SharedDecision {
        self.book.decide(&self.site.machine, request)
    }

    /// Decides on a request by [`ask`](SharedAllocator::ask), and allocates the chosen parts of
    /// nodes.
    ///
    /// If the job holds other parts already, it gives them back.
    pub fn allocate(&mut self, name: K, request: &SharedRequest) -> SharedDecision {
        let decision = self.ask(request);
        if let SharedDecision::Start { grants, .. } = &decision {
            self.release(&name);
            grants.iter().for_each(|grant| self.book.take(grant));
            self.held.insert(name, grants.clone());
        }
        decision
    }

    pub fn release(&mut self, name: &K) -> Option<u32> {
        let grants = self.held.remove(name)?;
        grants.iter().for_each(|grant| self.book.give_back(grant));
        Some(grants.len() as u32)
    }

    pub fn idle(&self) -> u32 {
        let machine = &self.site.machine;
        machine.up.iter().filter(|&node| self.book.holdings().is_idle(machine, node)).count() as u32
    }

    pub fn json(&self, request: &SharedRequest, decision: &SharedDecision) -> Json {
        match decision {
            SharedDecision::Wait => json!({ "wait": true }),
            SharedDecision::Never(reason) => json!({ "never": true, "reason": reason }),
            SharedDecision::Start { tasks, grants } => {
                let cpus: u32 = grants.iter().map(|grant| grant.cpus).sum();
                let mut on: Vec<(NodeSet, Json)> = Vec::new();
                let mut all = NodeSet::empty(self.site.hosts.count());
                for grant in grants {
                    all.insert(grant.node);
                    let part = json!({
                        "cores": ranges(grant.cores.iter()), "mem": grant.memory,
                        "gres": self.gres(request, grant)
                    });
                    match on.iter_mut().find(|(_, other)| *other == part) {
                        Some((nodes, _)) => nodes.insert(grant.node),
                        None => {
                            let mut nodes = NodeSet::empty(self.site.hosts.count());
                            nodes.insert(grant.node);
                            on.push((nodes, part));
                        }
                    }
                }
                let on = on.into_iter().map(|(nodes, part)| {
                    json!({
                        "nodes": self.site.hosts.bracketed(&nodes), "cores": part["cores"],
                        "mem": part["mem"], "gres": part["gres"]
                    })
                });
                json!({
                    "nodes": self.site.hosts.bracketed(&all), "tasks": tasks, "cpus": cpus,
                    "on": on.collect::<Vec<_>>()
                })
            }
        }
    }

    /// GPUs of a job on one node, in the notation of `scontrol -d show job`.
    fn gres(&self, request: &SharedRequest, grant: &SharedGrant) -> String {
        let kind = self.site.machine.node(grant.node);
        let asked = [request.gpus, request.gpus_per_node, request.gpus_per_task];
        let asked = asked.into_iter().flatten().next();
        if grant.gpus == 0 && asked.is_none() || kind.gpus.is_empty() {
            return String::new();
        }
        let is_whole = grant.gpus == kind.all_gpus();
        let wanted =
            asked.and_then(|gpus| gpus.model).filter(|_| !is_whole || kind.gpus.is_empty());
        let mut parts: Vec<(Option<u16>, u64)> = Vec::new();
        for record in &kind.gpus {
            if wanted.is_some() && record.model != wanted {
                continue;
            }
            match parts.iter_mut().find(|(model, _)| *model == record.model) {
                Some((_, gpus)) => *gpus |= record.gpus & grant.gpus,
                None => parts.push((record.model, record.gpus & grant.gpus)),
            }
        }
        let part = |(model, gpus): &(Option<u16>, u64)| {
            let name = model.map_or_else(String::new, |model| {
                format!("{}:", self.site.machine.models[model as usize])
            });
            let set = (0..64).filter(|gpu| gpus >> gpu & 1 == 1);
            format!("{name}{}(IDX:{})", gpus.count_ones(), ranges(set))
        };
        parts.iter().map(part).collect::<Vec<_>>().join(",")
    }
}

/// Ascending numbers in the notation `0-15,32`.
fn ranges(numbers: impl Iterator<Item = u32>) -> String {
    let numbers: Vec<u32> = numbers.collect();
    let ranges = numbers.chunk_by(|a, b| a + 1 == *b).map(|range| match range {
        [only] => only.to_string(),
        range => format!("{}-{}", range[0], range[range.len() - 1]),
    });
    ranges.collect::<Vec<String>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::options;
    use crate::site::{SlurmFiles, read_texts};

    #[test]
    fn a_name_that_holds_parts_gives_them_back_for_new_ones() {
        let conf = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
                    NodeName=n[0-1] CPUs=4\nPartitionName=p Nodes=n[0-1] Default=YES\n";
        let flat = "- topology: t\n  cluster_default: true\n  flat: true\n";
        let files = SlurmFiles { conf: Some("slurm.conf".to_owned()), ..SlurmFiles::default() };
        let reading = read_texts(files, flat, Some(conf), &mut |_| Err(String::new()));
        let mut desk = SharedAllocator::new(SharedSite::new(&reading, &[], None).unwrap());
        let one = options::read("-n4", desk.site()).unwrap();
        for _ in 0..3 {
            assert!(matches!(desk.allocate("a", &one), SharedDecision::Start { .. }));
            assert_eq!(desk.idle(), 1);
        }
        assert_eq!(desk.release(&"a"), Some(1));
        assert_eq!(desk.idle(), 2);
    }
}
