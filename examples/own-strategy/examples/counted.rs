//! Program that runs a scheduler on jobs of the model `lublin`, to count its instructions.
//!
//! ```text
//! cargo build --release --example counted
//! for scheduler in easy own_easy conservative own_conservative; do
//!     valgrind --tool=callgrind target/release/examples/counted $scheduler flat
//! done
//! ```

use std::error::Error;

use meshwork::{Component, NoInputs, Scenario};

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let (scheduler, machine) = (given.next().unwrap_or_default(), given.next());
    let (builder, jobs) = match machine.as_deref() {
        Some("mesh") => (Scenario::builder().mesh([16, 16]).allocator("first_fit"), 5_000),
        _ => (Scenario::builder().flat(256), 20_000),
    };
    let estimates = Component::new("tsafrir").with("max", 200_000);
    let workload = Component::new("lublin").with("jobs", jobs).with("load", 0.8);
    let scenario = builder
        .catalogue(&own_strategy::catalogue()?)
        .scheduler(scheduler.as_str())
        .workload(workload.with("estimates", estimates))
        .seed(3)
        .metrics(["wait"]);
    let outcome = scenario.build()?.run(0, &NoInputs, &mut ())?;
    println!("{} jobs, mean wait {:?}", outcome.finished, outcome.metric("wait"));
    Ok(())
}
