//! HTML page of a comparison: a sentence, plots and differences for each configuration.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use meshwork::job::Cause;

use meshwork_report::draw::{legend, panel, parts};

use super::usage::usage;
use super::{Comparison, JobGroup, ReplayMeasure};
use crate::unmodelled::caveats;
use meshwork_lab::statistics::Interval;
use meshwork_lab::text::number::{Rounded, count, plural, significant};
use meshwork_lab::text::visible::visible_text;
use meshwork_report::html::{POLICY, STYLES, head};
use meshwork_report::markup::{coded, embedded, sentence};
use meshwork_report::{FigureView, Key, Scale, Series, Style};

const WIDTH: f64 = 420.0;

/// Causes of waits with their texts in the legend, in the order of the stacked bars.
const CAUSES: [(Cause, &str); 4] = [
    (Cause::Nodes, "too few nodes were free"),
    (Cause::Shape, "enough were free, but in no shape that it may have"),
    (Cause::Priority, "others came first"),
    (Cause::Reserved, "nodes were reserved for others"),
];

pub fn page(comparison: &Comparison, names: &[String]) -> String {
    let title = "Configurations compared";
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, POLICY, &STYLES[..1]))
            body.compared {
                header {
                    h1 { (title) }
                    @for says in caveats(&comparison.doubts, &comparison.unmodelled) { p.lead { (coded(&says)) } }
                    p.lead { (sentence(&about(comparison, names))) }
                }
                main #results {
                    @for number in 1..names.len() {
                        @let (text, is_significant) = headline(comparison, names, number);
                        p.finding.open[!is_significant] { (text) }
                    }
                    div.figures {
                        section { h2 { "What the waits are made of" } (waits(comparison, names)) }
                        section { h2 { "Differences" } (differences(comparison, names)) }
                    }
                    (table(comparison, names))
                    (groups(comparison, names))
                    @if comparison.maps.iter().any(|map| !map.is_empty()) { (maps(comparison, names)) }
                    (changes(comparison, names))
                }
                footer { p { "Made by Meshwork " (env!("CARGO_PKG_VERSION")) ". Every number stands in full in the data of this page." } }
                script #report-data type="application/json" { (embedded(comparison.json())) }
            }
        }
    };
    visible_text(&markup.into_string()).into_owned()
}

fn about(comparison: &Comparison, names: &[String]) -> String {
    let all = plural(comparison.jobs as u64, "job");
    let cleanup = plural(comparison.terms.cleanup as u64, "second");
    let mut text = format!(
        "{all} were replayed under each configuration; nodes are free again {cleanup} after the end of a job. Differences are from {}, with 95 % intervals",
        names.first().map_or("", String::as_str)
    );
    if comparison.common < comparison.jobs {
        let common = plural(comparison.common as u64, "job");
        text.push_str(&format!(
            ". Waits and slowdowns are those of the {common} that start under every configuration"
        ));
    }
    text
}

fn place(measure: ReplayMeasure) -> usize {
    ReplayMeasure::ALL.iter().position(|&other| other == measure).unwrap_or_default()
}

type TimeUnit = (f64, &'static str);

fn time_unit(longest: f64) -> TimeUnit {
    match longest.abs() {
        0.0..600.0 => (1.0, "seconds"),
        600.0..7_200.0 => (60.0, "minutes"),
        7_200.0..172_800.0 => (3_600.0, "hours"),
        _ => (86_400.0, "days"),
    }
}

fn lasting(seconds: f64, (size, unit): TimeUnit) -> String {
    format!("{} {unit}", significant(seconds / size, 3))
}

fn headline(comparison: &Comparison, names: &[String], number: usize) -> (String, bool) {
    let value = |which: usize, measure| comparison.values[which][place(measure)].unwrap_or(0.0);
    let difference = &comparison.differences[number - 1];
    let wait = &difference[place(ReplayMeasure::Wait)];
    let (before, after) = (value(0, ReplayMeasure::Wait), value(number, ReplayMeasure::Wait));
    let (name, first) = (&names[number], &names[0]);
    let unit = time_unit(before.max(after));
    if comparison.common == 0 {
        return (
            format!(
                "With {name}, no job starts that starts with {first}: waits cannot be compared."
            ),
            true,
        );
    }
    let mut text = if (after - before).abs() < 1e-9 {
        format!("With {name} the mean wait is that with {first}, {}.", lasting(before, unit))
    } else if let (Some(half_width), false) = (wait.half_width, wait.excludes_zero()) {
        let rounded = Rounded::new(Some((after - before) / unit.0), Some(half_width / unit.0));
        format!(
            "No significant difference in the mean wait: {} with {name}, {} with {first} \
             (difference: {} ± {} {}).",
            lasting(after, unit),
            lasting(before, unit),
            rounded.mean,
            rounded.half_width.unwrap_or_default(),
            unit.1
        )
    } else {
        let verb = if after < before { "falls" } else { "rises" };
        let share = if before > 0.0 {
            let share = 100.0 * (after / before - 1.0).abs();
            format!(" by {} %,", significant(share, 2))
        } else {
            String::new()
        };
        let certain = match wait.half_width {
            None => "with too few jobs to say how certain that is",
            Some(_) => "significantly",
        };
        format!(
            "With {name} the mean wait {verb}{share} from {} to {}, {certain}.",
            lasting(before, unit),
            lasting(after, unit)
        )
    };
    let largest = CAUSES
        .map(|(cause, _)| {
            let change = difference[place(ReplayMeasure::WaitFor(cause))].mean.unwrap_or(0.0);
            (change / wait.mean.unwrap_or(0.0), cause)
        })
        .into_iter()
        .filter(|(share, _)| (0.5..=1.0).contains(share))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((share, cause)) = largest.filter(|_| wait.excludes_zero()) {
        let what = match cause {
            Cause::Nodes => "free nodes",
            Cause::Shape => "a shape",
            Cause::Priority => "jobs that came first",
            Cause::Reserved => "reserved nodes",
        };
        let share = significant(100.0 * share, 2);
        text += &format!(" {share} % of the change comes from waits for {what}.");
    }
    let never = value(number, ReplayMeasure::Never) - value(0, ReplayMeasure::Never);
    if never.abs() > 0.0 {
        let more = if never > 0.0 { "more" } else { "fewer" };
        text += &format!(" {} {more} never start.", plural(never.abs() as u64, "job"));
    }
    (text, wait.excludes_zero())
}

fn waits(comparison: &Comparison, names: &[String]) -> Markup {
    let value = |own: &[Option<f64>], measure| own[place(measure)].unwrap_or(0.0);
    let longest = comparison.values.iter().map(|own| value(own, ReplayMeasure::Wait));
    let unit = time_unit(longest.fold(0.0, f64::max));
    let bars: Vec<(String, String, Vec<f64>)> = names
        .iter()
        .zip(&comparison.values)
        .map(|(name, own)| {
            let of =
                |(cause, _): &(Cause, &str)| value(own, ReplayMeasure::WaitFor(*cause)) / unit.0;
            let words = lasting(value(own, ReplayMeasure::Wait), unit);
            (name.clone(), words, CAUSES.iter().map(of).collect())
        })
        .collect();
    let said: Vec<String> =
        bars.iter().map(|(name, words, _)| format!("{words} with {name}")).collect();
    let label = format!("The mean wait and its parts: {}.", said.join(", "));
    html! {
        figure {
            figcaption { "The mean wait of a job, by what it waited for. The parts add up to the wait." }
            ul.legend aria-label="cause" {
                @for (number, (_, words)) in CAUSES.iter().enumerate() {
                    li { (PreEscaped(legend(number))) (words) }
                }
            }
            div.panels { (PreEscaped(parts(&bars, &format!("Mean wait ({})", unit.1), &label, WIDTH))) }
        }
    }
}

/// Plot of the difference of each measure from its value in the first configuration, in percent.
fn differences(comparison: &Comparison, names: &[String]) -> Markup {
    let base = &comparison.values[0];
    let measures: Vec<usize> = (0..ReplayMeasure::ALL.len())
        .filter(|&row| base[row].is_some_and(|base| base > 0.0))
        .filter(|&row| {
            let mean = |own: &Vec<Interval>| own[row].mean.unwrap_or(0.0);
            comparison.differences.iter().any(|own| mean(own).abs() > 0.0)
        })
        .collect();
    let series = |(number, own): (usize, &Vec<Interval>)| {
        let mut series =
            Series { name: names[number + 1].clone(), colour: number, ..Series::default() };
        for (at, &row) in measures.iter().enumerate() {
            let (Some(mean), Some(base)) = (own[row].mean, base[row]) else { continue };
            let percent = |part: f64| 100.0 * part / base;
            let half = own[row].half_width;
            series.x.push(at as f64);
            series.mean.push(mean);
            series.percent.push((
                percent(mean),
                // A decrease cannot exceed 100 %.
                half.map(|half| percent(mean - half).max(-100.0)),
                half.map(|half| percent(mean + half)),
            ));
        }
        series
    };
    let view = FigureView {
        title: "Differences".to_owned(),
        sentence: format!(
            "Each measure, in percent of what it is with {}. Whiskers are 95 % intervals, cut at −100 %, below which \
             no measure can be; an arrow marks one that goes on beyond the plot. A mark is full where they exclude 0.",
            names[0]
        ),
        style: Style::Rows,
        differences: true,
        x: Scale {
            names: measures.iter().map(|&row| name_of(ReplayMeasure::ALL[row])).collect(),
            ..Scale::default()
        },
        y: Scale { label: "Difference".to_owned(), ..Scale::default() },
        colour: Some(Key { label: "topology".to_owned(), key: String::new() }),
        series: comparison.differences.iter().enumerate().map(series).collect(),
        ..FigureView::default()
    };
    html! {
        @if measures.is_empty() {
            p { "No measure differs." }
        } @else {
            figure {
                figcaption { (view.sentence) }
                ul.legend aria-label="topology" {
                    @for (number, name) in names.iter().skip(1).enumerate() {
                        li { (PreEscaped(legend(number))) (name) }
                    }
                }
                div.panels { (PreEscaped(panel(&view, WIDTH))) }
            }
        }
    }
}

fn name_of(measure: ReplayMeasure) -> String {
    let title = measure.title().trim().split(',').next().unwrap_or_default();
    match measure {
        ReplayMeasure::WaitFor(Cause::Reserved) => "wait for reserved nodes".to_owned(),
        ReplayMeasure::WaitFor(_) => format!("wait {title}"),
        _ => title.to_owned(),
    }
}

fn table(comparison: &Comparison, names: &[String]) -> Markup {
    let value =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |own| significant(own, 4));
    html! {
        div.scroll tabindex="0" role="region" aria-label="Every measure" {
            table.beside {
                caption { span { "Every measure; a difference in bold is significant at 95 %" } }
                thead {
                    tr {
                        th scope="col" { "measure" }
                        @for (number, name) in names.iter().enumerate() {
                            th.n scope="col" { (name) }
                            @if number > 0 {
                                th.n scope="col" { "difference" }
                                th.n scope="col" { "percent" }
                            }
                        }
                    }
                }
                tbody {
                    @for (row, title) in comparison.titles() {
                        @let measure = ReplayMeasure::ALL[row];
                        tr.part[matches!(measure, ReplayMeasure::WaitFor(_))] {
                            th scope="row" title=(measure.definition()) { (title.trim()) }
                            @for (number, values) in comparison.values.iter().enumerate() {
                                td.n { (value(values[row])) }
                                @if let Some(own) = number.checked_sub(1).map(|own| &comparison.differences[own][row]) {
                                    td.n.marked[own.excludes_zero()] { (shown(own)) }
                                    td.n { (percent(own.mean, comparison.values[0][row])) }
                                }
                            }
                        }
                    }
                }
            }
        }
        details {
            summary { "What the measures are" }
            dl {
                @for (row, title) in comparison.titles() {
                    dt { (title.trim()) }
                    dd { (ReplayMeasure::ALL[row].definition()) }
                }
            }
        }
    }
}

/// Formats a difference in percent of `base`, the value under the first topology.
fn percent(difference: Option<f64>, base: Option<f64>) -> String {
    match (difference, base) {
        (Some(difference), Some(base)) if base > 0.0 => {
            let share = 100.0 * difference / base;
            // Treat a difference due to rounding as 0.
            let share = if share.abs() < 1e-9 { 0.0 } else { share };
            format!("{}{}\u{a0}%", if share > 0.0 { "+" } else { "" }, significant(share, 2))
        }
        _ => "-".to_owned(),
    }
}

fn shown(interval: &Interval) -> String {
    let rounded = Rounded::new(interval.mean, interval.half_width).signed();
    let half = rounded.half_width.map_or_else(String::new, |half| format!("\u{a0}±\u{a0}{half}"));
    format!("{}{half}", rounded.mean)
}

fn groups(comparison: &Comparison, names: &[String]) -> Markup {
    let of = |by: &str| -> Vec<&JobGroup> {
        comparison.groups.iter().filter(|group| group.by == by).collect()
    };
    html! {
        h2 { "Who gains, who loses" }
        @for (by, heading) in [("nodes", "nodes asked for"), ("user", "user")] {
            @let own = of(by);
            @if !own.is_empty() {
                div.scroll tabindex="0" role="region" aria-label={ "Mean wait by " (heading) } {
                    table.beside {
                        caption { span { "Mean wait in seconds, by " (heading) "; a difference in bold is significant at 95 % by itself, without a correction for the number of rows" } }
                        thead {
                            tr {
                                th scope="col" { (heading) }
                                th.n scope="col" { "jobs" }
                                @for (number, name) in names.iter().enumerate() {
                                    th.n scope="col" { (name) }
                                    @if number > 0 { th.n scope="col" { "difference" } }
                                }
                            }
                        }
                        tbody {
                            @for group in own {
                                tr {
                                    th scope="row" { (group.name) }
                                    td.n { (count(group.jobs as u64)) }
                                    @for (number, wait) in group.waits.iter().enumerate() {
                                        td.n { (significant(*wait, 4)) }
                                        @if let Some(own) = number.checked_sub(1).map(|own| &group.differences[own]) {
                                            td.n.marked[own.excludes_zero()] { (shown(own)) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn maps(comparison: &Comparison, names: &[String]) -> Markup {
    html! {
        h2 { "How much each node was used" }
        p { "Layer by layer along z, x to the right: the darker, the larger the share of the time from the first submission to the last in which a job had the node." }
        p.shades { "0 % " span.shade {} " 100 %" }
        div.figures {
            @for (name, map) in names.iter().zip(&comparison.maps) {
                @let used: Vec<f64> = map.iter().flat_map(|layer| &layer.cells).flatten().copied().collect();
                @let mean = 100.0 * used.iter().sum::<f64>() / used.len().max(1) as f64;
                @let label = format!("How much each node was used with {name}: {} % of the time in the mean.", significant(mean, 3));
                figure {
                    h3 { (name) }
                    div.panels { (PreEscaped(usage(map, &label, WIDTH))) }
                }
            }
        }
    }
}

fn changes(comparison: &Comparison, names: &[String]) -> Markup {
    html! {
        @for (name, change) in names.iter().skip(1).zip(&comparison.changes) {
            @if !change.is_empty() {
                details {
                    summary { "How " (name) " differs from " (names[0]) }
                    pre tabindex="0" role="region" aria-label={ "What " (name) " says otherwise" } { code { (change.trim_end()) } }
                }
            }
        }
    }
}
