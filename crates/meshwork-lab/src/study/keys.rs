//! Keys of a study that control how scenarios are run, and their parsing.

use meshwork::registry::{self, DefaultValue, Kind, Param, Problem, Range, name_of};
use meshwork::scenario::SITE_FAMILY;
use toml::{Table, Value};

use super::{JobFormat, Replications};

/// Maximum number of replications. With more, counts of runs could overflow.
pub const MAX_REPLICATIONS: u64 = 1_000_000;

/// Top-level keys of a study that have plain values and are not part of its scenario.
pub static PARAMS: &[&Param] = &[
    &Param {
        name: "name",
        kind: Kind::Text,
        default: DefaultValue::Absent("the file's name without its ending"),
        help: "what the study is called",
    },
    &Param {
        name: "description",
        kind: Kind::Text,
        default: DefaultValue::Absent("none"),
        help: "what it asks",
    },
    &Param {
        name: "paper",
        kind: Kind::Text,
        default: DefaultValue::Absent("it reproduces none"),
        help: "the paper that it reproduces a part of",
    },
    &Param {
        name: "figure",
        kind: Kind::Text,
        default: DefaultValue::Absent("none"),
        help: "the figure or table of the paper, such as 1a, or several that are made of the same runs: 1, 4",
    },
    &Param {
        name: "obtain",
        kind: Kind::Text,
        default: DefaultValue::Absent("nothing is said"),
        help: "where the log that it reads is to be had; said when the log is missing",
    },
    &Param {
        name: "time_unit",
        kind: Kind::Choice(&crate::study::clock::UNIT_NAMES),
        default: DefaultValue::Absent("seconds for logs and tables with dates, none for others"),
        help: "the unit of time: that in which times of logs, of models of logs and of tables with dates are shown, \
               which count seconds, and what the clock of any other workload counts",
    },
    &Param {
        name: "record",
        kind: Kind::Flag,
        default: DefaultValue::Absent("up to ten scenarios that are compared"),
        help: "whether the first replication of every scenario is recorded in the folder of results, for its report to show at once",
    },
    &Param {
        name: "replications",
        kind: Kind::Integer(1, MAX_REPLICATIONS),
        default: DefaultValue::Absent("1, unless `precision` is given"),
        help: "how often each scenario is run, each time with other random numbers",
    },
    &Param {
        name: "windows",
        kind: Kind::Table(WINDOWS),
        default: DefaultValue::Absent("the log is one run"),
        help: "instead of replications: windows of the log, each of which is a run that begins with an empty machine",
    },
    &Param {
        name: "precision",
        kind: Kind::Number(Range::Inside),
        default: DefaultValue::Absent("a fixed number of replications"),
        help: "replicate until the mean is known to within this share of it, with 95 % confidence",
    },
    &Param {
        name: "precision_of",
        kind: Kind::Text,
        default: DefaultValue::Absent("the first of `measure.metrics`, else turnaround"),
        help: "the metric whose interval `precision` watches",
    },
    &Param {
        name: "min_replications",
        kind: Kind::Integer(2, MAX_REPLICATIONS),
        default: DefaultValue::Absent("5"),
        help: "with `precision`, the replications before the first look",
    },
    &Param {
        name: "max_replications",
        kind: Kind::Integer(2, MAX_REPLICATIONS),
        default: DefaultValue::Absent("300"),
        help: "with `precision`, the replications after which it is given up",
    },
];

/// Key `machine` of a study, which is read elsewhere, as part of the scenario. It is listed here
/// only so that a mistyped key can be corrected to it.
pub(super) static MACHINE: Param = Param {
    name: "machine",
    help: "the machine",
    kind: Kind::Component(&SITE_FAMILY),
    default: DefaultValue::Required,
};

/// Keys of a study's table `windows`. Times are by the clock of the log.
pub static WINDOWS: &[Param] = &[
    Param {
        name: "length",
        kind: Kind::Number(Range::Positive),
        default: DefaultValue::Required,
        help: "how much time of the log is one window",
    },
    Param {
        name: "stride",
        kind: Kind::Number(Range::Positive),
        default: DefaultValue::Absent("the length: one window begins where the last ended"),
        help: "how much later the next window begins; where they overlap, the interval counts only as many as fit \
               side by side",
    },
];

pub(super) fn take_table(document: &mut Table, key: &str) -> Result<Table, Problem> {
    match document.remove(key) {
        None => Ok(Table::new()),
        Some(Value::Table(table)) => Ok(table),
        Some(other) => {
            Err(Problem::new(key, format!("`{key}` is {other}, but must be a table `[{key}]`")))
        }
    }
}

pub(super) fn replications(
    params: &registry::Params,
    scenario: &Table,
) -> Result<Replications, Problem> {
    if params.has("windows") {
        let others =
            ["replications", "precision", "precision_of", "min_replications", "max_replications"];
        if let Some(other) = others.into_iter().find(|key| params.has(key)) {
            return Err(params.problem(
                "windows",
                format!(
                    "both `windows` and `{other}` are given, but windows of the log are the replications"
                ),
            ));
        }
        let windows = params.nested("windows");
        let length = windows.number("length");
        return Ok(Replications::Windows {
            length,
            stride: windows.get_number("stride").unwrap_or(length),
        });
    }
    let Some(target) = params.get_number("precision") else {
        for key in ["precision_of", "min_replications", "max_replications"] {
            if params.has(key) {
                return Err(params.problem(
                    key,
                    format!("`{key}` means something only with `precision`, which is not given"),
                ));
            }
        }
        return Ok(Replications::Fixed(params.get_integer("replications").unwrap_or(1)));
    };
    if params.has("replications") {
        return Err(params.problem(
            "replications",
            "both `replications` and `precision` are given, but the one excludes the other",
        ));
    }
    let least = params.get_integer("min_replications").unwrap_or(5);
    let most = params.get_integer("max_replications").unwrap_or(least.max(300));
    if least > most {
        return Err(params.problem(
            "max_replications",
            format!(
                "`max_replications` is {most}, but must be at least `min_replications`, {least}"
            ),
        ));
    }
    let first_metric = scenario
        .get("measure")
        .and_then(|measure| measure.get("metrics"))
        .and_then(|metrics| metrics.get(0))
        .and_then(name_of);
    let of = params.get_text("precision_of").or(first_metric).unwrap_or("turnaround").to_owned();
    Ok(Replications::Precision { target, least, most, of })
}

pub(super) fn job_formats(mut output: Table) -> Result<Vec<JobFormat>, Problem> {
    let given = output.remove("jobs");
    registry::resolve("output", &[], &output, &["jobs"])?;
    let words = match &given {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list.iter().collect(),
        Some(single) => vec![single],
    };
    let mut formats = Vec::new();
    for word in words {
        let format = match word.as_str() {
            Some("csv") => JobFormat::Csv,
            Some("batsim") => JobFormat::Batsim,
            Some("parquet") if !cfg!(feature = "parquet") => {
                return Err(Problem::new(
                    "output.jobs",
                    "`output.jobs` has \"parquet\", and this program was built without the feature \
                     `parquet`: it can be csv or batsim",
                ));
            }
            Some("parquet") => JobFormat::Parquet,
            _ => {
                return Err(Problem::new(
                    "output.jobs",
                    format!(
                        "`output.jobs` has {word}, but must be a list of csv, parquet and batsim"
                    ),
                ));
            }
        };
        formats.push(format);
    }
    formats.sort_unstable();
    formats.dedup();
    Ok(formats)
}
