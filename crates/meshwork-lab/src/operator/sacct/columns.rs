//! Columns of `sacct` that are read, and the consequences of missing columns.

/// Column that is missing in a file, with the consequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Names of alternative columns, one of which suffices.
    pub columns: &'static [&'static str],
    /// Consequence if none of the columns is present.
    pub question: &'static str,
    /// Whether the file is useless without the column.
    pub is_fatal: bool,
}

const fn loss(columns: &'static [&'static str], question: &'static str) -> Loss {
    Loss { columns, question, is_fatal: false }
}

/// Consequences of all columns that may be missing.
pub const LOSSES: [Loss; 13] = [
    Loss {
        columns: &["JobIDRaw", "JobID"],
        question: "it cannot be said which record is which job",
        is_fatal: true,
    },
    Loss { columns: &["Start"], question: "nothing can be replayed", is_fatal: true },
    Loss { columns: &["End"], question: "nothing can be replayed", is_fatal: true },
    Loss {
        columns: &["ReqNodes", "NNodes", "AllocNodes", "NodeList"],
        question: "it cannot be said how many nodes a job has",
        is_fatal: true,
    },
    loss(
        &["NodeList"],
        "it cannot be said which nodes a job had, nor whether the rule gives the same",
    ),
    loss(&["Submit", "Eligible"], "it cannot be said how long a job waited"),
    loss(&["State"], "it cannot be said which jobs failed, were cancelled or were refused"),
    loss(
        &["TimelimitRaw", "Timelimit"],
        "it cannot be said what backfill might plan, since no job has a limit",
    ),
    loss(&["Priority"], "jobs are taken to wait in the order in which they became eligible"),
    loss(&["Flags"], "it cannot be said which decisions are backfill's"),
    loss(&["SegmentSize", "SubmitLine"], "it cannot be said which jobs might lie in segments"),
    loss(&["SubmitLine"], "it cannot be said which nodes a job asked for or kept out (-w, -x)"),
    loss(
        &["Exclusive", "SubmitLine", "AllocTRES", "AllocCPUS", "NCPUS"],
        "all jobs are taken to have their nodes alone",
    ),
];

impl Loss {
    /// Sentence about the file: the columns that are missing, and the consequence.
    pub(super) fn sentence(&self) -> String {
        let columns = match self.columns {
            [one] => format!("the column {one} is missing"),
            [first, second] => format!("the columns {first} and {second} are both missing"),
            [most @ .., last] => {
                format!("the columns {} and {last} are all missing", most.join(", "))
            }
            [] => String::new(),
        };
        format!("{columns}: {}", self.question)
    }
}
