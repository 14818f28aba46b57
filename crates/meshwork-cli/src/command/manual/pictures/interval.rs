//! Picture of two means whose intervals overlap, although their difference is significant.

use meshwork::catalogue::Catalogue;
use meshwork_lab::statistics::{half_width, mean};
use meshwork_lab::{Options, Study, run};

use super::canvas::Canvas;

/// Study from the manual's chapter on comparing, reduced to its highest load.
const STUDY: &str = "replications = 5\n\
    machine = { topology = 'mesh', dims = [16, 16] }\n\
    [workload]\nname = 'synthetic'\nload = 0.4\nsizes = 'uniform'\nruntimes = { name = 'exponential', mean = 5.0 }\n\
    [measure]\nwarmup_jobs = 200\njobs = 2200\nmetrics = ['turnaround']\n\
    [sweep]\nallocator = ['first_fit', 'boundary_search']\n";
const NAMES: [&str; 2] = ["first_fit", "boundary_search"];

/// Pixels per unit of time on the vertical axis.
///
/// `LEAST` is the time at the bottom of the axis. `TOP` and `BOTTOM` are the ends of the axis, in
/// pixels from the top of the picture.
const SCALE: f64 = 20.0;
const TOP: i32 = 44;
const BOTTOM: i32 = 344;
const LEAST: i32 = 15;

fn down(value: f64) -> i32 {
    BOTTOM - (SCALE * (value - f64::from(LEAST))).round() as i32
}

/// Picture of a comparison of two means.
///
/// Each replication is drawn as a pair of dots. Beside the dots are the confidence intervals of
/// both means and of their difference.
pub(super) fn anatomy(catalogue: &Catalogue) -> String {
    let study = Study::parse_in(catalogue, "interval", STUDY, "".as_ref(), &[])
        .expect("the study is right");
    let finished = run(&study, &Options { threads: 1, ..Options::default() }).expect("it runs");
    let values = [0, 1].map(|scenario: usize| -> Vec<f64> {
        finished.results.runs[scenario].measured("turnaround").map(|(_, value)| value).collect()
    });
    let differences: Vec<f64> = values[1].iter().zip(&values[0]).map(|(b, a)| b - a).collect();
    let mut canvas = Canvas::default();
    let axis = [60, 232];
    for tick in (LEAST..=30).step_by(5) {
        let y = down(f64::from(tick));
        canvas.line([52, y], [60, y], "line");
        canvas.text([46, y + 4], &tick.to_string(), "soft", "end");
    }
    canvas.line([60, TOP], [60, BOTTOM], "line");
    canvas.text([16, 24], "turnaround, one line for each replication", "ink head", "start");
    for (number, (a, b)) in values[0].iter().zip(&values[1]).enumerate() {
        let ends = [[axis[0] + 50, down(*a)], [axis[1] - 30, down(*b)]];
        canvas.line(ends[0], ends[1], "line");
        canvas.circle(ends[0], 6, "j0");
        canvas.circle(ends[1], 6, "j1");
        canvas.text([ends[0][0] - 14, ends[0][1] + 4], &(number + 1).to_string(), "soft", "end");
    }
    canvas.text([350, 24], "the means", "ink head", "start");
    for (scenario, x) in [370, 490].into_iter().enumerate() {
        let (middle, half) = known(&values[scenario]);
        let [above, below] = [down(middle + half), down(middle - half)];
        canvas.rect([x - 2, above, 4, below - above], &format!("j{scenario}"));
        canvas.circle([x, down(middle)], 7, &format!("j{scenario}"));
        canvas.text(
            [x + 12, down(middle) + 5],
            &format!("{middle:.1} ± {half:.1}"),
            "ink",
            "start",
        );
    }
    for (name, x) in NAMES.iter().cycle().zip([110, 202, 370, 490]) {
        canvas.text([x, BOTTOM + 22], name, "soft small", "middle");
    }
    let (middle, half) = known(&differences);
    let (left, zero) = (650, TOP + 60);
    canvas.text([left - 30, 24], "the difference, run by run", "ink head", "start");
    let place = |value: f64| zero - (SCALE * value).round() as i32;
    canvas.line([left - 30, zero], [left + 120, zero], "line");
    canvas.text([left - 36, zero + 4], "0", "soft", "end");
    for difference in &differences {
        canvas.circle([left, place(*difference)], 5, "j7");
    }
    let [above, below] = [place(middle + half), place(middle - half)];
    canvas.rect([left + 28, above, 4, below - above], "j2");
    canvas.circle([left + 30, place(middle)], 7, "j2");
    let star = if middle.abs() > half { " *" } else { "" };
    let words = format!("{middle:.1} ± {half:.1}{star}").replace('-', "−");
    canvas.text([left + 44, place(middle) + 5], &words, "ink", "start");
    canvas.text([left - 30, BOTTOM + 22], "boundary_search minus first_fit", "soft small", "start");
    canvas.finished(
        [840, BOTTOM + 40],
        "Five replications under two allocators: the intervals of the means overlap, that of the paired difference excludes 0",
    )
}

fn known(values: &[f64]) -> (f64, f64) {
    let both = mean(values).zip(half_width(values));
    both.expect("five replications have a mean and an interval")
}
