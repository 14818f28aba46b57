//! RFold's five ways against runs of its own program, job by job, and against cases of our own.
//!
//! The recorded runs are not part of the project; without them the tests that need them say so and pass.

mod common;
mod rfold_program;

use std::collections::BTreeMap;
use std::path::Path;

use common::{job, scenario, starts};
use meshwork::alloc::optical::rfold::Rfold;
use meshwork::alloc::optical::{Ties, cubes_needed};
use meshwork::alloc::{ALLOCATORS, Ask};
use meshwork::job::{Request, Time};
use meshwork::machine::{Placement, Site};
use meshwork::rng::Stream;
use meshwork::topology::Topology;
use rfold_program::{Program, Submitted, Way};
use serde_json::Value as Json;

/// The recorded runs, or `None` with a line that says so.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn recorded() -> Option<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/placement/rfold-cases.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: the recorded runs of RFold's program are not here");
        return None;
    };
    Some(serde_json::from_str(&text).expect("the record is JSON"))
}

fn numbers(text: &str) -> Vec<u32> {
    text.split(['x', ',']).map(|number| number.parse().unwrap()).collect()
}

fn triple(text: &str) -> [u32; 3] {
    numbers(text).try_into().unwrap()
}

fn trace(record: &Json, name: &str) -> Vec<Submitted> {
    let rows = record["traces"][name].as_array().unwrap();
    let job = |row: &Json| Submitted {
        id: row[0].as_u64().unwrap(),
        arrival: row[1].as_u64().unwrap(),
        duration: row[2].as_u64().unwrap(),
        shape: triple(row[3].as_str().unwrap()),
    };
    rows.iter().map(job).collect()
}

fn way(run: &Json) -> Way {
    match run["policy"].as_str().unwrap() {
        "firstfit" => Way::FirstFit,
        "folding" => Way::Folding,
        "reconfig" => Way::Reconfigurable,
        "rfold" => Way::Rfold,
        "slurm_hilbert" => Way::Hilbert,
        other => panic!("no way is called {other}"),
    }
}

/// Every job of every run starts when it did, on the nodes on which it did, after as long a wait for either
/// reason: with ties broken as in the program, and its searches cut where the clock cut them.
#[test]
fn every_job_of_every_recorded_run_goes_where_it_went() {
    let Some(record) = recorded() else { return };
    let runs = record["runs"].as_array().unwrap();
    let mut jobs = 0;
    for run in runs {
        let name = run["name"].as_str().unwrap();
        let dims = triple(run["dim"].as_str().unwrap());
        let side = run["rsize"].as_u64().unwrap() as u32;
        let failed: Vec<[u32; 3]> = run["failed"].as_array().unwrap().iter().map(node).collect();
        let searches = run["paths"].as_array().unwrap().iter();
        let mut searches = searches.map(|search| {
            let number = |at: usize| search[at].as_u64().unwrap();
            let cube: Vec<u64> =
                search[2].as_array().unwrap().iter().map(|at| at.as_u64().unwrap()).collect();
            let counts = dims.map(|own| u64::from(own / side));
            let cube = (cube[0] * counts[1] + cube[1]) * counts[2] + cube[2];
            let asked = (cube as usize, number(3) as u32, number(4) as usize);
            let is_cut = number(5) == 0 && number(7) == 1;
            (asked, if is_cut { 0 } else { u64::MAX })
        });
        let mut budget = |search: meshwork::alloc::optical::PathSearch| {
            let (asked, budget) = searches.next().expect("no search that was not made");
            assert_eq!(asked, (search.cube, search.nodes, search.axis), "{name}");
            budget
        };
        let trace = trace(&record, run["trace"].as_str().unwrap());
        let program = Program::new(dims, side, way(run), &failed, Ties::Original, trace);
        let rows = program.run(&mut budget);
        assert!(searches.next().is_none(), "{name}: searches are left");
        let recorded = run["jobs"].as_array().unwrap();
        assert_eq!(recorded.len(), rows.len(), "{name}");
        for (row, own) in recorded.iter().zip(rows) {
            jobs += 1;
            assert_eq!(row[0].as_u64(), Some(own.id), "{name}");
            let Some(started) = own.started else {
                assert!(row[1].is_null(), "{name}: job {} is dropped", own.id);
                continue;
            };
            let ended = started.start + own.duration;
            assert_eq!(row[1].as_u64(), Some(started.start), "{name}: start of {}", own.id);
            assert_eq!(row[2].as_u64(), Some(ended), "{name}: end of {}", own.id);
            let mut shape = triple(row[3].as_str().unwrap());
            shape.sort_unstable();
            assert_eq!(shape, started.shape, "{name}: shape of {}", own.id);
            assert_eq!(row[6].as_u64(), Some(started.crc), "{name}: nodes of {}", own.id);
            let waits = (row[7].as_u64(), row[8].as_u64());
            assert_eq!(waits, (Some(own.waits[0]), Some(own.waits[1])), "{name}: {}", own.id);
        }
    }
    assert!(runs.len() >= 10 && jobs > 3000, "{} runs, {jobs} jobs", runs.len());
}

/// `x1-y2-z3`.
fn node(name: &Json) -> [u32; 3] {
    let name = name.as_str().unwrap();
    let parts: Vec<u32> = name.split('-').map(|part| part[1..].parse().unwrap()).collect();
    parts.try_into().unwrap()
}
