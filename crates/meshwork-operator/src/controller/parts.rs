//! Parts of nodes (cores, memory, GPUs) that running jobs hold and that waiting jobs request.

use std::cell::RefCell;
use std::collections::BTreeMap;

use meshwork::alloc::shared::{Holdings, NearGpus, SharedGrant, SharedLookup, SharedRequest};
use meshwork::geometry::NodeSet;

use super::rules::SiteRules;
use meshwork_lab::slurm::folder::SlurmMachine;
use meshwork_slurm::history::JobRecord;
use meshwork_slurm::shared::{SharedSite, options};

/// Request for parts of nodes, prepared for one partition.
#[derive(Clone, Debug)]
pub(super) struct PartsRequest {
    pub(super) lookup: SharedLookup,
    named: NodeSet,
    processors: u32,
}

#[derive(Clone, Debug)]
pub(super) struct PartsDesk {
    sites: Vec<SharedSite>,
    holdings: Holdings,
    held: BTreeMap<usize, Vec<SharedGrant>>,
    /// Node weights: for each node, number of its GPUs near the cores that the last search
    /// examined.
    near: RefCell<NearGpus>,
    /// Last submitted job without GPUs and last one with GPUs, each with its partition.
    last: [Option<(usize, PartsRequest)>; 2],
}

impl PartsDesk {
    /// Creates the allocator of an idle machine on which jobs share nodes.
    ///
    /// `None` if no jobs share nodes, or shared nodes are not modelled.
    pub(super) fn of(
        machine: &SlurmMachine,
        rules: &SiteRules,
        stays: &[JobRecord],
    ) -> Option<PartsDesk> {
        if !stays.iter().any(|stay| machine.shares_nodes(stay)) {
            return None;
        }
        let parts = machine.parts().ok()?;
        let site = |own: &super::rules::PartitionRules| parts.get(&own.name).cloned();
        let sites: Vec<SharedSite> = rules.partitions.iter().map(site).collect::<Option<_>>()?;
        let holdings = Holdings::idle(&sites.first()?.machine);
        let near = RefCell::new(NearGpus::none(&sites[0].machine));
        Some(PartsDesk { sites, holdings, held: BTreeMap::new(), near, last: [None, None] })
    }

    pub(super) fn request(&self, partition: usize, stay: &JobRecord) -> Option<PartsRequest> {
        let site = &self.sites[partition];
        let request = request(site, stay);
        let lookup = SharedLookup::new(&site.machine, &self.holdings, &request).ok()?;
        let mut named = NodeSet::full(site.hosts.count());
        let required = meshwork_slurm::hostlist::names(&stay.require).unwrap_or_default();
        if required.len() as u32 >= lookup.min_nodes() && !required.is_empty() {
            named.clear();
            required
                .iter()
                .filter_map(|name| site.hosts.find(name))
                .for_each(|node| named.insert(node));
        }
        Some(PartsRequest { lookup, named, processors: stay.processors })
    }

    /// Nodes outside of the set `kept` that the main scheduler finds for a job. If it finds none,
    /// it tests, as Slurm does, whether the job could ever start. This test changes the node
    /// weights.
    pub(super) fn select(
        &self,
        partition: usize,
        request: &PartsRequest,
        kept: &NodeSet,
    ) -> Option<NodeSet> {
        self.near.borrow_mut().forget(request.lookup.pool());
        let found = self.find(partition, request, kept);
        if found.is_none() {
            let mut open = request.named.clone();
            open.subtract(kept);
            self.ask_ever(partition, request, &open);
        }
        found
    }

    pub(super) fn submit(&mut self, partition: usize, request: &PartsRequest) {
        self.near.borrow_mut().forget(request.lookup.pool());
        self.ask_ever(partition, request, &request.named);
        self.last[usize::from(request.lookup.asks_for_gpus())] = Some((partition, request.clone()));
    }

    /// Submits again the last submitted job with or without GPUs, to change the node weights.
    ///
    /// The job is one with GPUs if `with_gpus` is set. If there is no such job, nothing changes.
    pub(super) fn submit_again(&mut self, with_gpus: bool) {
        if let Some((partition, request)) = self.last[usize::from(with_gpus)].clone() {
            self.submit(partition, &request);
        }
    }

    /// Nodes outside of the set `kept` on which backfill can start a job.
    pub(super) fn begin(
        &self,
        partition: usize,
        request: &PartsRequest,
        kept: &NodeSet,
    ) -> Option<NodeSet> {
        self.find(partition, request, kept)?;
        let mut nodes = request.lookup.pool().clone();
        nodes.subtract(kept);
        self.near.borrow_mut().forget(&nodes);
        self.find(partition, request, kept)
    }

    fn ask_ever(&self, partition: usize, request: &PartsRequest, open: &NodeSet) {
        let machine = &self.sites[partition].machine;
        request.lookup.ask_ever(machine, &self.holdings, open, &mut self.near.borrow_mut());
    }

    pub(super) fn near(&self) -> NearGpus {
        self.near.borrow().clone()
    }

    pub(super) fn set_near(&self, near: NearGpus) {
        *self.near.borrow_mut() = near;
    }

    /// Nodes outside of the set `kept` that a job would get now.
    pub(super) fn find(
        &self,
        partition: usize,
        request: &PartsRequest,
        kept: &NodeSet,
    ) -> Option<NodeSet> {
        let mut open = request.named.clone();
        open.subtract(kept);
        self.grants(partition, request, &open).map(|grants| self.nodes_of(&grants))
    }

    fn grants(
        &self,
        partition: usize,
        request: &PartsRequest,
        open: &NodeSet,
    ) -> Option<Vec<SharedGrant>> {
        let near = &mut self.near.borrow_mut();
        request.lookup.find(&self.sites[partition].machine, &self.holdings, open, near)
    }

    /// Free CPUs, memory in MB and GPUs of each node that a job may use, and number of idle nodes.
    pub(super) fn free(
        &self,
        partition: usize,
        request: &PartsRequest,
        kept: &NodeSet,
    ) -> (Vec<[u64; 3]>, u32) {
        let mut open = request.named.clone();
        open.intersect(request.lookup.pool());
        open.subtract(kept);
        let machine = &self.sites[partition].machine;
        let idle = open.iter().filter(|&node| self.holdings.is_idle(machine, node)).count();
        (open.iter().map(|node| self.holdings.free(machine, node)).collect(), idle as u32)
    }

    fn nodes_of(&self, grants: &[SharedGrant]) -> NodeSet {
        let mut nodes = NodeSet::empty(self.sites[0].hosts.count());
        grants.iter().for_each(|grant| nodes.insert(grant.node));
        nodes
    }

    /// Gives a job parts of all nodes in `nodes`. The placement rule chooses these parts.
    ///
    /// If the rule would choose other nodes, the job gets parts of `nodes` all the same, even parts
    /// that are not free.
    pub(super) fn hold(
        &mut self,
        job: usize,
        partition: usize,
        request: &PartsRequest,
        nodes: &NodeSet,
    ) {
        let is_whole = |grants: &Vec<SharedGrant>| self.nodes_of(grants) == *nodes;
        let near = self.near();
        self.near.borrow_mut().forget(request.lookup.pool());
        let grants = self.grants(partition, request, &request.named).filter(is_whole);
        let grants = grants.or_else(|| self.grants(partition, request, nodes).filter(is_whole));
        let machine = &self.sites[partition].machine;
        let grants = grants.unwrap_or_else(|| {
            request.lookup.forced(machine, &self.holdings, nodes, request.processors)
        });
        self.set_near(near);
        self.take(job, grants);
    }

    pub(super) fn take(&mut self, job: usize, grants: Vec<SharedGrant>) {
        grants.iter().for_each(|grant| self.holdings.take(grant));
        self.held.insert(job, grants);
    }

    pub(super) fn release(&mut self, job: usize) -> Vec<SharedGrant> {
        let grants = self.held.remove(&job).unwrap_or_default();
        grants.iter().for_each(|grant| self.holdings.give_back(grant));
        grants
    }

    pub(super) fn held(&self, job: usize) -> &[SharedGrant] {
        self.held.get(&job).map_or(&[], Vec::as_slice)
    }
}

fn request(site: &SharedSite, stay: &JobRecord) -> SharedRequest {
    let plain = || SharedRequest {
        nodes: Some((stay.nodes.max(1), stay.nodes.max(1))),
        tasks: Some(stay.processors.max(stay.nodes).max(1)),
        exclusive: stay.exclusive,
        ..SharedRequest::default()
    };
    match stay.options.is_empty() {
        true => plain(),
        false => options::read(&stay.options, site).unwrap_or_else(|_| plain()),
    }
}

/// Free nodes and free parts of nodes, as running jobs end one after the other.
pub(super) struct PartsFuture<'a> {
    desk: &'a PartsDesk,
    partition: usize,
    request: &'a PartsRequest,
    holdings: Holdings,
    open: NodeSet,
}

impl<'a> PartsFuture<'a> {
    /// Future that begins with the current state. The job may use only the nodes in `available`.
    pub(super) fn new(
        desk: &'a PartsDesk,
        partition: usize,
        request: &'a PartsRequest,
        available: &NodeSet,
    ) -> PartsFuture<'a> {
        let mut open = request.named.clone();
        open.intersect(available);
        PartsFuture { desk, partition, request, holdings: desk.holdings.clone(), open }
    }

    pub(super) fn end(&mut self, job: usize) {
        self.desk.held(job).iter().for_each(|grant| self.holdings.give_back(grant));
    }

    /// Nodes that the job would get once all jobs have ended whose ends are registered so far.
    /// `None` if the job does not fit then.
    pub(super) fn find(&self) -> Option<NodeSet> {
        let machine = &self.desk.sites[self.partition].machine;
        let near = &mut self.desk.near.borrow_mut();
        let grants = self.request.lookup.find(machine, &self.holdings, &self.open, near)?;
        Some(self.desk.nodes_of(&grants))
    }
}
