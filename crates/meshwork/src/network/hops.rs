//! A network without contention between jobs, in which times follow from distances.

use super::NetworkEntry;
use super::alone::{Alone, PARAMS};
use super::flow::Flow;
use crate::registry::About;

/// Registry entry of the network `hops`.
pub static ENTRY: NetworkEntry = NetworkEntry::new(
    About::new(
        "hops",
        "a job stays until its messages have arrived, each in the time that its \
             distance takes in an empty network",
    )
    .definition(
        "A job stays until its last message has arrived. Each process sends its \
             messages one after another, and each takes what it would in an empty \
             network: a time for each link of its way, and one for each flit behind \
             the head. Jobs do not meet. The run time of the workload is not used, but its \
             `load` and its estimates still come from run times: `load` is not the load \
             here, and a scheduler that plans needs run times near the `service` that \
             is measured.",
    )
    .complexity("O(m) once for each job with m messages.")
    .source("the closed form of `wormhole` for a packet alone")
    .params(PARAMS),
    |params, machine| Ok(Box::new(Flow::new(Alone::new(params, machine)?, false))),
)
.sends(true)
.shares(true)
.memory(|params, machine| super::alone::memory(params, machine, 0));
