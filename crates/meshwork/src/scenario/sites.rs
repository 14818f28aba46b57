//! The machine of a scenario: its sites, their topologies and their allocators.

use std::fmt;
use std::sync::Arc;

use toml::{Table, Value};

use super::nodes::{self, TypeTables};
use crate::access;
use crate::alloc::parts::orders::{self, NodeOrderEntry, OrderContext};
use crate::alloc::parts::within::{self, WithinEntry};
use crate::alloc::parts::{NodeAllocator, PiecesAllocator};
use crate::alloc::{self, AllocatorEntry};
use crate::catalogue::Catalogue;
pub use crate::catalogue::SITE_FAMILY;
use crate::job::{Inside, Pieces, Request};
use crate::machine::Site;
use crate::offer::ManagedSite;
use crate::presets::{self, MachineEntry};
use crate::registry::{
    DefaultValue, EntrySource, Family, Kind, Named, Param, Params, Problem, Standard, did_you_mean,
    listed, resolve_in, with_article,
};
use crate::rng::Stream;
use crate::shape::{ShapeRule, shaped};
use crate::speeds::{self, Speeds};
use crate::topology::{ListedParts, Topology, Wiring};

/// Keys of a machine with several sites.
pub static SITES: &[Param] = &[
    Param::new("sites", Kind::Components(&SITE_FAMILY))
        .help("the sites, in the order in which first-fit selection tries them"),
    Param::new("speeds", Kind::Table(speeds::PARAMS))
        .absent("the `speed` of each site")
        .help("speeds that are drawn anew in each replication"),
];

/// Registry entry that a scenario names, looked up when the scenario was read.
pub(crate) struct Found<E: 'static>(pub(super) &'static E);

impl<E> Clone for Found<E> {
    fn clone(&self) -> Found<E> {
        *self
    }
}

impl<E> Copy for Found<E> {}

impl<E: Named> fmt::Debug for Found<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.about().name)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct SiteSpec {
    pub(crate) topology: Topology,
    pub(super) speed: f64,
    pub(super) allocator: Params,
    pub(super) entry: Found<AllocatorEntry>,
    /// Rules for shared nodes; `None` if jobs do not share nodes.
    pub(super) choice: Option<Choice>,
}

/// Strategies that choose nodes, and cores and GPUs within nodes, for jobs that share nodes.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(super) order: Params,
    pub(super) order_entry: Found<NodeOrderEntry>,
    pub(super) within: Found<WithinEntry>,
}

impl SiteSpec {
    /// Builds the empty site with its allocator, which has a random stream of its own.
    pub(crate) fn managed(
        &self,
        index: usize,
        seed: u64,
        replication: u64,
        rule: ShapeRule,
        typical: &[Pieces],
    ) -> Result<ManagedSite, Problem> {
        let entry = self.entry.0;
        let mut allocator = (entry.build)(&self.allocator, &self.topology)?;
        if let (Some(choice), Some(types)) = (&self.choice, self.topology.types()) {
            let asks = allocator.asks().unwrap_or(entry.asks);
            let finds = allocator.finds().unwrap_or(entry.finds);
            let machine = self.topology.clone().without_types();
            let form = move |nodes| shaped(&Request::Nodes(nodes), asks, &machine, rule);
            let domain = NodeAllocator { allocator, form: Arc::new(form), finds };
            let context = OrderContext { types, typical };
            let order = (choice.order_entry.0.build)(&choice.order, context)?;
            let within = choice.within.0.choice;
            allocator = Box::new(PiecesAllocator::new(&self.topology, domain, order, within));
        }
        let site = Site::new(self.topology.clone(), self.speed);
        let stream = Stream::new(seed, replication, &format!("allocator.{index}"));
        Ok(ManagedSite::new(site, allocator, entry, stream, rule))
    }
}

/// Adds the leaves and blocks that the allocator's parameters list, if jobs share nodes. Topologies
/// that define leaves and groups themselves stay unchanged.
fn with_listed_parts(
    entry: &AllocatorEntry,
    allocator: &Params,
    topology: Topology,
) -> Result<Topology, Problem> {
    if topology.types().is_none() || topology.tiers().is_some() {
        return Ok(topology);
    }
    let own = (entry.build)(allocator, &topology)?;
    let nodes = topology.nodes();
    let [leaf, block] = [Inside::Leaf, Inside::Block].map(|inside| {
        let parts = own.parts(inside);
        let mut of = vec![None; if parts.is_empty() { 0 } else { nodes as usize }];
        for (part, index) in parts.iter().zip(0..) {
            // Lists may name nodes that the machine does not have.
            for node in part.iter().take_while(|&node| node < nodes) {
                of[node as usize].get_or_insert(index);
            }
        }
        of
    });
    Ok(topology.with_parts(ListedParts { leaf, block }))
}

/// Converts a machine given as a text, such as `mesh:8x8` or `hypercube:10`, to its table.
///
/// The name of a preset, such as `tpu_v4`, is returned unchanged.
///
/// ```
/// use meshwork::scenario::machine_in_words;
/// let mesh = toml::toml! { topology = "mesh"
///                          dims = [8, 8] };
/// assert_eq!(machine_in_words("mesh:8x8").unwrap(), toml::Value::Table(mesh));
/// assert!(machine_in_words("mash:8x8").unwrap_err().message.contains("did you mean `mesh`?"));
/// ```
///
/// # Errors
/// If there is no such topology or preset, or the size does not suit the topology.
pub fn machine_in_words(text: &str) -> Result<Value, Problem> {
    machine_in_words_in(&Standard, text)
}

/// Variant of [`machine_in_words`] with the topologies and presets of `lists`.
pub fn machine_in_words_in(lists: &dyn EntrySource, text: &str) -> Result<Value, Problem> {
    let (name, size) = text.split_once(':').unwrap_or((text, ""));
    let site = SITE_FAMILY.find_in(lists, "machine", name);
    if size.is_empty() {
        if let Ok(about) = presets::FAMILY.find_in(lists, "machine", name) {
            return Ok(about.name.into());
        }
        if site.is_err() {
            return Err(Problem::new("machine", unknown_machine(lists, name)));
        }
    }
    let about = site?;
    let mut required =
        about.params.iter().filter(|param| matches!(param.default, DefaultValue::Required));
    let (Some(param), None) = (required.next(), required.next()) else {
        let says = format!("a {} is written as a table, as in a study", about.name);
        return Err(Problem::new("machine", says));
    };
    let numbers: Option<Vec<i64>> = size
        .split(['x', '×', ','])
        .map(|number| number.trim().parse().ok().filter(|&number: &i64| number >= 0))
        .collect();
    let size = match (&param.kind, numbers.as_deref()) {
        (Kind::Integers(..), Some(numbers)) => {
            Value::Array(numbers.iter().copied().map(Value::Integer).collect())
        }
        (_, Some(&[number])) => Value::Integer(number),
        _ => {
            let example = if matches!(param.kind, Kind::Integers(..)) { "8x8" } else { "8" };
            let says = format!(
                "`{size}` is no size of a {0}: write `{0}:{example}`, or a table as in a study",
                about.name
            );
            return Err(Problem::new("machine", says));
        }
    };
    let mut table = Table::new();
    table.insert(SITE_FAMILY.key.to_owned(), about.name.into());
    table.insert(param.name.to_owned(), size);
    Ok(Value::Table(table))
}

fn unknown_machine(lists: &dyn EntrySource, name: &str) -> String {
    let numbers = name.split(['x', '×', ',']).map(|number| number.parse::<u32>().is_ok());
    let meant = match numbers.clone().count() {
        _ if !numbers.clone().all(|is_one| is_one) => {
            let known: Vec<&str> = [&presets::FAMILY, &SITE_FAMILY]
                .iter()
                .flat_map(|family| lists.entries(family))
                .map(|about| about.name)
                .collect();
            did_you_mean(name, &known)
        }
        1 => format!("did you mean `flat:{name}`?"),
        _ => format!("did you mean `mesh:{name}` or `torus:{name}`?"),
    };
    format!("unknown machine `{name}` ({meant})")
}

/// Splits off the table `machine`, and takes a preset's allocator if the scenario names none.
pub(crate) fn split_machine(
    catalogue: &Catalogue,
    table: &Table,
) -> Result<(Table, Table), Problem> {
    let mut rest = table.clone();
    match rest.remove("machine") {
        Some(Value::Table(machine)) => Ok((machine, rest)),
        Some(Value::String(words)) => {
            let name = match machine_in_words_in(catalogue, &words)? {
                Value::Table(machine) => return Ok((machine, rest)),
                _ => words,
            };
            let (machine, allocator) = catalogue.entry::<MachineEntry>(&name).tables();
            if !rest.contains_key("allocator") {
                rest.insert("allocator".to_owned(), allocator);
            }
            Ok((machine, rest))
        }
        Some(other) => Err(Problem::new(
            "machine",
            format!(
                "`machine` is {other}, but must be a table with `topology`, or with `sites`, a \
                 list of such tables, or a machine in words, such as \"mesh:16x8\" or \"tpu_v4\""
            ),
        )),
        None => Err(Problem::new(
            "",
            "`machine` is missing: a table with `topology`, or with `sites`, a list of such tables",
        )),
    }
}

pub(crate) fn split_access(
    catalogue: &Catalogue,
    machine: &Table,
) -> Result<(Table, Table), Problem> {
    let (mut machine, mut apart) = (machine.clone(), Table::new());
    for param in access::PARAMS {
        if let Some(given) = machine.remove(param.name) {
            apart.insert(param.name.to_owned(), given);
        }
    }
    let params: Vec<&Param> = access::PARAMS.iter().collect();
    let apart = resolve_in(catalogue, "machine", &params, &apart, &[])?;
    Ok((machine, apart.table().clone()))
}

pub(crate) fn resolve_machine(
    catalogue: &Catalogue,
    given: &Table,
) -> Result<(Table, Vec<Params>), Problem> {
    if given.contains_key("sites") {
        let sites: Vec<&Param> = SITES.iter().collect();
        let machine = resolve_in(catalogue, "machine", &sites, given, &[])?;
        let sites = machine.get_components("sites", &SITE_FAMILY).unwrap_or_default();
        return Ok((machine.table().clone(), sites));
    }
    let site = SITE_FAMILY.resolve_in(catalogue, "machine", &Value::Table(given.clone()))?;
    Ok((site.table().clone(), vec![site]))
}

/// Chooses the allocator of each site: its own, the scenario's, or the topology's default.
pub(crate) fn allocators_for(
    catalogue: &Catalogue,
    scenario: &mut Table,
    machine: &mut Table,
    sites: &[Params],
    types: &TypeTables,
) -> Result<Vec<SiteSpec>, Problem> {
    let common = scenario.get("allocator").and_then(Value::as_table).cloned();
    let mut specs = Vec::new();
    for (index, site) in sites.iter().enumerate() {
        let topology = Topology::read(catalogue.entry(site.name()), site)?;
        let topology = nodes::typed(&types.of(catalogue, index, site.path()), topology)?;
        let usual = match topology.types() {
            None => alloc::default_for(topology.wiring()),
            Some(_) => "naive",
        };
        let allocator = match (site.get_component("allocator", &alloc::FAMILY), &common) {
            (Some(own), _) => own,
            (None, Some(common)) => {
                Params::of_resolved(catalogue, "allocator", common.clone(), alloc::FAMILY.key)
            }
            (None, None) => {
                let name = Value::String(usual.to_owned());
                alloc::FAMILY.resolve_in(catalogue, "allocator", &name)?
            }
        };
        let entry = catalogue.entry::<AllocatorEntry>(allocator.name());
        serves(catalogue, entry, &allocator, &topology)?;
        let topology = with_listed_parts(entry, &allocator, topology)?;
        let speed = site.number("speed");
        let choice = match topology.types() {
            Some(_) => Some(choice_of(catalogue, scenario)?),
            None => None,
        };
        specs.push(SiteSpec { topology, speed, allocator, entry: Found(entry), choice });
    }
    for key in ["order", "within"] {
        if scenario.contains_key(key) && specs.iter().all(|spec| spec.choice.is_none()) {
            let says = format!(
                "`{key}` is for machines whose nodes jobs share, and this one has no types of them: give \
                 `machine.nodes`, such as [{{ type = \"dgx\" }}]"
            );
            return Err(Problem::new(key, says));
        }
    }
    if common.is_none() {
        fill_in_allocators(scenario, machine, &specs);
    }
    Ok(specs)
}

fn choice_of(catalogue: &Catalogue, scenario: &mut Table) -> Result<Choice, Problem> {
    let mut named = |family: &'static Family, key: &'static str, usual: &str| {
        let given = scenario.get(key).cloned().unwrap_or_else(|| usual.into());
        let params = family.resolve_in(catalogue, key, &given)?;
        scenario.insert(key.to_owned(), Value::Table(params.table().clone()));
        Ok::<_, Problem>(params)
    };
    let order = named(&orders::FAMILY, "order", "first")?;
    let within = named(&within::FAMILY, "within", "lowest")?;
    let order_entry = Found(catalogue.entry::<NodeOrderEntry>(order.name()));
    Ok(Choice { order_entry, order, within: Found(catalogue.entry(within.name())) })
}

/// The distribution from which sites' speeds are drawn; `None` if they are not drawn.
pub(crate) fn speeds_for(
    catalogue: &Catalogue,
    machine: &Table,
    sites: &[SiteSpec],
) -> Result<Option<Speeds>, Problem> {
    if !machine.contains_key("speeds") {
        return Ok(None);
    }
    let params = Params::of_resolved(catalogue, "machine", machine.clone(), "").nested("speeds");
    let capacity = |site: &SiteSpec| f64::from(site.topology.processors()) * site.speed;
    Speeds::read(&params, sites.iter().map(capacity).collect()).map(Some)
}

/// Writes default allocators into the table: one if all are equal, otherwise one into each site.
fn fill_in_allocators(scenario: &mut Table, machine: &mut Table, specs: &[SiteSpec]) {
    let table = |spec: &SiteSpec| Value::Table(spec.allocator.table().clone());
    let own = |site: &Table| site.contains_key("allocator");
    let alike = specs.iter().all(|spec| spec.allocator.table() == specs[0].allocator.table());
    let Some(sites) = machine.get_mut("sites").and_then(Value::as_array_mut) else {
        if !own(machine) {
            scenario.insert("allocator".to_owned(), table(&specs[0]));
        }
        return;
    };
    if alike && !sites.iter().filter_map(Value::as_table).any(own) {
        scenario.insert("allocator".to_owned(), table(&specs[0]));
        return;
    }
    for (site, spec) in sites.iter_mut().filter_map(Value::as_table_mut).zip(specs) {
        site.insert("allocator".to_owned(), table(spec));
    }
}

fn serves(
    catalogue: &Catalogue,
    entry: &AllocatorEntry,
    allocator: &Params,
    topology: &Topology,
) -> Result<(), Problem> {
    if entry.works_on(topology) {
        return Ok(());
    }
    let others: Vec<&str> = catalogue
        .list::<AllocatorEntry>()
        .into_iter()
        .filter(|other| other.works_on(topology))
        .map(|other| other.about.name)
        .collect();
    let wirings: Vec<&str> = entry.serves.iter().map(|w| Wiring::name(*w)).collect();
    let only = entry.dimensions.map_or_else(String::new, of_dimensions);
    let says = format!(
        "the allocator `{}` serves {}{only}, but the machine is {} (which {} would serve)",
        entry.about.name,
        wirings.join(", "),
        with_article(topology),
        listed("", &others)
    );
    Err(Problem::new(allocator.path(), says))
}

/// Formats numbers of dimensions as a restriction, such as ` of 2 or 3 dimensions`.
fn of_dimensions(all: &[usize]) -> String {
    let all: Vec<String> = all.iter().map(usize::to_string).collect();
    format!(" of {} dimensions", all.join(" or "))
}
