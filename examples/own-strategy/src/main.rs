//! The command `meshwork` with an allocator and a scheduler of one's own.

use std::process::ExitCode;

fn main() -> ExitCode {
    meshwork_cli::main_with(own_strategy::catalogue())
}
