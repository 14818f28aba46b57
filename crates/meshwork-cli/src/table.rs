//! Tables of text. Columns stand side by side if they fit, else in several blocks.

use meshwork_lab::text::visible::visible;

use crate::number::{left, right, width};
use crate::output::{Output, Stop};

const GUTTER: &str = "  ";

pub(crate) struct Column {
    header: Vec<String>,
    cells: Vec<String>,
    width: usize,
    at_the_right: bool,
}

impl Column {
    /// Column of left-aligned texts.
    pub(crate) fn words(header: &str, cells: Vec<String>) -> Column {
        Column::new(header, cells, false)
    }

    /// Column of right-aligned numbers. All cells should have the same width.
    pub(crate) fn numbers(header: &str, cells: Vec<String>) -> Column {
        Column::new(header, cells, true)
    }

    fn new(header: &str, cells: Vec<String>, at_the_right: bool) -> Column {
        // Escape first, so that the width is that of the visible text.
        let cells: Vec<String> =
            cells.into_iter().map(|cell| visible(&cell).into_owned()).collect();
        let header = &visible(header);
        let content = cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
        let header = folded(header, content);
        let widest = header.iter().map(|line| width(line)).max().unwrap_or(0).max(content);
        Column { header, cells, width: widest, at_the_right }
    }

    /// Width of the column in characters on a terminal.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    fn cell(&self, text: &str) -> String {
        if self.at_the_right { right(text, self.width) } else { left(text, self.width) }
    }
}

/// Splits a long header over two lines, after a `_` or a `.`.
///
/// A header is split if it is wider than 10 characters and wider than the column's cells.
fn folded(header: &str, columns: usize) -> Vec<String> {
    if width(header) <= columns.max(10) {
        return vec![header.to_owned()];
    }
    let breaks = header.match_indices(['_', '.']).map(|(at, _)| header.split_at(at + 1));
    match breaks.min_by_key(|(above, below)| width(above).max(width(below))) {
        Some((above, below)) => vec![above.to_owned(), below.to_owned()],
        None => vec![header.to_owned()],
    }
}

/// Prints a table. If it is wider than the page, its columns are split into several blocks.
///
/// Each block repeats the columns `keys`, and then has as many other columns as fit. A blank line
/// precedes each row whose index is in `groups`.
pub(crate) fn print(
    out: &mut Output,
    keys: &[Column],
    columns: &[Column],
    groups: &[usize],
) -> Result<(), Stop> {
    let mut rest = columns;
    let mut is_first = true;
    while is_first || !rest.is_empty() {
        let fit = fitting(keys, rest, out.width);
        let (block, after) = rest.split_at(fit);
        rest = after;
        if !is_first {
            out.line("")?;
        }
        is_first = false;
        print_block(out, &keys.iter().chain(block).collect::<Vec<_>>(), groups)?;
    }
    Ok(())
}

/// Number of columns that fit beside the key columns; at least 1.
fn fitting(keys: &[Column], columns: &[Column], most: usize) -> usize {
    let mut taken: usize = keys.iter().map(|key| key.width + GUTTER.len()).sum();
    let fit = columns.iter().take_while(|column| {
        taken += column.width;
        let fits = taken <= most;
        taken += GUTTER.len();
        fits
    });
    fit.count().max(1).min(columns.len())
}

fn print_block(out: &mut Output, columns: &[&Column], groups: &[usize]) -> Result<(), Stop> {
    let height = columns.iter().map(|column| column.header.len()).max().unwrap_or(1);
    for line in 0..height {
        // A header of one line stands at the bottom, next to the cells.
        let text = |column: &&Column| {
            let above = height - column.header.len();
            column.cell(line.checked_sub(above).map_or("", |line| &column.header[line]))
        };
        out.headline(joined(columns.iter().map(text)).trim_end())?;
    }
    let rule: usize = columns.iter().map(|column| column.width + GUTTER.len()).sum();
    out.line(&"─".repeat(rule.saturating_sub(GUTTER.len())))?;
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        if groups.contains(&row) {
            out.line("")?;
        }
        let cells = columns.iter().map(|column| column.cell(&column.cells[row]));
        out.line(joined(cells).trim_end())?;
    }
    Ok(())
}

fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(GUTTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(header: &str, cells: &[&str]) -> Column {
        Column::numbers(header, cells.iter().map(|&cell| cell.to_owned()).collect())
    }

    #[test]
    fn a_block_holds_what_fits_and_at_least_one_column() {
        let keys = [column("key", &["1234"])];
        let columns = [column("a", &["12345"]), column("b", &["12345"]), column("c", &["12345"])];
        // The widths are 4, 5 and 5 columns, with gutters of 2 columns: 4 + 2 + 5 + 2 + 5 = 18.
        for (most, fit) in [(100, 3), (25, 3), (24, 2), (18, 2), (17, 1), (3, 1)] {
            assert_eq!(fitting(&keys, &columns, most), fit, "{most}");
        }
        assert_eq!(fitting(&keys, &[], 100), 0);
    }

    #[test]
    fn long_headers_are_folded_where_a_name_lets_them() {
        assert_eq!(folded("bounded_slowdown", 5), ["bounded_", "slowdown"]);
        assert_eq!(folded("workload.load", 4), ["workload.", "load"]);
        assert_eq!(folded("turnaround", 4), ["turnaround"]);
        assert_eq!(folded("bounded_slowdown", 16), ["bounded_slowdown"]);
    }
}
