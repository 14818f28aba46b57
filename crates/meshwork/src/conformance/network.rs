//! Conformance test for networks.

use super::runs::{Serves, each_job_once, name, random_jobs, scenario};
use super::{Finding, Tried, broken, component, every_machine, single_choices, with_parameters};
use crate::catalogue::Catalogue;
use crate::network::{self, NetworkContext};

/// Checks a network of a catalogue against the rules for networks.
///
/// The network is tried with each choice of its parameters, on every small machine that it
/// supports. Its estimate of memory fails if, and only if, building it fails. Under the schedulers
/// `fcfs` and `easy`, each job that starts ends once, and the same seed gives the same run.
///
/// # Errors
/// The first violated rule, or an unknown network.
pub fn check_network(catalogue: &Catalogue, name: &str) -> Result<Tried, Finding> {
    let name = network::FAMILY.find_in(catalogue, "", name)?.name;
    let entry = catalogue.entry::<network::NetworkEntry>(name);
    let mut tried = Tried::default();
    let broken = |case: String| broken(entry, case);
    let mut last_refusal = String::new();
    for table in &single_choices(entry.about.params) {
        for (machine, topology) in &every_machine() {
            let case = || format!("on a {topology}{}", with_parameters(table));
            let component = component(entry.about.name, table);
            let params = network::FAMILY
                .resolve_in(catalogue, "network", &component)
                .map_err(|problem| broken(case())(problem.message))?;
            let topologies = std::slice::from_ref(topology);
            let context = NetworkContext { topologies, seed: 1, replication: 0 };
            let (memory, built) =
                ((entry.memory)(&params, &context), (entry.build)(&params, &context));
            match (memory, built) {
                (Ok(_), Ok(_)) => {}
                (Err(_), Err(problem)) => {
                    last_refusal = problem.message;
                    continue;
                }
                (Err(problem), Ok(_)) => {
                    let sentence = format!("it is built, but has no memory to tell: {problem}");
                    return Err(broken(case())(sentence));
                }
                (Ok(_), Err(problem)) => {
                    let sentence = format!("it tells its memory, but is not built: {problem}");
                    return Err(broken(case())(sentence));
                }
            }
            for scheduler in ["fcfs", "easy"] {
                let wrong = || broken(format!("{} under `{scheduler}`, seed 11", case()));
                let parts = [("network", component.clone()), ("scheduler", self::name(scheduler))];
                let machine = format!("machine = {{ {machine} }}");
                let scenario = scenario(catalogue, &machine, &parts).map_err(wrong())?;
                let jobs = random_jobs(topology, 30, 3.0, 11);
                tried += each_job_once(&scenario, &jobs, Serves::All).map_err(wrong())?;
            }
            tried.machines += 1;
        }
    }
    if tried.machines == 0 {
        let sentence = format!("it serves none of them, so nothing can be tried: {last_refusal}");
        return Err(broken("on every small machine".to_owned())(sentence));
    }
    Ok(tried)
}
