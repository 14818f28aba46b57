//! A network whose jobs slow each other by their load on shared links: a fluid model without flits.

use super::NetworkEntry;
use super::alone::{Alone, PARAMS};
use super::flow::Flow;
use crate::registry::About;

/// Registry entry of the network `link_load`.
pub static ENTRY: NetworkEntry = NetworkEntry::new(
    About::new(
        "link_load",
        "as `hops`, but where all jobs together load more flits on a link than it \
             carries, each of them is slowed in proportion",
    )
    .definition(
        "As `hops`; besides, every job loads each link of its ways with flits per cycle, evenly \
         over the time it takes alone. Where the sum over jobs exceeds one flit per cycle, each \
         job goes on at the rate that its fullest link allows. It is a fluid: no flit is moved.",
    )
    .complexity(
        "O(m · h) once for each job with m messages over h links, and O(links \
             used) for each job that runs whenever one starts or ends.",
    )
    .source("a fluid model of shared links")
    .params(PARAMS),
    |params, machine| Ok(Box::new(Flow::new(Alone::new(params, machine)?, true))),
)
.sends(true)
.shares(true)
// 16 bytes for each link: its load, and the load that a starting job adds to it.
.memory(|params, machine| super::alone::memory(params, machine, 16));
