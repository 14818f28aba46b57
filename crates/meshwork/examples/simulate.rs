//! Compares three schedulers on one machine by the mean wait of the same jobs.
#![allow(clippy::print_stdout, reason = "an example prints")]

use meshwork::{Component, NoInputs, Scenario};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for scheduler in ["fcfs", "easy", "conservative"] {
        let outcome = Scenario::builder()
            .mesh([16, 16])
            .scheduler(scheduler)
            .workload(Component::new("lublin").with("jobs", 1000).with("load", 0.6))
            .metrics(["wait", "utilization"])
            .build()?
            .run(0, &NoInputs, &mut ())?;
        let wait = outcome.metric("wait").ok_or("every job waited for a while, or none")?;
        println!("{scheduler:>12}: mean wait {wait:.0}");
    }
    Ok(())
}
