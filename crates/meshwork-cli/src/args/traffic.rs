//! The command line arguments of `meshwork traffic`.

use clap::Args;

use super::{load, threads};
use crate::memory::Memory;

/// Arguments of `meshwork traffic`.
#[derive(Args, Debug)]
pub(crate) struct Traffic {
    /// The machine whose network is measured: mesh:8x8, hypercube:10, fat_tree:4x4x4, tpu_v4, or a
    /// table as in a study; it replaces all options about the wiring
    #[arg(
        short, long, conflicts_with_all = [
            "topology", "dims", "wrap", "processors_per_node", "arity", "levels", "taper", "p", "a", "h"
        ]
    )]
    pub(crate) machine: Option<String>,
    /// The topology whose network is measured
    #[arg(
        long, default_value = "mesh",
        value_parser = ["mesh", "torus", "hypercube", "tofu", "fat_tree", "dragonfly", "twisted_torus"]
    )]
    pub(crate) topology: String,
    #[command(flatten)]
    pub(crate) wiring: Wiring,
    /// The destinations of packets: uniform, transpose, bit_complement, tornado, neighbour,
    /// next_group or hotspot
    #[arg(long, default_value = "uniform")]
    pub(crate) traffic: String,
    /// The loads to measure, in flits per node and cycle, separated by commas
    #[arg(
        long, value_name = "X,…", value_delimiter = ',', value_parser = load,
        default_value = "0.01,0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4"
    )]
    pub(crate) loads: Vec<f64>,
    /// The number of flits in a packet [default: 8]
    #[arg(long, value_name = "FLITS")]
    pub(crate) packet: Option<u32>,
    /// The number of flits that the buffer of a virtual channel holds [default: 2]
    #[arg(long, value_name = "FLITS")]
    pub(crate) buffer: Option<u32>,
    /// The number of virtual channels of a link [default: 1; on a torus or dragonfly 2, on a
    /// dragonfly with detours 3]
    #[arg(long, value_name = "N")]
    pub(crate) vcs: Option<u32>,
    /// The simulator whose router is modelled
    #[arg(long, default_value = "procsimity", value_parser = ["procsimity", "booksim"])]
    pub(crate) timing: String,
    /// The number of cycles in which a router of --timing procsimity routes the head of a packet
    /// [default: 3]
    #[arg(long, value_name = "CYCLES")]
    pub(crate) router_delay: Option<u32>,
    /// How a packet uses the classes of virtual channels on a ring: one class on its whole way
    /// (static), or the first class up to the link that closes the ring and the second from there
    /// on (dateline)
    #[arg(long, default_value = "static", value_parser = ["static", "dateline"])]
    pub(crate) class: String,
    /// Whether the virtual channels of a link share its bandwidth or are independent
    #[arg(long, default_value = "shared", value_parser = ["shared", "independent"])]
    pub(crate) lanes: String,
    /// How a packet chooses its upward ports in a fat tree: at random for each packet (random), or
    /// always by its destination (fixed)
    #[arg(long, default_value = "random", value_parser = ["random", "fixed"])]
    pub(crate) upward: String,
    /// The route between two groups of a dragonfly: the direct link (minimal), through another
    /// group (valiant), or whichever of the two has the shorter queue (ugal)
    #[arg(long, default_value = "minimal", value_parser = ["minimal", "valiant", "ugal"])]
    pub(crate) routing: String,
    /// With --routing ugal, a packet takes another route if more flits are queued on the direct
    /// route than twice those on the other plus this number [default: 30 with --timing booksim,
    /// else 0]
    #[arg(long, value_name = "FLITS")]
    pub(crate) ugal_threshold: Option<u32>,
    /// The number of cycles in which a flit crosses a link; on a dragonfly, a link within a group
    #[arg(long, value_name = "CYCLES", default_value = "1")]
    pub(crate) local_latency: u32,
    /// The number of cycles in which a flit crosses a link between groups of a dragonfly
    #[arg(long, value_name = "CYCLES", default_value = "1")]
    pub(crate) global_latency: u32,
    /// The number of simulated cycles for each load
    #[arg(long, value_name = "N", default_value = "20000", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(crate) cycles: u64,
    /// The number of cycles of warm-up before the measurement begins [default: a quarter of
    /// --cycles]
    #[arg(long, value_name = "N")]
    pub(crate) warmup: Option<u64>,
    /// The seed of all random numbers
    #[arg(long, value_name = "S", default_value = "1")]
    pub(crate) seed: u64,
    /// The number of threads that simulate [default: one for each processor of this computer]
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object for each load
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) memory: Memory,
}

/// Parameters of topologies; each topology has some of them.
#[derive(Args, Debug)]
pub(crate) struct Wiring {
    /// The sides of the grid, separated by commas, or the dimension of a hypercube
    #[arg(long, visible_alias = "dimension", value_name = "K,…", value_delimiter = ',', value_parser = side)]
    pub(crate) dims: Vec<u32>,
    /// Whether the dimensions of a mesh or torus close to rings: true or false for all, or one
    /// value for each, separated by commas
    #[arg(long, value_name = "FLAG,…", value_delimiter = ',')]
    pub(crate) wrap: Vec<bool>,
    /// The number of processors of each node of a grid
    #[arg(long, value_name = "N")]
    pub(crate) processors_per_node: Option<u32>,
    /// The number of children of each switch of a fat tree (nodes, for a leaf switch), or one
    /// number for each level
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    pub(crate) arity: Vec<u32>,
    /// The number of levels of switches of a fat tree
    #[arg(long, value_name = "N")]
    pub(crate) levels: Option<u32>,
    /// The taper of a fat tree: the nodes of a leaf switch divided by its upward links
    #[arg(long, value_name = "X")]
    pub(crate) taper: Option<f64>,
    /// The number of nodes at each router of a dragonfly
    #[arg(long = "p", value_name = "N")]
    pub(crate) p: Option<u32>,
    /// The number of routers in each group of a dragonfly [default: twice --p]
    #[arg(long = "a", value_name = "N")]
    pub(crate) a: Option<u32>,
    /// The number of global links at each router of a dragonfly [default: --p]
    #[arg(long = "h", value_name = "N")]
    pub(crate) h: Option<u32>,
}

/// Parses a side of `--dims`. Sides are separated by commas here, and by `x` in `--machine`.
fn side(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| {
        let machine = format!("--machine torus:{text}");
        let way = if text.contains('x') { &machine } else { "--machine torus:8x8" };
        format!("must be whole numbers with commas between them, such as 8,8; or write {way}")
    })
}
