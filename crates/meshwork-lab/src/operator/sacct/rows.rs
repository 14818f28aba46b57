//! Lines with `|` between their fields, below a header that names them.

use crate::operator::Trouble;

/// Columns of free text, in which there may be anything.
const FREE: [&str; 5] = ["SubmitLine", "JobName", "Comment", "AdminComment", "SystemComment"];

/// A file with a header.
pub(super) struct Table<'a> {
    pub(super) file: &'a str,
    columns: Vec<&'a str>,
    pub(super) rows: Vec<Row<'a>>,
}

/// A record, and where it begins.
pub(super) struct Row<'a> {
    pub(super) line: usize,
    fields: Vec<&'a str>,
}

impl<'a> Table<'a> {
    pub(super) fn new(file: &'a str, text: &'a str) -> Result<Table<'a>, Trouble> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let Some((first, header)) = lines.next() else {
            return Err(Trouble::of(
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
            return Err(Trouble::at(file, first, says));
        }
        // Texts of users may hold a line break or a bar; where they stand last, that does no harm.
        let ends_free = columns.last().is_some_and(|last| FREE.contains(last));
        let mut rows: Vec<Row<'a>> = Vec::new();
        for (number, line) in lines {
            let has = line.bytes().filter(|&byte| byte == b'|').count() + 1;
            let fields: Vec<&str> = if ends_free && has >= columns.len() {
                line.splitn(columns.len(), '|').collect()
            } else if has == columns.len() + 1 && line.ends_with('|') {
                line[..line.len() - 1].split('|').collect()
            } else if has == columns.len() {
                line.split('|').collect()
            } else if ends_free && has < columns.len() && !rows.is_empty() {
                continue;
            } else {
                let says = format!(
                    "this record has {has} fields, but the header names {}: a user's text with a | in it does no harm where SubmitLine is asked for last",
                    columns.len()
                );
                return Err(Trouble::at(file, number, says));
            };
            rows.push(Row { line: number, fields });
        }
        Ok(Table { file, columns, rows })
    }

    /// Where a column is.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|own| own.eq_ignore_ascii_case(name))
    }
}

impl<'a> Row<'a> {
    /// A field; nothing where there is no such column.
    pub(super) fn field(&self, column: Option<usize>) -> &'a str {
        column.and_then(|column| self.fields.get(column)).map_or("", |field| field.trim())
    }
}
