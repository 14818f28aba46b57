//! The command `meshwork`, with the standard catalogue.

use std::process::ExitCode;

use meshwork::catalogue::Catalogue;

fn main() -> ExitCode {
    meshwork_cli::main_with(Catalogue::standard())
}
