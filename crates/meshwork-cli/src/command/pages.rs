//! `meshwork completions` and `meshwork man`.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Arguments;
use crate::output::{Ended, Output, Stop, Verdict};

/// Prints a completion script.
pub(crate) fn completions(out: &mut Output, shell: Shell) -> Ended {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), program(), &mut script);
    out.text(&String::from_utf8_lossy(&script))?;
    Ok(Verdict::Done)
}

/// What this program is called: `meshwork`, or the name of one that adds strategies of its own.
fn program() -> String {
    let own = std::env::current_exe().ok();
    let own =
        own.as_deref().and_then(Path::file_stem).map(|name| name.to_string_lossy().into_owned());
    own.unwrap_or_else(|| "meshwork".to_owned())
}

/// Prints the main manual page, or writes one for each command into a folder.
pub(crate) fn man(out: &mut Output, folder: Option<&Path>) -> Ended {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
        out.text(&String::from_utf8_lossy(&page))?;
        return Ok(Verdict::Done);
    };
    let shown = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(Stop::Wrong(format!("{shown}: this is a file, but must be a folder")));
    }
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder))
        .map_err(|error| Stop::Failed(format!("{shown}: pages cannot be written ({error})")))?;
    Ok(Verdict::Done)
}
