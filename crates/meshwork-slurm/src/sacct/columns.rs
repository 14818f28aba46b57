//! Columns of `sacct` that are read, and the consequences of missing ones.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    pub columns: &'static [&'static str],
    /// Consequence if all of the columns are missing: a clause such as `nothing can be replayed`.
    pub question: &'static str,
    /// Whether a file that lacks all of the columns is useless.
    pub is_fatal: bool,
}

const fn loss(columns: &'static [&'static str], question: &'static str) -> Loss {
    Loss { columns, question, is_fatal: false }
}

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
