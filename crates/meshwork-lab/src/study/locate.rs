//! Map from dotted paths of keys to line numbers of the study file.
//!
//! It is needed because the tables that `[sweep]` and `--set` edit do not record where values were
//! written.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

#[derive(Clone, Debug, Default)]
pub struct Lines {
    by_path: BTreeMap<String, usize>,
}

impl Lines {
    /// Builds the map from keys to line numbers for the text of a study.
    ///
    /// The map is empty if the text is not TOML. **O(*n* log *n*)** for a text of *n* bytes.
    pub fn of(text: &str) -> Lines {
        let mut lines = Lines::default();
        if let Ok(document) = DeTable::parse(text) {
            let starts: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
            lines.add_table("", document.get_ref(), &starts);
        }
        lines
    }

    /// Line, from 1, of the key at a path, or of the innermost table around it, if any.
    ///
    /// ```
    /// use meshwork_lab::study::locate::Lines;
    /// let lines = Lines::of("seed = 1\n[machine]\ndims = [\n  4,\n  0]\n");
    /// assert_eq!(lines.line("machine.dims"), Some(3));
    /// assert_eq!(lines.line("machine.dims[1]"), Some(5));
    /// assert_eq!(lines.line("machine.topology"), Some(2));
    /// assert_eq!(lines.line("allocator"), None);
    /// ```
    pub fn line(&self, path: &str) -> Option<usize> {
        let mut path = path;
        loop {
            if let Some(&line) = self.by_path.get(path) {
                return Some(line);
            }
            path = &path[..path.rfind(['.', '['])?];
        }
    }

    fn add_table(&mut self, path: &str, table: &DeTable<'_>, starts: &[usize]) {
        for (key, value) in table {
            let at = meshwork::registry::join(path, key.get_ref());
            self.by_path.insert(at.clone(), line_at(key.span().start, starts));
            self.add_value(&at, value.get_ref(), starts);
        }
    }

    fn add_value(&mut self, path: &str, value: &DeValue<'_>, starts: &[usize]) {
        match value {
            DeValue::Table(table) => self.add_table(path, table, starts),
            DeValue::Array(list) => {
                for (i, item) in list.iter().enumerate() {
                    let at = format!("{path}[{i}]");
                    self.by_path.insert(at.clone(), line_at(item.span().start, starts));
                    self.add_value(&at, item.get_ref(), starts);
                }
            }
            _ => {}
        }
    }
}

/// Number of the line, counted from 1, that contains the byte at `offset`. `breaks` has the offsets
/// of all line breaks.
pub(crate) fn line_at(offset: usize, breaks: &[usize]) -> usize {
    breaks.partition_point(|&at| at < offset) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_every_form_are_found() {
        let lines = Lines::of(
            "name = \"x\"\n\
             allocator = { name = \"ff\", rotation = \"best\" }\n\
             \n\
             [machine]\n\
             sites = [\n\
             { topology = \"flat\" },\n\
             { topology = \"mesh\",\n\
               dims = [0] },\n\
             ]\n\
             [sweep]\n\
             \"workload.load\" = [0.1, 0.2,\n\
             0.3]\n\
             [[claim]]\n\
             text = \"a\"\n\
             [[claim]]\n\
             text = \"b\"\n",
        );
        for (path, line) in [
            ("name", 1),
            ("allocator", 2),
            ("allocator.rotation", 2),
            ("allocator.unknown", 2),
            ("machine", 4),
            ("machine.sites[0].topology", 6),
            ("machine.sites[1].dims", 8),
            ("machine.sites[1].dims[0]", 8),
            ("machine.sites[1].speed", 7),
            ("sweep.workload.load", 11),
            ("sweep.workload.load[1]", 11),
            ("sweep.workload.load[2]", 12),
            ("claim[1].text", 16),
        ] {
            assert_eq!(lines.line(path), Some(line), "{path}");
        }
        assert_eq!(lines.line("workload.load"), None);
        assert_eq!(lines.line(""), None);
    }

    #[test]
    fn a_text_that_is_not_toml_has_no_lines() {
        assert_eq!(Lines::of("a = = b").line("a"), None);
    }
}
