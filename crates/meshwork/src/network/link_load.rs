//! A network in which jobs slow each other by what they load on links: a fluid, and no flits.

use super::NetworkEntry;
use super::alone::{Alone, PARAMS};
use super::flow::Flow;
use crate::registry::About;

/// The entry of `link_load`.
pub static ENTRY: NetworkEntry = NetworkEntry {
    about: About {
        name: "link_load",
        aliases: &[],
        summary: "as `hops`, but where all jobs together load more flits on a link than it carries, each of them is \
                  slowed in proportion",
        source: "a fluid model of shared links",
        params: PARAMS,
    },
    sends: true,
    build: |params, machine| Ok(Box::new(Flow::new(Alone::new(params, machine)?, true))),
};
