//! Names of shards, which are the parts of a study, and of attempts at a shard.

use std::fmt;

use crate::files::{host, plain};

/// One of several parts into which the runs of a study are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    pub index: u64,
    pub of: u64,
}

/// Maximum number of shards. Each shard has a file, and no workload manager starts more processes.
pub const MAX_SHARDS: u64 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    pub variable: &'static str,
    /// Number that the workload manager gives to the first task of an array: 0 or 1.
    pub first: u64,
}

/// Environment variables of workload managers that have a task's number in its array, in lookup
/// order.
pub const COUNTERS: [Counter; 4] = [
    Counter { variable: "HQ_TASK_ID", first: 0 },
    Counter { variable: "SLURM_ARRAY_TASK_ID", first: 0 },
    Counter { variable: "PBS_ARRAY_INDEX", first: 0 },
    Counter { variable: "LSB_JOBINDEX", first: 1 },
];

impl Shard {
    /// Parses a shard's name `I/N`. In the form `/N`, the environment variable with the task number
    /// gives `I`.
    ///
    /// ```
    /// use meshwork_lab::sweep::Shard;
    /// let none = |_: &str| None;
    /// assert_eq!(Shard::read("3/20", none), Ok(Shard { index: 3, of: 20 }));
    /// let slurm = |name: &str| (name == "SLURM_ARRAY_TASK_ID").then(|| "7".to_owned());
    /// assert_eq!(Shard::read("/20", slurm), Ok(Shard { index: 7, of: 20 }));
    /// assert!(Shard::read("20/20", none).unwrap_err().contains("from 0 to 19"));
    /// ```
    pub fn read(text: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
        let wrong = || {
            format!(
                "`{text}` is no shard: give I/N, such as 0/4 for the first of four, or /N inside a task of an array"
            )
        };
        let (index, of) = text.split_once('/').ok_or_else(wrong)?;
        let of: u64 = of.parse().map_err(|_| wrong())?;
        if of == 0 || of > MAX_SHARDS {
            return Err(format!(
                "`{text}`: there are {of} shards, but there must be from 1 to {MAX_SHARDS}"
            ));
        }
        let (index, place) = if index.is_empty() {
            let (number, variable) = from_environment(environment)?;
            (number, format!(" (I is that of {variable})"))
        } else {
            (index.parse().map_err(|_| wrong())?, String::new())
        };
        if index >= of {
            let last = of - 1;
            let shards = if of == 1 { "1 shard".to_owned() } else { format!("{of} shards") };
            return Err(format!(
                "{index}/{of}{place}: there is no shard {index} of {of}: {shards} are numbered from 0 to {last}"
            ));
        }
        Ok(Shard { index, of })
    }

    /// Prefix of the shard's segment files, such as `3of20`.
    ///
    /// For the second assignment of runs to shards, it is `3of20d2`.
    pub fn label(self, deal: Option<&str>) -> String {
        let deal = deal.map_or_else(String::new, |deal| format!("d{}", plain(deal)));
        format!("{}of{}{deal}", self.index, self.of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "{}/{}", self.index, self.of)
    }
}

fn from_environment(
    environment: impl Fn(&str) -> Option<String>,
) -> Result<(u64, &'static str), String> {
    for counter in COUNTERS {
        let Some(text) = environment(counter.variable).filter(|text| !text.is_empty()) else {
            continue;
        };
        let number: u64 = text.trim().parse().map_err(|_| {
            format!("{} is `{text}`, but must be the number of a task", counter.variable)
        })?;
        if let Some(index) = number.checked_sub(counter.first) {
            return Ok((index, counter.variable));
        }
    }
    let names: Vec<&str> = COUNTERS.iter().map(|counter| counter.variable).collect();
    Err(format!(
        "--shard /N takes I from the task of an array, but none of {} is set: give I/N, such as 0/4",
        names.join(", ")
    ))
}

/// Unique name of an attempt, made from the host, the process id and, if known, the batch job.
pub fn attempt(environment: impl Fn(&str) -> Option<String>) -> String {
    let job = ["HQ_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"]
        .into_iter()
        .find_map(&environment)
        .map(|job| format!("{}-", plain(&job)));
    let restart = ["HQ_INSTANCE_ID", "SLURM_RESTART_COUNT"]
        .into_iter()
        .find_map(&environment)
        .map(|restart| format!("r{}-", plain(&restart)));
    format!(
        "{}{}{}-{}",
        job.unwrap_or_default(),
        restart.unwrap_or_default(),
        host(),
        std::process::id()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, variables: &[(&str, &str)]) -> Result<Shard, String> {
        Shard::read(text, |name| {
            let found = variables.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn every_engine_numbers_its_tasks() {
        for (variable, value, index) in [
            ("SLURM_ARRAY_TASK_ID", "0", 0),
            ("PBS_ARRAY_INDEX", "3", 3),
            ("LSB_JOBINDEX", "4", 3),
            ("HQ_TASK_ID", "2", 2),
        ] {
            assert_eq!(read("/4", &[(variable, value)]), Ok(Shard { index, of: 4 }));
        }
        let nested = [("SLURM_ARRAY_TASK_ID", "1"), ("HQ_TASK_ID", "2")];
        assert_eq!(read("/4", &nested), Ok(Shard { index: 2, of: 4 }), "the inner one counts");
        let no_array = read("/4", &[("LSB_JOBINDEX", "0")]).unwrap_err();
        assert!(no_array.contains("none of HQ_TASK_ID, SLURM_ARRAY_TASK_ID"), "{no_array}");
        let wrong = read("/4", &[("PBS_ARRAY_INDEX", "x")]).unwrap_err();
        assert_eq!(wrong, "PBS_ARRAY_INDEX is `x`, but must be the number of a task");
        let beyond = read("/4", &[("SLURM_ARRAY_TASK_ID", "4")]).unwrap_err();
        assert!(beyond.starts_with("4/4 (I is that of SLURM_ARRAY_TASK_ID): there is no"));
    }

    #[test]
    fn what_is_no_shard_is_said_to_be_none() {
        for text in ["", "3", "a/b", "-1/4", "1/4/4", "1/"] {
            let said = read(text, &[]).unwrap_err();
            assert!(said.contains("is no shard: give I/N"), "{text}: {said}");
        }
        assert_eq!(
            read("5/4", &[]).unwrap_err(),
            "5/4: there is no shard 5 of 4: 4 shards are numbered from 0 to 3"
        );
        assert!(read("0/0", &[]).unwrap_err().contains("from 1 to 1000000"));
    }

    #[test]
    fn names_fit_into_files() {
        let shard = Shard { index: 3, of: 20 };
        assert_eq!((shard.label(None), shard.label(Some("2"))), ("3of20".into(), "3of20d2".into()));
        let named = attempt(|name| (name == "PBS_JOBID").then(|| "12[3].server/x".to_owned()));
        assert!(named.starts_with("12-3--server-x-"), "{named}");
        assert!(!named.contains(['.', '/', '[']), "{named}");
    }
}
