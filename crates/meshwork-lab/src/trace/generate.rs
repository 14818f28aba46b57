//! Generation of logs from a workload model.

use std::io::Cursor;
use std::path::Path;

use meshwork::catalogue::Catalogue;
use meshwork::job::{Job, Time};
use meshwork::registry::{LARGEST, entry};
use meshwork::topology::Topology;
use meshwork::workload::statistics::Statistics;
use meshwork::workload::swf::{Header, Record};
use meshwork::workload::{FAMILY, NoInputs, Submission, WORKLOADS, WorkloadContext, submissions};
use toml::{Table, Value};

use super::{Form, TraceError, form, info, write};
use crate::standard::catalogue;
use crate::study::table;

pub const MAX_JOBS: u64 = 10_000_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub jobs: u64,
    pub processors: u32,
    pub seed: u64,
    /// Name of the model's parameter set: `typeless`, `batch`, `interactive` or `both`.
    pub classes: String,
    /// Offered load to which the drawn submission times are scaled. `None` leaves the times
    /// unchanged.
    pub load: Option<f64>,
}

/// Writes a log that is drawn from the model of Lublin and Feitelson. Requested times equal run
/// times.
pub fn generate(output: &Path, model: &Model) -> Result<Statistics, TraceError> {
    let form = Form::of(&output.display().to_string())?;
    let mut kept = generated(model)?;
    if let Some(load) = model.load {
        stretch(&mut kept, load, model.processors)?;
    }
    let mut header = Header::default();
    let mut add = |label: &str, value: String| header.entries.push((label.to_owned(), value));
    add("Version", "2.2".to_owned());
    add("Computer", "none: drawn from the model of Lublin and Feitelson (2003)".to_owned());
    add("MaxJobs", kept.len().to_string());
    add("MaxRecords", kept.len().to_string());
    add("MaxNodes", model.processors.to_string());
    add("MaxProcs", model.processors.to_string());
    let load = model.load.map_or_else(String::new, |load| format!(" --load {load}"));
    add(
        "Note",
        format!(
            "made by meshwork {} with: trace generate --jobs {} --processors {} --seed {} --classes {}{load}",
            env!("CARGO_PKG_VERSION"),
            model.jobs,
            model.processors,
            model.seed,
            model.classes
        ),
    );
    add("Note", "requested times are run times".to_owned());
    write(output, form, &header, &kept)?;
    if output.is_file() {
        return info(output);
    }
    // The output may be a pipe, so the statistics are computed from the log in memory.
    let log = form::bytes(Form::Log { is_compressed: false }, &header, &kept);
    let shown = output.display().to_string();
    let statistics = Statistics::of(Box::new(Cursor::new(log)), &shown);
    statistics.map_err(|error| TraceError::Wrong(error.0))
}

fn generated(model: &Model) -> Result<Vec<(Record, Job)>, String> {
    if !(1..=MAX_JOBS).contains(&model.jobs) {
        return Err(format!("{} jobs are asked for, but must be from 1 to {MAX_JOBS}", model.jobs));
    }
    let workload = table([
        ("name", "lublin".into()),
        ("jobs", (model.jobs as i64).into()),
        ("processors", i64::from(model.processors).into()),
        ("classes", model.classes.as_str().into()),
    ]);
    let mut kept = Vec::new();
    let keep = |job: Job| kept.push((record(&job), job));
    draw(&catalogue(), ("lublin", workload), model.processors, model.seed, keep)?;
    Ok(kept)
}

/// Draws the jobs of a workload for a flat machine. Error messages call the workload `name`.
pub(super) fn draw(
    catalogue: &Catalogue,
    (name, workload): (&str, Table),
    processors: u32,
    seed: u64,
    mut each: impl FnMut(Job),
) -> Result<(), String> {
    let params = FAMILY
        .resolve_in(catalogue, name, &Value::Table(workload))
        .map_err(|problem| problem.message)?;
    let sites = [(Topology::flat(processors).map_err(|error| error.to_string())?, 1.0)];
    let setting =
        WorkloadContext { sites: &sites, seed, replication: 0, owners: false, inputs: &NoInputs };
    let jobs = submissions(entry(WORKLOADS, params.name()), &params, &setting)
        .map_err(|error| error.to_string())?;
    for item in jobs {
        if let Submission::Job(job) = item.map_err(|error| error.0)? {
            each(job);
        }
    }
    Ok(())
}

fn record(job: &Job) -> Record {
    let mut record = Record::of(job);
    record.fields[1] = job.arrival.units().floor();
    record
}

/// Scales submission times so that the load that the jobs offer to the machine is `load`.
fn stretch(kept: &mut [(Record, Job)], load: f64, processors: u32) -> Result<(), String> {
    let work: f64 = kept.iter().map(|(record, _)| record.run_time() * record.processors()).sum();
    let (first, last) = (kept[0].0.submit(), kept[kept.len() - 1].0.submit());
    let scale = work / (load * f64::from(processors) * (last - first));
    if !(scale > 0.0 && last * scale <= LARGEST) {
        return Err(format!("{} jobs cannot be spread to a load of {load}", kept.len()));
    }
    for (record, job) in kept {
        record.fields[1] = (record.fields[1] * scale).floor();
        job.move_to(Time::new(record.submit()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_same_arguments_give_the_same_log_with_the_load_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a.swf.gz"), folder.path().join("b.swf.gz"));
        let mut model = Model {
            jobs: 500,
            processors: 64,
            seed: 3,
            classes: "both".to_owned(),
            load: Some(0.7),
        };
        let statistics = generate(&a, &model).unwrap();
        assert_eq!(generate(&b, &model).unwrap(), statistics);
        assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
        assert_eq!((statistics.jobs, statistics.machine()), (500, Some(64)));
        assert!((statistics.load.unwrap() - 0.7).abs() < 1e-3, "{:?}", statistics.load);
        assert!(statistics.largest_job.unwrap() <= 64);
        let table = folder.path().join("c.csv");
        let of_table = generate(&table, &model).unwrap();
        assert!((of_table.load.unwrap() - 0.7).abs() < 1e-3, "{:?}", of_table.load);
        assert_eq!(of_table.interarrival, statistics.interarrival);
        model.seed = 4;
        generate(&b, &model).unwrap();
        assert_ne!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
        model.load = Some(1e-14);
        assert_eq!(
            generate(&b, &model).unwrap_err().to_string(),
            "500 jobs cannot be spread to a load of 0.00000000000001"
        );
        model.jobs = 1 << 40;
        assert_eq!(
            generate(&b, &model).unwrap_err().to_string(),
            "1099511627776 jobs are asked for, but must be from 1 to 10000000"
        );
        model.jobs = 500;
        model.processors = 0;
        assert!(generate(&b, &model).is_err());
        model.processors = 1 << 30;
        assert!(generate(&b, &model).is_err());
    }
}
