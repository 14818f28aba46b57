//! Machine presets for studies: topology and allocator of known machines, as far as published.

use toml::{Table, Value};

use crate::registry::{About, Family, abouts, named};

/// Registry entry of a machine preset: a known machine that a study can select by name.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct MachineEntry {
    /// Name, definition and sources of the preset.
    pub about: About,
    /// Table `machine`, as TOML, that replaces the name of the preset in a study.
    pub machine: &'static str,
    /// Default allocator of the preset, as TOML.
    pub allocator: &'static str,
}

impl MachineEntry {
    /// Creates the entry of a preset from its machine and its allocator, both as TOML.
    #[must_use]
    pub const fn new(about: About, machine: &'static str, allocator: &'static str) -> MachineEntry {
        MachineEntry { about, machine, allocator }
    }

    /// Replaces the description of the preset.
    #[must_use]
    pub const fn described(self, about: About) -> MachineEntry {
        MachineEntry { about, ..self }
    }
}

impl MachineEntry {
    /// Table `machine` of the preset, and its default allocator.
    #[must_use]
    pub fn tables(&self) -> (Table, Value) {
        self.read().expect("it was checked when it was added")
    }

    fn read(&self) -> Option<(Table, Value)> {
        let text = format!("machine = {}\nallocator = {}", self.machine, self.allocator);
        let mut both: Table = text.parse().ok()?;
        match (both.remove("machine")?, both.remove("allocator")?) {
            (Value::Table(machine), allocator) => Some((machine, allocator)),
            _ => None,
        }
    }

    pub(crate) fn is_toml(&self) -> Result<(), String> {
        let what = "its `machine` must be a table and its `allocator` a name or a table, in TOML";
        self.read().map(drop).ok_or_else(|| what.to_owned())
    }
}

named!(MachineEntry);

/// All machine presets of this crate.
pub static MACHINES: &[&MachineEntry] = &[
    &TPU_V4,
    &TPU_V5P,
    &TPU7X,
    &TPU_V5E,
    &TPU_V6E,
    &INTREPID,
    &MIRA,
    &BLUE_WATERS,
    &FUGAKU,
    &IRREGULAR_GPUS,
    &DGX_SUPERPOD,
    &NVL72,
    &CPU_CLUSTER,
];

/// Registry family of all machine presets. A study selects a preset by name.
pub static FAMILY: Family =
    Family { kind: "machine", key: "name", entries: || abouts(MACHINES), common: &[] };

const NOTHING_TO_SET: &str = "That of its topology and its allocator.";

const XPK: &str = "Google's xpk, which makes the list of all topologies that it supports, and the documentation of Cloud \
                   TPU, as of 2026";

static DGX_SUPERPOD: MachineEntry = MachineEntry::new(
    About::new(
        "dgx_superpod",
        "128 DGX H100 nodes of 8 GPUs, which jobs share, in four units of 32",
    )
    .definition(
        "A node has 112 cores, 2 TiB of memory and 8 GPUs on two sockets. 32 nodes are a \
             scalable unit, here a leaf of a fat tree; the published fabric has a rail for each \
             GPU, which is not modelled. Jobs take pieces of nodes, on as few units as can be.",
    )
    .complexity(NOTHING_TO_SET)
    .source("NVIDIA, DGX SuperPOD reference architecture with DGX H100 systems, 2023"),
    "{ topology = \"fat_tree\", arity = [32, 4], nodes = [{ type = \"dgx\" }] }",
    "\"fewest_leaves\"",
);

static NVL72: MachineEntry = MachineEntry::new(
    About::new("nvl72", "eight racks GB200 NVL72: 144 trays of 4 GPUs, which jobs share")
        .definition(
            "A tray has 144 cores, 960 GiB of memory and 4 GPUs on two boards. 18 trays are a \
             rack, the NVLink domain of 72 GPUs, here a leaf of a fat tree. Jobs take pieces of \
             trays, on as few racks as can be; `inside = \"leaf\"` keeps one in a rack.",
        )
        .complexity(NOTHING_TO_SET)
        .source("NVIDIA, GB200 NVL72, 2024; the number of racks is ours"),
    "{ topology = \"fat_tree\", arity = [18, 8], nodes = [{ type = \"nvl72\" }] }",
    "\"fewest_leaves\"",
);

static CPU_CLUSTER: MachineEntry = MachineEntry::new(
    About::new(
        "cpu_cluster",
        "256 nodes of 128 cores, which jobs share, below eight leaf switches",
    )
    .definition(
        "A node has 128 cores on two sockets and 512 GiB of memory; 32 nodes are a leaf of a \
             fat tree. It stands for many and is none of them.",
    )
    .complexity(NOTHING_TO_SET)
    .source("ours"),
    "{ topology = \"fat_tree\", arity = [32, 8], nodes = [{ type = \"cpu\" }] }",
    "\"fewest_leaves\"",
);

static TPU_V4: MachineEntry = MachineEntry::new(
    About::new(
        "tpu_v4",
        "a pod of TPU v4: 4096 chips in 64 cubes of 4 × 4 × 4, joined by optical switches",
    )
    .definition(
        "A processor is a chip; four are a host of 2 × 2 × 1. Slices have sides that are multiples \
         of 4 and up to 64 cubes, any of which optical switches join, or are parts of a cube: 2 × \
         4 × 4, 2 × 2 × 4, 2 × 2 × 2 and the host. Slices of one and two chips, which production \
         has too, are parts of a host. Twisted slices have other links and the same chips. How the \
         smaller parts lie in a cube, and which free cubes are chosen, is not published. Switches \
         take about ten seconds to join a slice; `reconfiguration_time` is 0 unless set. The grid \
         of 16 × 16 × 16 is where the cubes stand in pictures, and what a network without optical \
         switches has for links.",
    )
    .complexity(NOTHING_TO_SET)
    .source(
        "Jouppi et al., TPU v4, ISCA 2023; Google's xpk and the documentation of \
             Cloud TPU, as of 2026",
    ),
    "{ topology = \"torus\", dims = [16, 16, 16] }",
    "{ name = \"reconfigurable\", cube = 4 }",
);

static TPU_V5P: MachineEntry = MachineEntry::new(
    About::new(
        "tpu_v5p",
        "a pod of TPU v5p: 8960 chips in 140 cubes of 4 × 4 × 4, joined by optical switches",
    )
    .definition(
        "As `tpu_v4`, with 140 cubes, and no slices of fewer chips than a host. A \
             single job is said to get 96 cubes at most, which is not enforced here. \
             The 140 cubes stand in a grid of 4 × 5 × 7, which is ours.",
    )
    .complexity(NOTHING_TO_SET)
    .source(XPK),
    "{ topology = \"torus\", dims = [16, 20, 28] }",
    "{ name = \"reconfigurable\", cube = 4, parts = [4, 8, 16, 32] }",
);

static TPU7X: MachineEntry = MachineEntry::new(
    About::new(
        "tpu7x",
        "a pod of TPU7x: 9216 chips in 144 cubes of 4 × 4 × 4, joined by optical switches",
    )
    .aliases(&["ironwood"])
    .definition(
        "As `tpu_v4`, with 144 cubes; of smaller slices than a host there is the \
             single chip. The 144 cubes stand in a grid of 4 × 6 × 6, which is ours.",
    )
    .complexity(NOTHING_TO_SET)
    .source(XPK),
    "{ topology = \"torus\", dims = [16, 24, 24] }",
    "{ name = \"reconfigurable\", cube = 4, parts = [1, 4, 8, 16, 32] }",
);

static TPU_V5E: MachineEntry = MachineEntry::new(
    About::new(
        "tpu_v5e",
        "a pod of TPU v5e: a torus of 16 × 16 chips, handed out in halves of halves",
    )
    .definition(
        "Slices are 1 × 1, 2 × 2, 2 × 4, 4 × 4, 4 × 8, 8 × 8, 8 × 16 and 16 × 16. \
             Where in the pod they lie is not published; here they are halves of \
             halves, from the smallest free part that holds one.",
    )
    .complexity(NOTHING_TO_SET)
    .source(XPK),
    "{ topology = \"torus\", dims = [16, 16] }",
    "{ name = \"reconfigurable\", cube = 16, parts = [1, 4, 8, 16, 32, 64, 128] }",
);

static TPU_V6E: MachineEntry = MachineEntry::new(
    About::new(
        "tpu_v6e",
        "a pod of TPU v6e: a torus of 16 × 16 chips, handed out in halves of halves",
    )
    .aliases(&["trillium"])
    .definition("As `tpu_v5e`: the same slices, and as little is known of where they lie.")
    .complexity(NOTHING_TO_SET)
    .source(XPK),
    "{ topology = \"torus\", dims = [16, 16] }",
    "{ name = \"reconfigurable\", cube = 16, parts = [1, 4, 8, 16, 32, 64, 128] }",
);

static INTREPID: MachineEntry = MachineEntry::new(
    About::new(
        "intrepid",
        "Intrepid, a Blue Gene/P of 40,960 nodes, with the 1347 partitions of its production",
    )
    .definition(
        "40 racks of two midplanes, in five rows; a node has four processors. A job gets a whole \
         partition of 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 24576, 32768 or 40960 \
         nodes, by the rule of `partitions`, with the switches that the larger ones need. In \
         production only eight racks had partitions of 64; here all have. Its torus is not wired \
         in the model, which numbers nodes card by card; a job of its logs asks for processors, \
         four to a node.",
    )
    .complexity(NOTHING_TO_SET)
    .source(
        "the partitions of Cobalt's simulator, and the page of the log \
             ANL-Intrepid-2009 in the Parallel Workloads Archive",
    ),
    "{ topology = \"flat\", processors = 40960 }",
    "{ name = \"partitions\", list = \"intrepid\" }",
);

static MIRA: MachineEntry = MachineEntry::new(
    About::new(
        "mira",
        "Mira, a Blue Gene/Q of 49,152 nodes, with the sizes of partitions of its production",
    )
    .definition(
        "48 racks, 96 midplanes of 512 nodes. A job gets a whole partition of 512, 1024, 2048, \
         4096, 8192, 12288, 16384, 24576, 32768 or 49152 nodes. Where these lay, which wires they \
         shared, and which were meshes in one dimension, is not in what we have: here there is one \
         at every multiple of its size, and no switches. So partitions conflict less often than \
         they did.",
    )
    .complexity(NOTHING_TO_SET)
    .source("Argonne Leadership Computing Facility, Machine Partitions on Mira/Cetus/Vesta"),
    "{ topology = \"flat\", processors = 49152 }",
    "{ name = \"partitions\", list = \"mira\" }",
);

static BLUE_WATERS: MachineEntry = MachineEntry::new(
    About::new(
        "blue_waters",
        "Blue Waters, a torus of 24 × 24 × 24 Gemini routers, handed out in contiguous prisms",
    )
    .definition(
        "A processor of the model is a Gemini router, with two nodes. From 2015 on jobs got \
         contiguous prisms. Which orientations and places the scheduler tried first is not \
         published, nor are the places of the service nodes, which were holes for it: here it is \
         first fit in any orientation, and there are no holes.",
    )
    .complexity(NOTHING_TO_SET)
    .source(
        "National Center for Supercomputing Applications, Topology Aware Scheduling on Blue Waters",
    ),
    "{ topology = \"torus\", dims = [24, 24, 24] }",
    "{ name = \"first_fit\", rotation = \"if_needed\" }",
);

static FUGAKU: MachineEntry = MachineEntry::new(
    About::new(
        "fugaku",
        "Fugaku, a torus of 24 × 23 × 24 units of twelve nodes, handed out in \
             blocks whose axes may be exchanged",
    )
    .definition(
        "A processor of the model is a unit of 2 × 3 × 2 nodes, in which blocks of the machine's \
         torus are counted; there are 158,976 nodes. Jobs of more than 384 nodes get a torus, in \
         any orientation. Smaller ones get nodes anywhere unless they ask for a shape, which is \
         not modelled here: all jobs get blocks of units. In normal use a job has 82,944 nodes, \
         that is 6912 units, at most, which is not enforced. Which place is tried first is not \
         published: here it is the first.",
    )
    .complexity(NOTHING_TO_SET)
    .source(
        "RIKEN, Supercomputer Fugaku users guide, use and job execution, section \
             3.4; how the 158,976 nodes divide is commonly given and not in it",
    ),
    "{ topology = \"torus\", dims = [24, 23, 24] }",
    "{ name = \"first_fit\", rotation = \"if_needed\" }",
);

static IRREGULAR_GPUS: MachineEntry = MachineEntry::new(
    About::new(
        "irregular_gpus",
        "64 hosts of 8 GPUs, which jobs share, below 15 leaf switches of very unequal size",
    )
    .definition(
        "A host is a node of type `dgx`. The leaf switches have 1, 1, 2, 2, 2, 3, 3, 3, 5, 5, \
             6, 6, 6, 8 and 11 hosts, as where racks are filled by what arrives, and one switch \
             joins them. Jobs take pieces of hosts, which are chosen by the rule of `tree`. Leaves of all sizes are there, \
             so that rules which count on regular racks are put to the test.",
    )
    .complexity(NOTHING_TO_SET)
    .source("general"),
    "{ topology = \"flat\", processors = 64, nodes = [{ type = \"dgx\" }] }",
    "{ name = \"tree\", switches = [{ nodes = [0] }, { nodes = [1] }, { nodes = [2, 3] }, { nodes \
     = [4, 5] }, { nodes = [6, 7] }, { nodes = [8, 9, 10] }, { nodes = [11, 12, 13] }, { nodes = \
     [14, 15, 16] }, { nodes = [17, 18, 19, 20, 21] }, { nodes = [22, 23, 24, 25, 26] }, { nodes = \
     [27, 28, 29, 30, 31, 32] }, { nodes = [33, 34, 35, 36, 37, 38] }, { nodes = [39, 40, 41, 42, \
     43, 44] }, { nodes = [45, 46, 47, 48, 49, 50, 51, 52] }, { nodes = [53, 54, 55, 56, 57, 58, \
     59, 60, 61, 62, 63] }, { children = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] }] }",
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn every_machine_is_one_and_has_as_many_processors_as_it_says() {
        for (machine, nodes) in [
            ("tpu_v4", 4096),
            ("tpu_v5p", 8960),
            ("tpu7x", 9216),
            ("tpu_v5e", 256),
            ("tpu_v6e", 256),
            ("intrepid", 40960),
            ("mira", 49152),
            ("blue_waters", 13824),
            ("fugaku", 13248),
            ("irregular_gpus", 64),
            ("dgx_superpod", 128),
            ("nvl72", 144),
            ("cpu_cluster", 256),
        ] {
            let text =
                format!("machine = '{machine}'\nworkload = 'lublin'\nmeasure = {{ jobs = 9 }}");
            let scenario = Scenario::read(&text.parse().unwrap()).unwrap();
            assert_eq!(scenario.topologies()[0].grid().nodes(), nodes, "{machine}");
            // The expanded table gives the same scenario, and a study may choose another allocator.
            let again = Scenario::read(scenario.table()).unwrap();
            assert_eq!(again.table(), scenario.table());
            let other = format!("allocator = 'random'\n{text}");
            let other = Scenario::read(&other.parse().unwrap());
            assert_eq!(other.unwrap().table()["allocator"]["name"].as_str(), Some("random"));
        }
        assert_eq!(MACHINES.len(), 13);
        let text = "machine = 'tpu_v5'\nworkload = 'lublin'";
        let problem = Scenario::read(&text.parse().unwrap()).unwrap_err();
        assert!(
            problem.message.starts_with("unknown machine `tpu_v5` (did you mean `tpu_v4`?"),
            "{problem}"
        );
    }
}
