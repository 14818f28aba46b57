//! Adds a scheduler of one's own, which starts the job with the fewest processors first.
#![allow(clippy::print_stdout, reason = "an example prints")]

use meshwork::strategy::*;
use meshwork::{Component, NoInputs, Scenario};

static SMALLEST_FIRST: SchedulerEntry = SchedulerEntry::new(
    About::new("smallest_first", "the job with the fewest processors first")
        .definition("Waiting jobs are tried in the order of their processors.")
        .complexity("O(q log q) for each pass over q waiting jobs.")
        .source("an example"),
    |_params, _sites| Ok(Box::new(SmallestFirst::default())),
);

#[derive(Default)]
struct SmallestFirst(Vec<Ticket>);

impl Scheduler for SmallestFirst {
    fn schedule(&mut self, cluster: &mut Cluster<'_>) {
        self.0.extend(cluster.arrivals());
        self.0.sort_by_key(|&ticket| cluster.job(ticket).request.nodes());
        self.0.retain(|&ticket| !cluster.start(ticket, StartOptions::default()));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let outcome = Scenario::builder()
        .catalogue(&Catalogue::standard().with(&SMALLEST_FIRST)?)
        .mesh([16, 16])
        .scheduler("smallest_first")
        .workload(Component::new("lublin").with("jobs", 500))
        .metrics(["wait"])
        .build()?
        .run(0, &NoInputs, &mut ())?;
    println!("{} jobs finished, mean wait {:?}", outcome.finished, outcome.metric("wait"));
    Ok(())
}
