//! Strategies written outside of Meshwork.
//!
//! The library needs only the crate `meshwork`, and none of the project's other crates.

mod backfilling;
mod shortest_first;
mod two_ends;

use meshwork::catalogue::{Catalogue, EntryError};

/// Catalogue of all entries of Meshwork and of the strategies of this library.
///
/// # Errors
/// If a strategy cannot be added.
pub fn catalogue() -> Result<Catalogue, EntryError> {
    let catalogue = Catalogue::standard().with(&two_ends::ENTRY)?.with(&shortest_first::ENTRY)?;
    catalogue.with(&backfilling::EASY)?.with(&backfilling::CONSERVATIVE)
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use meshwork::conformance::{check_allocator, check_scheduler};
    use meshwork::{Component, NoInputs, Scenario};

    #[test]
    fn both_keep_the_rules_of_their_lists() -> Result<(), Box<dyn Error>> {
        let catalogue = super::catalogue()?;
        check_allocator(&catalogue, "two_ends")?;
        check_scheduler(&catalogue, "shortest_first")?;
        Ok(())
    }

    #[test]
    fn a_run_with_both() -> Result<(), Box<dyn Error>> {
        let outcome = Scenario::builder()
            .catalogue(&super::catalogue()?)
            .mesh([16, 16])
            .allocator(Component::new("two_ends").with("large", 0.3))
            .scheduler("shortest_first")
            .workload(Component::new("lublin").with("jobs", 500))
            .metrics(["wait"])
            .build()?
            .run(0, &NoInputs, &mut ())?;
        assert_eq!(outcome.finished, 500);
        Ok(())
    }
}
