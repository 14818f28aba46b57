//! Lint for the configuration files of a machine, before Slurm reads them.
//!
//! It finds errors, and problems that Slurm does not report. It also tabulates what a topology
//! lists, such as its switches, block sizes or placements.

mod draw;
mod names;
mod silent;
mod table;
mod values;

pub use table::{PlacementRow, PlacementTable};

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::conf::Conf;
use crate::finding::{Level, LintFinding, LintFindings, Source};
use crate::shared::{gres, traps};
use crate::site::{self, Reading};

#[derive(Clone, Debug)]
pub struct LintReport {
    pub reading: Reading,
    pub tables: Vec<PlacementTable>,
    pub drawings: Vec<Vec<String>>,
}

/// Lints configuration files, which the function `text` reads.
pub fn check(
    topology: Option<&Path>,
    conf: Option<&Path>,
    gres: Option<&Path>,
    text: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<LintReport, String> {
    let mut reading = site::read(topology, conf, text)?;
    if let Some(path) = gres {
        let lines = gres::open(path, text)?;
        reading.files.gres = Some(path.display().to_string());
        traps::look(&mut reading, &lines);
    }
    Ok(of(reading))
}

pub fn of(mut reading: Reading) -> LintReport {
    silent::look(&mut reading);
    if let Some(conf) = &reading.conf {
        reading.findings.0.extend(of_conf(conf).0);
    }
    let topologies = &reading.topologies;
    let tables = topologies.iter().map(|(_, built)| table::of(built)).collect();
    let drawings = topologies.iter().map(|(topology, built)| draw::of(topology, built)).collect();
    LintReport { reading, tables, drawings }
}

pub fn of_conf(conf: &Conf) -> LintFindings {
    let mut findings = LintFindings::default();
    names::look(conf, &mut findings);
    values::look(conf, &mut findings);
    findings
}

impl LintReport {
    pub fn starts(&self) -> bool {
        self.reading.findings.first_fatal().is_none()
    }

    /// Findings in order of severity, then of file and line.
    pub fn findings(&self) -> Vec<&LintFinding> {
        let mut all: Vec<&LintFinding> = self.reading.findings.0.iter().collect();
        all.sort_by_key(|finding| (finding.level == Level::Warning, finding.source, finding.line));
        all
    }

    pub fn json(&self) -> Json {
        let files = &self.reading.files;
        let file = |finding: &LintFinding| match finding.source {
            Source::Topology => Some(files.topology.clone()),
            Source::Conf => files.conf.clone(),
            Source::Gres => files.gres.clone(),
        };
        let finding = |finding: &&LintFinding| {
            json!({
                "level": match finding.level { Level::Fatal => "fatal", Level::Warning => "warning" },
                "file": file(finding), "line": finding.line, "says": finding.says, "slurm": finding.slurm
            })
        };
        let findings: Vec<Json> = self.findings().iter().map(finding).collect();
        let topologies: Vec<Json> = self
            .reading
            .topologies
            .iter()
            .zip(self.tables.iter().zip(&self.drawings))
            .map(|((topology, _), (table, drawing))| {
                json!({
                    "topology": topology.name, "kind": topology.kind.name(), "line": topology.line,
                    "rows": table.json(), "drawing": drawing
                })
            })
            .collect();
        let topology = Some(&files.topology).filter(|own| !own.is_empty());
        let mut all = json!({
            "file": topology, "conf": files.conf, "starts": self.starts(), "findings": findings,
            "topologies": topologies
        });
        if self.reading.is_model {
            all["model"] = "topograph".into();
        }
        if let Some(gres) = &files.gres {
            all["gres"] = gres.clone().into();
        }
        all
    }
}
