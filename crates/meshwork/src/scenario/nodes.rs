//! Node types of a site, from the key `nodes` of a machine.

use toml::{Table, Value};

use crate::alloc::parts::nodes::TYPES;
use crate::catalogue::{Catalogue, SITE_FAMILY};
use crate::geometry::places::Sites;
use crate::registry::{Param, Params, Problem, did_you_mean, join, resolve_in};
use crate::topology::Topology;
use crate::topology::types::{NodeType, NodeTypes};

/// Cores, MiB of memory, GPUs and islands (such as sockets) of each node type, and its type of
/// GPUs.
static KNOWN: [(&str, [u32; 4], Option<&str>); 3] = [
    ("dgx", [112, 2_097_152, 8, 2], Some("h100")),
    ("nvl72", [144, 983_040, 4, 2], Some("gb200")),
    ("cpu", [128, 524_288, 0, 2], None),
];

/// Node types that a study can use by name.
pub fn known_types() -> impl Iterator<Item = NodeType> {
    KNOWN.iter().map(|&(name, [cpu, mem, gpu, islands], model)| NodeType {
        name: name.to_owned(),
        cpu,
        mem,
        gpu,
        islands,
        gpu_type: model.map(str::to_owned),
        ..NodeType::default()
    })
}

/// Tables of node types, split off the table of a machine: one for each site, empty if it has no
/// types.
pub(crate) struct TypeTables(Vec<Table>);

impl TypeTables {
    pub(super) fn of(&self, catalogue: &Catalogue, site: usize, path: &str) -> Params {
        let table = self.0.get(site).cloned().unwrap_or_default();
        Params::of_resolved(catalogue, path, table, "")
    }

    pub(crate) fn put_into(self, machine: &mut Table) {
        match machine.get_mut("sites").and_then(Value::as_array_mut) {
            None => self.0.into_iter().for_each(|types| machine.extend(types)),
            Some(sites) => {
                let sites = sites.iter_mut().filter_map(Value::as_table_mut);
                sites.zip(self.0).for_each(|(site, types)| site.extend(types));
            }
        }
    }
}

pub(crate) fn split_types(
    catalogue: &Catalogue,
    machine: &Table,
) -> Result<(Table, TypeTables), Problem> {
    let mut machine = machine.clone();
    if machine.contains_key("sites") && machine.contains_key(TYPES[0].name) {
        let says = "`machine.nodes` is given beside `machine.sites`, but each site has `nodes` of its own, as in \
                    { topology = \"flat\", processors = 4, nodes = [{ type = \"dgx\" }] }";
        return Err(Problem::new("machine.nodes", says));
    }
    let Some(sites) = machine.get_mut("sites").and_then(Value::as_array_mut) else {
        let types = split_site(catalogue, &mut machine, "machine")?;
        return Ok((machine, TypeTables(vec![types])));
    };
    let mut types = Vec::new();
    for (index, site) in sites.iter_mut().enumerate() {
        types.push(match site.as_table_mut() {
            Some(site) => split_site(catalogue, site, &format!("machine.sites[{index}]"))?,
            None => Table::new(),
        });
    }
    let has_types = |wanted: bool| types.iter().position(|own| own.is_empty() != wanted);
    if let (Some(with), Some(without)) = (has_types(true), has_types(false)) {
        let says = format!(
            "`machine.sites[{without}]` has no types of `nodes`, but `machine.sites[{with}]` has: jobs share the nodes of \
             every site or of none"
        );
        return Err(Problem::new(format!("machine.sites[{without}]"), says));
    }
    Ok((machine, TypeTables(types)))
}

/// Moves the node types out of the table of a site. Returns an empty table if the site has none.
///
/// The types stay in the site's table if its topology has a parameter `nodes`.
fn split_site(catalogue: &Catalogue, site: &mut Table, path: &str) -> Result<Table, Problem> {
    let key = TYPES[0].name;
    let own = site.get("topology").and_then(Value::as_str).and_then(|name| {
        let about = SITE_FAMILY.find_in(catalogue, path, name).ok()?;
        about.params.iter().find(|param| param.name == key)
    });
    let Some(given) = site.get(key).filter(|_| own.is_none()).cloned() else {
        return Ok(Table::new());
    };
    site.remove(key);
    let params: Vec<&Param> = TYPES.iter().collect();
    let table = Table::from_iter([(key.to_owned(), given)]);
    Ok(resolve_in(catalogue, path, &params, &table, &[])?.table().clone())
}

pub(super) fn typed(site: &Params, topology: Topology) -> Result<Topology, Problem> {
    let Some(tables) = site.get_tables(TYPES[0].name) else { return Ok(topology) };
    let nodes = topology.nodes();
    let mut types: Vec<NodeType> = Vec::new();
    let mut of: Vec<Option<u16>> = vec![None; nodes as usize];
    let mut rest = None;
    for table in &tables {
        let index = types.len() as u16;
        types.push(node_type(table)?);
        let Some(text) = table.get_text("on") else {
            if rest.replace(index).is_some() {
                let says = "two types of nodes have no `on`, and both would be on all that is left";
                return Err(table.problem("on", says));
            }
            continue;
        };
        let sites = [topology.clone()];
        let named = Sites(&sites).named(text).map_err(|says| table.refusal("on", says))?;
        for node in named.into_iter().flat_map(|(_, nodes)| nodes) {
            if of[node as usize].replace(index).is_some() {
                let says = format!("node {node} has two types in `{}`", join(site.path(), "nodes"));
                return Err(table.problem("on", says));
            }
        }
    }
    let filled: Option<Vec<u16>> = of.iter().map(|kind| kind.or(rest)).collect();
    let Some(of) = filled else {
        let node = of.iter().position(Option::is_none).unwrap_or(0);
        let says = format!(
            "node {node} has no type in `{}`: a type without `on` is on all that is left",
            join(site.path(), "nodes")
        );
        return Err(site.problem("nodes", says));
    };
    let cells: u64 = of.iter().map(|&kind| types[kind as usize].idle().len() as u64).sum();
    let cores: u64 = of.iter().map(|&kind| u64::from(types[kind as usize].cpu)).sum();
    if cells > u64::from(u32::MAX) || cores > u64::from(u32::MAX) {
        return Err(site.problem("nodes", "the nodes have more than 4294967295 cores in all"));
    }
    let own = site.table().get("nodes").cloned();
    let topology = topology.with_types(NodeTypes::new(types, of));
    Ok(own.into_iter().fold(topology, |topology, nodes| topology.described_also("nodes", nodes)))
}

fn node_type(table: &Params) -> Result<NodeType, Problem> {
    let name = table.text("type");
    let known = KNOWN.iter().find(|(known, ..)| *known == name);
    let amount = |key: &str| table.get_integer(key).map(|amount| amount as u32);
    let (own, model) = known.map_or(([0, 0, 0, 1], None), |(_, own, model)| (*own, *model));
    let Some(cpu) = amount("cpu").or(known.map(|_| own[0])) else {
        let names: Vec<&str> = KNOWN.iter().map(|(name, ..)| *name).collect();
        let says = format!(
            "is `{name}`, which is no known type ({}): give `cpu`, `mem` and `gpu` of a type of \
             your own",
            did_you_mean(name, &names)
        );
        return Err(table.refusal("type", says));
    };
    let (mem, gpu) = (amount("mem").unwrap_or(own[1]), amount("gpu").unwrap_or(own[2]));
    let islands = amount("islands").unwrap_or(own[3]);
    for (key, amount, what) in [("cpu", cpu, "cores"), ("gpu", gpu, "GPUs")] {
        if !amount.is_multiple_of(islands) {
            let says = format!(
                "is {islands}, which does not divide the {amount} {what} of `{name}`: islands \
                 are equal, so `{key}` is a multiple of them"
            );
            return Err(table.refusal("islands", says));
        }
    }
    let features = table.get_texts("features").unwrap_or_default();
    Ok(NodeType {
        name: name.to_owned(),
        cpu,
        mem,
        gpu,
        other: amount("other").unwrap_or(0),
        islands,
        gpu_type: table.get_text("gpu_type").or(model).map(str::to_owned),
        features: features.into_iter().map(str::to_owned).collect(),
        weight: amount("weight").unwrap_or(0),
    })
}
