//! Writes the winner of a race as a study, and as changed lines of Slurm's configuration files.

use std::fmt::Write as _;
use std::path::Path;

use meshwork::registry::name_of;
use toml::{Table, Value};

use super::Raced;
use crate::run::inputs::Files;
use crate::study::expand::Point;
use crate::study::set::set;
use crate::study::{SCENARIO_KEYS, Study};

/// Text of a study with only one candidate: the study of the race without its sweep.
pub(super) fn study_file(study: &Study, point: &Point) -> String {
    let mut table: Table = study.scenario.clone();
    for (key, value) in &point.swept {
        // This cannot fail: the value was already set when the study was expanded.
        let _ = set(&mut table, key, value.clone());
    }
    for setting in &study.settings {
        let first = setting.key.split(['.', '[']).next().unwrap_or_default();
        if SCENARIO_KEYS.contains(&first) {
            let _ = set(&mut table, &setting.key, setting.value.clone());
        }
    }
    // Leave out the folder, which may be temporary, so that equal studies give equal texts.
    let file = Path::new(&study.file).file_name().unwrap_or_default().display();
    let mut text = format!("# The choice of `meshwork choose {file}`.\n");
    let mut head = Table::new();
    head.insert("name".to_owned(), Value::String(format!("{} winner", study.name)));
    let _ = write!(text, "{}", toml::to_string(&head).unwrap_or_default());
    text + &toml::to_string(&table).unwrap_or_default()
}

/// Schedulers of Meshwork that Slurm has too, each with the line of `slurm.conf` that sets it.
const SLURM_LINES: [(&str, &str); 3] = [
    ("fcfs", "SchedulerType=sched/builtin"),
    ("easy", "SchedulerType=sched/backfill"),
    ("conservative", "SchedulerType=sched/backfill"),
];

/// Lines of `slurm.conf` and `topology.yaml` that differ between the baseline and the winner.
///
/// A line of the baseline has the mark `-`, a line of the winner the mark `+`; both stand below the
/// name of their file. Swept keys that differ but have no line in Slurm's files are listed by name.
/// The result is empty if the machine is not read from Slurm files.
pub(super) fn slurm_lines(raced: &Raced<'_>, winner: usize, reference: usize) -> Vec<String> {
    let machine = raced.study.scenario.get("machine").and_then(Value::as_table);
    let swept = &raced.points[winner].swept;
    let is_slurm = machine.is_some_and(|machine| machine.contains_key("slurm"))
        || swept.iter().any(|(key, value)| {
            key == "machine.slurm" || key == "machine" && value.get("slurm").is_some()
        });
    if !is_slurm || winner == reference {
        return Vec::new();
    }
    let files = Files::of(raced.study);
    let text = |value: &Value| -> Option<String> {
        let path = value.as_str()?;
        files.companion(path, &files.locate_companion(path)).ok()
    };
    let (mut conf, mut topology, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for ((key, ours), (_, theirs)) in swept.iter().zip(&raced.points[reference].swept) {
        if ours == theirs {
            continue;
        }
        match &**key {
            "machine.slurm" => topology.extend(changed(text(theirs), text(ours))),
            "machine.conf" => conf.extend(changed(text(theirs), text(ours))),
            "scheduler" => {
                let line = |value: &Value| {
                    let name = name_of(value)?;
                    SLURM_LINES.iter().find(|(own, _)| *own == name).map(|(_, line)| *line)
                };
                match (line(theirs), line(ours)) {
                    (Some(old), Some(new)) if old != new => {
                        conf.extend([format!("-{old}"), format!("+{new}")]);
                    }
                    (_, Some(new)) => conf.push(format!(" {new}")),
                    _ => others.push(key.clone()),
                }
            }
            _ => others.push(key.clone()),
        }
    }
    let mut lines = Vec::new();
    for (name, own) in [("slurm.conf", conf), ("topology.yaml", topology)] {
        if !own.is_empty() {
            lines.push(format!("{name}:"));
            lines.extend(own);
        }
    }
    if !others.is_empty() {
        lines.push(format!("no line of Slurm sets: {}", others.join(", ")));
    }
    lines
}

/// Lines that only one of two texts has: of the old text marked with `-`, then of the new with `+`.
fn changed(old: Option<String>, new: Option<String>) -> Vec<String> {
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let only = |text: &str, other: &str, sign: char| -> Vec<String> {
        let mut left: Vec<&str> = other.lines().collect();
        let mut own = Vec::new();
        for line in text.lines() {
            match left.iter().position(|other| *other == line) {
                Some(place) => drop(left.remove(place)),
                None => own.push(format!("{sign}{line}")),
            }
        }
        own
    };
    let mut lines = only(&old, &new, '-');
    lines.extend(only(&new, &old, '+'));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_by_hand() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(changed(text("a\nb\na\n"), text("a\nc\n")), ["-b", "-a", "+c"]);
        assert!(changed(text("a\n"), text("a\n")).is_empty());
    }
}
