//! What the running jobs hold of each node.

use super::cores::CoreSet;
use super::machine::SharedMachine;

/// What a job holds of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedGrant {
    /// Number of the node.
    pub node: u32,
    /// Cores.
    pub cores: CoreSet,
    /// CPUs charged to the job.
    pub cpus: u32,
    /// Memory in MB.
    pub memory: u64,
    /// GPUs by index, as bits.
    pub gpus: u64,
}

/// What is free of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Free {
    pub cores: CoreSet,
    pub core_count: u32,
    pub gpus: u64,
    /// Memory in use.
    pub memory_used: u64,
}

/// What is free of each node of a machine.
#[derive(Clone, Debug)]
pub struct Holdings {
    free: Vec<Free>,
}

impl Holdings {
    /// A machine without jobs.
    #[must_use]
    pub fn idle(machine: &SharedMachine) -> Holdings {
        let free = |node: u32| {
            let kind = machine.node(node);
            Free {
                cores: CoreSet::full(kind.all_cores()),
                core_count: kind.all_cores(),
                gpus: kind.all_gpus(),
                memory_used: 0,
            }
        };
        Holdings { free: (0..machine.count()).map(free).collect() }
    }

    pub(super) fn of(&self, node: u32) -> &Free {
        &self.free[node as usize]
    }

    /// Books a grant.
    pub fn take(&mut self, grant: &SharedGrant) {
        let free = &mut self.free[grant.node as usize];
        free.cores.subtract(&grant.cores);
        free.core_count -= grant.cores.count();
        free.gpus &= !grant.gpus;
        free.memory_used += grant.memory;
    }

    /// Gives a grant back.
    pub fn give_back(&mut self, grant: &SharedGrant) {
        let free = &mut self.free[grant.node as usize];
        free.cores.unite(&grant.cores);
        free.core_count += grant.cores.count();
        free.gpus |= grant.gpus;
        free.memory_used -= grant.memory;
    }

    /// Whether no job holds any part of a node.
    #[must_use]
    pub fn is_idle(&self, machine: &SharedMachine, node: u32) -> bool {
        let (free, kind) = (self.of(node), machine.node(node));
        free.core_count == kind.all_cores() && free.gpus == kind.all_gpus()
    }
}
