//! Parses times and durations as Slurm writes them.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use crate::date;
use crate::history::Second;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeFormat {
    /// Seconds since 1970.
    Epoch,
    Zoned,
    /// Dates in local time, without an offset.
    Local,
}

impl TimeFormat {
    pub fn words(self) -> &'static str {
        match self {
            TimeFormat::Epoch => "seconds since 1970",
            TimeFormat::Zoned => "dates with a time zone",
            TimeFormat::Local => "dates without a time zone",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalClock {
    zone: Option<TimeZone>,
}

impl LocalClock {
    pub fn utc() -> LocalClock {
        LocalClock { zone: Some(TimeZone::UTC) }
    }

    /// Parses a time zone by name or offset: `Europe/Berlin`, `UTC`, `+01:00`, `-0530`, `+1`.
    ///
    /// ```
    /// use meshwork_slurm::sacct::LocalClock;
    /// let shown = |zone: &str| LocalClock::read(zone).unwrap().shown(1_795_272_667);
    /// assert_eq!(shown("Europe/Berlin"), "2026-11-21 15:51:07 +01:00");
    /// assert_eq!(shown("-0530"), "2026-11-21 09:21:07 -05:30");
    /// assert_eq!(shown("utc"), "2026-11-21 14:51:07 UTC");
    /// assert!(LocalClock::read("Berlin").is_err());
    /// ```
    ///
    /// # Errors
    /// One sentence, if the text is neither a name nor an offset.
    pub fn read(text: &str) -> Result<LocalClock, String> {
        let wrong = || {
            format!(
                "`{text}` is no time zone: its name, as Europe/Berlin, UTC, or as far as it is ahead of it, as +01:00"
            )
        };
        if ["utc", "z", "gmt"].contains(&text.to_lowercase().as_str()) {
            return Ok(LocalClock::utc());
        }
        let sign = match text.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => {
                let zone = TimeZone::get(text).map_err(|_| wrong())?;
                return Ok(LocalClock { zone: Some(zone) });
            }
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
        let number = |text: &str| text.parse::<i32>().map_err(|_| wrong());
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        if hours > 14 || minutes > 59 {
            return Err(wrong());
        }
        let ahead = Offset::from_seconds(sign * (hours * 3_600 + minutes * 60));
        Ok(LocalClock { zone: Some(TimeZone::fixed(ahead.map_err(|_| wrong())?)) })
    }

    pub fn is_known(&self) -> bool {
        self.zone.is_some()
    }

    /// Clock that is `seconds` ahead of UTC all year; UTC if that is more than any time zone.
    pub fn fixed(seconds: Second) -> LocalClock {
        let offset = i32::try_from(seconds).ok().and_then(|own| Offset::from_seconds(own).ok());
        LocalClock { zone: Some(TimeZone::fixed(offset.unwrap_or(Offset::UTC))) }
    }

    /// Offset from UTC in seconds; 0 if the time zone is unknown.
    pub fn ahead(&self, second: Second) -> Second {
        let zone = self.zone.as_ref().zip(Timestamp::from_second(second).ok());
        zone.map_or(0, |(zone, at)| zone.to_offset(at).seconds().into())
    }

    /// Converts a local time to universal time, in seconds.
    ///
    /// For an hour that occurs twice, the first occurrence is used.
    pub fn second(&self, shown: Second) -> Second {
        let zone = self.zone.as_ref().zip(Timestamp::from_second(shown).ok());
        let at =
            zone.and_then(|(zone, shown)| zone.to_timestamp(TimeZone::UTC.to_datetime(shown)).ok());
        at.map_or(shown, Timestamp::as_second)
    }

    pub fn date(&self, second: Second) -> String {
        date::written(second + self.ahead(second))
    }

    /// Local date and time with the time zone, or with `local time` if it is unknown.
    pub fn shown(&self, second: Second) -> String {
        let zone = match &self.zone {
            None => "local time".to_owned(),
            Some(zone) if *zone == TimeZone::UTC => "UTC".to_owned(),
            Some(_) => {
                let ahead = self.ahead(second);
                let minutes = ahead.abs() / 60;
                let sign = if ahead < 0 { '-' } else { '+' };
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        };
        format!("{} {zone}", self.date(second))
    }

    /// Parses a local date, or seconds since 1970.
    pub fn read_time(&self, text: &str) -> Option<Second> {
        self.time(text).ok().flatten().map(|(second, _)| second)
    }

    /// Parses a time with its format; `None` for no time.
    pub fn time(&self, text: &str) -> Result<Option<(Second, TimeFormat)>, NotATime> {
        if is_none(text) {
            return Ok(None);
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text
                .parse()
                .map(|second| Some((second, TimeFormat::Epoch)))
                .map_err(|_| NotATime);
        }
        let second = date::unix_seconds(text).ok_or(NotATime)?.floor() as Second;
        if date::has_zone(text) {
            return Ok(Some((second, TimeFormat::Zoned)));
        }
        Ok(Some((self.second(second), TimeFormat::Local)))
    }
}

/// Error for a text that is neither a time nor a word for a missing time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATime;

pub(super) fn is_none(text: &str) -> bool {
    matches!(text, "" | "None" | "Unknown" | "N/A" | "NONE" | "(null)" | "None assigned")
}

fn is_no_limit(text: &str) -> bool {
    is_none(text)
        || ["unlimited", "partition_limit"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Converts a limit in minutes, as in `TimelimitRaw`, to seconds; `None` for no limit.
pub(super) fn minutes(text: &str) -> Result<Option<Second>, NotATime> {
    if is_no_limit(text) {
        return Ok(None);
    }
    text.parse::<Second>().map(|minutes| Some(minutes.saturating_mul(60))).map_err(|_| NotATime)
}

/// Parses a duration such as `1-02:03:04`, `02:03:04`, `03:04` or minutes, in seconds.
pub fn span(text: &str) -> Result<Option<Second>, NotATime> {
    if is_no_limit(text) {
        return Ok(None);
    }
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse::<Second>().map_err(|_| NotATime)?, rest),
        None => (0, text),
    };
    let rest = rest.split('.').next().unwrap_or(rest);
    let parts: Result<Vec<Second>, _> = rest.split(':').map(str::parse).collect();
    let seconds = match parts.map_err(|_| NotATime)?[..] {
        [hours, minutes, seconds] => hours * 3_600 + minutes * 60 + seconds,
        [hours, minutes] if text.contains('-') => hours * 3_600 + minutes * 60,
        [minutes, seconds] => minutes * 60 + seconds,
        [hours] if text.contains('-') => hours * 3_600,
        [minutes] => minutes * 60,
        _ => return Err(NotATime),
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
        assert_eq!(span("soon"), Err(NotATime));
        assert_eq!(minutes("2"), Ok(Some(120)));
    }

    #[test]
    fn times_are_seconds_and_dates() {
        let east = LocalClock::read("+01:00").unwrap();
        let second = 1_795_272_667;
        assert_eq!(east.time("1795272667"), Ok(Some((second, TimeFormat::Epoch))));
        assert_eq!(east.time("2026-11-21T15:51:07"), Ok(Some((second, TimeFormat::Local))));
        assert_eq!(east.time("2026-11-21T14:51:07Z"), Ok(Some((second, TimeFormat::Zoned))));
        assert_eq!(
            LocalClock::default().time("2026-11-21T14:51:07"),
            Ok(Some((second, TimeFormat::Local)))
        );
        let berlin = LocalClock::read("Europe/Berlin").unwrap();
        assert_eq!(berlin.time("2026-11-21T15:51:07"), Ok(Some((second, TimeFormat::Local))));
        // In summer the clock is two hours ahead. 2:30 occurs twice in October, and never in March.
        for (text, seconds) in [
            ("2026-07-01T02:00:00", 1_782_864_000),
            ("2026-10-25T02:30:00", 1_792_888_200),
            ("2026-03-29T02:30:00", 1_774_747_800),
        ] {
            assert_eq!(berlin.time(text), Ok(Some((seconds, TimeFormat::Local))), "{text}");
        }
        assert_eq!(berlin.shown(1_774_747_800), "2026-03-29 03:30:00 +02:00");
        assert_eq!(LocalClock::default().shown(0), "1970-01-01 00:00:00 local time");
        assert_eq!(east.time("Unknown"), Ok(None));
        assert_eq!(east.time("2026-02-30T14:51:07"), Err(NotATime));
        assert_eq!(east.time("morning"), Err(NotATime));
    }
}
