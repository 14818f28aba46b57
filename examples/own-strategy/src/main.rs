//! The command `meshwork` with an allocator and a scheduler of one's own.

mod shortest_first;
mod two_ends;

use std::process::ExitCode;

use meshwork::catalogue::{Catalogue, NameTaken};

fn catalogue() -> Result<Catalogue, NameTaken> {
    Catalogue::standard().with_allocator(&two_ends::ENTRY)?.with_scheduler(&shortest_first::ENTRY)
}

fn main() -> ExitCode {
    meshwork_cli::main_with(catalogue().expect("both names are free"))
}

#[cfg(test)]
mod tests {
    use meshwork::conformance::{Finding, check_allocator, check_scheduler};

    #[test]
    fn both_keep_the_rules_of_their_lists() -> Result<(), Finding> {
        let catalogue = super::catalogue().expect("both names are free");
        check_allocator(&catalogue, "two_ends")?;
        check_scheduler(&catalogue, "shortest_first")?;
        Ok(())
    }
}
