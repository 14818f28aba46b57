//! Per-job output in the columns of Batsim's `jobs.csv`, which evalys and other simulators read.
//!
//! Processors are numbered from 0 like the nodes of the machine: along dimension 0 first, and
//! consecutively over all sites. The cell for the energy of a job is empty, because Meshwork
//! measures no energy by job. Attributes without a column are in `metadata`, as `column=cell` for
//! each column of a table of jobs, such as `block=3x5` or `segment=4`.

use std::io::{self, Write};

use meshwork::job::Job;
use meshwork::topology::{Grid, Topology};
use meshwork::workload::table::COLUMNS;

use super::Row;
use super::output::quoted;

pub(super) const HEADER: &str = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,\
     starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata";

/// Relative difference between two run times up to which they count as equal.
const ROUNDING: f64 = 1e-9;

/// Writes the row of a job in `jobs.csv`. If the job was stopped before the end of its run time,
/// the row says that it was killed.
pub(super) fn write(out: &mut impl Write, row: &Row, topologies: &[Topology]) -> io::Result<()> {
    let Row { job, start, finish, requested, stretch, .. } = row;
    let (run, turnaround) = (*finish - *start, *finish - job.arrival);
    let was_killed = job.runtime > job.estimate && run < job.runtime * stretch * (1.0 - ROUNDING);
    let (success, state) =
        if was_killed { (0, "COMPLETED_WALLTIME_REACHED") } else { (1, "COMPLETED_SUCCESSFULLY") };
    let slowdown = if run > 0.0 { turnaround / run } else { 1.0 };
    writeln!(
        out,
        "{number},w0,{number},{},{requested},{},{success},{state},{start},{run},{finish},{},{turnaround},{slowdown},{},,{}",
        job.arrival,
        job.estimate,
        *start - job.arrival,
        intervals(row, topologies),
        quoted(&metadata(job)),
        number = job.number,
    )
}

fn metadata(job: &Job) -> String {
    let others = COLUMNS.iter().filter(|column| !column.is_certain() && column.name != "nodes");
    let cells = others.filter_map(|column| Some(format!("{}={}", column.name, column.get(job)?)));
    cells.collect::<Vec<String>>().join(" ")
}

/// Processors of a job as intervals, such as `0-3 9 11-13`.
fn intervals(row: &Row, topologies: &[Topology]) -> String {
    let nodes = |topology: &Topology| topology.grid().nodes();
    let before: u32 = topologies[..row.site].iter().map(nodes).sum();
    let grid: &Grid = topologies[row.site].grid();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    row.placement.for_each_run(grid, |first, count| runs.push((before + first, count)));
    runs.sort_unstable();
    let mut text = String::new();
    let mut runs = runs.into_iter().peekable();
    while let Some((first, mut count)) = runs.next() {
        while let Some((_, more)) = runs.next_if(|&(next, _)| next == first + count) {
            count += more;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text += &first.to_string();
        if count > 1 {
            text += &format!("-{}", first + count - 1);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use meshwork::job::{Constraints, Owner, Request, Time};
    use meshwork::machine::{Block, Placement};

    use super::*;

    fn written(estimate: f64, finish: f64, site: usize) -> String {
        let job = Job { estimate, ..Job::new(7, Time::new(1.0), Request::Nodes(5), 8.0) };
        let mut placement = Placement::from(Block { base: 3, sides: [2, 2].as_slice().into() });
        placement.blocks.push(Block { base: 8, sides: [1, 1].as_slice().into() });
        let row = Row {
            job,
            start: Time::new(2.0),
            finish: Time::new(finish),
            requested: 5,
            held: 5,
            site,
            placement,
            stretch: 1.0,
        };
        let topologies = [Topology::torus(&[4, 3]).unwrap(), Topology::torus(&[4, 3]).unwrap()];
        let mut text = Vec::new();
        write(&mut text, &row, &topologies).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_job_stands_in_the_columns_of_batsim() {
        assert_eq!(
            written(9.0, 10.0, 0),
            "7,w0,7,1,5,9,1,COMPLETED_SUCCESSFULLY,2,8,10,1,9,1.125,0 3-4 7-8,,\n"
        );
        assert_eq!(HEADER.split(',').count(), written(9.0, 10.0, 0).split(',').count());
    }

    #[test]
    fn what_batsim_has_no_column_for_stands_in_metadata() {
        let mut job = Job::new(7, Time::new(1.0), Request::block(&[2, 2]), 8.0);
        assert_eq!(metadata(&job), "block=2x2");
        job.request = Request::constrained(Constraints { segment: Some(2), ..Constraints::of(4) });
        job.owner = Some(Owner { user: Some("ada".to_owned()), ..Owner::default() }.into());
        assert_eq!(metadata(&job), "user=ada segment=2");
    }

    #[test]
    fn a_job_that_was_ended_at_its_estimate_says_so() {
        assert!(written(4.0, 6.0, 0).contains(",0,COMPLETED_WALLTIME_REACHED,"));
        assert!(written(4.0, 10.0, 0).contains(",1,COMPLETED_SUCCESSFULLY,"), "it was let run on");
    }

    #[test]
    fn processors_are_numbered_through_the_sites() {
        assert!(written(9.0, 10.0, 1).contains(",12 15-16 19-20,"));
    }
}
