//! Times and lengths of time as Slurm writes them.

use crate::date;
use crate::operator::history::Second;

/// How times are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Seconds since 1970.
    Epoch,
    /// Dates that say how far they are ahead of UTC.
    Zoned,
    /// Dates of a clock on a wall.
    Local,
}

impl Form {
    /// The form in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Form::Epoch => "seconds since 1970",
            Form::Zoned => "dates with a time zone",
            Form::Local => "dates without a time zone",
        }
    }
}

/// How far the clock is ahead of UTC by which dates without a time zone are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Seconds, if somebody has said so.
    pub ahead: Option<Second>,
}

impl Clock {
    /// Reads how far a clock is ahead: `UTC`, `+01:00`, `-0530`, `+1`.
    ///
    /// ```
    /// use meshwork_lab::operator::sacct::Clock;
    /// assert_eq!(Clock::read("+01:00").unwrap().ahead, Some(3600));
    /// assert_eq!(Clock::read("-0530").unwrap().ahead, Some(-19_800));
    /// assert_eq!(Clock::read("utc").unwrap().ahead, Some(0));
    /// assert!(Clock::read("Berlin").is_err());
    /// ```
    ///
    /// # Errors
    /// One sentence, if it is none of these.
    pub fn read(text: &str) -> Result<Clock, String> {
        let wrong =
            || format!("`{text}` is no time zone: UTC, or as far as it is ahead of it, as +01:00");
        if ["utc", "z", "gmt"].contains(&text.to_lowercase().as_str()) {
            return Ok(Clock { ahead: Some(0) });
        }
        let sign = match text.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(wrong()),
        };
        let digits: String = text[1..].chars().filter(|letter| *letter != ':').collect();
        if digits.is_empty()
            || digits.len() > 4
            || !digits.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Err(wrong());
        }
        let (hours, minutes) = match digits.len() {
            1 | 2 => (digits.as_str(), "0"),
            length => digits.split_at(length - 2),
        };
        let number = |text: &str| text.parse::<Second>().map_err(|_| wrong());
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        if hours > 14 || minutes > 59 {
            return Err(wrong());
        }
        Ok(Clock { ahead: Some(sign * (hours * 3_600 + minutes * 60)) })
    }

    /// A time, with the form in which it is written; none where there was none, as for a job that has not started.
    pub(in crate::operator) fn time(self, text: &str) -> Result<Option<(Second, Form)>, ()> {
        if is_none(text) {
            return Ok(None);
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(|second| Some((second, Form::Epoch))).map_err(|_| ());
        }
        let second = date::unix_seconds(text).ok_or(())?.floor() as Second;
        let time = text.get(10..).unwrap_or_default();
        if time.contains(['Z', 'z', '+', '-']) {
            return Ok(Some((second, Form::Zoned)));
        }
        Ok(Some((second - self.ahead.unwrap_or(0), Form::Local)))
    }
}

/// Whether a field says that there is nothing to say.
pub(super) fn is_none(text: &str) -> bool {
    matches!(text, "" | "None" | "Unknown" | "N/A" | "NONE" | "(null)" | "None assigned")
}

/// A limit in minutes, as in `TimelimitRaw`, in seconds; none where there is no limit.
pub(super) fn minutes(text: &str) -> Result<Option<Second>, ()> {
    if is_none(text)
        || text.eq_ignore_ascii_case("unlimited")
        || text.eq_ignore_ascii_case("partition_limit")
    {
        return Ok(None);
    }
    text.parse::<Second>().map(|minutes| Some(minutes.saturating_mul(60))).map_err(|_| ())
}

/// A length of time as `1-02:03:04`, `02:03:04`, `03:04` or minutes, in seconds.
pub(in crate::operator) fn span(text: &str) -> Result<Option<Second>, ()> {
    if is_none(text)
        || text.eq_ignore_ascii_case("unlimited")
        || text.eq_ignore_ascii_case("partition_limit")
    {
        return Ok(None);
    }
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse::<Second>().map_err(|_| ())?, rest),
        None => (0, text),
    };
    let rest = rest.split('.').next().unwrap_or(rest);
    let parts: Result<Vec<Second>, _> = rest.split(':').map(str::parse).collect();
    let seconds = match parts.map_err(|_| ())?[..] {
        [hours, minutes, seconds] => hours * 3_600 + minutes * 60 + seconds,
        [hours, minutes] if text.contains('-') => hours * 3_600 + minutes * 60,
        [minutes, seconds] => minutes * 60 + seconds,
        [hours] if text.contains('-') => hours * 3_600,
        [minutes] => minutes * 60,
        _ => return Err(()),
    };
    Ok(Some(days.saturating_mul(86_400).saturating_add(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_those_of_slurm() {
        for (text, seconds) in [
            ("1-02:03:04", Some(93_784)),
            ("02:03:04", Some(7_384)),
            ("03:04", Some(184)),
            ("2-00", Some(172_800)),
            ("00:01:30", Some(90)),
            ("UNLIMITED", None),
            ("", None),
        ] {
            assert_eq!(span(text), Ok(seconds), "{text}");
        }
        assert_eq!(span("soon"), Err(()));
        assert_eq!(minutes("2"), Ok(Some(120)));
    }

    #[test]
    fn times_are_seconds_and_dates() {
        let east = Clock::read("+01:00").unwrap();
        let second = 1_795_272_667;
        assert_eq!(east.time("1795272667"), Ok(Some((second, Form::Epoch))));
        assert_eq!(east.time("2026-11-21T15:51:07"), Ok(Some((second, Form::Local))));
        assert_eq!(east.time("2026-11-21T14:51:07Z"), Ok(Some((second, Form::Zoned))));
        assert_eq!(Clock::default().time("2026-11-21T14:51:07"), Ok(Some((second, Form::Local))));
        assert_eq!(east.time("Unknown"), Ok(None));
        assert_eq!(east.time("2026-02-30T14:51:07"), Err(()));
        assert_eq!(east.time("morning"), Err(()));
    }
}
