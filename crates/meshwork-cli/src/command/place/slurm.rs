//! `meshwork place --slurm`: allocates the nodes of a partition as Slurm would.

use std::fmt::Write;

use meshwork::alloc::listed::{NodeRequest, Wait};
use meshwork::pool::Name;
use meshwork_lab::slurm;
use meshwork_lab::slurm::desk::{self, SlurmAllocator, SlurmAnswer};
use serde_json::{Value as Json, json};

use super::Clerk;
use super::line::{Asked, Refusal, name, name_json, whole};
use crate::args::Place;
use crate::output::Stop;

/// The operations, for error messages.
const OPS: &str = "\"allocate\", \"release\" or \"show\"";

/// The keys of an allocation request.
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
];

/// The allocator of a partition.
pub(super) struct Window {
    allocator: SlurmAllocator<Name>,
}

impl Window {
    /// Makes the allocator of the partition given on the command line.
    pub(super) fn open(arguments: &Place, topology: &std::path::Path) -> Result<Window, Stop> {
        let whose = |says: String| Stop::Wrong(format!("--slurm {says}"));
        let reading = slurm::read(topology, arguments.conf.as_deref()).map_err(whose)?;
        let site = reading.site(arguments.partition.as_deref()).map_err(whose)?;
        Ok(Window { allocator: SlurmAllocator::new(site) })
    }

    fn obey(&mut self, asked: &Asked, out: &mut String) -> Result<(), String> {
        let op = match asked.get("op") {
            Some(Json::String(op)) => op.as_str(),
            Some(other) => return Err(format!("`op` is {other}, but must be {OPS}")),
            None => return Err(format!("`op` is missing: {OPS}")),
        };
        match op {
            "allocate" => {
                asked.only(op, KEYS)?;
                self.allocate(asked, out)
            }
            "release" => {
                asked.only(op, &["op", "id"])?;
                let name = name(asked)?;
                let id = name_json(&name);
                let released = self
                    .allocator
                    .release(&name)
                    .ok_or_else(|| format!("{id} is not held, so it cannot be released"))?;
                let _ = write!(out, "{{\"id\":{id},\"released\":{released}}}");
                Ok(())
            }
            "show" => {
                asked.only(op, &["op"])?;
                let hosts = &self.allocator.site().hosts;
                let held = |(name, nodes)| json!({ "id": name_json(name), "nodes": hosts.bracketed(nodes) });
                let held: Vec<Json> = self.allocator.held().map(held).collect();
                let (free, nodes) = (self.allocator.idle(), self.allocator.site().whole.count());
                let mut shown = json!({ "free": free, "nodes": nodes, "held": held });
                if let Some(fragmentation) = self.allocator.fragmentation() {
                    shown["fragmentation"] = fragmentation.into();
                }
                let _ = write!(out, "{shown}");
                Ok(())
            }
            _ => Err(format!("`op` is {}, but must be {OPS}", json!(op))),
        }
    }

    fn allocate(&mut self, asked: &Asked, out: &mut String) -> Result<(), String> {
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

/// The value of a key, or `None` if it is missing or `null`.
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
            slurm::hostlist::names(list).map_err(|says| format!("`{key}`: {says}"))?;
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
