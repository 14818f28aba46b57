//! `meshwork new`: writes a commented study to begin with.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use meshwork::presets::MACHINES;
use meshwork::registry::Named as _;
use meshwork_lab::files::FileError;

use crate::args::{New, Start};
use crate::output::{Ended, Output, Stop, Verdict};
use crate::wrap::wrapped;

/// JSON schema by which editors check the study.
const SCHEMA: &str = "#:schema study.schema.json\n";

pub(crate) fn run(out: &mut Output, arguments: &New) -> Ended {
    let text = format!("{SCHEMA}{}", template(arguments.from)).replace("MACHINES", &machines());
    let file = &arguments.file;
    if file == Path::new("-") {
        out.text(&text)?;
        return Ok(Verdict::Done);
    }
    let shown = file.display();
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Stop::Wrong(format!(
            "{shown}: there is such a file already, and it stays as it is: name another, or `-` for \
             standard output"
        )),
        _ => Stop::Failed(FileError::writing(file, &error).to_string()),
    })?;
    out.line(&format!("written to {shown}"))?;
    let missing = files(arguments.from);
    if !missing.is_empty() {
        let says = format!(
            "  first put beside it         {}, or name your own in it",
            missing.join(" and ")
        );
        out.line(&says)?;
    }
    out.line(&format!("  run it                      meshwork run {shown} --out results"))?;
    out.line("  see it                      meshwork report results")?;
    out.line("  let an editor check it      meshwork schema > study.schema.json")?;
    Ok(Verdict::Done)
}

/// Input files that the user must put beside the new study.
fn files(start: Start) -> &'static [&'static str] {
    match start {
        Start::Log => &["log.swf"],
        Start::Slurm => &["topology.yaml", "slurm.conf"],
        Start::Sweep | Start::Machine | Start::Paper => &[],
    }
}

/// Names of the predefined machines, wrapped to lines of a TOML comment.
fn machines() -> String {
    let names: Vec<&str> = MACHINES.iter().map(|machine| machine.about().name).collect();
    wrapped(&names.join(", "), 98, "").join("\n# ")
}

fn template(start: Start) -> &'static str {
    match start {
        Start::Sweep => include_str!("sweep.toml"),
        Start::Log => include_str!("log.toml"),
        Start::Machine => include_str!("machine.toml"),
        Start::Slurm => include_str!("slurm.toml"),
        Start::Paper => include_str!("paper.toml"),
    }
}
