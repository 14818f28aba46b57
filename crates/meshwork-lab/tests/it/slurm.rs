//! Tests of Slurm's configuration files.
//!
//! Errors and silent problems are found, and recorded decisions of a real Slurm are repeated.

use std::collections::BTreeMap;
use std::path::Path;

use meshwork::alloc::listed::NodeRequest;
use meshwork::geometry::NodeSet;
use meshwork::job::{Constraints, Job, Request, Time};
use meshwork::pool::Pool;
use meshwork_lab::Study;
use meshwork_lab::study::expand::expand;
use meshwork_slurm::check;
use meshwork_slurm::desk::{SlurmAllocator, SlurmAnswer, SlurmRequest};
use meshwork_slurm::finding::Level;
use meshwork_slurm::hostlist::names;
use meshwork_slurm::site::{Reading, SlurmFiles, read_texts};
use meshwork_slurm::topology::Structure;
use serde_json::Value as Json;

use crate::shared;

fn files(topology: &str) -> SlurmFiles {
    let (topology, conf) = (topology.to_owned(), Some("slurm.conf".to_owned()));
    SlurmFiles { topology, conf, gres: None }
}

fn reading(topology: &str, conf: &str) -> Reading {
    reading_of("topology.yaml", topology, conf)
}

fn reading_of(file: &str, topology: &str, conf: &str) -> Reading {
    read_texts(files(file), topology, Some(conf), &mut |path| Err(format!("no {path}")))
}

/// Nodes n0 to n63 with 2 processors each, in one partition.
const CONF: &str =
    "NodeName=DEFAULT CPUs=2\nNodeName=n[0-63]\nPartitionName=all Nodes=ALL Default=YES\n";

fn torus(lines: &str) -> String {
    format!(
        "- topology: t\n  torus3d:\n    toruses:\n      - name: p\n        {}\n",
        lines.replace('\n', "\n        ")
    )
}

#[test]
fn what_slurm_refuses_is_refused_with_its_line_and_its_words() {
    let whole = "dims: {x: 4, y: 4, z: 4}\nnodes: n[0-63]";
    let placed = |placement: &str| torus(&format!("{whole}\nplacements:\n  - {placement}"));
    let cases: Vec<(String, usize, &str, &str)> = vec![
        ("- topology: t\n".into(), 1, "none of block, flat, ring", "Failed to initialize"),
        ("- topology: t\n  flat: true\n  ring: {rings: []}\n".into(), 3, "must have one of them", "Failed to init"),
        ("- topology: t\n  flat: false\n".into(), 2, "without a kind", "Failed to initialize"),
        ("- topology: t\n  dragonfly: {}\n".into(), 1, "none of block", "Failed to initialize"),
        ("a: [\n".into(), 2, "no YAML", "Failed to initialize"),
        (torus("dims: &d {x: 4, y: 4, z: 4}\nplacements: [{dims: *d}]"), 6, "alias", "Failed to initialize"),
        (torus("dims: [4, 4, 4]"), 5, "must be a mapping", "Failed to initialize"),
        (torus("dims: 4x4x4"), 5, "must be a mapping", "Failed to initialize"),
        (torus("dims: {x: 4, y: 4, z: -4}"), 5, "whole number", "Failed to initialize"),
        (torus("dims: {x: 4, y: 4}\nnodes: n[0-15]"), 4, "each is at least 1", "invalid configuration"),
        (torus("dims: {x: 4, y: 4, z: 4}\nnodes: n[0-62]"), 6, "63 nodes are listed", "invalid configuration"),
        (torus("dims: {x: 4, y: 4, z: 4}\nnodes: n[0-63"), 6, "not closed", "invalid configuration"),
        (torus(&format!("{whole}\nregions: [{{dims: {{x: 1, y: 1, z: 1}}, nodes: n0}}]")), 4, "nodes and regions", "invalid"),
        (placed("dims: {x: 0, y: 1, z: 1}"), 8, "empty side", "invalid configuration"),
        (placed("dims: {x: 5, y: 1, z: 1}"), 8, "larger than the torus", "invalid configuration"),
        (placed("{dims: {x: 1, y: 1, z: 1}, anchor_spacing: {x: 5}}"), 8, "anchor spacing", "invalid"),
        (placed("{dims: {x: 1, y: 1, z: 1}, anchor_seed: {z: 4}}"), 8, "anchor seed", "invalid"),
        (torus("dims: {x: 4, y: 4, z: 4}\nregions:\n  - {anchor: {x: 3}, dims: {x: 2, y: 1, z: 1}, nodes: 'n[0-1]'}"), 7, "does not lie within", "invalid"),
        (torus("dims: {x: 4, y: 4, z: 4}\nregions:\n  - {dims: {x: 2, y: 1, z: 1}, nodes: 'n[0-1]'}\n  - {dims: {x: 1, y: 1, z: 1}, nodes: n2}"), 8, "over an earlier one", "invalid"),
        (torus("dims: {x: 4, y: 4, z: 4}\nregions:\n  - {dims: {x: 2, y: 1, z: 1}, nodes: n0}"), 7, "1 nodes are listed", "invalid"),
        (torus("dims: {x: 4, y: 4, z: 4}\nregions:\n  - {dims: {x: 2, y: 1, z: 1}}"), 7, "no nodes", "invalid"),
        ("- topology: t\n  torus3d: {toruses: []}\n".into(), 1, "no toruses", "No torus3d"),
        ("- topology: t\n  torus3d:\n    toruses:\n      - {name: a, dims: {x: 1, y: 1, z: 1}, nodes: n0}\n      - {name: a, dims: {x: 1, y: 1, z: 1}, nodes: n1}\n".into(), 5, "named a", "already been defined"),
        ("- topology: t\n  torus3d:\n    toruses:\n      - {name: a, dims: {x: 1, y: 1, z: 1}, nodes: n0}\n      - {name: b, dims: {x: 1, y: 1, z: 1}, nodes: n0}\n".into(), 5, "both have n0", "share nodes"),
        ("- topology: t\n  block: {block_sizes: [4, 6], blocks: [{block: a, nodes: 'n[0-3]'}]}\n".into(), 2, "power of two", "Invalid BlockSizes value in topology t"),
        ("- topology: t\n  block: {block_sizes: [8, 4], blocks: [{block: a, nodes: 'n[0-3]'}]}\n".into(), 2, "size 4", "Invalid BlockSizes"),
        ("- topology: t\n  block: {block_sizes: [0], blocks: [{block: a, nodes: 'n[0-3]'}]}\n".into(), 2, "size 0", "Invalid BlockSizes"),
        ("- topology: t\n  block: {block_sizes: [1, 65536], blocks: [{block: a, nodes: 'n[0-3]'}]}\n".into(), 2, "65536", "Invalid BlockSizes"),
        ("- topology: t\n  block: {blocks: []}\n".into(), 1, "no blocks", "No blocks configured"),
        ("- topology: t\n  block: {blocks: [{nodes: n0}]}\n".into(), 2, "no name", "without a name"),
        ("- topology: t\n  block: {blocks: [{block: a, nodes: 'n[0-3'}]}\n".into(), 2, "not closed", "Invalid node name (n[0-3) in block config (a)"),
        ("- topology: t\n  block: {blocks: [{block: a}]}\n".into(), 1, "no block has a node", ""),
        ("- topology: t\n  ring: {rings: [{ring: a, nodes: 'n[0-16]'}]}\n".into(), 2, "at most 16", "bigger than 16"),
        ("- topology: t\n  ring: {rings: [{ring: a, nodes: n0}, {ring: a, nodes: n1}]}\n".into(), 2, "named a", "Ring (a) has already"),
        ("- topology: t\n  ring: {rings: []}\n".into(), 1, "no rings", "No rings configured"),
        ("- topology: t\n  tree: {switches: []}\n".into(), 1, "no switches", "No switches configured"),
        ("- topology: t\n  tree: {switches: [{switch: a, children: b}]}\n".into(), 2, "the child b", "invalid child (b)"),
        ("- topology: t\n  tree: {switches: [{switch: a, children: a}]}\n".into(), 2, "the child a", "invalid child (a)"),
        ("- topology: t\n  tree:\n    switches:\n      - {switch: a, children: b}\n      - {switch: b, children: a}\n".into(), 4, "below itself", "not a tree"),
        ("- topology: t\n  tree: {switches: [{switch: a, nodes: n0}, {switch: a, nodes: n1}]}\n".into(), 2, "named a", "already been defined"),
    ];
    for (text, line, says, slurm) in cases {
        let reading = reading(&text, CONF);
        let finding = reading.findings.first_fatal().unwrap_or_else(|| panic!("taken: {text}"));
        assert!(finding.says.contains(says), "{text}\n{}", finding.says);
        assert_eq!(finding.line, Some(line), "{text}\n{}", finding.says);
        let logged = finding.slurm.last().map_or("", String::as_str);
        assert!(
            logged.contains(slurm) && logged.starts_with("fatal") != slurm.is_empty(),
            "{text}\n{logged}"
        );
        let sentence = reading.site(None).unwrap_err();
        assert!(sentence.starts_with(&format!("topology.yaml, line {line}: ")), "{sentence}");
    }
}

#[test]
fn what_slurm_overlooks_is_warned_of() {
    let whole = "dims: {x: 4, y: 4, z: 4}\nnodes: n[0-63]";
    let placed = |placements: &str| torus(&format!("{whole}\nplacements:\n  {placements}"));
    let cases: Vec<(String, usize, &str)> = vec![
        (torus(&format!("{whole}\nwrap: true")), 7, "the key `wrap`"),
        (placed("- {dims: {x: 2, y: 2, z: 2}, anchor_spacings: {x: 1}}"), 8, "did you mean `anchor_spacing`"),
        (placed("- dims: {x: 3, y: 1, z: 1}"), 8, "does not divide the 4 nodes"),
        (placed("- {dims: {x: 4, y: 4, z: 4}, anchor_spacing: {x: 1}}"), 8, "4 anchors are the same box"),
        (placed("- dims: {x: 2, y: 1, z: 1}"), 8, "1x2x1, so no job gets the latter"),
        (placed("- dims: {x: 2, y: 2, z: 2}\n  - dims: {x: 2, y: 2, z: 2}"), 9, "that of line 8 again"),
        (torus(whole), 4, "no placements"),
        (torus("dims: {x: 4, y: 4, z: 4}"), 4, "no nodes"),
        (torus("dims: {x: 2, y: 1, z: 1}\nnodes: n0,n0"), 4, "n0 twice"),
        (torus("dims: {x: 2, y: 1, z: 1}\nnodes: n0,zz1"), 1, "no nodes zz1"),
        (torus("dims: {x: 2, y: 1, z: 1}\nregions: [{dims: {x: 1, y: 1, z: 1}, nodes: n0}]\nplacements: [{dims: {x: 2, y: 1, z: 1}}]"), 7, "none is ever given"),
        ("- flat: true\n".into(), 1, "has no name"),
        ("- {topology: t, flat: true}\n- {topology: t, flat: true}\n".into(), 2, "partitions get the first"),
        ("- topology: t\n  block:\n    blocksizes: [4]\n    blocks: [{block: a, nodes: 'n[0-3]'}]\n".into(), 3, "did you mean `block_sizes`"),
        ("- topology: t\n  block: {block_sizes: [4, 16, 8], blocks: [{block: a, nodes: 'n[0-3]'}]}\n".into(), 2, "after a larger one"),
        ("- topology: t\n  block: {block_sizes: [4, 4], blocks: [{block: a, nodes: 'n[0-3]'}]}\n".into(), 2, "listed twice"),
        ("- topology: t\n  block: {block_sizes: [4], blocks: [{block: a, nodes: 'n[0-2]'}]}\n".into(), 2, "fewer nodes than"),
        ("- topology: t\n  block: {block_sizes: [4], blocks: [{block: a, nodes: 'n[0-4]'}]}\n".into(), 2, "more nodes than"),
        ("- topology: t\n  block: {block_sizes: [4, 8], blocks: [{block: a, nodes: 'n[0-3]'}]}\n".into(), 2, "larger than the 1 blocks"),
        ("- topology: t\n  block: {blocks: [{block: a, nodes: 'n[0-3]'}, {block: b, nodes: 'n[3-6]'}]}\n".into(), 2, "both have n3"),
        ("- topology: t\n  block: {block_sizes: [6], blocks: [{block: a, nodes: 'n[0-4]'}, {block: b, nodes: 'n[5-9]'}]}\n".into(), 1, "are refused though the machine is empty"),
        ("- topology: t\n  ring: {rings: [{ring: a, nodes: n0, closed: 1}]}\n".into(), 2, "the key `closed`"),
        ("- topology: t\n  ring: {rings: [{ring: a, nodes: n0}]}\n".into(), 1, "no ring has the nodes n[1-63]"),
        ("- topology: t\n  tree:\n    switches:\n      - {switch: a, switches: b}\n      - {switch: b, nodes: 'n[0-63]'}\n".into(), 4, "the key `switches`"),
        ("- topology: t\n  tree: {switches: [{switch: a}]}\n".into(), 2, "an empty leaf"),
        ("- topology: t\n  tree: {switches: [{switch: a, nodes: n0}, {switch: b, nodes: 'n[0-63]'}]}\n".into(), 1, "several leaf switches have n0"),
        ("- topology: t\n  tree: {switches: [{switch: a, nodes: 'n[0-31]'}, {switch: b, nodes: 'n[32-63]'}]}\n".into(), 1, "2 trees"),
    ];
    for (text, line, says) in cases {
        let checked = check::of(reading(&text, CONF));
        assert!(checked.starts(), "{text}\n{:?}", checked.reading.refusal());
        let found = checked.findings().into_iter().find(|finding| finding.says.contains(says));
        let found = found
            .unwrap_or_else(|| panic!("no word of `{says}`: {text}\n{:?}", checked.findings()));
        let place = (found.level, found.line);
        assert_eq!(place, (Level::Warning, Some(line)), "{text}\n{}", found.says);
    }
    // Correct files have no findings.
    let sound = "- topology: t\n  torus3d:\n    toruses:\n      - name: p\n        dims: {x: 4, y: 4, z: 4}\n        nodes: n[0-63]\n        placements:\n          - dims: {x: 1, y: 1, z: 1}\n          - dims: {x: 2, y: 2, z: 2}\n          - dims: {x: 4, y: 4, z: 4}\n";
    let checked = check::of(reading(sound, CONF));
    assert_eq!(checked.findings(), Vec::<&meshwork_slurm::finding::LintFinding>::new());
    assert_eq!((checked.tables[0].rows.len(), checked.drawings[0].len()), (3, 20));
}

#[test]
fn partitions_nodes_and_weights_come_from_slurm_conf() {
    let topology = "- {topology: f, flat: true}\n- {topology: r, ring: {rings: [{ring: a, nodes: 'n[0-7]'}]}}\n";
    let conf = "# a comment\nNodeName=DEFAULT Sockets=2 CoresPerSocket=4 ThreadsPerCore=2\nNodeName=n[0-3] Weight=5\n\
                NodeName=n[4-7] \\\n  CPUs=3 State=DOWN\nNodeSet=left Nodes=n[0-1]\nPartitionName=DEFAULT Topology=r\n\
                PartitionName=a Nodes=left,n4 OverSubscribe=EXCLUSIVE\npartitionname=b nodes=ALL default=yes topology=f\n";
    let reading = reading(topology, conf);
    let site = reading.site(Some("a")).unwrap();
    assert!(matches!(site.structure, Structure::Ring(..)) && site.is_exclusive);
    assert_eq!(
        (site.hosts.listed(&site.whole), site.hosts.listed(&site.up)),
        ("n[0-1,4]".into(), "n[0-1]".into())
    );
    assert_eq!((site.nodes.weight(0), site.nodes.processors(0)), (5, 16));
    assert_eq!((site.nodes.weight(4), site.nodes.processors(4)), (1, 3));
    let site = reading.site(None).unwrap();
    assert!(matches!(site.structure, Structure::Flat) && site.whole.count() == 8);
    assert!(
        reading.site(Some("c")).unwrap_err().contains("there is no partition c (there are: a, b)")
    );
    for (conf, says) in [
        (
            "NodeName=n[0-3\n",
            "slurm.conf, line 1: NodeName: the list `n[0-3` has a bracket that is not closed",
        ),
        ("NodeName=n0 CPUs=two\n", "line 1: CPUs is two, but must be a whole number"),
        (
            "NodeName=n0\nPartitionName=p Nodes=n1\n",
            "line 2: the partition p has the node n1, which no NodeName has",
        ),
        (
            "NodeName=n0\nPartitionName=p Nodes=n0 Topology=x\n",
            "line 2: the partition p asks for the topology x",
        ),
        ("Include other.conf\n", "line 1: Include other.conf: no other.conf"),
        ("NodeName=n0\n", "there is no partition"),
        (
            "NodeName=n0\nPartitionName=p Nodes=n0\nPartitionName=q Nodes=n0\n",
            "no partition is the default",
        ),
    ] {
        let refused = self::reading("- {topology: f, flat: true}\n", conf).site(None).unwrap_err();
        assert!(refused.contains(says), "{conf}\n{refused}");
    }
}

fn asks(wanted: NodeRequest) -> SlurmRequest {
    SlurmRequest { wanted, ..SlurmRequest::default() }
}

#[test]
fn a_topology_conf_says_the_same_as_a_topology_yaml() {
    let pairs = [
        (
            "- topology: t\n  tree:\n    switches:\n      - {switch: a, nodes: 'n[0-31]'}\n      - {switch: b, nodes: 'n[32-63]'}\n      - {switch: c, children: 'a,b'}\n",
            "SwitchName=a Nodes=n[0-31]\nSwitchName=b Nodes=n[32-63]\nSwitchName=c Switches=a,b\n",
        ),
        (
            "- topology: t\n  block:\n    block_sizes: [16, 32]\n    blocks:\n      - {block: a, nodes: 'n[0-15]'}\n      - {block: b, nodes: 'n[16-31]'}\n",
            "BlockName=a Nodes=n[0-15]\nBlockName=b Nodes=n[16-31]\nBlockSizes=16,32\n",
        ),
        (
            "- topology: t\n  ring: {rings: [{ring: a, nodes: 'n[3,1,2]'}]}\n",
            "RingName=a Nodes=n[3,1,2]\n",
        ),
    ];
    for (yaml, conf) in pairs {
        let ask = |reading: &Reading| {
            let mut desk: SlurmAllocator<u32> = SlurmAllocator::new(reading.site(None).unwrap());
            let wanted = (1..20).map(|n| (n, NodeRequest::of(n % 7 + 1)));
            let requests = wanted.map(|(n, wanted)| (n, asks(wanted)));
            requests.map(|(n, request)| desk.allocate(&n, &request)).collect::<Vec<SlurmAnswer>>()
        };
        let old = reading_of("topology.conf", conf, CONF);
        assert_eq!(ask(&reading(yaml, CONF)), ask(&old), "{conf}");
    }
    for (conf, says) in [
        ("SwitchName=a Nodes=n0 Switches=b\n", "nodes and switches"),
        ("NodeName=a\n", "this is a slurm.conf"),
        ("Name=a\n", "begins no line"),
        ("SwitchName=a Nodes=n0\nBlockName=b Nodes=n1\n", "more than one"),
    ] {
        let read = reading_of("topology.conf", conf, CONF);
        assert!(read.refusal().unwrap().contains(says), "{conf}");
    }
}

#[test]
fn an_empty_topology_file_is_a_flat_machine_or_refused() {
    assert!(reading("", CONF).refusal().is_none());
    assert!(reading("# nothing\n", CONF).refusal().is_none());
    let tree = format!("TopologyPlugin=topology/tree\n{CONF}");
    let refused = reading("", &tree);
    let finding = refused.findings.first_fatal().expect("an empty file names no topology");
    assert!(finding.says.contains("lists no topology"), "{}", finding.says);
    let conf = reading_of("topology.conf", "", &tree);
    assert!(conf.refusal().unwrap().contains("no switch, no block and no ring"));
}

/// First scenario of a study with the text `text`. Other files of the study are in `folder`.
fn scenario(folder: &Path, text: &str) -> Result<toml::Table, String> {
    let points = Study::parse("study.toml", text, folder, &[]).and_then(|study| expand(&study));
    Ok(points.map_err(|refused| refused.to_string())?[0].scenario.table().clone())
}

/// Pool, and Slurm allocator, of the machine that the Slurm files of a folder describe.
fn pool_and_desk(
    folder: &Path,
    scenario: &toml::Table,
    partition: Option<&str>,
) -> (Pool, SlurmAllocator<u32>) {
    let table = ["machine", "allocator"].map(|key| (key.to_owned(), scenario[key].clone()));
    let path = |file: &str| folder.join(file);
    let reading =
        meshwork_lab::slurm::read(Some(&path("topology.yaml")), Some(&path("slurm.conf")));
    let site = reading.unwrap().site(partition).unwrap();
    (Pool::read(&toml::Table::from_iter(table)).unwrap(), SlurmAllocator::new(site))
}

#[test]
fn a_study_places_jobs_as_the_desk_does() {
    let folder = tempfile::tempdir().unwrap();
    let topologies = [
        "- topology: t\n  torus3d:\n    toruses:\n      - name: p\n        dims: {x: 4, y: 4, z: 4}\n        nodes: n[0-63]\n        placements: [{dims: {x: 2, y: 2, z: 1}}, {dims: {x: 2, y: 2, z: 2}}, {dims: {x: 4, y: 4, z: 4}}]\n",
        "- topology: t\n  block: {block_sizes: [8, 16, 32], blocks: [{block: a, nodes: 'n[0-7]'}, {block: b, nodes: 'n[8-15]'}, {block: c, nodes: 'n[16-23]'}]}\n",
        "- topology: t\n  ring: {rings: [{ring: a, nodes: 'n[0-7]'}, {ring: b, nodes: 'n[8-15]'}]}\n",
        "- topology: t\n  tree: {switches: [{switch: a, nodes: 'n[0-7]'}, {switch: b, nodes: 'n[8-15]'}, {switch: c, children: 'a,b'}]}\n",
        "- topology: t\n  torus3d:\n    toruses:\n      - {name: p, dims: {x: 4, y: 2, z: 1}, nodes: 'n[0-7]', placements: [{dims: {x: 2, y: 2, z: 1}}]}\n      - {name: q, dims: {x: 2, y: 2, z: 1}, regions: [{dims: {x: 2, y: 1, z: 1}, nodes: 'n[8-9]'}], placements: [{dims: {x: 2, y: 1, z: 1}}]}\n",
        "- {topology: t, flat: true}\n",
    ];
    std::fs::write(
        folder.path().join("slurm.conf"),
        format!("NodeName=DEFAULT Weight=3\n{CONF}")
            .replace("n[0-63]\n", "n[0-3]\nNodeName=DEFAULT Weight=1\nNodeName=n[4-63]\n"),
    )
    .unwrap();
    for text in topologies {
        std::fs::write(folder.path().join("topology.yaml"), text).unwrap();
        let mut study = "machine = { slurm = 'topology.yaml', conf = 'slurm.conf' }\n\
                         workload = { name = 'synthetic', load = 0.5, sizes = 'uniform', \
                         runtimes = { name = 'constant', value = 1.0 } }\nmeasure = { jobs = 5 }\n"
            .to_owned();
        // Allocators for grids cannot be swept on other topologies.
        if text.contains("x: 4, y: 4, z: 4") {
            study += "[sweep]\nallocator = ['slurm', 'first_fit', 'naive']\n";
        }
        let table = scenario(folder.path(), &study);
        let table = table.unwrap_or_else(|refused| panic!("{text}\n{refused}"));
        let (mut pool, mut desk) = pool_and_desk(folder.path(), &table, None);
        for (number, nodes) in [4, 2, 8, 3, 4, 1, 8, 4, 5, 2, 4].into_iter().enumerate() {
            let told = desk.allocate(&(number as u32), &asks(NodeRequest::of(nodes)));
            let placed = pool.allocate(&Request::Nodes(nodes));
            let own: Option<Vec<u32>> = placed.map(|placement| {
                let mut nodes = placement.nodes(pool.site().grid());
                nodes.sort_unstable();
                nodes
            });
            let theirs = match told {
                SlurmAnswer::Nodes(nodes) => Some(nodes.iter().collect::<Vec<u32>>()),
                _ => None,
            };
            assert_eq!(own, theirs, "job {number} of {nodes} nodes\n{text}");
        }
    }
}

#[test]
fn jobs_of_a_table_want_what_they_would_want_of_the_desk() {
    let folder = tempfile::tempdir().unwrap();
    let conf = format!("{CONF}PartitionName=small Nodes=n[8-15]\n");
    std::fs::write(folder.path().join("slurm.conf"), conf).unwrap();
    let topologies = [
        // The nodes of the torus in an unusual order.
        "- topology: t\n  torus3d:\n    toruses:\n      - {name: p, dims: {x: 4, y: 4, z: 4}, nodes: 'n[32-63],n[0-31]', placements: [{dims: {x: 2, y: 2, z: 1}}, {dims: {x: 2, y: 2, z: 2}}]}\n",
        "- topology: t\n  block: {block_sizes: [8, 16], blocks: [{block: a, nodes: 'n[0-7]'}, {block: b, nodes: 'n[8-15]'}, {block: c, nodes: 'n[16-23]'}, {block: d, nodes: 'n[24-31]'}]}\n",
        "- topology: t\n  ring: {rings: [{ring: a, nodes: 'n[0-7]'}, {ring: b, nodes: 'n[15,14,13,12,11,10,9,8]'}]}\n",
        "- topology: t\n  tree: {switches: [{switch: a, nodes: 'n[0-7]'}, {switch: b, nodes: 'n[8-15]'}, {switch: c, children: 'a,b'}]}\n",
        "- {topology: t, flat: true}\n",
    ];
    let all = [
        Constraints::of(4),
        Constraints { segment: Some(4), ..Constraints::of(8) },
        Constraints { segment: Some(2), spread_segments: true, ..Constraints::of(4) },
        Constraints { require: Some("n[8,9]".into()), ..Constraints::of(4) },
        Constraints { exclude: Some("n[0-4],n12".into()), ..Constraints::of(4) },
        Constraints { partition: Some("small".into()), ..Constraints::of(2) },
        Constraints { partition: Some("nobody".into()), ..Constraints::of(1) },
        Constraints { contiguous: true, ..Constraints::of(3) },
        Constraints { nodes_max: Some(9), ..Constraints::of(4) },
        Constraints { switches: Some(1), ..Constraints::of(4) },
        Constraints { require: Some("x7".into()), ..Constraints::of(4) },
        Constraints { segment: Some(3), ..Constraints::of(8) },
    ];
    let columns = &meshwork::workload::table::COLUMNS;
    let header: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let mut table = header.join(",");
    for (number, constraints) in (1..).zip(&all) {
        let job = Job::new(number, Time::ZERO, Request::constrained(constraints.clone()), 10.0);
        let cells = columns.iter().map(|column| column.get(&job).unwrap_or_default());
        let cells: Vec<String> = cells.map(|cell| format!("\"{cell}\"")).collect();
        table += &format!("\n{}", cells.join(","));
    }
    std::fs::write(folder.path().join("jobs.csv"), table).unwrap();
    for text in topologies {
        std::fs::write(folder.path().join("topology.yaml"), text).unwrap();
        let study = "machine = { slurm = 'topology.yaml', conf = 'slurm.conf' }\nworkload = { name = 'table', path = 'jobs.csv' }\nmeasure = { jobs = 5 }\n";
        let table = scenario(folder.path(), study).unwrap();
        let (mut pool, mut desk) = pool_and_desk(folder.path(), &table, Some("all"));
        let hosts: Vec<String> = names(table["allocator"]["hosts"].as_str().unwrap()).unwrap();
        for (number, constraints) in all.iter().enumerate() {
            let partition = constraints.partition.as_deref();
            // The partition `small` is expressed by excluding all other nodes.
            let others = (partition == Some("small")).then(|| "n[0-7],n[16-63]".to_owned());
            let asked = SlurmRequest {
                wanted: NodeRequest {
                    most: constraints.nodes_max.unwrap_or(constraints.nodes),
                    segment: constraints.segment,
                    spread: constraints.spread_segments,
                    switches: constraints.switches,
                    contiguous: constraints.contiguous,
                    ..NodeRequest::of(constraints.nodes)
                },
                require: constraints.require.clone(),
                exclude: constraints.exclude.clone().or(others),
                ..SlurmRequest::default()
            };
            let told = desk.ask(&asked);
            let theirs = match (&told, partition) {
                (SlurmAnswer::Nodes(nodes), None | Some("small")) => {
                    desk.allocate(&(number as u32), &asked);
                    let names = nodes.iter().map(|node| desk.site().hosts.name(node).to_owned());
                    Some(names.collect::<std::collections::BTreeSet<String>>())
                }
                _ => None,
            };
            let request = Request::constrained(constraints.clone());
            let placed = pool.allocate(&request);
            let own = placed.map(|placement| {
                let nodes = placement.nodes(pool.site().grid());
                nodes.into_iter().map(|node| hosts[node as usize].clone()).collect()
            });
            assert_eq!(own, theirs, "{request}\n{text}");
            // Slurm lets a job that excludes nodes of a torus wait, even if it can never start.
            let waits = matches!(told, SlurmAnswer::Wait(..)) && asked.exclude.is_some();
            // Requests that start now are not compared. If no listed node is free, Slurm may start
            // a job on other nodes, even a job that could never start on the empty machine.
            let starts = matches!(told, SlurmAnswer::Nodes(_));
            if partition != Some("nobody") && !waits && !starts {
                let never = matches!(told, SlurmAnswer::Never(_));
                assert_eq!(pool.never(&request).is_some(), never, "{request}: {told:?}\n{text}");
            }
        }
    }
}

/// Recorded decisions of a real Slurm. If there is no copy of them, prints a message and returns
/// `None`.
fn recorded(kind: &str) -> Option<Json> {
    let path = shared(&format!("placement/slurm-{kind}-cases.json"))?;
    Some(serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
}

const KINDS: [&str; 4] = ["torus3d", "block", "ring", "tree"];

fn machine(case: &Json, name: &str, weights: Option<&Json>) -> Reading {
    let machine = &case["machines"][name];
    let list = machine["nodes"].as_str().unwrap();
    let mut conf = String::new();
    for (number, node) in names(list).unwrap().iter().enumerate() {
        let weight = weights.map_or(1, |weights| weights[number].as_u64().unwrap());
        conf += &format!("NodeName={node} CPUs=2 Weight={weight}\n");
    }
    conf += &format!("PartitionName=p Nodes={list} Topology={name} Default=YES\n");
    reading(machine["topology_yaml"].as_str().unwrap(), &conf)
}

fn asked(step: &Json) -> SlurmRequest {
    let count = |key: &str| step[key].as_u64().map(|number| number as u32);
    let flag = |key: &str| step[key].as_u64() == Some(1) || step[key].as_bool() == Some(true);
    let nodes = count("n").unwrap();
    let wanted = NodeRequest {
        nodes,
        most: count("nmax").unwrap_or(nodes),
        segment: count("segment"),
        spread: flag("spread"),
        consolidate: flag("consolidate"),
        switches: count("switches"),
        contiguous: flag("contiguous"),
        listed: None,
        ends: None,
    };
    SlurmRequest {
        wanted,
        require: step["w"].as_str().map(str::to_owned),
        exclude: step["x"].as_str().map(str::to_owned),
        whole_blocks: flag("topo"),
        share: match step["mode"].as_str() {
            Some("half") => Some(1),
            Some("full") => Some(2),
            _ => None,
        },
    }
}

#[test]
fn every_recorded_decision_is_the_same() {
    for kind in KINDS {
        let Some(case) = recorded(kind) else { continue };
        let mut decisions = 0;
        for run in case["runs"].as_array().unwrap() {
            let name = run["machine"].as_str().unwrap();
            let reading = machine(&case, name, run.get("weights"));
            let mut desk: SlurmAllocator<String> = SlurmAllocator::new(reading.site(None).unwrap());
            for step in run["steps"].as_array().unwrap() {
                if let Some(end) = step["end"].as_str() {
                    desk.release(&end.to_owned());
                    continue;
                }
                let id = step["sub"].as_str().unwrap().to_owned();
                let hosts = desk.site().hosts.clone();
                let told = match desk.allocate(&id, &asked(step)) {
                    SlurmAnswer::Nodes(nodes) => hosts.bracketed(&nodes),
                    SlurmAnswer::Wait(..) => "wait".to_owned(),
                    SlurmAnswer::Never(_) => "reject".to_owned(),
                };
                let got = step["got"].as_str().unwrap();
                assert_eq!(told, got, "{kind} {name}: {step}");
                decisions += 1;
            }
        }
        assert!(decisions > 500, "{kind}: {decisions}");
    }
}

#[test]
fn every_recorded_file_is_taken_or_refused_alike() {
    for kind in KINDS {
        let Some(case) = recorded(kind) else { continue };
        for file in case["config_files"].as_array().unwrap() {
            let reading = reading(file["topology_yaml"].as_str().unwrap(), CONF);
            let starts = reading.findings.first_fatal().is_none();
            let accepted = file["accepted"].as_bool().unwrap();
            assert_eq!(starts, accepted, "{}: {:?}", file["name"], reading.findings);
        }
    }
}

#[test]
fn every_recorded_anchor_and_fragmentation_is_the_same() {
    let Some(case) = recorded("torus3d") else { return };
    for (name, machine) in case["machines"].as_object().unwrap() {
        let Some(expected) = machine["anchors"].as_array() else { continue };
        let reading = self::machine(&case, name, None);
        let checked = check::of(reading);
        let rows = checked.json()["topologies"][0]["rows"].clone();
        for (row, expected) in rows.as_array().unwrap().iter().zip(expected) {
            for key in ["size", "anchors", "distinct"] {
                assert_eq!(row[key], expected[key], "{name}: {key} of {row}");
            }
            assert_eq!(row["overlap"], expected["has_overlap"], "{name}: {row}");
        }
        assert_eq!(rows.as_array().unwrap().len(), expected.len());
    }
    let record = &case["fragmentation"];
    let site = machine(&case, record["machine"].as_str().unwrap(), None).site(None).unwrap();
    let Structure::Torus3d(anchors, _) = &site.structure else { panic!("no torus") };
    let mut available = site.whole.clone();
    let mut held = BTreeMap::new();
    for step in record["steps"].as_array().unwrap() {
        let before = step["cluster_fragmentation_before"].as_u64().unwrap();
        assert_eq!(anchors.fragmentation(&available), before, "{step}");
        let mut own = NodeSet::empty(site.hosts.count());
        for name in names(step["got"].as_str().unwrap()).unwrap() {
            own.insert(site.hosts.find(&name).unwrap());
        }
        let mut rest = site.whole.clone();
        rest.subtract(&own);
        assert_eq!(anchors.fragmentation(&rest), step["job_score"].as_u64().unwrap(), "{step}");
        available.subtract(&own);
        held.insert(step["job"].to_string(), own);
    }
    assert!(held.len() >= 10);
}

/// Scenario of a machine that is a model of Nvidia's topograph.
fn modelled(folder: &Path, machine: &str) -> Result<toml::Table, String> {
    let text =
        format!("machine = {{ {machine} }}\nworkload = 'lublin'\nmeasure = {{ jobs = 5 }}\n");
    scenario(folder, &text)
}

#[test]
fn a_model_of_topograph_is_a_tree_or_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let model = "switches:\n  top: {switches: [a, b]}\nblocks:\n\
                 - {switch: a, nodes: ['n[0-3]'], annotations: {x/domain: d1}}\n\
                 - {switch: b, nodes: ['n[4-6]', n9], annotations: {x/domain: d2}}\n";
    std::fs::write(folder.path().join("model.yaml"), model).unwrap();
    for (given, name) in [("", "tree"), (", as = 'tree'", "tree"), (", as = 'block'", "blocks")] {
        let table = modelled(folder.path(), &format!("topograph = 'model.yaml'{given}")).unwrap();
        assert_eq!(table["machine"]["processors"].as_integer(), Some(8), "{given}");
        assert_eq!(table["allocator"]["name"].as_str(), Some(name), "{given}");
    }
    for (given, says) in [
        (", as = 'ring'", "there is no topology ring (there are: tree, block)"),
        (
            ", conf = 'slurm.conf'",
            "unknown key `conf` in `machine` (known: topograph, as, partitions, reservations)",
        ),
    ] {
        let refused = modelled(folder.path(), &format!("topograph = 'model.yaml'{given}"));
        let refused = refused.unwrap_err();
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn the_models_that_topograph_tests_with_are_read() {
    let Some(folder) = shared("topograph") else { return };
    for (name, nodes, leaves, blocks) in [
        ("small-tree", 6, 2, 2),
        ("medium", 8, 4, 4),
        ("large", 96, 12, 12),
        ("nvl72", 72, 4, 4),
        ("dual-xclr-regular", 96, 12, 12),
        ("dual-xclr-irregular", 255, 29, 29),
    ] {
        let machine = |kind| format!("topograph = '{name}.yaml', as = '{kind}'");
        let tree = modelled(&folder, &machine("tree")).unwrap();
        assert_eq!(tree["machine"]["processors"].as_integer(), Some(nodes), "{name}");
        let switches = tree["allocator"]["switches"].as_array().unwrap();
        let is_leaf = |switch: &&toml::Value| switch.get("nodes").is_some();
        assert_eq!(switches.iter().filter(is_leaf).count(), leaves, "{name}");
        let table = modelled(&folder, &machine("block")).unwrap();
        assert_eq!(table["allocator"]["blocks"].as_array().unwrap().len(), blocks, "{name}");
    }
}
