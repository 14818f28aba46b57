//! Findings about values in `slurm.conf` that Slurm refuses, or replaces by its defaults.
//!
//! Only the keys that Meshwork reads are checked. An unknown word is refused only if it is one edit
//! away from a known one, since a newer version or a plug-in of the site may know it.

use std::collections::BTreeSet;

use super::names::{self, hint, unknown};
use crate::conf::{Conf, ConfLine};
use crate::finding::LintFindings;
use crate::values::{SCHEDULER_OPTIONS, is_time, leading_number, number};

enum Kind {
    /// Whole number with this upper bound.
    Number(u64),
    Time,
    Word(&'static str),
    /// The value is a list of the given words, and of others that Slurm may know.
    Words(&'static str),
    /// Name of a plug-in. Upper and lower case are distinguished.
    Plugin(&'static str),
}

use Kind::{Number, Plugin, Time, Word, Words};

const WEIGHT: Kind = Number(u32::MAX as u64);
const RANK: Kind = Number(u16::MAX as u64);
const BOOLEAN: Kind = Word("yes no up down true false 1 0");
const OVER_SUBSCRIBE: Kind = Word("no yes force exclusive");
const PREEMPT_MODES: &str = "off cancel requeue suspend gang within checkpoint";

const SETTINGS: [(&str, Kind); 17] = [
    (
        "AccountingStorageEnforce",
        Words("associations limits qos safe wckeys nojobs nosteps none all"),
    ),
    ("PreemptMode", Words(PREEMPT_MODES)),
    ("PreemptType", Plugin("preempt/none preempt/partition_prio preempt/qos preempt/job_prio")),
    ("PriorityCalcPeriod", Time),
    ("PriorityDecayHalfLife", Time),
    ("PriorityFavorSmall", BOOLEAN),
    ("PriorityMaxAge", Time),
    ("PriorityType", Plugin("priority/basic priority/multifactor priority/multifactor2")),
    ("PriorityWeightAge", WEIGHT),
    ("PriorityWeightAssoc", WEIGHT),
    ("PriorityWeightFairshare", WEIGHT),
    ("PriorityWeightJobSize", WEIGHT),
    ("PriorityWeightPartition", WEIGHT),
    ("PriorityWeightQOS", WEIGHT),
    ("SchedulerType", Plugin("sched/backfill sched/builtin sched/hold sched/wiki sched/wiki2")),
    (
        "SelectType",
        Plugin(
            "select/linear select/cons_res select/cons_tres select/cray select/cray_aries \
             select/alps select/bluegene select/serial",
        ),
    ),
    (
        "TopologyPlugin",
        Plugin(
            "topology/none topology/default topology/flat topology/tree topology/block \
             topology/3d_torus topology/torus3d topology/ring topology/hypercube topology/node_rank",
        ),
    ),
];

const PARTITIONS: [(&str, Kind); 10] = [
    ("Default", BOOLEAN),
    ("DefaultTime", Time),
    ("MaxTime", Time),
    ("OverSubscribe", OVER_SUBSCRIBE),
    ("PreemptMode", Words(PREEMPT_MODES)),
    ("Priority", RANK),
    ("PriorityJobFactor", RANK),
    ("PriorityTier", RANK),
    ("Shared", OVER_SUBSCRIBE),
    ("State", Word("up down drain inactive")),
];

/// Keys that begin lines of `slurm.conf` on which further keys are allowed.
const LONG_LINES: [&str; 2] = ["DownNodes", "FrontendName"];

/// Adds a finding for each wrong value of a `slurm.conf`.
pub(super) fn look(conf: &Conf, findings: &mut LintFindings) {
    let mut seen = BTreeSet::new();
    for line in &conf.settings {
        of_line(line, &SETTINGS, findings);
        of_rest(line, findings);
        options(line, findings);
    }
    for partition in &conf.partitions {
        let mut own = partition.given.clone();
        // Values of a `DEFAULT` line occur in each line that follows.
        own.pairs.retain(|pair| seen.insert(pair.clone()));
        of_line(&own, &PARTITIONS, findings);
    }
}

fn of_line(line: &ConfLine, known: &[(&str, Kind)], findings: &mut LintFindings) {
    for (key, kind) in known {
        let Some(text) = line.get(key) else { continue };
        match kind {
            Number(most) => of_number(line, key, text, *most, findings),
            Time if !is_time(text)
                || (*key == "PriorityCalcPeriod" && leading_number(text) == 0) =>
            {
                let says = format!(
                    "{key} is {text}, but must be a time such as 90 (minutes), 1:30:00 or 7-0 (days and \
                     hours)"
                );
                let logged = format!("error: Bad value \"{text}\" for {key}");
                let _ = findings.fatal_conf(Some(line.number), says, &[&logged]);
            }
            Time => {}
            Word(words) => {
                let own = text.split(':').next().unwrap_or(text);
                if unknown(own, words).is_some() {
                    let list: Vec<&str> = words.split_whitespace().collect();
                    let says = format!("{key} is {text}, but must be one of {}", list.join(", "));
                    let _ = findings.fatal_conf(Some(line.number), says, &[]);
                }
            }
            Words(words) => {
                let is_number = |own: &str| own.bytes().all(|byte| byte.is_ascii_digit());
                for own in text.split(',').filter(|own| !is_number(own)) {
                    let own = own.split(':').next().unwrap_or(own);
                    of_word(line, key, own, words, false, findings);
                }
            }
            Plugin(names) => of_word(line, key, text, names, true, findings),
        }
    }
}

fn of_number(line: &ConfLine, key: &str, text: &str, most: u64, findings: &mut LintFindings) {
    if number(text, most).is_some() {
        return;
    }
    let why = match text.parse::<i128>() {
        Ok(value) if value < 0 => "less than zero".to_owned(),
        Ok(_) => format!("greater than {most}"),
        Err(_) => "not a valid number".to_owned(),
    };
    let says = format!("{key} is {text}, but must be a whole number from 0 to {most}");
    let logged = format!("error: {key} value ({text}) is {why}");
    let _ = findings.fatal_conf(Some(line.number), says, &[&logged]);
}

fn of_word(
    line: &ConfLine,
    key: &str,
    text: &str,
    known: &str,
    is_exact: bool,
    findings: &mut LintFindings,
) {
    let other_case = || known.split_whitespace().find(|own| own.eq_ignore_ascii_case(text));
    let meant = match unknown(text, known) {
        None if !is_exact || known.split_whitespace().any(|own| own == text) => return,
        None => other_case().map(|own| (1, own)),
        Some(meant) => meant,
    };
    let hint = hint(meant);
    if matches!(meant, Some((1, _))) {
        let says = format!("`{text}` is no value of {key}{hint}");
        let _ = findings.fatal_conf(Some(line.number), says, &[]);
    } else {
        let says = format!(
            "`{text}` is no value of {key} that Meshwork knows{hint}; Slurm ends at a value that it does \
             not know"
        );
        findings.warn_conf(Some(line.number), says);
    }
}

/// Refuses text that follows the value of a setting after a blank.
fn of_rest(line: &ConfLine, findings: &mut LintFindings) {
    let [(first, _), (second, _), ..] = &line.pairs[..] else { return };
    let is_long = LONG_LINES.iter().any(|key| key.eq_ignore_ascii_case(first));
    if is_long || unknown(first, names::SETTINGS).is_some() {
        return;
    }
    let says = format!(
        "`{second}` stands after the value of {first}: a value ends at a blank, and a line has one setting"
    );
    let _ = findings.fatal_conf(Some(line.number), says, &[]);
}

fn options(line: &ConfLine, findings: &mut LintFindings) {
    let parameters = line.get("SchedulerParameters").unwrap_or_default();
    for option in &SCHEDULER_OPTIONS {
        let name = option.name;
        let is_bare = |own: &str| own.trim().eq_ignore_ascii_case(name);
        let Some(text) = option.text(parameters) else {
            if parameters.split(',').any(is_bare) {
                let says = format!("`{name}` has no value, so Slurm ignores it");
                findings.warn_conf(Some(line.number), says);
            }
            continue;
        };
        let value = leading_number(text);
        let right = match option.may_be_off {
            true => format!("from {} to {}, or -1", option.least, option.most),
            false => format!("from {} to {}", option.least, option.most),
        };
        let taken = match option.accepts(value) {
            false => "takes its default of",
            true if text.parse() != Ok(value) => "reads",
            true => continue,
        };
        let says = format!(
            "`{name}={text}` must be a whole number {right}: Slurm {taken} {}",
            option.value(parameters)
        );
        findings.warn_conf(Some(line.number), says);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Level;

    /// Checks a `slurm.conf` that contains `line`. Returns the text of each finding, and whether it
    /// is fatal.
    fn found(line: &str) -> Vec<(bool, String)> {
        let text = format!("{line}\nNodeName=n[0-3] CPUs=4\nPartitionName=DEFAULT MaxNodes=4\n");
        let text = match line.starts_with("PartitionName") {
            true => format!("NodeName=n[0-3] CPUs=4\n{line}\nPartitionName=q Nodes=ALL\n"),
            false => text + "PartitionName=p Nodes=ALL Default=YES\n",
        };
        let mut findings = LintFindings::default();
        let conf = Conf::read(&text, &mut |_| Err(String::new()), &mut findings).unwrap();
        look(&conf, &mut findings);
        findings.0.into_iter().map(|own| (own.level == Level::Fatal, own.says)).collect()
    }

    #[test]
    fn values_that_slurmctld_refuses_are_fatal() {
        for line in [
            "PriorityWeightQOS=abc",
            "PriorityWeightQOS=-5",
            "PriorityWeightQOS=1.5",
            "PriorityWeightQOS=99999999999",
            "PriorityMaxAge=foo",
            "PriorityMaxAge=1h",
            "PriorityMaxAge=5 days",
            "PriorityCalcPeriod=0",
            "PriorityType=priority/multifacto",
            "PriorityType=Priority/Multifactor",
            "SchedulerType=sched/backfil",
            "PriorityFavorSmall=maybe",
            "AccountingStorageEnforce=limit",
            "SchedulerParameters=bf_window=60 ,bf_resolution=60",
            "SchedulerParameters=bf_window=60, bf_resolution=60",
            "PriorityType=priority/basic PriorityFavorSmall=yes",
            "PartitionName=p Nodes=ALL MaxTime=30x",
            "PartitionName=p Nodes=ALL DefaultTime=-4",
            "PartitionName=p Nodes=ALL State=FOO",
            "PartitionName=p Nodes=ALL OverSubscribe=EXCLUSIV",
            "PartitionName=p Nodes=ALL PriorityTier=70000",
            "PartitionName=p Nodes=ALL Default=JA",
        ] {
            let found = found(line);
            assert!(matches!(&found[..], [(true, _)]), "{line}: {found:?}");
        }
    }

    #[test]
    fn values_that_slurmctld_replaces_or_may_not_know_are_warned_of() {
        let says = |option: &str, right: &str, then: &str| {
            format!("`{option}` must be a whole number {right}: Slurm {then}")
        };
        for (line, told) in [
            (
                "SchedulerParameters=bf_window=-4",
                says("bf_window=-4", "from 1 to 43200", "takes its default of 1440"),
            ),
            (
                "SchedulerParameters=bf_window=abc,bf_interval=5",
                says("bf_window=abc", "from 1 to 43200", "takes its default of 1440"),
            ),
            (
                "SchedulerParameters=bf_interval=5x",
                says("bf_interval=5x", "from 1 to 10800, or -1", "reads 5"),
            ),
            (
                "SchedulerParameters=bf_window",
                "`bf_window` has no value, so Slurm ignores it".to_owned(),
            ),
            (
                "SelectType=select/foo",
                "`select/foo` is no value of SelectType that Meshwork knows; Slurm ends at a value that it \
                 does not know"
                    .to_owned(),
            ),
        ] {
            assert_eq!(found(line), [(false, told)], "{line}");
        }
    }

    #[test]
    fn right_values_are_left_alone() {
        for line in [
            "PriorityWeightQOS=10k",
            "PriorityWeightAge=0x10",
            "PriorityMaxAge=7-0",
            "PriorityDecayHalfLife=INFINITE",
            "SelectType=select/cons_tres",
            "AccountingStorageEnforce=associations,limits,qos,1",
            "PreemptMode=SUSPEND,GANG",
            "SchedulerParameters=\"bf_interval=-1, bf_window=43200\",",
            "SchedulerParameters=bf_continue,sched_interval=-1,bf_max_job_test=1000000",
            "DownNodes=n0 State=DOWN Reason=x",
            "Epilog=\"\"",
            "PartitionName=p Nodes=ALL MaxTime=-1 State=up OverSubscribe=FORCE:4 PreemptMode=off",
        ] {
            let line = line.trim_end_matches(',');
            assert_eq!(found(line), [], "{line}");
        }
    }
}
