//! The command `meshwork`, with everything that Meshwork has.

use std::process::ExitCode;

use meshwork::catalogue::Catalogue;

fn main() -> ExitCode {
    meshwork_cli::main_with(Catalogue::standard())
}
