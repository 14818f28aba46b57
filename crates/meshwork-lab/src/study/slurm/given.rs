//! Site folders in studies: reading the files of a site as a machine, a workload and a scheduler.

use std::collections::BTreeMap;

use meshwork::registry::{Kind, Problem, did_you_mean};
use meshwork::sched::slurm::ENTRY;
use toml::{Table, Value};

use super::scenario::access_keys;
use crate::inputs::Files;
use crate::slurm::folder::{CONF, GRES, JOBS, SlurmMachine, TABLES, TOPOLOGIES};
use crate::study::table;
use meshwork_slurm::conf::{Conf, Partition};
use meshwork_slurm::lines::parsable_rows;

const SITE: &str = "site";

/// Keys of a machine that is read from a site's folder. The first key is required.
pub(crate) const SITE_KEYS: &[&str] = &[SITE, "partition"];

/// Value of the key `partition` that stands for the nodes of all partitions.
pub(crate) const ALL: &str = "*";

/// Puts the content of a site's files in place of the keys that name the site's folder in a study.
/// `machine = { site = "DIR" }` becomes a machine of the folder's topology file and `slurm.conf`,
/// with the nodes of all partitions, unless the key `partition` names one. If jobs share nodes, the
/// nodes have the types of these files. `workload = { site = "DIR" }` becomes the table of the
/// folder's jobs.
pub(crate) fn open_sites(table: &mut Table, files: &Files) -> Result<(), Problem> {
    if let Some(Value::Table(machine)) = table.get_mut("machine")
        && let Some(folder) = folder(machine, "machine")?
    {
        open_machine(machine, &folder, files)?;
    }
    if let Some(Value::Table(workload)) = table.get_mut("workload")
        && let Some(folder) = folder(workload, "workload")?
    {
        open_workload(workload, &folder, files)?;
    }
    Ok(())
}

fn open_machine(machine: &mut Table, folder: &str, files: &Files) -> Result<(), Problem> {
    let known: Vec<&str> = SITE_KEYS.iter().copied().chain(access_keys()).collect();
    if let Some(unknown) = machine.keys().find(|key| !known.contains(&key.as_str())) {
        let says =
            format!("unknown key `{unknown}` in `machine` ({})", did_you_mean(unknown, &known));
        return Err(Problem::new(format!("machine.{unknown}"), says));
    }
    let place = |name: &str| format!("{folder}/{name}");
    let is_there = |name: &str| files.locate_companion(&place(name)).is_file();
    let topology = TOPOLOGIES.into_iter().find(|name| is_there(name));
    let conf = Some(CONF).filter(|name| is_there(name));
    if topology.is_none() && conf.is_none() {
        let says = format!(
            "{folder}: there is no {CONF} and no {}: this is no site, as `ops import` writes it",
            TOPOLOGIES[0]
        );
        return Err(Problem::new("machine.site", says));
    }
    let qos = TABLES.into_iter().find(|&name| name == "qos.txt" && is_there(name));
    let gres = Some(GRES).filter(|name| is_there(name));
    machine.remove(SITE);
    for (key, name) in [("slurm", topology), ("conf", conf), ("qos", qos)] {
        machine.extend(name.map(|name| (key.to_owned(), place(name).into())));
    }
    if SlurmMachine::of_sharing_site(&files.locate(folder)).is_some() {
        machine.insert("gres".to_owned(), gres.map(place).unwrap_or_default().into());
    }
    if conf.is_some() {
        machine.entry("partition").or_insert_with(|| ALL.into());
    }
    Ok(())
}

fn open_workload(workload: &mut Table, folder: &str, files: &Files) -> Result<(), Problem> {
    let name = workload.get("name").and_then(Value::as_str);
    if workload.contains_key("path") || name.is_some_and(|name| name != "table") {
        let says = "`workload.site` takes the jobs of a site: leave out `name` and `path`";
        return Err(Problem::new("workload.site", says));
    }
    let path = format!("{folder}/{JOBS}");
    if !files.locate(&path).is_file() {
        let says = format!("{folder}: there is no {JOBS}, which `ops import` writes");
        return Err(Problem::new("workload.site", says));
    }
    workload.remove(SITE);
    workload.insert("name".to_owned(), "table".into());
    workload.insert("path".to_owned(), path.into());
    Ok(())
}

fn folder(table: &Table, of: &str) -> Result<Option<String>, Problem> {
    match table.get(SITE) {
        None => Ok(None),
        Some(Value::String(folder)) => Ok(Some(folder.trim_end_matches('/').to_owned())),
        Some(other) => {
            let says =
                format!("`{of}.site` is {other}, but must be the folder of a site in quotes");
            Err(Problem::new(format!("{of}.site"), says))
        }
    }
}

/// Adds a site's scheduler parameters and QOS priorities to the scheduler of a study. Parameters
/// that the study sets are unchanged.
pub(super) fn add_scheduler(table: &mut Table, conf: &Conf, qos: Option<&str>) {
    let name = ENTRY.about.name;
    let mut own = match table.get("scheduler") {
        Some(Value::String(given)) if given == name => self::table([("name", name.into())]),
        Some(Value::Table(given)) if given.get("name").and_then(Value::as_str) == Some(name) => {
            given.clone()
        }
        _ => return,
    };
    let mut found = parameters(conf);
    let qos = parsable_rows(qos.unwrap_or_default()).filter_map(|row| {
        let priority: i64 = row.get("Priority")?.parse().ok()?;
        Some(named(row.get("Name")?, [("Priority", priority)]))
    });
    let lists = [("partitions", partitions(conf)), ("qos", qos.collect())];
    let lists = lists.into_iter().filter(|(_, list): &(_, Vec<Value>)| !list.is_empty());
    found.extend(lists.map(|(key, list)| (key.to_owned(), list.into())));
    for (key, value) in found {
        own.entry(key).or_insert(value);
    }
    table.insert("scheduler".to_owned(), own.into());
}

/// Parameters of the scheduler `slurm` in a `slurm.conf`, without partitions.
fn parameters(conf: &Conf) -> Table {
    let inner: BTreeMap<&str, &str> = conf
        .setting("SchedulerParameters")
        .unwrap_or_default()
        .split(',')
        .filter_map(|one| one.split_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect();
    let is_basic = conf.setting("PriorityType").is_some_and(|kind| kind.ends_with("basic"));
    let mut found = Table::new();
    for param in ENTRY.about.params {
        let of_conf = || conf.setting(param.name).filter(|_| !is_basic);
        let Some(text) = inner.get(param.name).copied().or_else(of_conf) else { continue };
        let value = match param.kind {
            Kind::Integer(..) | Kind::Or(..) => text.parse().ok().map(Value::Integer),
            Kind::Flag => Some(Value::Boolean(text.eq_ignore_ascii_case("yes"))),
            Kind::Text => Some(text.into()),
            _ => None,
        };
        found.extend(value.map(|value| (param.name.to_owned(), value)));
    }
    if conf.setting("SchedulerType").is_some_and(|kind| kind.ends_with("builtin")) {
        found.insert("bf_interval".to_owned(), "never".into());
    }
    found
}

/// Tables of all partitions for which `PriorityTier` or `PriorityJobFactor` is set.
fn partitions(conf: &Conf) -> Vec<Value> {
    let of = |own: &Partition| {
        let number = |key| Some((key, own.given.get(key)?.parse().ok()?));
        let given: Vec<_> =
            ["PriorityTier", "PriorityJobFactor"].into_iter().filter_map(number).collect();
        (!given.is_empty()).then(|| named(&own.name, given))
    };
    conf.partitions.iter().filter_map(of).collect()
}

/// Table that has a name and whole numbers, such as a partition's name and its tier.
fn named(name: &str, numbers: impl IntoIterator<Item = (&'static str, i64)>) -> Value {
    let numbers = numbers.into_iter().map(|(key, number)| (key, Value::Integer(number)));
    table(std::iter::once(("name", name.into())).chain(numbers)).into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::study::slurm::scenario::lay_out;

    const CONF: &str = "NodeName=n[1-6] CPUs=2\n\
        SchedulerParameters=bf_window=60,bf_continue,bf_interval=10\nPriorityWeightQOS=100\n\
        PriorityFavorSmall=YES\n\
        PartitionName=DEFAULT OverSubscribe=EXCLUSIVE PriorityTier=3\n\
        PartitionName=left Nodes=n[1-4] Default=YES\nPartitionName=right Nodes=n[4-6] PriorityTier=5\n";
    const JOBS: &str = "id,attempt,submit,start,end,limit,nodes,nodelist,processors,by,user,partition,qos,switches,options\n\
        7,1,1000,1010,1070,90,2,n[1-2],2,main,a,left,,,-N2 -n2\n\
        8,1,1005,1010,1020,90,3,n[4-6],6,main,b,right,gold,1,-N3\n9,1,1006,,,90,1,,1,none,b,right,,,\n";

    fn site(conf: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("slurm.conf", conf),
            ("jobs.csv", JOBS),
            ("qos.txt", "Name|Priority\nnormal|0\ngold|7\n"),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn laid_out(folder: &Path, text: &str) -> Result<Table, String> {
        let text = text.replace("SITE", &folder.display().to_string());
        let mut table: Table = text.parse().unwrap();
        let files = Files::default();
        open_sites(&mut table, &files)
            .and_then(|()| lay_out(&mut table, &files))
            .map(|()| table)
            .map_err(|problem| problem.to_string().replace(&folder.display().to_string(), "SITE"))
    }

    #[test]
    fn a_site_is_the_machine_and_the_jobs_of_a_study() {
        let folder = site(CONF);
        let table =
            "machine = { site = 'SITE' }\nworkload = { site = 'SITE/' }\nscheduler = 'slurm'";
        let table = laid_out(folder.path(), table).unwrap();
        assert_eq!(table["machine"]["processors"].as_integer(), Some(6));
        assert_eq!(table["allocator"]["partitions"][1]["nodes"].to_string(), "[3, 4, 5]");
        let scheduler = &table["scheduler"];
        let number = |key: &str| scheduler[key].as_integer();
        assert_eq!([number("bf_window"), number("bf_interval")], [Some(60), Some(10)]);
        assert_eq!(number("PriorityWeightQOS"), Some(100));
        assert_eq!(scheduler["PriorityFavorSmall"].as_bool(), Some(true));
        let tiers = scheduler["partitions"].as_array().unwrap().iter();
        let tiers: Vec<_> = tiers.map(|own| own["PriorityTier"].as_integer().unwrap()).collect();
        assert_eq!(tiers, [3, 5]);
        assert_eq!(scheduler["qos"][1]["Priority"].as_integer(), Some(7));

        let path = table["workload"]["path"].as_str().unwrap();
        let rows = meshwork::workload::Inputs::rows(&Files::default(), path).ok().unwrap();
        let rows: Vec<_> = rows.map(Result::unwrap).collect();
        // The job that never ran is left out, and the others want whole nodes.
        assert_eq!(rows.len(), 2);
        let of = |place: usize| (rows[place].nodes, rows[place].pieces, rows[place].runtime);
        assert_eq!([of(0), of(1)], [(Some(2), None, Some(60.0)), (Some(3), None, Some(10.0))]);
        assert_eq!(rows[1].constraints.switches, Some(1));
        assert_eq!(rows[1].owner.queue.as_deref(), Some("gold"));
        assert!(rows[0].submit.unwrap().is_date);
    }

    #[test]
    fn jobs_of_a_site_with_shared_nodes_request_their_pieces() {
        let conf = "NodeName=n[1-6] CPUs=8 RealMemory=9000 Gres=gpu:4\nDefMemPerCPU=100\n\
                    PartitionName=left Nodes=n[1-4] Default=YES DefMemPerGPU=700\n\
                    PartitionName=right Nodes=n[1-6] DefMemPerNode=3000\n\
                    PartitionName=all Nodes=n[1-6] OverSubscribe=EXCLUSIVE\n";
        let row = |id: u32, nodes: u32, cpus: u32, partition: &str, options: &str| {
            format!("{id},1,{id},{id}0,{id}5,90,{nodes},n1,{cpus},main,a,{partition},,,{options}\n")
        };
        let jobs = [
            row(1, 1, 4, "left", "-n2 -c2"),
            row(2, 1, 6, "left", "-n1 -c6 --gpus-per-task=2"),
            row(3, 2, 5, "right", ""),
            row(4, 1, 8, "all", ""),
            row(5, 1, 2, "left", "-n1 -c2 --mem=50"),
        ];
        let folder = site(conf);
        let header = JOBS.lines().next().unwrap();
        let text = format!("{header}\n{}", jobs.concat());
        std::fs::write(folder.path().join("jobs.csv"), text).unwrap();
        let table = "machine = { site = 'SITE' }\nworkload = { site = 'SITE' }";
        let table = laid_out(folder.path(), table).unwrap();
        let kind = &table["machine"]["nodes"][0];
        let amounts = ["cpu", "mem", "gpu"].map(|key| kind[key].as_integer().unwrap());
        assert_eq!(amounts, [8, 9000, 4]);

        let path = table["workload"]["path"].as_str().unwrap();
        let rows = meshwork::workload::Inputs::rows(&Files::default(), path).ok().unwrap();
        let rows: Vec<_> = rows.map(Result::unwrap).collect();
        let own = |row: &meshwork::workload::table::Row| (row.nodes, row.pieces, row.cpu, row.mem);
        let pieces: Vec<_> = rows.iter().map(own).collect();
        let expected = [
            (None, Some(2), Some(2), Some(200)),
            (None, Some(1), Some(6), Some(1400)),
            (None, Some(2), Some(3), Some(3000)),
            (Some(1), None, None, None),
            (None, Some(1), Some(2), Some(50)),
        ];
        assert_eq!(pieces, expected);
        assert_eq!((rows[1].gpu, rows[2].per_node), (Some((2, 1000)), Some((1, 1))));
    }

    #[test]
    fn a_study_may_choose_a_partition_and_parameters() {
        let folder = site(CONF);
        let table = "machine = { site = 'SITE', partition = 'right' }\n\
                     scheduler = { name = 'slurm', bf_window = 5 }";
        let table = laid_out(folder.path(), table).unwrap();
        assert_eq!(table["machine"]["processors"].as_integer(), Some(3));
        assert_eq!(table["scheduler"]["bf_window"].as_integer(), Some(5));
        assert_eq!(table["scheduler"]["bf_interval"].as_integer(), Some(10));
        let table = "machine = { site = 'SITE', reservations = [\n\
                     { from = 5, until = 10, users = ['a'], nodes = 'n[5-6,1]' }] }";
        let reserved = laid_out(folder.path(), table).unwrap();
        let reserved = &reserved["machine"]["reservations"][0];
        assert_eq!(reserved["nodes"].as_str(), Some("4,5,0"));
        let table = laid_out(folder.path(), "machine = { site = 'SITE' }\nscheduler = 'easy'");
        assert_eq!(table.unwrap()["scheduler"].as_str(), Some("easy"));
    }

    #[test]
    fn what_is_no_site_is_said() {
        let folder = site(CONF);
        let said = |text: &str| laid_out(folder.path(), text).unwrap_err();
        for (text, sentence) in [
            (
                "machine = { site = 'SITE/none' }",
                "SITE/none: there is no slurm.conf and no topology.yaml: this is no site, as `ops import` writes it",
            ),
            (
                "machine = { site = 3 }",
                "`machine.site` is 3, but must be the folder of a site in quotes",
            ),
            (
                "machine = { site = 'SITE', conf = 'a' }",
                "unknown key `conf` in `machine` (known: site, partition, partitions, reservations)",
            ),
            (
                "workload = { site = 'SITE/none' }",
                "SITE/none: there is no jobs.csv, which `ops import` writes",
            ),
            (
                "workload = { site = 'SITE', name = 'swf' }",
                "`workload.site` takes the jobs of a site: leave out `name` and `path`",
            ),
        ] {
            assert_eq!(said(text), sentence);
        }
    }
}
