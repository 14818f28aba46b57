//! A page of topologies that were compared on the jobs of a site.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::draw::{intervals, usage};
use super::html::{POLICY, STYLES};
use super::markup::{embedded, sentence};
use crate::findings::number::{Rounded, plural, significant};
use crate::findings::statistics::Interval;
use crate::operator::compare::{Comparison, Measure};
use crate::operator::unmodelled::caveats;
use crate::visible::visible_text;

/// The width of a plot.
const WIDTH: f64 = 560.0;

/// A page that stands alone: the table, a plot of differences for each measure in which there are any, and how much each
/// node was used under each topology. `names` are those of the topologies as they are shown.
#[must_use]
pub fn compared(comparison: &Comparison, names: &[String]) -> String {
    let title = "Topologies compared";
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Meshwork" }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLES[0])) }
            }
            body {
                header {
                    h1 { (title) }
                    @for says in caveats(&comparison.doubts, &comparison.unmodelled) { p.lead { (says) } }
                    p.lead { (sentence(&about(comparison, names))) }
                }
                main #results {
                    (table(comparison, names))
                    div.figures { @for (number, measure) in (0..).zip(Measure::ALL) { (plot(comparison, names, number, measure)) } }
                    @if comparison.maps.iter().any(|map| !map.is_empty()) { (maps(comparison, names)) }
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
        "{all} happened again under each topology, with {cleanup} of clean-up. Differences are from {}, job by job and batch by batch, with 95 % intervals",
        names.first().map_or("", String::as_str)
    );
    if comparison.common < comparison.jobs {
        let common = plural(comparison.common as u64, "job");
        text.push_str(&format!(
            ". Waits and slowdowns are those of the {common} that start under every topology"
        ));
    }
    text
}

fn table(comparison: &Comparison, names: &[String]) -> Markup {
    let value =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |own| significant(own, 4));
    html! {
        div.scroll {
            table {
                thead {
                    tr {
                        th scope="col" { "measure" }
                        @for (number, name) in names.iter().enumerate() {
                            th scope="col" { (name) }
                            @if number > 0 { th scope="col" { "difference" } }
                        }
                    }
                }
                tbody {
                    @for (row, measure) in Measure::ALL.iter().enumerate() {
                        tr {
                            th scope="row" title=(measure.definition()) { (measure.title().trim()) }
                            @for (number, values) in comparison.values.iter().enumerate() {
                                td { (value(values[row])) }
                                @if let Some(own) = number.checked_sub(1).map(|own| &comparison.differences[own][row]) {
                                    td.marked[own.excludes_zero()] { (shown(own)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn shown(interval: &Interval) -> String {
    let rounded = Rounded::new(interval.mean, interval.half_width).signed();
    let half = rounded.half_width.map_or_else(String::new, |half| format!(" ± {half}"));
    format!("{}{half}", rounded.mean)
}

fn plot(comparison: &Comparison, names: &[String], row: usize, measure: Measure) -> Markup {
    let rows: Vec<(String, Interval)> = names
        .iter()
        .skip(1)
        .cloned()
        .zip(comparison.differences.iter().map(|own| own[row]))
        .collect();
    let is_same = |(_, own): &(String, Interval)| own.mean.is_none_or(|mean| mean.abs() <= 0.0);
    html! {
        @if !rows.iter().all(is_same) {
            figure {
                h4 { "difference: " (measure.title().trim()) }
                figcaption { (sentence(measure.definition())) }
                div.panels { (PreEscaped(intervals(&rows, WIDTH))) }
            }
        }
    }
}

fn maps(comparison: &Comparison, names: &[String]) -> Markup {
    html! {
        h3 { "How much each node was used" }
        p { "Layer by layer along z, x to the right: the darker, the larger the share of the time from the first submission to the last in which a job had the node." }
        div.figures {
            @for (name, map) in names.iter().zip(&comparison.maps) {
                figure {
                    h4 { (name) }
                    div.panels { (PreEscaped(usage(map, WIDTH))) }
                }
            }
        }
    }
}
