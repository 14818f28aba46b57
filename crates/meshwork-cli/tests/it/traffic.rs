//! Tests of `meshwork traffic`, which simulates a network under random traffic.

use crate::common::{Said, call};

fn traffic(arguments: &str) -> Said {
    call(".", &format!("traffic {arguments}"))
}

#[test]
fn one_object_for_each_load() {
    let said = traffic(
        "--topology torus --dims 8,8 --loads 0.05,0.3 --packet 8 --buffer 8 --vcs 2 --timing booksim \
         --cycles 8000 --seed 1 --json",
    ).succeeded();
    let points = said.json_lines();
    assert_eq!(points.len(), 2);
    for (point, load) in points.iter().zip([0.05, 0.3]) {
        let keys: Vec<&String> = point.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            ["load", "accepted", "latency", "network_latency", "hops", "cycles", "flit_hops"]
        );
        let number = |key: &str| point[key].as_f64().unwrap();
        assert!((number("load") - load).abs() < 1e-12);
        assert!((number("accepted") / load - 1.0).abs() < 0.05);
        assert!(number("latency") >= number("network_latency"));
        assert!((number("hops") - 4.0).abs() < 0.2);
        assert_eq!(point["cycles"], 8000);
        // Every flit passes one more router than links.
        let flit_hops = number("accepted") * 64.0 * 8000.0 * (number("hops") + 1.0);
        assert!((number("flit_hops") / flit_hops - 1.0).abs() < 0.05);
    }
}

#[test]
fn a_network_that_takes_too_much_memory_is_refused_with_the_estimate() {
    let said =
        traffic("--topology mesh --dims 16777216 --vcs 2 --max-memory 4G --threads 1").refused();
    said.err_has("takes about 11 GiB of memory");
    said.err_has("which is more than the 4 GiB of `--max-memory`");
    // Two networks at once exceed the limit, but one network does not.
    let small = "--topology mesh --dims 64,64 --loads 0.1,0.2 --cycles 100 --max-memory 6M";
    traffic(&format!("{small} --threads 2")).ended(2).err_has("2 of them at once");
    traffic(&format!("{small} --threads 1")).ended(0);
}

#[test]
fn a_table_ends_with_the_saturation_throughput() {
    for arguments in [
        "--dims 4,4 --loads 0.1 --cycles 2000",
        "--topology hypercube --dims 4 --loads 0.1 --cycles 2000 --traffic tornado",
        "--topology hypercube --dimension 4 --loads 0.1 --cycles 2000 --traffic transpose",
        "--topology torus --dims 4,4 --loads 0.1 --cycles 2000 --class dateline --lanes independent",
        "--dims 4,4 --wrap true,false --loads 0.1 --cycles 2000",
        "--dims 4,4 --processors-per-node 2 --loads 0.1 --cycles 2000",
        "--topology tofu --dims 2 --loads 0.1 --cycles 2000",
        "--topology fat_tree --arity 4 --levels 3 --loads 0.1 --cycles 2000 --upward fixed",
        "--topology dragonfly --p 2 --a 4 --h 2 --routing minimal --loads 0.1 --cycles 2000",
        "--topology dragonfly --p 1 --routing valiant --loads 0.1 --cycles 2000 --traffic next_group",
        "--topology dragonfly --p 2 --a 4 --h 2 --routing ugal --local-latency 10 --global-latency 100 \
         --loads 0.1 --cycles 4000 --timing booksim --buffer 256",
    ] {
        let said = traffic(arguments).succeeded();
        let last = said.out.lines().last().unwrap();
        let number =
            last.strip_prefix("saturation throughput: ").unwrap().split(' ').next().unwrap();
        assert!(number.parse::<f64>().unwrap() > 0.05, "{last}");
    }
}

#[test]
fn a_machine_in_words_is_the_one_that_the_options_describe() {
    let rest = "--loads 0.1 --cycles 500 --json";
    for (words, options) in [
        ("torus:4x4", "--topology torus --dims 4,4"),
        ("hypercube:4", "--topology hypercube --dims 4"),
        ("fat_tree:4x4", "--topology fat_tree --arity 4,4"),
        ("{topology=\"mesh\",dims=[4,4]}", "--dims 4,4"),
    ] {
        let said = traffic(&format!("--machine {words} {rest}")).succeeded();
        assert_eq!(said.out, traffic(&format!("{options} {rest}")).out, "{words}");
    }
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    for (arguments, sentence) in [
        (
            "--topology torus --dims 8,8 --vcs 1",
            "error: --vcs: a torus with 1 virtual channel can deadlock, since packets on a ring can wait for \
             each other in a circle: give an even number of virtual channels, 2 or more\n",
        ),
        (
            "--machine mesh:4x",
            "error: --machine mesh:4x: `4x` is no size of a mesh: write `mesh:8x8`, or a table as in a study\n",
        ),
        (
            "--machine flat:8",
            "error: --machine: messages need links between processors, and the machine is a flat machine of 8 \
             processors: a mesh, torus or hypercube has them\n",
        ),
        (
            "--dims 8,8 --packet 0",
            "error: --packet: `packet_length` is 0, but must be a whole number from 1 to 65536\n",
        ),
        (
            "--dims 8,8 --buffer 0",
            "error: --buffer: `buffer` is 0, but must be a whole number from 1 to 65536\n",
        ),
        (
            "--dims 6,6 --traffic bit_complement",
            "error: --traffic: `bit_complement` needs a number of nodes that is a power of two, and the machine \
             has 36\n",
        ),
        (
            "--dims 8,4 --traffic transpose",
            "error: --traffic: `transpose` needs sides that read the same backwards, such as 8 × 8\n",
        ),
        (
            "--dims 8,8 --traffic tornedo",
            "error: --traffic: unknown traffic `tornedo` (did you mean `tornado`? known: uniform, transpose, \
             bit_complement, tornado, neighbour, next_group, hotspot)\n",
        ),
        (
            "--dims 8,0",
            "error: --dims: every side of a machine is at least 1, this one has a side of 0\n",
        ),
        (
            "--topology hypercube --dims 3,4",
            "error: --dims: a hypercube has one number, its dimension, such as --dims 6\n",
        ),
        (
            "--topology fat_tree --levels 3",
            "error: --topology fat_tree: `arity` is missing: nodes of a leaf switch and children of every other, \
             or a list: one number for each level, the leaves first (a list of whole numbers from 1 to \
             16777216)\n",
        ),
        (
            "--topology fat_tree --arity 4 --levels 2 --taper 3",
            "error: --taper: with a taper of 3 a leaf switch of 4 nodes would not have a whole number of links \
             upwards, 1 or more\n",
        ),
        (
            "--topology fat_tree --arity 4,4 --levels 3",
            "error: --levels: `levels` is 3, but must be 2, as many as `arity` has numbers; or give one number \
             for all levels\n",
        ),
        (
            "--topology dragonfly --p 2 --vcs 1",
            "error: --vcs: a dragonfly with 1 virtual channel can deadlock, since packets between groups can \
             wait for each other in a circle: with this `routing`, give a multiple of 2 virtual channels\n",
        ),
        (
            "--topology dragonfly --p 2 --routing ugal --vcs 2",
            "error: --vcs: a dragonfly with 2 virtual channels can deadlock, since packets between groups can \
             wait for each other in a circle: with this `routing`, give a multiple of 3 virtual channels\n",
        ),
        (
            "--topology dragonfly --p 2 --global-latency 0",
            "error: --global-latency: `global_latency` is 0, but must be a whole number from 1 to 65536\n",
        ),
        (
            "--topology twisted_torus --dims 4,8",
            "error: --topology: no virtual channels are known here that keep packets on a 4 × 8 twisted torus \
             out of a deadlock: the networks `hops` and `link_load` work on it\n",
        ),
        (
            "--topology fat_tree --arity 4 --traffic tornado",
            "error: --traffic: `tornado` goes along the dimensions of a grid, and the machine is a 4 × 4 × 4 \
             fat tree\n",
        ),
        (
            "--dims 4,4 --traffic next_group",
            "error: --traffic: `next_group` needs groups of nodes, as a dragonfly and a fat tree have, and the \
             machine is a 4 × 4 mesh\n",
        ),
        (
            "--dims 4,4 --wrap true,false,true",
            "error: --wrap: `wrap` has 3 words, but must have one, or 2 for the dimensions\n",
        ),
        (
            "--dims 4,4 --cycles 100 --warmup 100",
            "error: --warmup 100: this leaves none of the 100 cycles of --cycles to measure\n",
        ),
    ] {
        let said = traffic(arguments);
        assert_eq!((said.status, said.err.as_str()), (Some(2), sentence), "{arguments}");
        assert_eq!(said.out, "");
    }
}
