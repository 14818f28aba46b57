//! Writes the winner of a race as a study, and as changes of Slurm's configuration files.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use meshwork::registry::name_of;
use toml::{Table, Value};

use super::Raced;
use crate::inputs::Files;
use crate::study::expand::Point;
use crate::study::set::set;
use crate::study::slurm::open_sites;
use crate::study::{SCENARIO_KEYS, Study, table};
use crate::text::diff::difference;
use meshwork_slurm::lines::lines;

/// Scenario of a candidate as the study states it. Default values are left out.
fn scenario_of(study: &Study, point: &Point) -> Table {
    let mut table: Table = study.scenario.clone();
    let settings = study.settings.iter().filter(|setting| {
        let first = setting.key.split(['.', '[']).next().unwrap_or_default();
        SCENARIO_KEYS.contains(&first)
    });
    let settings = settings.map(|setting| (&setting.key, &setting.value));
    for (key, value) in point.swept.iter().map(|(key, value)| (key, value)).chain(settings) {
        // This cannot fail: the value was already set when the study was expanded.
        let _ = set(&mut table, key, value.clone());
    }
    table
}

pub(super) fn study_file(study: &Study, point: &Point) -> String {
    // Leave out the folder, which may be temporary, so that equal studies give equal texts.
    let file = Path::new(&study.file).file_name().unwrap_or_default().display();
    let mut text = format!("# The choice of `meshwork choose {file}`.\n");
    let head = table([("name", format!("{} winner", study.name).into())]);
    let _ = write!(text, "{}", toml::to_string(&head).unwrap_or_default());
    text + &toml::to_string(&scenario_of(study, point)).unwrap_or_default()
}

/// Schedulers that exist in Slurm too, each with its `SchedulerType`.
const PLUGINS: [(&str, &str); 4] = [
    ("fcfs", "sched/builtin"),
    ("easy", BACKFILL),
    ("conservative", BACKFILL),
    ("slurm", BACKFILL),
];

/// `SchedulerType` that Slurm uses if `slurm.conf` gives none.
const BACKFILL: &str = "sched/backfill";

/// Parameters of the scheduler `slurm` that no line of `slurm.conf` sets. Each has a text that says
/// where Slurm takes the setting from.
const ELSEWHERE: [(&str, &str); 5] = [
    ("bf_rounding", "the version of Slurm decides"),
    ("PriorityWeightSite", "the site factor of jobs counts in full"),
    ("shares", "`sacctmgr modify user NAME set fairshare=SHARE`"),
    ("partitions", "PriorityTier and PriorityJobFactor in the lines of PartitionName"),
    ("qos", "`sacctmgr modify qos NAME set priority=PRIORITY`"),
];

struct GivenScheduler<'a> {
    name: &'a str,
    given: BTreeSet<&'a str>,
    /// All parameters of the scheduler. Those that the study does not set have their defaults.
    all: &'a Value,
}

impl<'a> GivenScheduler<'a> {
    fn of(scenario: &'a Table, filled: &'a Table) -> Option<GivenScheduler<'a>> {
        let all = filled.get("scheduler")?;
        let given = scenario.get("scheduler").and_then(Value::as_table);
        let given = given.into_iter().flat_map(Table::keys).map(String::as_str);
        let given = given.filter(|key| *key != "name").collect();
        Some(GivenScheduler { name: name_of(all)?, given, all })
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.all.get(key)
    }

    /// Value of `SchedulerType` with which Slurm schedules like this scheduler. `None` if there is
    /// none.
    fn plugin(&self) -> Option<&'static str> {
        let has_no_backfill = self.get("bf_interval").and_then(Value::as_str) == Some("never");
        match PLUGINS.iter().find(|(own, _)| *own == self.name)?.1 {
            BACKFILL if self.name == "slurm" && has_no_backfill => Some("sched/builtin"),
            plugin => Some(plugin),
        }
    }

    /// Changes the text of a `slurm.conf`, so that Slurm schedules like this scheduler.
    ///
    /// If `text` does not set a key, its value is looked up in `included`, the text of included
    /// files.
    fn put_into(&self, text: &str, included: &str, keys: &BTreeSet<&str>) -> String {
        let mut text = text.to_owned();
        let value_of =
            |text: &str, key: &str| value_of(text, key).or_else(|| value_of(included, key));
        let set = |text: &mut String, key: &str, value: &str| {
            if value_of(text, key).as_deref() != Some(value) {
                put_line(text, key, value);
            }
        };
        let kind = self.plugin().unwrap_or(BACKFILL);
        if text.is_empty()
            || value_of(&text, "SchedulerType").as_deref().unwrap_or(BACKFILL) != kind
        {
            put_line(&mut text, "SchedulerType", kind);
        }
        let weight = |(key, value): (&String, &Value)| {
            key.starts_with("PriorityWeight") && value.as_integer().is_some_and(|own| own > 0)
        };
        if self.name == "slurm" && self.all.as_table().is_some_and(|all| all.iter().any(weight)) {
            set(&mut text, "PriorityType", "priority/multifactor");
        }
        let words = value_of(&text, "SchedulerParameters").unwrap_or_default();
        let mut words: Vec<String> =
            words.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let before = words.clone();
        for &key in keys {
            let Some(value) = self.get(key).filter(|_| self.name == "slurm") else { continue };
            if key.starts_with("Priority") {
                set(&mut text, key, &plain(value));
                continue;
            }
            let word = match value {
                Value::Boolean(true) => Some(key.to_owned()),
                Value::Boolean(false) => None,
                Value::String(_) if key == "bf_interval" => None,
                Value::String(_) => Some(format!("{key}=-1")),
                value => Some(format!("{key}={value}")),
            };
            let is_own = |word: &String| {
                word.split('=').next().is_some_and(|name| name.trim().eq_ignore_ascii_case(key))
            };
            let place = words.iter().position(is_own).unwrap_or(words.len());
            words.retain(|word| !is_own(word));
            words.splice(place.min(words.len())..place.min(words.len()), word);
        }
        if words != before {
            put_line(&mut text, "SchedulerParameters", &words.join(","));
        }
        text
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Boolean(flag) => if *flag { "YES" } else { "NO" }.to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Value of a key of a `slurm.conf`. If the key occurs several times, the last one counts.
fn value_of(text: &str, key: &str) -> Option<String> {
    lines(text).iter().rev().find_map(|line| line.get(key).map(str::to_owned))
}

fn put_line(text: &mut String, key: &str, value: &str) {
    let all = lines(text);
    let is_own =
        |pairs: &[(String, String)]| matches!(pairs, [(own, _)] if own.eq_ignore_ascii_case(key));
    let own = all.iter().rfind(|line| is_own(&line.pairs)).map(|line| line.number - 1);
    let line = format!("{key}={value}");
    let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
    match own {
        Some(begin) => {
            let is_continued = |row: &&String| row.trim_end().ends_with('\\');
            let end = begin + rows[begin..].iter().take_while(is_continued).count();
            rows.splice(begin..=end.min(rows.len() - 1), [line]);
        }
        None => rows.push(line),
    }
    *text = rows.join("\n") + "\n";
}

/// Changes of `slurm.conf` and `topology.yaml` from the baseline to the winner, as unified diffs.
///
/// After the diffs come the changed keys that no line of these files sets. Without a `slurm.conf`,
/// only the lines of the scheduler are compared.
pub(super) fn slurm_lines(raced: &Raced<'_>, winner: usize, reference: usize) -> Vec<String> {
    let study = raced.study;
    let [ours, theirs] = [winner, reference].map(|own| &raced.points[own]);
    let files = Files::of(study);
    let [own, other] = [ours, theirs].map(|point| {
        let mut table = scenario_of(study, point);
        // This cannot fail: the files were already read when the study was expanded.
        let _ = open_sites(&mut table, &files);
        table
    });
    let name = |scenario: &Table, key: &str| -> Option<String> {
        Some(scenario.get("machine")?.get(key)?.as_str()?.to_owned())
    };
    if winner == reference || name(&own, "slurm").is_none() {
        return Vec::new();
    }
    let text = |name: Option<&String>| -> String {
        let read = |path: &String| files.companion(path, &files.locate_companion(path)).ok();
        name.and_then(read).unwrap_or_default()
    };
    let [conf, old_conf] = [&own, &other].map(|scenario| name(scenario, "conf"));
    let (mut new, mut old) = (text(conf.as_ref()), text(old_conf.as_ref()));
    let beside = Path::new(conf.as_deref().unwrap_or_default()).parent().unwrap_or(Path::new(""));
    let included = |path: &str| text(Some(&beside.join(path).display().to_string()));
    let included: String =
        lines(&new).iter().filter_map(|line| line.get("Include")).map(included).collect();
    let mut others: Vec<String> = Vec::new();
    let mut elsewhere: Vec<String> = Vec::new();
    let [scheduler, baseline] = [(&own, ours), (&other, theirs)]
        .map(|(scenario, point)| GivenScheduler::of(scenario, point.scenario.table()));
    if let (Some(scheduler), Some(baseline)) = (scheduler, baseline)
        && scheduler.all != baseline.all
    {
        let differs = |key: &&str| scheduler.get(key) != baseline.get(key);
        let names = scheduler.all.as_table().into_iter().flat_map(Table::keys).map(String::as_str);
        let is_same = scheduler.name == baseline.name;
        let differing = names.filter(|key| is_same && *key != "name").filter(differs);
        let keys: BTreeSet<&str> =
            differing.chain(scheduler.given.iter().chain(&baseline.given).copied()).collect();
        let place = |key: &str| ELSEWHERE.iter().find(|(own, _)| *own == key);
        for (key, how) in keys.iter().filter(|key| differs(key)).filter_map(|key| place(key)) {
            elsewhere.push(format!("scheduler.{key}: {how}"));
        }
        let keys: BTreeSet<&str> = keys.into_iter().filter(|key| place(key).is_none()).collect();
        if scheduler.plugin().is_none() {
            others.push("scheduler".to_owned());
        } else {
            let before = (old.clone(), new.clone());
            new = scheduler.put_into(&new, &included, &keys);
            if old_conf.is_none() && baseline.plugin().is_some() {
                old = baseline.put_into(&old, "", &keys);
            }
            if old == new && before.0 == before.1 && elsewhere.is_empty() {
                others.push("scheduler".to_owned());
            }
        }
    }
    let mut lines: Vec<String> = Vec::new();
    let title = |name: Option<String>| name.unwrap_or_else(|| "slurm.conf".to_owned());
    let is_file = conf.is_some() || old_conf.is_some();
    let change = difference(&old, &new, &title(old_conf), &title(conf));
    let change = change.lines().map(str::to_owned);
    if is_file {
        lines.extend(change);
    } else if old != new {
        lines.push("slurm.conf:".to_owned());
        // The head of the diff means nothing without a file.
        lines.extend(change.skip(3));
    }
    let [topology, old_topology] = [&own, &other].map(|scenario| name(scenario, "slurm"));
    if topology != old_topology {
        let [old, new] = [&old_topology, &topology].map(|name| text(name.as_ref()));
        let title = |name: Option<String>| name.unwrap_or_default();
        let change = difference(&old, &new, &title(old_topology), &title(topology));
        lines.extend(change.lines().map(str::to_owned));
    }
    let covered = ["machine.slurm", "machine.conf"];
    for ((key, ours), (_, theirs)) in ours.swept.iter().zip(&theirs.swept) {
        let is_machine = key == "machine" && {
            let partition = |value: &Value| value.get("partition").cloned();
            partition(ours) == partition(theirs)
        };
        let is_scheduler = key.split('.').next() == Some("scheduler");
        if ours != theirs && !is_machine && !is_scheduler && !covered.contains(&&**key) {
            others.push(key.clone());
        }
    }
    lines.extend(elsewhere);
    if !others.is_empty() {
        lines.push(format!("no line of Slurm sets: {}", others.join(", ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(conf: &str, scheduler: &str) -> String {
        change_beside("", conf, scheduler)
    }

    fn change_beside(included: &str, conf: &str, scheduler: &str) -> String {
        let table: Table = scheduler.parse().unwrap();
        let given: BTreeSet<&str> = table.keys().map(String::as_str).collect();
        let all = Value::Table(table.clone());
        let own = GivenScheduler { name: "slurm", given: given.clone(), all: &all };
        let changed = difference(conf, &own.put_into(conf, included, &given), "old", "new");
        let is_change = |line: &&str| !line.starts_with("---") && !line.starts_with("+++");
        let lines = changed.lines().filter(is_change).filter(|line| line.starts_with(['-', '+']));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn parameters_by_hand() {
        // Other parameters stay, in their order; the last line of a key counts.
        let conf = "NodeName=n[1-4]\nschedulerparameters=bf_interval=60,defer,nohold_on_prolog_fail\n\
                    SchedulerParameters=BF_Interval=90,defer # more\n";
        assert_eq!(
            change(conf, "bf_interval = 30\nbf_continue = true\ndefer = false"),
            "-SchedulerParameters=BF_Interval=90,defer # more\n\
             +SchedulerParameters=bf_interval=30,bf_continue"
        );
        // Values that a file already has are no change.
        assert_eq!(change("SchedulerParameters=bf_window=2880\n", "bf_window = 2880"), "");
        // A continued line is replaced as a whole.
        assert_eq!(
            change("SchedulerParameters=\\\n  bf_window=10\nX=1\n", "bf_window = 20"),
            "-SchedulerParameters=\\\n-  bf_window=10\n+SchedulerParameters=bf_window=20"
        );
        // Lines of included files count, and stay where they are.
        let included = "SchedulerType=sched/backfill\nSchedulerParameters=defer,bf_interval=60\n";
        assert_eq!(
            change_beside(included, "Include more.conf\n", "bf_interval = 30"),
            "+SchedulerParameters=defer,bf_interval=30"
        );
        // Without backfill, Slurm has another plugin.
        assert_eq!(
            change("SchedulerType=sched/backfill\n", "bf_interval = 'never'"),
            "-SchedulerType=sched/backfill\n+SchedulerType=sched/builtin"
        );
        assert_eq!(
            change("A=1\n", "sched_interval = 'never'"),
            "+SchedulerParameters=sched_interval=-1"
        );
        // Weights count with the multifactor plugin only.
        assert_eq!(
            change(
                "PriorityType=priority/basic\nPriorityWeightAge=5\n",
                "PriorityWeightAge = 1000\nPriorityFavorSmall = true\nPriorityMaxAge = '1-0'"
            ),
            "-PriorityType=priority/basic\n-PriorityWeightAge=5\n+PriorityType=priority/multifactor\n\
             +PriorityWeightAge=1000\n+PriorityFavorSmall=YES\n+PriorityMaxAge=1-0"
        );
    }
}
