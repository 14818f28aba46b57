//! The command `meshwork` with an allocator and a scheduler from outside of Meshwork.

use std::process::ExitCode;

fn main() -> ExitCode {
    meshwork_cli::main_with(own_strategy::catalogue())
}
