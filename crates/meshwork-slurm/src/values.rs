//! Numbers and times of `slurm.conf` as slurmctld reads them, checked against Slurm 22.05.

/// Numeric option of `SchedulerParameters`, with its bounds and default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulerOption {
    pub name: &'static str,
    /// Value of an option that is not given, or whose value is out of bounds.
    pub default: i64,
    pub least: i64,
    pub most: i64,
    /// Whether the option may also be −1, which turns a scheduler off.
    pub may_be_off: bool,
}

const fn option(name: &'static str, default: i64, least: i64, most: i64) -> SchedulerOption {
    SchedulerOption { name, default, least, most, may_be_off: false }
}

const DAYS_30: i64 = 30 * 86_400;
const INT: i64 = i32::MAX as i64;

/// Numeric options of `SchedulerParameters` that Meshwork reads.
pub const SCHEDULER_OPTIONS: [SchedulerOption; 13] = [
    option("batch_sched_delay", 3, 0, INT),
    SchedulerOption { may_be_off: true, ..option("bf_interval", 30, 1, 10_800) },
    option("bf_max_job_part", 0, 0, INT),
    option("bf_max_job_test", 500, 1, 1_000_000),
    option("bf_max_job_user", 0, 0, INT),
    option("bf_min_age_reserve", 0, 0, DAYS_30),
    option("bf_min_prio_reserve", 0, 1, u32::MAX as i64),
    option("bf_resolution", 60, 1, 3_600),
    option("bf_window", 1_440, 1, DAYS_30 / 60),
    option("default_queue_depth", 100, 0, INT),
    option("partition_job_depth", 0, 0, INT),
    SchedulerOption { may_be_off: true, ..option("sched_interval", 60, 0, INT) },
    option("sched_min_interval", 2, 0, INT),
];

impl SchedulerOption {
    /// Text of this option's value in `parameters`; `None` if the option does not occur there.
    ///
    /// If the option occurs several times, its first value counts.
    pub fn text<'p>(&self, parameters: &'p str) -> Option<&'p str> {
        let mut pairs = parameters.split(',').filter_map(|own| own.split_once('='));
        let is_own = |name: &str| name.trim().eq_ignore_ascii_case(self.name);
        pairs.find_map(|(name, value)| is_own(name).then_some(value.trim()))
    }

    pub fn accepts(&self, value: i64) -> bool {
        (self.least..=self.most).contains(&value) || self.may_be_off && value == -1
    }

    /// Value of this option in a text of Slurm parameters; its default if it is missing or invalid.
    pub fn value(&self, parameters: &str) -> i64 {
        let given = self.text(parameters).map(leading_number);
        given.filter(|&value| self.accepts(value)).unwrap_or(self.default)
    }
}

/// Whole number at the beginning of a text, or 0, as the C function `atoi` reads it.
pub fn leading_number(text: &str) -> i64 {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let size = unsigned[..digits].parse().unwrap_or(if digits > 0 { i64::MAX } else { 0 });
    if text.starts_with('-') { -size } else { size }
}

/// Whole number of at most `most`, such as `1000`, `0x3e8` or `2k`, which is 2048.
///
/// `infinite` and `unlimited` stand for `most`.
pub fn number(text: &str, most: u64) -> Option<u64> {
    if ["infinite", "unlimited"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(most);
    }
    let power = |last: char| "kmgtp".find(last.to_ascii_lowercase()).map(|place| place as u32 + 1);
    let hexadecimal = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let suffix = text.chars().last().and_then(power).filter(|_| hexadecimal.is_none());
    let digits = &text[..text.len() - usize::from(suffix.is_some())];
    let value = match (hexadecimal, digits.strip_prefix('0')) {
        (Some(digits), _) => u64::from_str_radix(digits, 16),
        (None, Some(octal)) if !octal.is_empty() => u64::from_str_radix(octal, 8),
        _ => digits.parse(),
    };
    let value = value.ok()?.checked_mul(1024_u64.pow(suffix.unwrap_or(0)))?;
    Some(value).filter(|&value| value <= most)
}

/// Whether a text is a time such as `90` (minutes), `1:30:00`, `7-0` (days) or `INFINITE`.
pub fn is_time(text: &str) -> bool {
    if ["-1", "infinite", "unlimited"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return true;
    }
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|own| own.is_ascii_digit());
    let is_clock = |clock: &str| clock.split(':').count() <= 3 && clock.split(':').all(is_number);
    match text.split_once('-') {
        Some((days, clock)) => is_number(days) && (clock.is_empty() || is_clock(clock)),
        None => is_clock(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_slurmctld_reads_them() {
        let most = u64::from(u32::MAX);
        for (text, value) in [
            ("1000", Some(1000)),
            ("0", Some(0)),
            ("0x10", Some(16)),
            ("010", Some(8)),
            ("10k", Some(10_240)),
            ("UNLIMITED", Some(most)),
            ("4294967295", Some(most)),
            ("99999999999", None),
            ("abc", None),
            ("-5", None),
            ("1.5", None),
            ("10q", None),
            ("k", None),
            ("", None),
        ] {
            assert_eq!(number(text, most), value, "{text}");
        }
    }

    #[test]
    fn times_are_those_that_slurmctld_accepts() {
        for text in
            "7-0 7- 2-03:04 2-03:04:05 90 1:30 1:30:00 0 -1 INFINITE unlimited 7-0:1".split(' ')
        {
            assert!(is_time(text), "{text}");
        }
        for text in
            ["", "foo", "30x", "-5", "-4", "1:2:3:4", "3.5", "1h", ":3", "1-2:3:4:5", "-3-4"]
        {
            assert!(!is_time(text), "{text}");
        }
    }

    #[test]
    fn options_out_of_bounds_have_their_defaults() {
        let value = |name: &str, parameters: &str| {
            let option = SCHEDULER_OPTIONS.iter().find(|own| own.name == name).unwrap();
            option.value(parameters)
        };
        for (text, minutes) in [
            ("", 1440),
            ("bf_window=-4", 1440),
            ("bf_window=abc", 1440),
            ("bf_window=43201", 1440),
            ("bf_window", 1440),
            ("bf_window=4x", 4),
            ("bf_interval=5, BF_Window=4,bf_window=9", 4),
        ] {
            assert_eq!(value("bf_window", text), minutes, "{text}");
        }
        for (text, seconds) in
            [("bf_interval=-1", -1), ("bf_interval=-2", 30), ("bf_interval=0", 30)]
        {
            assert_eq!(value("bf_interval", text), seconds, "{text}");
        }
        assert_eq!(value("bf_max_job_test", "bf_max_job_test=99999999999999999999"), 500);
    }
}
