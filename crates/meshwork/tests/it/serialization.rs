//! Tests of the serialized forms of public types.
//!
//! The written names are stable, and reading what was written gives the original values.

use meshwork::job::{Job, Request, Time};
use meshwork::machine::{Block, Placement};
use meshwork::observe::{Event, JobId, MachineState, Observer};
use meshwork::scenario::Scenario;
use meshwork::workload::NoInputs;
use serde_json::{Value, json};

fn there_and_back<T>(value: &T) -> Value
where
    T: serde::Serialize + for<'de> serde::Deserialize<'de> + PartialEq + std::fmt::Debug,
{
    let written = serde_json::to_value(value).unwrap();
    assert_eq!(&serde_json::from_value::<T>(written.clone()).unwrap(), value);
    written
}

#[test]
fn requests_and_placements_are_written_in_the_words_of_the_command() {
    assert_eq!(there_and_back(&Request::Nodes(7)), json!({ "nodes": 7 }));
    assert_eq!(there_and_back(&Request::block(&[3, 5])), json!({ "block": [3, 5] }));
    assert_eq!(there_and_back(&Request::Subcube(3)), json!({ "subcube": 3 }));
    let block = |base| Block { base, sides: [2, 1].as_slice().into() };
    let placement = Placement { blocks: [block(4), block(9)].into_iter().collect(), parts: None };
    assert_eq!(
        there_and_back(&placement),
        json!({ "blocks": [{ "base": 4, "sides": [2, 1] }, { "base": 9, "sides": [2, 1] }] })
    );
    let (arrival, request) = (Time::new(2.5), Request::Nodes(1));
    let job = Job { estimate: 5.0, ..Job::new(3, arrival, request, 4.0) };
    assert_eq!(
        there_and_back(&job),
        json!({ "number": 3, "arrival": 2.5, "request": { "nodes": 1 }, "runtime": 4.0, "estimate": 5.0 })
    );
}

#[test]
fn an_instant_that_is_no_number_is_refused() {
    use serde::Deserialize;
    use serde::de::value::{Error, F64Deserializer};
    let read = |units| Time::deserialize(F64Deserializer::<Error>::new(units));
    assert_eq!(read(1.5).unwrap(), Time::new(1.5));
    assert_eq!(read(f64::NAN).unwrap_err().to_string(), "NaN is given, but an instant is a number");
}

#[derive(Default)]
struct Written {
    events: Vec<Value>,
    states: Vec<MachineState>,
}

impl Observer for Written {
    fn elapsed(&mut self, _: Time, _: Time, state: &MachineState) {
        self.states.push(*state);
    }

    fn observe(&mut self, _: Time, event: &Event<'_>) {
        self.events.push(serde_json::to_value(event).unwrap());
    }
}

#[test]
fn events_and_outcomes_of_a_run_can_be_written() {
    let scenario = Scenario::read(&toml::toml! {
        machine = { topology = "mesh", dims = [4, 4] }
        workload = { name = "synthetic", load = 0.3, sizes = "uniform",
                     runtimes = { name = "constant", value = 5.0 } }
        measure = { jobs = 20, metrics = ["wait"] }
    })
    .unwrap();
    let mut written = Written::default();
    let outcome = scenario.run(0, &NoInputs, &mut written).unwrap();
    let Value::Object(first) = &written.events[0] else { panic!("{:?}", written.events[0]) };
    assert_eq!(first["arrived"][0], 0, "the job that arrived first");
    let jobs: Vec<(JobId, Job)> = written
        .events
        .iter()
        .filter_map(|event| serde_json::from_value(event["arrived"].clone()).ok())
        .collect();
    assert!(jobs.len() >= 20 && jobs[5].0 == JobId(5));
    let finished = written.events.iter().filter(|event| event["finished"].is_object()).count();
    assert!(finished >= 20, "{finished} jobs");
    there_and_back(&written.states[0]);
    let outcome = serde_json::to_value(&outcome).unwrap();
    assert_eq!(outcome["finished"], 20);
    assert_eq!(outcome["metrics"][0]["name"], "wait");
}

#[test]
fn what_a_desk_is_asked_and_answers_is_written_and_read() {
    use meshwork::pool::{Answer, Name, NamedPool, Operation, PlacedBlock, Pool, Question};
    let pool = Pool::builder().mesh([8, 8]).build().unwrap();
    let mut named = NamedPool::new(pool);
    let blocks = vec![PlacedBlock { base: vec![4, 4], dims: vec![2, 2] }];
    let operations = [
        Operation::Allocate(Name::Number(7), Request::block(&[3, 5])),
        Operation::Adopt(Name::Text("by hand".to_owned()), blocks),
        Operation::Can(Request::Nodes(3)),
        Operation::Can(Request::Nodes(65)),
        Operation::Free(Some(vec![2, 1])),
        Operation::Free(None),
        Operation::Show,
        Operation::Snapshot,
        Operation::Release(Name::Number(7)),
        Operation::HoldExactly(vec![(Name::Number(8), vec![0, 1])]),
    ];
    let mut written = Vec::new();
    for (i, operation) in operations.into_iter().enumerate() {
        let question = Question { at: Some(Time::new(i as f64)), operation };
        written.push(there_and_back(&question));
        written.push(there_and_back(&named.answer(question).unwrap()));
    }
    assert_eq!(
        written[0],
        json!({ "at": 0.0, "operation": { "allocate": [7, { "block": [3, 5] }] } })
    );
    assert_eq!(written[1], json!({ "placed": { "blocks": [{ "base": 0, "sides": [3, 5] }] } }));
    assert_eq!(written[7], json!({ "no_room": { "never": true } }));
    assert_eq!(written[17], json!({ "released": 15 }));
    let Answer::State(state) = serde_json::from_value(written[15].clone()).unwrap() else {
        panic!("{}", written[15])
    };
    let restore = Question { at: None, operation: Operation::Restore(state) };
    assert_eq!(there_and_back(&restore)["at"], Value::Null);
    assert_eq!(there_and_back(&named.answer(restore).unwrap()), json!("restored"));
}
