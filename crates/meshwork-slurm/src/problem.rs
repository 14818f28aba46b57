//! Problem of an input file, with the file's name and, if known, the line number.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    pub file: String,
    /// Line number, counted from 1; `None` for the file as a whole.
    pub line: Option<usize>,
    pub says: String,
}

impl FileProblem {
    pub fn at(file: &str, line: usize, says: impl Into<String>) -> FileProblem {
        FileProblem { file: file.to_owned(), line: Some(line), says: says.into() }
    }

    pub fn of(file: &str, says: impl Into<String>) -> FileProblem {
        FileProblem { file: file.to_owned(), line: None, says: says.into() }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        write!(f, "{}{line}: {}", self.file, self.says)
    }
}
