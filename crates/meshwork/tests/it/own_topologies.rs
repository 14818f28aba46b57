//! Tests of topologies and named machines that another program adds to the catalogue.
//!
//! Topologies must work in every network, and machines under each of their names.

use std::sync::Arc;

use meshwork::presets::MachineEntry;
use meshwork::registry::About;
use meshwork::topology::{Tiers, Topology, Wiring};
use meshwork::{Catalogue, NoInputs, Scenario};

use crate::clique::{CLIQUE, Clique};

fn study(machine: &str, rest: &str) -> Result<Scenario, String> {
    static NAMED: MachineEntry = MachineEntry::new(
        About::new("octet", "eight routers with four nodes each"),
        "{ topology = 'clique', routers = 8, nodes = 4 }",
        "'fewest_leaves'",
    );
    let catalogue = Catalogue::standard().with(&CLIQUE).unwrap().with(&NAMED).unwrap();
    let text = format!("machine = {machine}\nworkload = {{ name = 'lublin', jobs = 60 }}\n{rest}");
    Scenario::read_in(&catalogue, &text.parse().unwrap()).map_err(|problem| problem.message)
}

#[test]
fn a_topology_from_outside_is_run_under_every_name_and_network() {
    let table = "{ topology = 'clique', routers = 8, nodes = 4 }";
    for machine in [table, "'octet'", "{ sites = [{ topology = 'clique', routers = 8 }] }"] {
        for network in ["ideal", "hops", "link_load", "wormhole"] {
            let scenario = study(machine, &format!("network = '{network}'")).unwrap();
            let outcome = scenario.run(0, &NoInputs, &mut ()).unwrap();
            assert_eq!(outcome.finished + outcome.refused, 60, "{machine} {network}");
        }
    }
    let topology = &study("'clique:8'", "").unwrap().topologies()[0];
    assert_eq!((topology.nodes(), topology.distance(0, 7)), (8, 1));
    assert_eq!(topology.table().unwrap()["topology"].as_str(), Some("clique"));
}

#[test]
fn what_cannot_be_read_is_refused_in_a_sentence() {
    let unknown = study("{ topology = 'cliqe', routers = 8 }", "").unwrap_err();
    assert!(unknown.contains("did you mean `clique`?"), "{unknown}");
    let served = study("{ topology = 'clique', routers = 8 }", "allocator = 'first_fit'");
    assert!(served.unwrap_err().contains("serves mesh, torus"), "blocks need a grid");
    let made = |wiring, sides: &[u32], leaf| {
        let wires = Arc::new(Clique { routers: 4, nodes: 2 });
        let tiers = Tiers { leaf, group: 8 };
        Topology::with_wires(wiring, sides, "a clique", tiers, wires).map_err(|e| e.to_string())
    };
    assert!(made(Wiring::Dragonfly, &[2, 4], 2).is_ok());
    assert!(made(Wiring::Mesh, &[2, 4], 2).unwrap_err().contains("this one is `mesh`"));
    assert!(made(Wiring::Flat, &[2, 4], 2).unwrap_err().contains("this one is `flat`"));
    assert!(made(Wiring::FatTree, &[2, 4], 3).unwrap_err().contains("a group of 8 nodes"));
    assert!(made(Wiring::FatTree, &[2, 5], 2).unwrap_err().contains("the routers have 8"));
}

#[test]
fn a_machine_that_is_no_toml_is_not_added() {
    static TORN: MachineEntry =
        MachineEntry::new(About::new("torn", "half a table"), "{ topology = ", "'naive'");
    let refused = Catalogue::standard().with(&TORN).unwrap_err().to_string();
    assert!(refused.starts_with("the machine `torn` cannot be added: its `machine`"), "{refused}");
}
