//! Exports the runs of a study as a Parquet table with one row per run.

use std::path::{Path, PathBuf};

use meshwork::catalogue::Catalogue;

use crate::study::Refused;

const TABLE: &str = "runs.parquet";

/// Writes `runs.parquet` and returns its path.
///
/// The table has a row for each finished run of the study, in order of scenario and replication.
/// Its columns are the number of the scenario (from 1), the swept keys, the number of the
/// replication (from 0), the run's key in the store, every metric, and the numbers of finished
/// jobs, refused jobs and unusable lines. Every run is read once, with 50 bytes of memory for each.
#[cfg(feature = "parquet")]
pub fn export(catalogue: &Catalogue, folder: &Path) -> Result<PathBuf, Refused> {
    let path = folder.join(TABLE);
    rows::write(catalogue, folder, &path)?;
    Ok(path)
}

#[cfg(not(feature = "parquet"))]
pub fn export(_: &Catalogue, folder: &Path) -> Result<PathBuf, Refused> {
    Err(Refused(format!(
        "{}: this program was built without the feature `parquet`",
        folder.join(TABLE).display()
    )))
}

#[cfg(feature = "parquet")]
mod rows {
    use std::io;
    use std::path::Path;
    use std::sync::Arc;

    use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
    use arrow_array::{ArrayRef, RecordBatch};
    use meshwork::catalogue::Catalogue;
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;

    use crate::files::{FileError, Whole};
    use crate::run::replications::most;
    use crate::run::store::{Archive, RunFindings};
    use crate::study::Refused;
    use crate::study::expand::Point;
    use crate::sweep::shard::stored;
    use crate::text::shown;

    const GROUP: usize = 1 << 14;

    struct Group {
        rows: usize,
        names: Vec<String>,
        metrics: Vec<(String, Float64Builder)>,
        /// For each swept key, the column of its values if they are numbers; otherwise `None`.
        numbers: Vec<Option<Float64Builder>>,
        texts: Vec<StringBuilder>,
        scenario: UInt64Builder,
        replication: UInt64Builder,
        key: StringBuilder,
        counts: [UInt64Builder; 3],
    }

    impl Group {
        fn new(points: &[Point], metrics: &[String]) -> Group {
            let keys = points.first().map_or(&[][..], |point| &point.swept[..]);
            let is_number = |place: usize| {
                points.iter().all(|point| {
                    let value = &point.swept[place].1;
                    value.is_float() || value.is_integer()
                })
            };
            Group {
                rows: 0,
                names: keys.iter().map(|(key, _)| key.clone()).collect(),
                metrics: metrics.iter().map(|name| (name.clone(), Float64Builder::new())).collect(),
                numbers: (0..keys.len())
                    .map(|place| is_number(place).then(Float64Builder::new))
                    .collect(),
                texts: keys.iter().map(|_| StringBuilder::new()).collect(),
                scenario: UInt64Builder::new(),
                replication: UInt64Builder::new(),
                key: StringBuilder::new(),
                counts: Default::default(),
            }
        }

        fn push(
            &mut self,
            point: &Point,
            (scenario, replication, key): (usize, u64, &str),
            findings: &RunFindings,
        ) {
            self.scenario.append_value(scenario as u64 + 1);
            self.replication.append_value(replication);
            self.key.append_value(key);
            for (place, (_, value)) in point.swept.iter().enumerate() {
                let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
                match (&mut self.numbers[place], number) {
                    (Some(builder), Some(number)) => builder.append_value(number),
                    _ => self.texts[place].append_value(shown(value)),
                }
            }
            for (name, builder) in &mut self.metrics {
                builder.append_option(findings.metric(name).and_then(|metric| metric.value));
            }
            let counts = [findings.finished, findings.refused, findings.unusable];
            for (builder, count) in self.counts.iter_mut().zip(counts) {
                builder.append_value(count);
            }
            self.rows += 1;
        }

        fn batch(&mut self) -> io::Result<RecordBatch> {
            self.rows = 0;
            let mut columns: Vec<(String, ArrayRef, bool)> = Vec::new();
            columns.push(("scenario".to_owned(), Arc::new(self.scenario.finish()), false));
            for (place, name) in self.names.iter().enumerate() {
                let array: ArrayRef = match &mut self.numbers[place] {
                    Some(builder) => Arc::new(builder.finish()),
                    None => Arc::new(self.texts[place].finish()),
                };
                columns.push((name.clone(), array, false));
            }
            columns.push(("replication".to_owned(), Arc::new(self.replication.finish()), false));
            columns.push(("key".to_owned(), Arc::new(self.key.finish()), false));
            for (name, builder) in &mut self.metrics {
                columns.push((name.clone(), Arc::new(builder.finish()), true));
            }
            for (name, builder) in ["finished_jobs", "refused_jobs", "unusable_lines"]
                .into_iter()
                .zip(&mut self.counts)
            {
                columns.push((name.to_owned(), Arc::new(builder.finish()), false));
            }
            RecordBatch::try_from_iter_with_nullable(columns).map_err(io::Error::other)
        }
    }

    pub(super) fn write(catalogue: &Catalogue, folder: &Path, path: &Path) -> Result<(), Refused> {
        let stored = stored(catalogue, folder)?;
        let archive = Archive::open(folder, |_, _| {})?;
        let writing = |error: io::Error| FileError::writing(path, &error);
        let runs = stored.points.iter().enumerate().flat_map(|(index, point)| {
            let keys = stored.keys(index);
            let keys = (0..most(&stored.study, point))
                .map_while(move |n| keys.of_replication(n).map(|key| (n, key)));
            keys.filter(|(_, key)| archive.has(*key))
                .map(move |(number, key)| (index, point, number, format!("{key:032x}")))
        });
        // Metrics of all scenarios, in the order of their first appearance.
        let mut metrics: Vec<String> = Vec::new();
        for (index, _) in stored.points.iter().enumerate() {
            let first = stored.keys(index).of_replication(0);
            let record = first.and_then(|key| archive.find(&format!("{key:032x}")));
            for metric in record.iter().flat_map(|record| &record.findings.metrics) {
                if !metrics.contains(&metric.name) {
                    metrics.push(metric.name.clone());
                }
            }
        }
        let mut group = Group::new(&stored.points, &metrics);
        let all = || -> io::Result<()> {
            let properties = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_created_by(format!("meshwork {}", env!("CARGO_PKG_VERSION")))
                .build();
            let schema = group.batch()?.schema();
            let file = Whole::create(path)?;
            let mut writer =
                ArrowWriter::try_new(file, schema, Some(properties)).map_err(io::Error::other)?;
            for (index, point, number, key) in runs {
                let Some(findings) = archive.findings(&key) else { continue };
                group.push(point, (index, number, &key), &findings);
                if group.rows == GROUP {
                    writer.write(&group.batch()?).map_err(io::Error::other)?;
                    writer.flush().map_err(io::Error::other)?;
                }
            }
            if group.rows > 0 {
                writer.write(&group.batch()?).map_err(io::Error::other)?;
            }
            writer.into_inner().map_err(io::Error::other)?.finish()
        };
        all().map_err(|error| writing(error).into())
    }
}
