//! Reads the tables `[[claim]]` of a study, which state the claims of a paper as data.

use meshwork::catalogue::Catalogue;
use meshwork::observe::metrics;
use meshwork::registry::{self, DefaultValue, Kind, Param, Problem, Range, join};
use toml::{Table, Value};

use super::{Axis, same};

/// Claim of a paper, with the test that decides whether the study's runs support it.
#[derive(Clone, Debug, PartialEq)]
pub struct PaperClaim {
    pub text: String,
    pub source: Option<String>,
    pub check: ClaimCheck,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ClaimCheck {
    /// The claim is not checked. The text is the reason.
    No(String),
    /// The claim is tested for each combination of values of those swept keys that it does not fix.
    Cells(Test),
}

/// Test of a claim: a relation that is checked in each cell (combination of swept values). It also
/// says in how many cells the relation must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    pub metric: String,
    /// Restriction of the claim to some values of swept keys.
    ///
    /// Each entry has a key and the values of this key for which the claim is tested.
    pub only: Vec<(String, Vec<Value>)>,
    /// Job sizes that the claim compares, as pairs: the judged size and the reference size. Each
    /// pair has results of its own. Empty if jobs of all sizes count.
    pub sizes: Vec<(u64, u64)>,
    pub relation: Relation,
    pub needed: Needed,
    pub by_means: bool,
}

pub type SweptValues = Vec<(String, Value)>;

/// Relation that must hold in a cell, which is a combination of swept values. The field `of`
/// selects the judged scenarios.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    /// The metric lies within bounds. With a reference, its ratio to the reference, or its
    /// difference from it, lies within the bounds.
    Bounds {
        of: SweptValues,
        /// Swept values that select the reference scenario. `None` if the bounds apply to the
        /// metric itself.
        to: Option<SweptValues>,
        above: Option<f64>,
        below: Option<f64>,
        /// Whether the bounds apply to the difference from the reference. Otherwise they apply to
        /// the ratio.
        by_difference: bool,
    },
    /// The metric of the judged scenario is the lowest, or the highest, in a group of scenarios.
    ///
    /// The scenarios of the group differ only in the values of the swept keys in `of`.
    Extreme {
        of: SweptValues,
        /// Whether the claim states that the metric is lowest; otherwise, that the metric is
        /// highest.
        lowest: bool,
        /// Tolerance by which the judged metric may be worse than the best one. It is a fraction of
        /// the best metric among the other scenarios.
        within: f64,
    },
    /// The metric, or its ratio to a reference, rises or falls along a key.
    Trend {
        of: SweptValues,
        /// Swept values that select the reference scenario. `None` if the claim is about the metric
        /// itself, and not about a ratio.
        to: Option<SweptValues>,
        along: String,
        /// Whether the metric must rise with the values of the key. Otherwise it must fall.
        rises: bool,
    },
}

/// Number of cells (combinations of swept values) in which a claim must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    All,
    /// The claim must hold in more than half of its cells (combinations of swept values).
    Most,
    /// The claim must hold in at least this number of cells (combinations of swept values).
    AtLeast(u64),
}

impl Needed {
    pub fn of(self, cells: u64) -> u64 {
        match self {
            Needed::All => cells.max(1),
            Needed::Most => cells / 2 + 1,
            Needed::AtLeast(count) => count,
        }
    }
}

const BOUND: &str = "a bound that the metric, or its ratio, must keep to";

pub(super) static PARAMS: &[&Param] = &[
    &Param {
        name: "text",
        kind: Kind::Text,
        default: DefaultValue::Absent("it must say in words what is claimed"),
        help: "the claim in words",
    },
    &Param {
        name: "source",
        kind: Kind::Text,
        default: DefaultValue::Absent("the paper of the study"),
        help: "where the paper says so",
    },
    &Param {
        name: "metric",
        kind: Kind::Text,
        default: DefaultValue::Absent("turnaround"),
        help: "what is compared",
    },
    &Param {
        name: "above",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Absent("no lower bound"),
        help: BOUND,
    },
    &Param {
        name: "below",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Absent("no upper bound"),
        help: BOUND,
    },
    &Param {
        name: "compared_by",
        kind: Kind::Choice(&["ratio", "difference"]),
        default: DefaultValue::Is("\"ratio\""),
        help: "whether bounds are those of `of` over `to`, or of `of` less `to`",
    },
    &Param {
        name: "within",
        kind: Kind::Number(Range::NonNegative),
        default: DefaultValue::Is("0.0"),
        help: "how far from the best of the others it may be, as a share",
    },
    &Param {
        name: "sizes",
        kind: Kind::Integers(1, meshwork::topology::MAX_NODES as u64),
        default: DefaultValue::Absent("all jobs together"),
        help: "only jobs of these sizes, each in a cell of its own; `measure.by_size` must tell them apart",
    },
    &Param {
        name: "than_size",
        kind: Kind::Integer(1, meshwork::topology::MAX_NODES as u64),
        default: DefaultValue::Absent("jobs of the same size"),
        help: "compared with jobs of this size",
    },
    &Param {
        name: "along",
        kind: Kind::Text,
        default: DefaultValue::Absent("no trend"),
        help: "the swept key along which there is a trend",
    },
    &Param {
        name: "trend",
        kind: Kind::Choice(&["rises", "falls"]),
        default: DefaultValue::Is("\"rises\""),
        help: "which way",
    },
    &Param {
        name: "decide",
        kind: Kind::Choice(&["intervals", "means"]),
        default: DefaultValue::Is("\"intervals\""),
        help: "whether an interval that contains the bound leaves a cell undecided",
    },
    &Param {
        name: "unchecked",
        kind: Kind::Text,
        default: DefaultValue::Absent("it is checked"),
        help: "why no run can decide it",
    },
];

/// Pairs of job sizes that a claim compares: each size of the key `sizes`, and its reference size.
///
/// The reference size is `than_size` or, if that is missing, the size itself.
fn sizes(params: &registry::Params) -> Vec<(u64, u64)> {
    let sizes = params.get_integers("sizes").unwrap_or_default();
    let than = params.get_integer("than_size");
    sizes.into_iter().map(|size| (u64::from(size), than.unwrap_or(u64::from(size)))).collect()
}

/// Keys of a `[[claim]]` table whose values may have several types or name swept keys.
pub(super) const OTHERS: [&str; 6] = ["where", "of", "to", "lowest", "highest", "in"];

pub(super) fn read(
    catalogue: &Catalogue,
    given: Option<Value>,
    axes: &[Axis],
    changed: bool,
) -> Result<Vec<PaperClaim>, Problem> {
    let list = match given {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(other) => {
            return Err(Problem::new(
                "claim",
                format!("`claim` is {other}, but must be a list of tables `[[claim]]`"),
            ));
        }
    };
    let claim = |(i, item): (usize, &Value)| {
        let at = format!("claim[{i}]");
        let Value::Table(table) = item else {
            let message = format!("`claim` has {item}, but must be a list of tables `[[claim]]`");
            return Err(Problem::new(at, message));
        };
        Reader { catalogue, at, table, axes, changed }.claim()
    };
    list.iter().enumerate().map(claim).collect()
}

struct Reader<'a> {
    catalogue: &'a Catalogue,
    at: String,
    table: &'a Table,
    axes: &'a [Axis],
    changed: bool,
}

impl Reader<'_> {
    fn claim(&self) -> Result<PaperClaim, Problem> {
        let mut plain = self.table.clone();
        plain.retain(|key, _| !OTHERS.contains(&key));
        let params = registry::resolve(&self.at, PARAMS, &plain, &OTHERS)?;
        let Some(text) = params.get_text("text").map(str::to_owned) else {
            return Err(Problem::new(
                self.at.clone(),
                "a `[[claim]]` has no `text`: it must say in words what is claimed",
            ));
        };
        let source = params.get_text("source").map(str::to_owned);
        if let Some(why) = params.get_text("unchecked") {
            return Ok(PaperClaim { text, source, check: ClaimCheck::No(why.to_owned()) });
        }
        let metric = params.get_text("metric").unwrap_or("turnaround");
        let at = join(&self.at, "metric");
        let metric = metrics::FAMILY.find_in(self.catalogue, &at, metric)?;
        let check = ClaimCheck::Cells(Test {
            metric: metric.name.to_owned(),
            only: self.only()?,
            sizes: sizes(&params),
            relation: self.relation(&params)?,
            needed: self.needed()?,
            by_means: params.text("decide") == "means",
        });
        Ok(PaperClaim { text, source, check })
    }

    fn relation(&self, params: &registry::Params) -> Result<Relation, Problem> {
        let one_of: Vec<&str> = ["of", "lowest", "highest"]
            .into_iter()
            .filter(|key| self.table.contains_key(*key))
            .collect();
        let &[kind] = &one_of[..] else {
            return Err(Problem::new(
                self.at.clone(),
                "a `[[claim]]` must have one of `of`, `lowest` and `highest`, or say with `unchecked` why \
                 it cannot be checked",
            ));
        };
        let of = self.choice(kind)?;
        let mut to = self.table.get("to").map(|_| self.choice("to")).transpose()?;
        if params.has("than_size") && to.is_none() {
            // The reference is in the same scenario: jobs of another size.
            to = Some(SweptValues::new());
        }
        if kind != "of" {
            return Ok(Relation::Extreme {
                of,
                lowest: kind == "lowest",
                within: params.number("within"),
            });
        }
        if let Some(along) = params.get_text("along") {
            self.axis("along", along)?;
            let rises = params.text("trend") == "rises";
            return Ok(Relation::Trend { of, to, along: along.to_owned(), rises });
        }
        let (above, below) = (params.get_number("above"), params.get_number("below"));
        if above.is_none() && below.is_none() {
            return Err(Problem::new(
                self.at.clone(),
                "a `[[claim]]` with `of` must also have `above` or `below`, or `along`",
            ));
        }
        let by_difference = params.text("compared_by") == "difference";
        if by_difference && to.is_none() {
            return Err(Problem::new(
                join(&self.at, "compared_by"),
                "a `[[claim]]` about a difference must have `to`, which is taken away from `of`",
            ));
        }
        Ok(Relation::Bounds { of, to, above, below, by_difference })
    }

    fn needed(&self) -> Result<Needed, Problem> {
        match self.table.get("in") {
            None => Ok(Needed::All),
            Some(Value::String(word)) if word == "all" => Ok(Needed::All),
            Some(Value::String(word)) if word == "most" => Ok(Needed::Most),
            Some(Value::String(word)) if word == "any" => Ok(Needed::AtLeast(1)),
            Some(&Value::Integer(count)) if count > 0 => Ok(Needed::AtLeast(count as u64)),
            Some(other) => {
                let says =
                    format!("is {other}, but must be all, most, any, or a number of cells from 1");
                Err(self.wrong("in", &says))
            }
        }
    }

    /// Reads the key `where` of a claim. It gives a value or a list of values to each of some swept
    /// keys.
    fn only(&self) -> Result<Vec<(String, Vec<Value>)>, Problem> {
        let mut only = Vec::new();
        for (axis, value) in self.swept("where")? {
            // A swept value may itself be a list, such as the sides of a machine.
            let is_one = axis.values.iter().any(|swept| same(swept, value));
            let values = match value {
                Value::Array(list) if !is_one => list.clone(),
                single => vec![single.clone()],
            };
            values.iter().try_for_each(|value| self.must_be_swept("where", axis, value))?;
            only.push((axis.key.clone(), values));
        }
        Ok(only)
    }

    fn choice(&self, key: &str) -> Result<SweptValues, Problem> {
        let mut choice = Vec::new();
        for (axis, value) in self.swept(key)? {
            self.must_be_swept(key, axis, value)?;
            choice.push((axis.key.clone(), value.clone()));
        }
        Ok(choice)
    }

    fn must_be_swept(&self, key: &str, axis: &Axis, value: &Value) -> Result<(), Problem> {
        if self.changed || axis.values.iter().any(|swept| same(swept, value)) {
            return Ok(());
        }
        let values: Vec<String> = axis.values.iter().map(Value::to_string).collect();
        let says = format!(
            "has {value} for `{}`, but must have one of the swept values: {}",
            axis.key,
            values.join(", ")
        );
        Err(self.wrong(key, &says))
    }

    fn wrong(&self, key: &str, says: &str) -> Problem {
        Problem::new(join(&self.at, key), format!("`{}.{key}` {says}", self.at))
    }

    fn swept(&self, key: &str) -> Result<Vec<(&Axis, &Value)>, Problem> {
        let mut found = Vec::new();
        match self.table.get(key) {
            None => {}
            Some(Value::Table(table)) => self.walk(key, "", table, &mut found)?,
            Some(other) => {
                let says =
                    format!("is {other}, but must be a table of swept keys and their values");
                return Err(self.wrong(key, &says));
            }
        }
        Ok(found)
    }

    /// Collects the swept keys in a claim's table. A key may be written as `"workload.load" = 1` or
    /// `workload.load = 1`.
    fn walk<'b>(
        &'b self,
        key: &str,
        path: &str,
        table: &'b Table,
        found: &mut Vec<(&'b Axis, &'b Value)>,
    ) -> Result<(), Problem> {
        for (name, value) in table {
            let path = join(path, name);
            if let Some(axis) = self.axes.iter().find(|axis| axis.key == path) {
                found.push((axis, value));
            } else if let Value::Table(inner) = value {
                self.walk(key, &path, inner, found)?;
            } else {
                self.axis(key, &path)?;
            }
        }
        Ok(())
    }

    fn axis(&self, key: &str, path: &str) -> Result<&Axis, Problem> {
        self.axes.iter().find(|axis| axis.key == path).ok_or_else(|| {
            let swept: Vec<&str> = self.axes.iter().map(|axis| axis.key.as_str()).collect();
            let known = if swept.is_empty() { "nothing".to_owned() } else { swept.join(", ") };
            let says = format!("names `{path}`, which is not swept: `[sweep]` holds {known}");
            self.wrong(key, &says)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::study_with;

    const STUDY: &str = "[sweep]\n'workload.load' = [0.1, 0.5]\nsizing = ['exact', { name = 'rsr' }]\n\
                         machine.dims = [[4, 4], [8, 8]]\n[[claim]]\n";

    fn parse(claim: &str, settings: &[&str]) -> Result<Vec<PaperClaim>, String> {
        let study = study_with(&format!("{STUDY}{claim}"), settings);
        study.map(|study| study.claims).map_err(|refused| refused.0)
    }

    #[test]
    fn every_kind_of_claim_is_read() {
        let one = |claim: &str| match parse(claim, &[]).unwrap().remove(0).check {
            ClaimCheck::Cells(test) => test,
            ClaimCheck::No(why) => panic!("{why}"),
        };
        let test = one("text = 't'\nmetric = 'wait'\nof = { sizing = { name = 'rsr' } }\n\
                        to = { sizing = 'exact' }\nbelow = 0.5\nin = 'most'\ndecide = 'means'\n\
                        where = { workload.load = 0.5, 'machine.dims' = [4, 4] }");
        assert_eq!(test.metric, "wait");
        assert_eq!(test.only[0], ("workload.load".to_owned(), vec![Value::Float(0.5)]));
        assert_eq!(test.only[1].1.len(), 1, "a list that is one swept value is one value");
        assert_eq!((test.needed, test.by_means), (Needed::Most, true));
        assert!(matches!(
            &test.relation,
            Relation::Bounds { of, to: Some(_), above: None, below: Some(_), .. } if of[0].0 == "sizing"
        ));
        let test = one("text = 't'\nlowest = { sizing = 'exact' }\nwithin = 0.01\nin = 39");
        assert_eq!((test.metric.as_str(), test.needed), ("turnaround", Needed::AtLeast(39)));
        assert!(matches!(test.relation, Relation::Extreme { lowest: true, .. }));
        let test = one("text = 't'\nof = { sizing = 'exact' }\nalong = 'workload.load'\n\
                        where = { 'workload.load' = [0.1, 0.5] }");
        assert_eq!(test.only[0].1.len(), 2);
        assert!(matches!(test.relation, Relation::Trend { rises: true, to: None, .. }));
        let no = parse("text = 't'\nunchecked = 'no mesh is printed'", &[]).unwrap();
        assert_eq!(no[0].check, ClaimCheck::No("no mesh is printed".to_owned()));
    }

    #[test]
    fn what_is_wrong_with_a_claim_is_one_sentence() {
        for (claim, sentence) in [
            (
                "metric = 'wait'",
                "a.toml:5: a `[[claim]]` has no `text`: it must say in words what is claimed",
            ),
            (
                "text = 't'",
                "a.toml:5: a `[[claim]]` must have one of `of`, `lowest` and `highest`, or say with \
                 `unchecked` why it cannot be checked",
            ),
            (
                "text = 't'\nof = { sizing = 'exact' }",
                "a.toml:5: a `[[claim]]` with `of` must also have `above` or `below`, or `along`",
            ),
            (
                "text = 't'\nof = { sizing = 'rsr' }\nbelow = 1",
                "a.toml:7: `claim[0].of` has \"rsr\" for `sizing`, but must have one of the swept values: \
                 \"exact\", { name = \"rsr\" }",
            ),
            (
                "text = 't'\nof = { scheduler = 'fcfs' }\nbelow = 1",
                "a.toml:7: `claim[0].of` names `scheduler`, which is not swept: `[sweep]` holds \
                 workload.load, sizing, machine.dims",
            ),
            (
                "text = 't'\nlowest = { sizing = 'exact' }\nin = 0",
                "a.toml:8: `claim[0].in` is 0, but must be all, most, any, or a number of cells from 1",
            ),
            (
                "text = 't'\nlowest = { sizing = 'exact' }\nmetric = 'weight'",
                "a.toml:8: unknown metric `weight` (known: weighted_dispersal,",
            ),
            (
                "text = 't'\nlowest = { sizing = 'exact' }\nof_all = 1",
                "a.toml:8: unknown key `of_all` in `claim[0]` (known: of, to,",
            ),
        ] {
            let refused = parse(claim, &[]).unwrap_err();
            assert!(refused.starts_with(sentence), "{refused}");
        }
    }

    #[test]
    fn a_claim_may_be_about_what_the_command_line_has_left_out() {
        let claim =
            "text = 't'\nof = { sizing = 'exact' }\nbelow = 1\nwhere = { 'workload.load' = 0.5 }";
        assert_eq!(parse(claim, &["sweep.\"workload.load\"=[0.1]"]).unwrap().len(), 1);
    }
}
