//! `meshwork place --slurm`: allocates the nodes of a partition as Slurm would.

use std::fmt::Write;

use meshwork::alloc::listed::{NodeRequest, Wait};
use meshwork::alloc::shared::SharedGrant;
use meshwork::geometry::NodeSet;
use meshwork::pool::Name;
use meshwork_lab::slurm;
use meshwork_slurm::desk::{self, SlurmAllocator, SlurmAnswer};
use meshwork_slurm::hostlist;
use meshwork_slurm::shared::desk::SharedAllocator;
use meshwork_slurm::shared::{SharedSite, gres, options};
use serde_json::{Value as Json, json};

use super::Clerk;
use super::line::{Asked, Refusal, name, name_json, unknown_op, whole};
use crate::args::Place;
use crate::output::Stop;

/// Names of all operations, as a list for error messages.
const OPS: &str = "\"allocate\" (with \"dry\":true nothing changes), \"release\" or \"show\"";

/// Error for a request for parts of nodes while jobs hold whole nodes, or vice versa.
const MIXED: &str = "requests with `options` and with `nodes` do not mix: release the jobs of the \
                     other kind first";

const KEYS: &[&str] = &[
    "op",
    "id",
    "nodes",
    "nodes_max",
    "segment",
    "spread_segments",
    "consolidate_segments",
    "switches",
    "contiguous",
    "require",
    "exclude",
    "exclusive",
    "share",
    "dry",
    "options",
];

const OPTION_KEYS: &[&str] = &["op", "id", "options", "dry"];

/// Allocators of a partition for whole nodes and for parts of nodes.
pub(super) struct Window {
    allocator: SlurmAllocator<Name>,
    /// Allocator for parts of nodes, or the reason why they are not supported.
    parts: Result<SharedAllocator<Name>, String>,
}

impl Window {
    pub(super) fn open(arguments: &Place) -> Result<Window, Stop> {
        let topology = arguments.slurm.as_deref();
        let option = if topology.is_some() { "--slurm" } else { "--conf" };
        let whose = |says: String| Stop::Wrong(format!("{option} {says}"));
        let reading = slurm::read(topology, arguments.conf.as_deref()).map_err(whose)?;
        let partition = arguments.partition.as_deref();
        let site = reading.site(partition).map_err(whose)?;
        let lines = match &arguments.gres {
            None => Vec::new(),
            Some(path) => gres::open(path, &slurm::read_file)
                .map_err(|says| Stop::Wrong(format!("--gres {says}")))?,
        };
        let parts = SharedSite::new(&reading, &lines, partition).map(SharedAllocator::new);
        if let (Some(_), Err(says)) = (&arguments.gres, &parts) {
            return Err(Stop::Wrong(says.clone()));
        }
        Ok(Window { allocator: SlurmAllocator::new(site), parts })
    }

    fn obey(&mut self, asked: &Asked, out: &mut String) -> Result<(), String> {
        let op = match asked.get("op") {
            Some(Json::String(op)) => op.as_str(),
            Some(other) => return Err(format!("`op` is {other}, but must be {OPS}")),
            None => return Err(format!("`op` is missing: {OPS}")),
        };
        match op {
            "allocate" => {
                if value(asked, "options").is_some() {
                    asked.only(op, OPTION_KEYS)?;
                    return self.allocate_parts(asked, out);
                }
                asked.only(op, KEYS)?;
                self.allocate(asked, out)
            }
            "release" => {
                asked.only(op, &["op", "id"])?;
                let name = name(asked)?;
                let id = name_json(&name);
                let parts = self.parts.as_mut().ok().and_then(|parts| parts.release(&name));
                let released = parts
                    .or_else(|| self.allocator.release(&name))
                    .ok_or_else(|| format!("{id} is not held, so it cannot be released"))?;
                let _ = write!(out, "{{\"id\":{id},\"released\":{released}}}");
                Ok(())
            }
            "show" => {
                asked.only(op, &["op"])?;
                let hosts = &self.allocator.site().hosts;
                let held = |(name, nodes)| json!({ "id": name_json(name), "nodes": hosts.bracketed(nodes) });
                let mut held: Vec<Json> = self.allocator.held().map(held).collect();
                let (mut free, mut fragmentation) =
                    (self.allocator.idle(), self.allocator.fragmentation());
                if let Some(parts) =
                    self.parts.as_ref().ok().filter(|parts| parts.held().next().is_some())
                {
                    let nodes = |grants: &[SharedGrant]| {
                        let mut set = NodeSet::empty(hosts.count());
                        grants.iter().for_each(|grant| set.insert(grant.node));
                        hosts.bracketed(&set)
                    };
                    held.extend(parts.held().map(
                        |(name, grants)| json!({ "id": name_json(name), "nodes": nodes(grants) }),
                    ));
                    (free, fragmentation) = (parts.idle(), None);
                }
                let nodes = self.allocator.site().whole.count();
                let mut shown = json!({ "free": free, "nodes": nodes, "held": held });
                if let Some(fragmentation) = fragmentation {
                    shown["fragmentation"] = fragmentation.into();
                }
                let _ = write!(out, "{shown}");
                Ok(())
            }
            _ => Err(unknown_op(op, OPS)),
        }
    }

    fn allocate_parts(&mut self, asked: &Asked, out: &mut String) -> Result<(), String> {
        let dry = flag(asked, "dry")?;
        let name = name(asked)?;
        let id = name_json(&name);
        let options = match value(asked, "options") {
            Some(Json::String(options)) => options,
            other => {
                let given = other.map_or_else(String::new, Json::to_string);
                return Err(format!("`options` is {given}, but must be text, as in \"-n2 -c8\""));
            }
        };
        let parts = self.parts.as_mut().map_err(|says| says.clone())?;
        if self.allocator.held().next().is_some() {
            return Err(MIXED.to_owned());
        }
        let request = options::read(options, parts.site())?;
        if !dry && parts.holds(&name) {
            return Err(format!("{id} is held already: release it first"));
        }
        let decision = if dry { parts.ask(&request) } else { parts.allocate(name, &request) };
        let answer = parts.json(&request, &decision).to_string();
        let _ = write!(out, "{{\"id\":{id},{}", &answer[1..]);
        Ok(())
    }

    fn allocate(&mut self, asked: &Asked, out: &mut String) -> Result<(), String> {
        if self.parts.as_ref().is_ok_and(|parts| parts.held().next().is_some()) {
            return Err(MIXED.to_owned());
        }
        let dry = flag(asked, "dry")?;
        let name = name(asked)?;
        let id = name_json(&name);
        let question = question(asked)?;
        if !dry && self.allocator.holds(&name) {
            return Err(format!("{id} is held already: release it first"));
        }
        let told = if dry {
            self.allocator.ask(&question)
        } else {
            self.allocator.allocate(&name, &question)
        };
        let _ = match told {
            SlurmAnswer::Nodes(nodes) => {
                let nodes = json!(self.allocator.site().hosts.bracketed(&nodes));
                write!(out, "{{\"id\":{id},\"nodes\":{nodes}}}")
            }
            SlurmAnswer::Wait(wait, cause) => {
                let wait = match wait {
                    Wait::Nodes => "nodes",
                    Wait::Shape => "shape",
                };
                write!(out, "{{\"id\":{id},\"wait\":\"{wait}\",\"reason\":\"{cause}\"}}")
            }
            SlurmAnswer::Never(reason) => {
                write!(out, "{{\"id\":{id},\"never\":{}}}", json!(reason))
            }
        };
        Ok(())
    }
}

impl Clerk for Window {
    fn answer(&mut self, line: Option<&[u8]>, out: &mut String) -> Result<(), Refusal> {
        let (asked, id) = Asked::read(line)?;
        self.obey(&asked, out).map_err(|sentence| Refusal { id, sentence })
    }

    fn save(&mut self) -> Result<(), Stop> {
        Ok(())
    }
}

/// Value of a key; `None` if it is missing or `null`.
fn value<'a>(asked: &'a Asked, key: &str) -> Option<&'a Json> {
    asked.get(key).filter(|value| !value.is_null())
}

fn flag(asked: &Asked, key: &str) -> Result<bool, String> {
    match value(asked, key) {
        None => Ok(false),
        Some(Json::Bool(flag)) => Ok(*flag),
        Some(other) => Err(format!("`{key}` is {other}, but must be true or false")),
    }
}

fn count(asked: &Asked, key: &str) -> Result<Option<u32>, String> {
    let Some(given) = value(asked, key) else { return Ok(None) };
    whole(given, 1).map(Some).ok_or_else(|| {
        format!("`{key}` is {given}, but must be a whole number from 1 to {}", u32::MAX)
    })
}

fn hosts(asked: &Asked, key: &str) -> Result<Option<String>, String> {
    match value(asked, key) {
        None => Ok(None),
        Some(Json::String(list)) => {
            hostlist::names(list).map_err(|says| format!("`{key}`: {says}"))?;
            Ok(Some(list.clone()))
        }
        Some(other) => {
            Err(format!("`{key}` is {other}, but must be a list of hosts, as in \"n[0-3]\""))
        }
    }
}

fn question(asked: &Asked) -> Result<desk::SlurmRequest, String> {
    let nodes = count(asked, "nodes")?
        .ok_or("`nodes` is missing: the number of nodes that the job wants")?;
    let most = count(asked, "nodes_max")?.unwrap_or(nodes);
    if most < nodes {
        return Err(format!("`nodes_max` is {most}, but must be at least `nodes`, {nodes}"));
    }
    let whole_blocks = match value(asked, "exclusive") {
        None => false,
        Some(Json::String(word)) if word == "topo" => true,
        Some(other) => {
            return Err(format!("`exclusive` is {other}, but must be \"topo\", or be left out"));
        }
    };
    let wanted = NodeRequest {
        nodes,
        most,
        segment: count(asked, "segment")?,
        spread: flag(asked, "spread_segments")?,
        consolidate: flag(asked, "consolidate_segments")?,
        switches: count(asked, "switches")?,
        contiguous: flag(asked, "contiguous")?,
        listed: None,
        ends: None,
    };
    Ok(desk::SlurmRequest {
        wanted,
        require: hosts(asked, "require")?,
        exclude: hosts(asked, "exclude")?,
        whole_blocks,
        share: count(asked, "share")?,
    })
}
