//! Access to nodes: partitions of a machine and advance reservations.

mod keys;

pub use keys::{PARAMS, PARTITION, RESERVATION};

use std::collections::{BTreeMap, BTreeSet};

use crate::geometry::places::{OfSite, Sites};
use crate::job::{Job, Time};
use crate::registry::{Params, Problem};
use crate::topology::{Node, Topology};

/// Access rules of a machine, read from its keys `partitions` and `reservations` and checked.
///
/// Field of a [`Setup`](crate::engine::Setup).
#[derive(Clone, Debug)]
pub struct Access {
    pub(crate) partitions: Vec<Partition>,
    /// Partition of jobs that name none; `None` if such jobs may use all nodes.
    default: Option<usize>,
    by_name: BTreeMap<String, usize>,
    pub(crate) reservations: Vec<Reserved>,
}

#[derive(Clone, Debug)]
pub(crate) struct Partition {
    pub(crate) outside: Vec<OfSite>,
    max_nodes: u64,
    max_time: f64,
}

/// Nodes of one site that only some users may use during an interval.
#[derive(Clone, Debug)]
pub(crate) struct Reserved {
    pub(crate) nodes: OfSite,
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) users: BTreeSet<String>,
    /// Numbers of the jobs that may not use the nodes; `None` if only jobs of `users` may use them.
    pub(crate) barred: Option<BTreeSet<u64>>,
}

/// Nodes of one site that belong to a partition or to an advance reservation.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// Name of the partition; empty for a reservation.
    pub name: String,
    /// Index of the site in the machine's list of sites.
    pub site: usize,
    /// Numbers of the nodes on this site that belong to the partition or reservation, in ascending
    /// order.
    pub nodes: Vec<Node>,
    /// The interval of a reservation; `None` for a partition, which always applies.
    pub during: Option<(Time, Time)>,
}

impl Access {
    pub(crate) fn of_reservations(reservations: Vec<Reserved>) -> Access {
        Access { partitions: Vec::new(), default: None, by_name: BTreeMap::new(), reservations }
    }

    /// The nodes of every partition and reservation, one [`Area`] for each site with such nodes.
    pub(crate) fn areas(&self, topologies: &[Topology]) -> Vec<Area> {
        let mut areas = Vec::new();
        for (name, &index) in &self.by_name {
            for (site, topology) in topologies.iter().enumerate() {
                let outside = self.partitions[index].outside.iter();
                let outside = outside.filter(|(on, _)| *on == site).flat_map(|(_, nodes)| nodes);
                let outside: BTreeSet<Node> = outside.copied().collect();
                let nodes: Vec<Node> =
                    (0..topology.nodes()).filter(|node| !outside.contains(node)).collect();
                if !nodes.is_empty() {
                    areas.push(Area { name: name.clone(), site, nodes, during: None });
                }
            }
        }
        areas.extend(self.reservations.iter().map(|reserved| Area {
            name: String::new(),
            site: reserved.nodes.0,
            nodes: reserved.nodes.1.clone(),
            during: Some((reserved.from, reserved.until)),
        }));
        areas
    }

    /// Reads the access rules of a machine with the given sites; `None` if the machine has none.
    pub(crate) fn read(
        machine: &Params,
        topologies: &[Topology],
    ) -> Result<Option<Access>, Problem> {
        let partitions = machine.get_tables("partitions").unwrap_or_default();
        let reservations = machine.get_tables("reservations").unwrap_or_default();
        if partitions.is_empty() && reservations.is_empty() {
            return Ok(None);
        }
        let sites = Sites(topologies);
        let mut access = Access {
            partitions: Vec::new(),
            default: None,
            by_name: BTreeMap::new(),
            reservations: Vec::new(),
        };
        for table in partitions {
            access.add_partition(&table, &sites)?;
        }
        for table in reservations {
            access.add_reservation(&table, &sites)?;
        }
        Ok(Some(access))
    }

    fn add_partition(&mut self, table: &Params, sites: &Sites<'_>) -> Result<(), Problem> {
        let (name, index) = (table.text("name"), self.partitions.len());
        if self.by_name.insert(name.to_owned(), index).is_some() {
            return Err(table.problem("name", format!("there are two partitions \"{name}\"")));
        }
        if table.flag("default") && self.default.replace(index).is_some() {
            let says = "is true, but another partition is the default already";
            return Err(table.refusal("default", says));
        }
        let inside = named(table, sites)?;
        let on =
            |site: usize| inside.iter().find(|(on, _)| *on == site).map(|(_, nodes)| &nodes[..]);
        let outside = |(site, topology): (usize, &Topology)| {
            let inside = on(site).unwrap_or_default();
            let is_out = |node: &Node| inside.binary_search(node).is_err();
            let nodes: Vec<Node> = (0..topology.nodes()).filter(is_out).collect();
            (!nodes.is_empty()).then_some((site, nodes))
        };
        self.partitions.push(Partition {
            outside: sites.0.iter().enumerate().filter_map(outside).collect(),
            max_nodes: table.get_integer("max_nodes").unwrap_or(u64::MAX),
            max_time: table.get_number("max_time").unwrap_or(f64::INFINITY),
        });
        Ok(())
    }

    fn add_reservation(&mut self, table: &Params, sites: &Sites<'_>) -> Result<(), Problem> {
        let (from, until) = (table.number("from"), table.number("until"));
        if until <= from {
            let says = format!("is {until}, but must be after {from}, when it begins");
            return Err(table.refusal("until", says));
        }
        let users: BTreeSet<String> =
            table.get_texts("users").unwrap_or_default().into_iter().map(str::to_owned).collect();
        for nodes in named(table, sites)? {
            let (from, until) = (Time::new(from), Time::new(until));
            let users = users.clone();
            self.reservations.push(Reserved { nodes, from, until, users, barred: None });
        }
        Ok(())
    }

    /// Whether a job's partition exists and the job is within the partition's limits.
    pub(crate) fn admits(&self, job: &Job) -> bool {
        let is_known = partition_of(job).is_none_or(|name| self.by_name.contains_key(name));
        let within = |home: usize| {
            let Partition { max_nodes, max_time, .. } = self.partitions[home];
            job.request.nodes() <= max_nodes && job.estimate <= max_time
        };
        self.partitions.is_empty() || is_known && self.home(job).is_none_or(within)
    }

    /// Index of a job's partition; `None` if the job may use all nodes.
    pub(crate) fn home(&self, job: &Job) -> Option<usize> {
        partition_of(job).map_or(self.default, |name| self.by_name.get(name).copied())
    }

    /// Whether each job must name its partition, because there are partitions but no default one.
    pub(crate) fn goes_by_owners(&self) -> bool {
        self.default.is_none() && !self.partitions.is_empty()
    }
}

impl Reserved {
    pub(crate) fn bars(&self, job: &Job) -> bool {
        if let Some(barred) = &self.barred {
            return barred.contains(&job.number);
        }
        let user = job.owner.as_ref().and_then(|owner| owner.user.as_deref());
        user.is_none_or(|user| !self.users.contains(user))
    }
}

fn partition_of(job: &Job) -> Option<&str> {
    job.owner.as_ref()?.partition.as_deref()
}

fn named(table: &Params, sites: &Sites<'_>) -> Result<Vec<OfSite>, Problem> {
    sites.named(table.text("nodes")).map_err(|says| table.refusal("nodes", says))
}
