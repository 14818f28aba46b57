//! The jobs of one run, as a table: one row for each job that finished, in the order of arrival.

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Int64Array};
use meshwork::job::{Request, Time, sides_text};
use meshwork::observe::recorder::OwnerAttribute;
use meshwork::observe::{Event, Observer, Running};
use meshwork::topology::Topology;
use meshwork::workload::table::{Column, Holds};
use meshwork_lab::run::joboutput::optional;
use std::sync::Arc;

use crate::table::{Table, numbers, texts};

/// An observer that keeps the jobs of a run.
pub(crate) struct Jobs {
    topologies: Vec<Topology>,
    finished: Vec<(Running, Time)>,
}

impl Jobs {
    pub(crate) fn new(topologies: Vec<Topology>) -> Jobs {
        Jobs { topologies, finished: Vec::new() }
    }

    /// The table: the columns of per-job output, and after them where each job lay. `base` is the coordinates of its
    /// first node, with a column `x`, `y`, `z`, … for each dimension of the largest site.
    pub(crate) fn table(mut self) -> Table {
        self.finished.sort_by_key(|(running, _)| running.id);
        let rows = &self.finished;
        let dimensions =
            self.topologies.iter().map(|topology| topology.grid().dimensions()).max().unwrap_or(0);
        let mut whole: [Int64Builder; 6] =
            std::array::from_fn(|_| Int64Builder::with_capacity(rows.len()));
        let mut number: [Float64Builder; 9] =
            std::array::from_fn(|_| Float64Builder::with_capacity(rows.len()));
        let mut text: [StringBuilder; 2] = std::array::from_fn(|_| StringBuilder::new());
        let mut owners = OwnerAttribute::ALL.map(|by| (by, StringBuilder::new()));
        let is_of_owner = |name: &str| OwnerAttribute::ALL.into_iter().any(|by| by.name() == name);
        let mut more: Vec<(&Column, Vec<Option<String>>)> = optional()
            .filter(|column| column.name != "wait" && !is_of_owner(column.name))
            .map(|column| (column, Vec::with_capacity(rows.len())))
            .collect();
        let mut corner: Vec<Int64Builder> =
            (0..dimensions).map(|_| Int64Builder::with_capacity(rows.len())).collect();
        for (running, finish) in rows {
            let (job, grid) = (&running.job, self.topologies[running.site].grid());
            let wholes = [
                job.number as i64,
                running.asked as i64,
                i64::from(running.held),
                running.site as i64,
            ];
            for (builder, value) in whole.iter_mut().zip(wholes) {
                builder.append_value(value);
            }
            let (submit, start, finish) =
                (job.arrival.units(), running.start.units(), finish.units());
            let numbers = [
                submit,
                start,
                finish,
                start - submit,
                finish - submit,
                job.runtime,
                job.estimate,
                running.dispersal,
                running.stretch,
            ];
            for (builder, value) in number.iter_mut().zip(numbers) {
                builder.append_value(value);
            }
            text[0].append_value(running.placement.text(grid));
            match &job.request {
                Request::Block(sides) => text[1].append_value(sides_text(sides)),
                _ => text[1].append_null(),
            }
            let owner = job.owner.as_deref();
            for (by, builder) in &mut owners {
                builder.append_option(owner.and_then(|owner| by.of(owner)));
            }
            for (column, cells) in &mut more {
                cells.push(column.get(job));
            }
            match &job.request {
                Request::Nodes(count) => whole[5].append_value(i64::from(*count)),
                Request::Constrained(constraints) => whole[5].append_value(i64::from(constraints.nodes)),
                _ => whole[5].append_null(),
            }
            match &job.request {
                Request::Subcube(dimension) => whole[4].append_value(i64::from(*dimension)),
                _ => whole[4].append_null(),
            }
            let base = running.placement.blocks.first().map(|block| grid.coordinates(block.base));
            for (axis, builder) in corner.iter_mut().enumerate() {
                builder.append_option(
                    base.as_ref().and_then(|base| base.get(axis)).map(|&at| i64::from(at)),
                );
            }
        }
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        let mut add = |name: &str, array: ArrayRef| columns.push((name.to_owned(), array));
        let [job, requested, held, site, subcube, nodes] = &mut whole;
        let [submit, start, finish, wait, turnaround, runtime, estimate, dispersal, stretch] =
            &mut number;
        let [blocks, block] = &mut text;
        add("job", Arc::new(job.finish()));
        for (name, builder) in [
            ("submit", submit),
            ("start", start),
            ("finish", finish),
            ("wait", wait),
            ("turnaround", turnaround),
            ("runtime", runtime),
            ("estimate", estimate),
        ] {
            add(name, Arc::new(builder.finish()));
        }
        add("requested", Arc::new(requested.finish()));
        add("held", Arc::new(held.finish()));
        add("site", Arc::new(site.finish()));
        add("blocks", Arc::new(blocks.finish()));
        for (axis, builder) in corner.iter_mut().enumerate() {
            add(&axis_name(axis), Arc::new(builder.finish()));
        }
        add("nodes", Arc::new(nodes.finish()));
        add("block", Arc::new(block.finish()));
        add("subcube", Arc::new(subcube.finish()));
        add("dispersal", Arc::new(dispersal.finish()));
        add("stretch", Arc::new(stretch.finish()));
        for (by, builder) in &mut owners {
            add(by.name(), Arc::new(builder.finish()));
        }
        for (column, cells) in more {
            if cells.iter().any(Option::is_some) {
                add(column.name, array(column.holds, &cells));
            }
        }
        Table::of(columns)
    }
}

/// The cells of a column of a table of jobs.
fn array(holds: Holds, cells: &[Option<String>]) -> ArrayRef {
    let cells = cells.iter().map(Option::as_deref);
    match holds {
        Holds::Number | Holds::Count => {
            Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<Int64Array>())
        }
        Holds::Instant | Holds::Real => numbers(cells.map(|cell| cell?.parse().ok())),
        Holds::Flag => Arc::new(cells.map(|cell| cell?.parse().ok()).collect::<BooleanArray>()),
        Holds::Text => texts(cells),
    }
}

/// What the coordinate of a dimension is called.
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
