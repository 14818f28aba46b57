//! The jobs of one run as a table: one row per finished job, in order of arrival.

use arrow_array::{ArrayRef, BooleanArray, Int64Array};
use meshwork::job::Time;
use meshwork::observe::{Event, Observer, Running};
use meshwork::topology::Topology;
use meshwork::workload::table::{CellKind, Ended};
use meshwork_lab::run::joboutput::{Part, optional};
use std::sync::Arc;

use crate::table::{Table, numbers, texts};

/// Observer that collects finished jobs, for a table of them.
pub(crate) struct Jobs {
    topologies: Vec<Topology>,
    finished: Vec<(Running, Time)>,
}

impl Jobs {
    pub(crate) fn new(topologies: Vec<Topology>) -> Jobs {
        Jobs { topologies, finished: Vec::new() }
    }

    /// Table with columns of per-job output, and with coordinates of first nodes.
    ///
    /// Each coordinate has a column: `x`, `y`, `z`, …. The number of these columns is the largest
    /// number of dimensions of a site.
    pub(crate) fn table(mut self) -> Table {
        self.finished.sort_by_key(|(running, _)| running.id);
        let grid = |running: &Running| self.topologies[running.site].grid();
        let ended: Vec<Ended<'_>> = self
            .finished
            .iter()
            .map(|(running, finish)| Ended {
                job: &running.job,
                start: running.start,
                finish: *finish,
                requested: running.asked,
                held: running.held,
                site: running.site,
                blocks: running.placement.text(grid(running)),
            })
            .collect();
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        for name in LAYOUT.split(' ') {
            let of_times =
                |time: fn(&Ended<'_>) -> f64| numbers(ended.iter().map(|e| Some(time(e))));
            let of_runs = |number: fn(&Running) -> f64| {
                numbers(self.finished.iter().map(|(running, _)| Some(number(running))))
            };
            let array = match name {
                "wait" => of_times(|ended| ended.start - ended.job.arrival),
                "turnaround" => of_times(|ended| ended.finish - ended.job.arrival),
                "dispersal" => of_runs(|running| running.dispersal),
                "stretch" => of_runs(|running| running.stretch),
                "corner" => {
                    columns.extend(self.corners());
                    continue;
                }
                _ => {
                    let part = Part::named(name).expect("a column of per-job output");
                    array(part.holds(), &cells(part, &ended))
                }
            };
            columns.push((name.to_owned(), array));
        }
        for part in optional().filter(|part| !LAYOUT.split(' ').any(|name| name == part.name())) {
            let cells = cells(part, &ended);
            if cells.iter().any(Option::is_some) {
                columns.push((part.name().to_owned(), array(part.holds(), &cells)));
            }
        }
        Table::of(columns)
    }

    /// Coordinates of the jobs' first nodes, as columns.
    fn corners(&self) -> impl Iterator<Item = (String, ArrayRef)> {
        let of = |running: &Running| {
            let block = running.placement.blocks.first()?;
            Some(self.topologies[running.site].grid().coordinates(block.base))
        };
        let corners: Vec<_> = self.finished.iter().map(|(running, _)| of(running)).collect();
        let dimensions = self.topologies.iter().map(|topology| topology.grid().dimensions()).max();
        (0..dimensions.unwrap_or(0)).map(move |axis| {
            let at = corners.iter().map(|corner| Some(i64::from(*corner.as_ref()?.get(axis)?)));
            (axis_name(axis), Arc::new(at.collect::<Int64Array>()) as ArrayRef)
        })
    }
}

/// Columns of the table of jobs, in order. In place of `corner`, each dimension has a column.
const LAYOUT: &str = "job submit start finish wait turnaround runtime estimate requested held site blocks corner nodes \
    block subcube dispersal stretch user group application queue partition";

fn cells(part: Part, ended: &[Ended<'_>]) -> Vec<Option<String>> {
    ended.iter().map(|ended| part.cell(ended)).collect()
}

/// Converts cells that are texts to an Arrow array of the column's type.
fn array(holds: CellKind, cells: &[Option<String>]) -> ArrayRef {
    let cells = cells.iter().map(Option::as_deref);
    match holds {
        CellKind::Number | CellKind::Count => {
            Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<Int64Array>())
        }
        CellKind::Instant | CellKind::Real => numbers(cells.map(|cell| cell?.parse().ok())),
        CellKind::Flag => Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<BooleanArray>()),
        CellKind::Text => texts(cells),
    }
}

/// Name of a coordinate: `x`, `y` and `z` for the first three dimensions, then `x3`, `x4`, ….
fn axis_name(axis: usize) -> String {
    ["x", "y", "z"].get(axis).map_or_else(|| format!("x{axis}"), |&name| name.to_owned())
}

impl Observer for Jobs {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        if let Event::Finished(running) = event {
            self.finished.push(((*running).clone(), now));
        }
    }
}
