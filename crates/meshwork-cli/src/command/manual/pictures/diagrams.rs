//! Diagrams of the manual: the life of a job, and the dependencies between the crates.

use meshwork::catalogue::Catalogue;
use meshwork::registry::EntrySource;

use super::canvas::Canvas;
use crate::command::list::KINDS;

/// Picture of the steps in a job's life. Each step names the kind of catalogue entry that decides
/// it.
///
/// After the name of a kind, the picture gives the number of its entries.
pub(super) fn life(catalogue: &Catalogue) -> String {
    let many = |word: &str| {
        let kind = KINDS.iter().find(|kind| kind.word() == word).expect("a kind of the lists");
        format!("{} {}", catalogue.entries(kind.family).len(), kind.plural())
    };
    let stations = [
        ("A job arrives", "from a log or", "a model", "workload"),
        ("To which site?", "where there", "are several", "selector"),
        ("Who is next?", "order, backfilling,", "reservations", "scheduler"),
        ("How many?", "as asked for,", "or fewer", "sizing"),
        ("Which nodes?", "a block, or any", "that are free", "allocator"),
        ("How long?", "its run time, or", "its messages", "network"),
        ("It ends", "waits, slowdowns,", "utilization", "metric"),
    ];
    let (wide, gap, top, high) = (136, 22, 16, 92);
    let mut canvas = Canvas::default();
    let left = |number: usize| 16 + (wide + gap) * number as i32;
    for (number, (head, first, second, word)) in stations.iter().enumerate() {
        let x = left(number);
        canvas.labelled([x, top, wide, high], head, &[first, second, &many(word)]);
        if number > 0 {
            canvas.arrow([x - gap + 2, top + high / 2], [x - 3, top + high / 2]);
        }
    }
    // Arrow of the jobs that return to the queue.
    let (from, to, down) = (left(5) + wide / 2, left(2) + wide / 2, top + high + 30);
    canvas.line([from, top + high], [from, down], "line");
    canvas.line([from, down], [to, down], "line");
    canvas.arrow([to, down], [to, top + high + 3]);
    let words = "a node fails, or the job is preempted: it is requeued";
    canvas.text([(from + to) / 2, down + 18], words, "soft", "middle");
    canvas.finished(
        [left(stations.len()) - gap + 16, down + 34],
        "The life of a job: it arrives, goes to a site, is chosen by the scheduler, gets a size and nodes, runs, and ends",
    )
}

/// Crates of the project, each above the crates that it depends on.
pub(super) fn crates() -> String {
    let mut canvas = Canvas::default();
    canvas.labelled(
        [16, 16, 330, 62],
        "meshwork-cli",
        &["the command meshwork: words in, words out"],
    );
    canvas.labelled(
        [376, 16, 330, 62],
        "meshwork-py",
        &["the Python package, a workspace of its own"],
    );
    let layers = [
        ("meshwork-operator", "sites under Slurm and Kueue: why a job waits, what would be better"),
        ("meshwork-report", "pages and plots of results"),
        ("meshwork-lab", "studies, files, threads, stored runs, intervals, claims"),
        (
            "meshwork-slurm",
            "files and records of Slurm and Kueue, and where Slurm would place a job",
        ),
    ];
    for (number, (name, what)) in layers.into_iter().enumerate() {
        let top = 112 + 96 * number as i32;
        canvas.labelled([16, top, 690, 62], name, &[what]);
        canvas.arrow([361, top + 62], [361, top + 93]);
    }
    canvas.text([371, 195], "depends on", "soft", "start");
    canvas.labelled(
        [16, 496, 690, 80],
        "meshwork",
        &[
            "the model: machines, jobs, allocators, schedulers, networks, metrics",
            "pure: no file, no thread, no clock, nothing printed",
        ],
    );
    canvas.arrow([181, 78], [181, 109]);
    canvas.arrow([541, 78], [541, 109]);
    canvas.finished(
        [722, 592],
        "The crates: meshwork-cli and meshwork-py stand on meshwork-operator, which stands on meshwork-report, meshwork-lab, meshwork-slurm and meshwork",
    )
}
