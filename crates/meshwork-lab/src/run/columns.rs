//! Columnar storage of the numbers of many runs: eight bytes each, without the names of metrics.

use std::collections::BTreeMap;

/// Number that is stored for a metric if the run had nothing to measure.
const NOTHING: f64 = f64::NAN;

/// Number that is stored for a metric that the row does not have. Measured values are always
/// finite.
const ABSENT: f64 = f64::INFINITY;

#[derive(Clone, Debug, Default)]
pub(super) struct Metrics {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    rows: usize,
}

impl Metrics {
    pub(super) fn push<'a>(&mut self, row: impl Iterator<Item = (&'a str, Option<f64>)>) {
        for (at, (name, value)) in row.enumerate() {
            // Metrics nearly always come in the same order as in the previous row.
            let is_here = self.names.get(at).is_some_and(|own| own == name);
            let place = if is_here { at } else { self.place_or_new(name) };
            let column = &mut self.columns[place];
            if column.len() == self.rows {
                column.push(value.filter(|value| value.is_finite()).unwrap_or(NOTHING));
            }
        }
        self.rows += 1;
        for column in &mut self.columns {
            column.resize(self.rows, ABSENT);
        }
    }

    fn place_or_new(&mut self, name: &str) -> usize {
        self.place(name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.columns.push(vec![ABSENT; self.rows]);
            self.names.len() - 1
        })
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }

    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = (&str, Option<f64>)> {
        self.names.iter().zip(&self.columns).filter_map(move |(name, column)| {
            let value = column.get(row).copied().filter(|value| !value.is_infinite())?;
            Some((name.as_str(), Some(value).filter(|value| value.is_finite())))
        })
    }

    /// Values of a metric in all rows. Empty if no row has the metric. Missing values are not
    /// finite.
    pub(super) fn column(&self, name: &str) -> &[f64] {
        self.place(name).map_or(&[], |place| &self.columns[place])
    }
}

/// Compares bits, so that missing values (NaN) are equal.
impl PartialEq for Metrics {
    fn eq(&self, other: &Metrics) -> bool {
        let bits =
            |column: &Vec<f64>| column.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        self.rows == other.rows
            && self.names == other.names
            && self.columns.iter().map(bits).eq(other.columns.iter().map(bits))
    }
}

/// Metrics by class of jobs (a size or an owner) in each run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Classes<K: Ord> {
    numbers: BTreeMap<K, u32>,
    kinds: Vec<K>,
    /// For each row, the index of its class of jobs (a size or an owner).
    of: Vec<u32>,
    runs: Vec<usize>,
    jobs: Vec<u64>,
    metrics: Metrics,
}

impl<K: Ord> Default for Classes<K> {
    fn default() -> Self {
        Classes {
            numbers: BTreeMap::new(),
            kinds: Vec::new(),
            of: Vec::new(),
            runs: Vec::new(),
            jobs: Vec::new(),
            metrics: Metrics::default(),
        }
    }
}

impl<K: Ord + Clone> Classes<K> {
    /// Appends the metrics of a class of jobs in a run. Calls must be in ascending order of `run`.
    pub(super) fn push<'a>(
        &mut self,
        run: usize,
        kind: &K,
        jobs: u64,
        metrics: impl Iterator<Item = (&'a str, Option<f64>)>,
    ) {
        let number = match self.numbers.get(kind) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.kinds.len())
                    .expect("fewer classes than 2^32 have names in memory");
                self.numbers.insert(kind.clone(), number);
                self.kinds.push(kind.clone());
                number
            }
        };
        self.of.push(number);
        self.runs.push(run);
        self.jobs.push(jobs);
        self.metrics.push(metrics);
    }

    pub(super) fn of_run(
        &self,
        run: usize,
    ) -> impl Iterator<Item = (&K, u64, impl Iterator<Item = (&str, Option<f64>)>)> {
        let first = self.runs.partition_point(|&other| other < run);
        let after = self.runs.partition_point(|&other| other <= run);
        (first..after)
            .map(|row| (&self.kinds[self.of[row] as usize], self.jobs[row], self.metrics.row(row)))
    }

    pub(super) fn gathered(&self) -> Vec<Class<'_, K>> {
        let of_kind = |kind| Class {
            kind,
            rows: Vec::new(),
            jobs: 0,
            metrics: &self.metrics,
            runs: &self.runs,
        };
        let mut gathered: Vec<Class<'_, K>> = self.kinds.iter().map(of_kind).collect();
        for (row, &number) in self.of.iter().enumerate() {
            let class = &mut gathered[number as usize];
            class.rows.push(row);
            class.jobs += self.jobs[row];
        }
        gathered.retain(|class| !class.rows.is_empty());
        gathered
    }
}

#[derive(Clone, Debug)]
pub struct Class<'a, K> {
    pub kind: &'a K,
    pub jobs: u64,
    rows: Vec<usize>,
    metrics: &'a Metrics,
    runs: &'a [usize],
}

impl<'a, K> Class<'a, K> {
    /// Names of the metrics of this class of jobs, ordered as in the first run with such jobs.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        let first = self.rows.first().map_or(usize::MAX, |row| *row);
        self.metrics.row(first).map(|(name, _)| name)
    }

    /// Measured values of a metric, each with the index of its run. Indices count successful runs.
    pub(super) fn measured(&self, name: &str) -> impl Iterator<Item = (usize, f64)> {
        let column = self.metrics.column(name);
        let cell = |&row: &usize| Some((self.runs[row], *column.get(row)?));
        self.rows.iter().filter_map(cell).filter(|(_, value)| value.is_finite())
    }

    pub fn values(&self, name: &str) -> Vec<f64> {
        self.measured(name).map(|(_, value)| value).collect()
    }
}
