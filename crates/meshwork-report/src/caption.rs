use super::views::{FigureView, Series, Style};
use meshwork_lab::findings::columns::Meanings;
use meshwork_lab::text::number::plural;

/// Caption of a view of a figure. `with` describes the values that the selectors have.
pub(super) fn sentence(
    meanings: &Meanings,
    baseline: Option<&str>,
    (metric, view): (&str, &FigureView),
    with: &str,
) -> String {
    let mut text = match meanings.entry(metric) {
        Some(entry) => format!("{}: {}", title(metric), entry.about.summary),
        None => title(metric),
    };
    if let Some(baseline) = baseline {
        text = format!("{text}; each scenario minus the one with {baseline}");
    }
    let (along, what) = match view.style {
        Style::Lines | Style::Steps => ("against", "a line"),
        Style::Points => ("against", "a mark"),
        Style::Rows => ("for each", "a row"),
    };
    text += &format!(", {along} {}", view.x.label);
    if let Some(colour) = &view.colour {
        text += &format!(", {what} for each {}", colour.label);
    }
    if let Some(panel) = &view.panel {
        text += &format!(", a panel for each {}", panel.label);
    }
    text += with;
    text.push('.');
    if view.series.iter().any(|line| line.half.iter().any(Option::is_some)) {
        text += " Whiskers are 95 % intervals";
        text += if view.differences { "; a mark is full where they exclude 0." } else { "." };
    }
    let fewer = |expected: u64| {
        let of = |line: &Series| {
            let is_once = |i: usize| line.once.get(i).copied().unwrap_or(false);
            let numbers = line.replications.iter().enumerate();
            numbers.filter(|&(i, &number)| number > 0 && number < expected && !is_once(i)).count()
        };
        view.series.iter().map(of).sum::<usize>() as u64
    };
    if let Some(expected) = view.expected
        && let number @ 1.. = fewer(expected)
    {
        let (are, marks) = if number == 1 { ("is", "mark") } else { ("are", "marks") };
        text += &format!(
            " {} {are} of fewer than the {} asked for so far: the faint {marks}.",
            plural(number, "mean"),
            plural(expected, "replication"),
        );
    }
    let is_alone = |line: &Series| {
        line.half.iter().all(Option::is_none) && line.replications.iter().all(|&number| number < 2)
    };
    let has_percent = view.series.iter().any(|line| !line.percent.is_empty());
    if view.differences && !has_percent && view.series.iter().all(is_alone) {
        text += " With one replication a difference has no interval.";
    }
    if view.y.log {
        text += " The scale is logarithmic.";
    }
    let has_ends = |(_, low, high): &(f64, Option<f64>, Option<f64>)| low.or(*high).is_some();
    if view.series.iter().any(|line| line.percent.iter().any(has_ends)) {
        text += " In percent, with intervals of the ratio, or of the difference where that of the \
                 ratio is too wide.";
    } else if has_percent {
        text += " In percent.";
    }
    text
}

pub(super) fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
