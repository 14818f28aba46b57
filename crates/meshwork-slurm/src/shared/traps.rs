//! Pitfalls of Slurm for jobs with GPUs or parts of nodes, found in the configuration files.

use std::collections::BTreeSet;

use meshwork::alloc::shared::SlurmNodeType;

use super::gres::GresLine;
use super::{SharedSite, params};
use crate::site::Reading;

/// Warns of problems in a `gres.conf`, and of effects on jobs that were observed with Slurm 26.05.
pub fn look(reading: &mut Reading, lines: &[GresLine]) {
    let mut findings = std::mem::take(&mut reading.findings);
    let partitions = reading.conf.iter().flat_map(|conf| &conf.partitions);
    let names: Vec<String> = partitions.map(|partition| partition.name.clone()).collect();
    for line in lines {
        for name in line.nodes.iter().flatten() {
            if reading.conf.is_some() && reading.hosts.find(name).is_none() {
                let says = format!("the node {name} is in no NodeName line of slurm.conf");
                findings.warn_gres(Some(line.line), says);
                break;
            }
        }
    }
    let sites: Vec<SharedSite> = names
        .iter()
        .filter_map(|name| match SharedSite::new(reading, lines, Some(name)) {
            Ok(site) => Some(site),
            Err(says) => {
                findings.warn_gres(None, format!("for the partition {name}: {says}"));
                None
            }
        })
        .collect();
    let types = || sites.iter().flat_map(|site| &site.machine.types);
    let counted = lines.iter().find(|line| line.model.is_none() && line.cores.is_none());
    if let Some(line) = counted.filter(|_| types().any(|kind| kind.is_counted)) {
        findings.warn_gres(
            Some(line.line),
            "these GPUs have neither Type= nor Cores=, so Slurm only counts them: a job with --gpus \
             may start with fewer GPUs than it asked for, and none is chosen near its cores",
        );
    }
    if let Some(line) = lines.iter().find(|line| line.links.is_some()) {
        findings.warn_gres(
            Some(line.line),
            "with Links= a job with --gres, --gpus-per-node or --gpus-per-task gets the worst \
             connected GPUs: leave Links= out, and it gets those of lowest index on its sockets",
        );
    }
    for line in lines {
        let Some(cores) = &line.cores else { continue };
        let own = |site: &SharedSite| {
            let first = line.nodes.as_ref().and_then(|nodes| nodes.first());
            let node = first.map_or(Some(0), |name| site.hosts.find(name));
            node.is_some_and(|node| {
                let kind = site.machine.node(node);
                let is_near = |socket: u32| cores.iter().any(|core| core / kind.cores == socket);
                kind.sockets > 1 && (0..kind.sockets).all(is_near)
            })
        };
        if sites.iter().any(own) {
            findings.warn_gres(
                Some(line.line),
                "Cores= has cores of every socket, so Slurm takes these GPUs to be near to none: \
                 write one line for the GPUs of each socket",
            );
        }
    }
    if types().any(|kind| !kind.gpus.is_empty() && !kind.is_counted) {
        findings.warn_gres(
            None,
            "a job of one node with --gpus or --gpus-per-task can wait although a node has its GPUs, \
             because Slurm adds up the GPUs of nodes that it has passed over: --gres=gpu:K does not",
        );
    }
    let divides = |kind: &SlurmNodeType| {
        let near: BTreeSet<u32> = kind.gpus.iter().filter_map(|gpus| gpus.near).collect();
        !kind.is_counted && near.len() > 1
    };
    if types().any(divides) {
        findings.warn_gres(
            None,
            "a job with --gres=gpu:1 gets a GPU of the socket with most free cores, which need not \
             be the GPU of lowest index",
        );
    }
    let spreads = |site: &SharedSite| {
        let has_gpus = |node: &u32| {
            let kind = site.machine.node(*node);
            !kind.gpus.is_empty() && !kind.is_counted
        };
        site.machine.whole.iter().filter(has_gpus).nth(2).is_some()
    };
    if sites.iter().any(spreads) {
        findings.warn_gres(
            None,
            "a job with --gpus=K whose CPUs need more than K + 1 nodes can get more than K GPUs: the \
             first nodes give all that were counted for them",
        );
    }
    if lines.iter().any(|line| line.model.is_some()) {
        findings.warn_gres(
            None,
            "--cpus-per-gpu sets no CPUs for --gpus-per-task with a type, such as a100:1: give -c too",
        );
    }
    if sites.iter().any(|site| site.machine.models.len() > 1) {
        findings.warn_gres(
            None,
            "there are GPUs of several types, and --gpus=K without a type can give one job GPUs and \
             nodes of different ones",
        );
    }
    let Some(conf) = &reading.conf else {
        reading.findings = findings;
        return;
    };
    let all: Vec<_> = conf
        .partitions
        .iter()
        .filter_map(|partition| params(conf, Some(partition)).ok().map(|own| (partition, own)))
        .collect();
    if let Some((partition, _)) = all.iter().find(|(_, own)| own.least_loaded) {
        let says = format!(
            "the least loaded nodes of {} (CR_LLN, LLN=YES) are not looked for by jobs of one node, \
             which go to the first node that holds them; jobs of several nodes book the CPUs of \
             another node than the chosen one",
            partition.name
        );
        findings.warn_conf(Some(partition.line), says);
    }
    if all.iter().any(|(_, own)| own.serial_at_end) {
        findings.warn_conf(
            None,
            "pack_serial_at_end does nothing for -n1, which is a job of one node: it goes to the \
             first node that holds it",
        );
    }
    if let Some((partition, own)) = all.iter().find(|(_, own)| own.mem_per_gpu > 0) {
        let says = format!(
            "DefMemPerGPU limits the GPUs of a node to its free memory by {} MB, even for a job with \
             --mem",
            own.mem_per_gpu
        );
        findings.warn_conf(Some(partition.line), says);
    }
    reading.findings = findings;
}
