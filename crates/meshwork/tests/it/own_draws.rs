//! Tests of distributions and communication patterns that another program adds to the catalogue.
//!
//! The distributions are of sizes and of run times.

use meshwork::network::pattern::{Pattern, PatternEntry};
use meshwork::registry::{About, DefaultValue, Kind, Param, Range};
use meshwork::workload::distribution::{Runtime, RuntimeEntry, SizeEntry};
use meshwork::{Catalogue, NoInputs, Scenario};

const STEP: Param = Param {
    name: "step",
    kind: Kind::Integer(0, 9),
    default: DefaultValue::Is("1"),
    help: "how far a message goes",
};

/// Distribution of sizes that are powers of two. Other sizes have the weight 0.
static POWERS: SizeEntry =
    SizeEntry::new(About::new("powers", "powers of two, each as often as another"), |range| {
        let weight = |size: u32| f64::from(u8::from(size.is_power_of_two()));
        Ok((range.least, (range.least..=range.most).map(weight).collect()))
    });

static WEIGHTLESS: SizeEntry =
    SizeEntry::new(About::new("weightless", "no size at all"), |_| Ok((1, vec![0.0])));

static PARETO: RuntimeEntry = RuntimeEntry::new(
    About::new("pareto", "a power law").params(&[Param {
        name: "shape",
        kind: Kind::Number(Range::AtLeastOne),
        default: DefaultValue::Required,
        help: "the exponent of the tail",
    }]),
    |params| {
        let shape = params.number("shape");
        Ok(Runtime::drawn_by(shape / (shape - 1.0), move |stream| {
            libm::pow(stream.unit(), -1.0 / shape)
        }))
    },
);

/// Each process sends to the process `step` ranks further, modulo `ranks`.
struct Shift {
    ranks: u32,
    step: u32,
}

impl Pattern for Shift {
    fn messages(&self, _rank: u32) -> u64 {
        1
    }

    fn to(&self, rank: u32, _index: u64) -> u32 {
        (rank + self.step) % self.ranks
    }
}

static SHIFT: PatternEntry = PatternEntry::new(
    About::new("shift", "every process to one that is some ranks further").params(&[STEP]),
    |ranks, context| Box::new(Shift { ranks, step: context.params.integer("step") as u32 }),
);

fn study(text: &str) -> Result<Scenario, String> {
    let catalogue = Catalogue::standard().with(&POWERS).unwrap().with(&WEIGHTLESS).unwrap();
    let catalogue = catalogue.with(&PARETO).unwrap().with(&SHIFT).unwrap();
    let text = format!("machine = {{ topology = 'mesh', dims = [8, 8] }}\n{text}");
    Scenario::read_in(&catalogue, &text.parse().unwrap()).map_err(|problem| problem.message)
}

fn run(text: &str, metrics: &[&str]) -> Result<Vec<f64>, String> {
    let measure = format!("measure = {{ jobs = 4000, metrics = {metrics:?} }}");
    let outcome = study(&format!("{text}\n{measure}"))?.run(0, &NoInputs, &mut ());
    let outcome = outcome.map_err(|error| error.to_string())?;
    Ok(metrics.iter().map(|name| outcome.metric(name).unwrap()).collect())
}

#[test]
fn distributions_from_outside_are_drawn_at_the_requested_load() {
    let workload = |sizes: &str, runtimes: &str| {
        format!(
            "workload = {{ name = 'synthetic', load = 0.3, sizes = {sizes}, runtimes = {runtimes} }}"
        )
    };
    let pareto = "{ name = 'pareto', shape = 3 }";
    let metrics = &["utilization", "service"];
    let ran = run(&workload("{ name = 'powers', form = 'count' }", pareto), metrics).unwrap();
    assert!((ran[0] - 0.3).abs() < 0.03 && (ran[1] - 1.5).abs() < 0.1, "{ran:?}");
    let blocks = run(&workload("'powers'", pareto), metrics).unwrap();
    assert!((blocks[0] - 0.3).abs() < 0.03, "each side of a block is a power of two: {blocks:?}");
    let endless = run(&workload("'uniform'", "{ name = 'pareto', shape = 1 }"), metrics);
    assert!(endless.unwrap_err().contains("the mean run time of `workload.runtimes` is inf"));
    let none = run(&workload("'weightless'", pareto), metrics).unwrap_err();
    assert!(none.starts_with("the distribution of sizes `weightless` must give weights"), "{none}");
    let unknown = run(&workload("'power'", pareto), metrics).unwrap_err();
    assert!(unknown.contains("did you mean `powers`?"), "{unknown}");
}

#[test]
fn a_pattern_from_outside_is_sent_and_a_wrong_one_is_named() {
    let text = |pattern: &str| {
        format!(
            "network = {{ name = 'hops', pattern = {pattern} }}
             workload = {{ name = 'synthetic', load = 0.1, sizes = {{ name = 'constant', value = 2 }}, \
             runtimes = {{ name = 'constant', value = 1 }} }}"
        )
    };
    // In blocks of 2 × 2, ranks 0 and 1 are on neighbours, and ranks 1 and 2 are not.
    let ring = run(&text("'ring'"), &["hops"]).unwrap();
    assert_eq!(run(&text("'shift'"), &["hops"]).unwrap(), ring);
    let further = run(&text("{ name = 'shift', step = 2 }"), &["hops"]).unwrap();
    assert!(further < ring, "{further:?} {ring:?}");
    let itself = run(&text("{ name = 'shift', step = 4 }"), &["hops"]).unwrap_err();
    let expected = "the pattern `shift` sends from process 0 to 0 in a job of 4, but must send to another process";
    assert!(itself.contains(expected), "{itself}");
}
