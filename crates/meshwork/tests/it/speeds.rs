//! Tests of random speeds of sites.
//!
//! They check which results change if the speeds change, and which must not.

use crate::common::{Transcript, refusal, scenario};
use meshwork::job::Job;
use meshwork::scenario::Scenario;
use meshwork::workload::{NoInputs, Submission};

/// Three sites, whose speeds vary by the given lines of TOML.
///
/// The synthetic workload has a load, so that arrivals depend on the capacity of the sites.
fn with(variance: &str) -> Scenario {
    scenario(&format!(
        "[machine]
         sites = [ {{ topology = 'flat', processors = 8 }},
                   {{ topology = 'mesh', dims = [16, 8], speed = 2.0 }},
                   {{ topology = 'flat', processors = 50 }} ]
         {variance}
         [workload]
         name = 'synthetic'
         load = 0.6
         sizes = 'uniform'
         runtimes = {{ name = 'exponential', mean = 5.0 }}
         [measure]
         jobs = 200"
    ))
}

fn jobs(scenario: &Scenario, replication: u64) -> Vec<Job> {
    let jobs = scenario.jobs(replication, &NoInputs).unwrap().take(200);
    jobs.map(|item| match item.unwrap() {
        Submission::Job(job) => job,
        other => panic!("{other:?}"),
    })
    .collect()
}

#[test]
fn jobs_are_the_same_whatever_the_speeds() {
    let (fixed, drawn) = (with(""), with("speeds = { variance = 0.2 }"));
    for replication in 0..3 {
        assert_eq!(jobs(&fixed, replication), jobs(&drawn, replication));
    }
}

#[test]
fn speeds_differ_between_replications_and_multiply_those_of_the_study() {
    let (fixed, drawn) = (with(""), with("speeds = { variance = 0.2 }"));
    assert_eq!(fixed.speeds(0), None);
    assert_eq!(drawn.speeds(1), drawn.speeds(1));
    assert_ne!(drawn.speeds(0), drawn.speeds(1));
    let speeds = drawn.speeds(0).unwrap();
    assert!((speeds[0] + speeds[1] / 2.0 + speeds[2] - 3.0).abs() < 1e-12, "{speeds:?}");
    let outcome = drawn.run(1, &NoInputs, &mut ()).unwrap();
    assert_eq!(Some(outcome.speeds), drawn.speeds(1));
    assert!(fixed.run(1, &NoInputs, &mut ()).unwrap().speeds.is_empty());
    // The sites of a run have the speeds that `speeds` returns.
    let in_the_run = drawn.setup(1).unwrap();
    let sites = in_the_run.facility.sites().iter().map(|managed| managed.site().speed());
    assert_eq!(Some(sites.collect()), drawn.speeds(1));
    let conserving = with("speeds = { variance = 0.2, capacity_conserving = true }");
    let speeds = conserving.speeds(0).unwrap();
    let capacity = 8.0 * speeds[0] + 128.0 * speeds[1] + 50.0 * speeds[2];
    assert!((capacity - (8.0 + 256.0 + 50.0)).abs() < 1e-9, "{speeds:?}");
}

#[test]
fn without_variance_nothing_changes() {
    let transcript = |scenario: &Scenario| {
        let mut transcript = Transcript::default();
        scenario.run(0, &NoInputs, &mut transcript).unwrap();
        transcript.text
    };
    let still = transcript(&with("speeds = { variance = 0 }"));
    assert_eq!(still, transcript(&with("")));
    assert_ne!(still, transcript(&with("speeds = { variance = 0.1 }")));
}

#[test]
fn bad_speeds_are_refused_in_a_sentence() {
    let refused = |machine: &str| {
        let text = format!("machine = {{ {machine} }}\nworkload = {{ name = 'lublin' }}");
        refusal(&text)
    };
    let sites = "sites = [ { topology = 'flat', processors = 8 }, \
                 { topology = 'flat', processors = 9 } ]";
    assert_eq!(
        refused(&format!("{sites}, speeds = {{ variance = 2 }}")),
        "`machine.speeds.variance` is 2, but the speeds of 2 sites, with a mean of 1, can hardly vary by \
         more than 1.62 without one below 0.1"
    );
    assert_eq!(
        refused(&format!("{sites}, speeds = {{ variance = -0.05 }}")),
        "`machine.speeds.variance` is -0.05, but must be a number from 0 to 1e15"
    );
    assert_eq!(
        refused(&format!("{sites}, speeds = {{ capacity_conserving = true }}")),
        "`machine.speeds.variance` is missing: the variance of the speeds over the sites (with n - 1), \
         whose mean is 1 (a number from 0 to 1e15)"
    );
    for speed in ["0", "-1.5"] {
        let message = refused(&format!(
            "sites = [ {{ topology = 'flat', processors = 8, speed = {speed} }} ]"
        ));
        assert_eq!(
            message,
            format!(
                "`machine.sites[0].speed` is {speed}, but must be a number above 0, from 1e-15 to 1e15"
            )
        );
    }
}
