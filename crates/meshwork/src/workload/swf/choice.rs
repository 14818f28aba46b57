//! Choice of the lines of a log that are replayed, by user and queue.

use super::Record;
use crate::registry::Params;

/// The users and queues whose lines of a log are replayed; by default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Users whose jobs are selected; if empty, all users.
    pub users: Vec<u32>,
    /// Queues whose jobs are selected; if empty, all queues.
    pub queues: Vec<u32>,
}

impl Choice {
    /// Reads the selection from the parameters `users` and `queues` of the workload `swf`.
    #[must_use]
    pub fn of(params: &Params) -> Choice {
        let list = |key: &str| params.get_integers(key).unwrap_or_default();
        Choice { users: list("users"), queues: list("queues") }
    }

    /// Whether a line is selected.
    ///
    /// If only certain users are selected, a line without a known user is not selected. The same
    /// holds for queues.
    #[inline]
    #[must_use]
    pub fn takes(&self, record: &Record) -> bool {
        is_among(&self.users, record.user()) && is_among(&self.queues, record.queue())
    }

    /// Error text if the selection selects none of the log's lines.
    pub(super) fn nothing(&self, lines: u64) -> String {
        let list = |what: &str, numbers: &[u32]| {
            let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
            (!numbers.is_empty()).then(|| format!("the {what} {}", numbers.join(", ")))
        };
        let lists = [list("users", &self.users), list("queues", &self.queues)];
        let of: Vec<String> = lists.into_iter().flatten().collect();
        format!(
            "none of its {lines} lines is of {}: where a log says -1, in field 12 or 15, it is not known",
            of.join(" and ")
        )
    }
}

#[inline]
fn is_among(numbers: &[u32], number: Option<f64>) -> bool {
    numbers.is_empty()
        || number.is_some_and(|number| numbers.iter().any(|&own| f64::from(own) - number == 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::swf::chosen_jobs;
    use crate::workload::swf::tests::numbers;
    use crate::workload::{FAMILY, WorkloadError};

    #[test]
    fn jobs_are_chosen_by_user_and_queue() {
        // Lines of users 1, 2, 3, 1 and queues 5, 5, 6, 6; the second line is not a job.
        let text = "1 0 -1 5 4 -1 -1 4 9 -1 1 1 -1 -1 5 -1 -1 -1\n\
                    2 1 -1 5 0 -1 -1 0 9 -1 1 2 -1 -1 5 -1 -1 -1\n\
                    3 2 -1 5 4 -1 -1 4 9 -1 1 3 -1 -1 6 -1 -1 -1\n\
                    -1 3 -1 5 4 -1 -1 4 9 -1 1 1 -1 -1 6 -1 -1 -1\n";
        let chosen = |given: &str| {
            let given = format!("name = 'swf'\npath = 'log.swf'\n{given}");
            let table: toml::Table = given.parse().unwrap();
            let params = FAMILY.resolve("workload", &table.into()).unwrap();
            let reader = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
            chosen_jobs(reader, "log.swf", 10, Choice::of(&params), None).collect::<Vec<_>>()
        };
        assert_eq!(numbers(&chosen("")), [1, 3, 4]);
        assert_eq!(chosen("").len(), 4);
        assert_eq!(
            numbers(&chosen("users = 1")),
            [1, 4],
            "a number is the line's place in the log"
        );
        assert_eq!(chosen("users = [1, 3]").len(), 3, "lines of others are no concern");
        assert_eq!(numbers(&chosen("users = [1, 3]\nqueues = [6, 7]")), [3, 4]);
        for (given, sentence) in [
            ("users = [7, 8]", "none of its 4 lines is of the users 7, 8"),
            ("queues = 9", "none of its 4 lines is of the queues 9"),
            ("users = 3\nqueues = 5", "none of its 4 lines is of the users 3 and the queues 5"),
        ] {
            let items = chosen(given);
            assert_eq!(
                items,
                [Err(WorkloadError(format!(
                    "log.swf: {sentence}: where a log says -1, in field 12 or 15, it is not known"
                )))],
                "{given}"
            );
        }
        let reader = Box::new(std::io::Cursor::new(
            b"1 0 -1 5 4 -1 -1 4 9 -1 1 -1 -1 -1 -1 -1 -1 -1".to_vec(),
        ));
        let choice = Choice { users: vec![1], queues: Vec::new() };
        let items: Vec<_> = chosen_jobs(reader, "log.swf", 10, choice, None).collect();
        assert_eq!(items.len(), 1);
        assert_eq!(
            items[0].as_ref().unwrap_err().0,
            "log.swf: none of its 1 lines is of the users 1: where a log says -1, in field 12 or 15, \
             it is not known"
        );
    }
}
