//! Table with a header line and with `|` between fields.

use crate::FileProblem;

/// Columns with free text of users.
const FREE: [&str; 5] = ["SubmitLine", "JobName", "Comment", "AdminComment", "SystemComment"];

/// Maximum number of ways to parse a record whose texts contain the separator `|`.
const MOST_WAYS: usize = 64;

pub(super) struct Table<'a> {
    pub(super) file: &'a str,
    columns: Vec<&'a str>,
    pub(super) rows: Vec<Row<'a>>,
    /// Skipped records, whose number of fields differs from the header.
    pub(super) torn: Vec<FileProblem>,
}

pub(super) struct Row<'a> {
    pub(super) line: usize,
    fields: Vec<&'a str>,
    /// Other possible splits of the record into fields, if one of its texts contains the separator
    /// `|`.
    pub(super) others: Vec<Row<'a>>,
}

impl<'a> Table<'a> {
    pub(super) fn new(file: &'a str, text: &'a str) -> Result<Table<'a>, FileProblem> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let Some((first, header)) = lines.next() else {
            return Err(FileProblem::of(
                file,
                "this file is empty, where the output of `sacct -P` begins with the names of its columns",
            ));
        };
        let columns: Vec<&str> = header.trim_end_matches('|').split('|').map(str::trim).collect();
        if !columns.iter().any(|name| ["JobID", "JobIDRaw"].contains(name)) {
            let says = format!(
                "`{}` names no column JobID or JobIDRaw: the first line of `sacct -P` has the names of its columns, with | between them",
                header.chars().take(60).collect::<String>()
            );
            return Err(FileProblem::at(file, first, says));
        }
        // Line breaks and bars in texts are harmless in the last column.
        let free: Vec<usize> =
            (0..columns.len()).filter(|&own| FREE.contains(&columns[own])).collect();
        let ends_free = free.last() == Some(&(columns.len() - 1));
        let (mut rows, mut torn): (Vec<Row<'a>>, _) = (Vec::new(), Vec::new());
        for (number, line) in lines {
            let whole: Vec<&str> = line.split('|').collect();
            let has = whole.len();
            if has == columns.len() {
                rows.push(Row { line: number, fields: whole, others: Vec::new() });
            } else if has == columns.len() + 1 && line.ends_with('|') && !ends_free {
                let fields = whole[..has - 1].to_vec();
                rows.push(Row { line: number, fields, others: Vec::new() });
            } else if has > columns.len() && !free.is_empty() {
                let mut ways = ways(line, &whole, &free, columns.len(), number);
                let mut row = ways.remove(0);
                row.others = ways;
                rows.push(row);
            } else if !(ends_free && has < columns.len() && !rows.is_empty()) {
                let says = format!(
                    "this record has {has} fields, but the header names {}: a user's text with a | in it does no harm where SubmitLine is asked for last",
                    columns.len()
                );
                torn.push(FileProblem::at(file, number, says));
            }
        }
        Ok(Table { file, columns, rows, torn })
    }

    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|own| own.eq_ignore_ascii_case(name))
    }
}

impl<'a> Row<'a> {
    pub(super) fn field(&self, column: Option<usize>) -> &'a str {
        column.and_then(|column| self.fields.get(column)).map_or("", |field| field.trim())
    }
}

/// All ways to split a record whose free texts contain some of the separators `|`.
fn ways<'a>(
    line: &'a str,
    whole: &[&'a str],
    free: &[usize],
    columns: usize,
    number: usize,
) -> Vec<Row<'a>> {
    let extra = whole.len() - columns;
    // Enumerate all distributions of the surplus bars over the texts.
    let mut shares: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in &free[1..] {
        let longer = |share: Vec<usize>| {
            let left = extra - share.iter().sum::<usize>();
            (0..=left).map(move |own| [&share[..], &[own]].concat())
        };
        shares = shares.into_iter().flat_map(longer).take(MOST_WAYS).collect();
    }
    let row = |share: Vec<usize>| {
        let last = extra - share.iter().sum::<usize>();
        let more = |column: usize| {
            let place = free.iter().position(|&own| own == column);
            place.map_or(0, |place| share.get(place).copied().unwrap_or(last))
        };
        let (mut fields, mut from) = (Vec::with_capacity(columns), 0);
        let mut at = 0;
        for column in 0..columns {
            let parts = &whole[at..=at + more(column)];
            at += parts.len();
            let length = parts.iter().map(|part| part.len() + 1).sum::<usize>() - 1;
            fields.push(&line[from..from + length]);
            from += length + 1;
        }
        Row { line: number, fields, others: Vec::new() }
    };
    shares.into_iter().map(row).collect()
}
