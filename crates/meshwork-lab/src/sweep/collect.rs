//! Merges the runs of a sweep's shards into the store, as a single process would write it.

use std::path::Path;
use std::sync::Mutex;

use meshwork::catalogue::Catalogue;

use crate::findings::claims;
use crate::findings::summary::Summary;
use crate::lab::failure;
use crate::run::store::{RUNS, Store, attempts};
use crate::run::stored::order;
use crate::run::{joboutput, known};
use crate::study::Refused;
use crate::study::expand::Point;
use crate::sweep::progress::{Missing, failures, missing};
use crate::sweep::shard::stored;
use crate::threads::{into_inner, locked};

pub struct Collected {
    pub stored: usize,
    pub missing: Missing,
    pub points: Vec<Point>,
    pub failures: Vec<String>,
    pub warnings: Vec<String>,
}

/// Merges all finished runs into `runs.jsonl`. If no run is missing, also writes the tables.
///
/// Merging repeatedly, or while shards run, is safe. It takes 64 MiB, and 100 bytes per run.
pub fn collect(catalogue: &Catalogue, folder: &Path) -> Result<Collected, Refused> {
    let stored = stored(catalogue, folder)?;
    let mut store = Store::open(folder, &stored.asked.build)?;
    let mut warnings = store.warnings().to_vec();
    let failures = failures(folder, &stored.points, &attempts(folder, |_, _| {})?);
    store.settle(order(&stored.study, &stored.points, |point| stored.keys(point)))?;
    let store = Mutex::new(store);
    let missing = missing(
        &stored,
        &|key| locked(&store).has(key),
        &|key| locked(&store).get(&format!("{key:032x}")),
        &failures,
    );
    let mut store = into_inner(store);
    let count = store.len();
    let failed = failures.iter().filter(|((scenario, replication), _)| {
        let key = stored.keys(*scenario).of_replication(*replication);
        *scenario < stored.points.len() && key.is_some_and(|key| !store.has(key))
    });
    let sentences = failed.map(|((scenario, replication), message)| {
        failure(&stored.study, &stored.points[*scenario].swept, *replication, message)
    });
    let sentences: Vec<String> = sentences.collect();
    if missing.runs == 0 {
        store.remove_segments();
        let archive = store.archive();
        let find = |scenario: usize, replication: u64, key: &str| {
            let found = archive.findings(key).map(Ok);
            found.or_else(|| failures.get(&(scenario, replication)).cloned().map(Err))
        };
        let (study, points, digests) = (&stored.study, &stored.points, &stored.digests);
        let build = &stored.asked.build;
        let (results, _) = known(catalogue, points, digests, &study.replications, build, &find);
        drop(archive);
        let summary = Summary::of(study, points, &results);
        summary.write(folder)?;
        claims::write(&claims::judge(study, points, &results), folder)?;
        joboutput::write_index(folder, &study.jobs, points, &results)?;
    } else if !folder.join(RUNS).exists() {
        warnings.push(format!("{}: no run has ended yet", folder.display()));
    }
    Ok(Collected { stored: count, missing, points: stored.points, failures: sentences, warnings })
}
