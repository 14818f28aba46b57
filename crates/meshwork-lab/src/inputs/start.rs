//! Date at which the clock of a log begins, and the time zone in which its dates are shown.
//!
//! Dates without a time zone are always read and shown in the time zone of the log.

use meshwork::workload::swf::Header;
use meshwork_slurm::date::{has_zone, unix_seconds};
use meshwork_slurm::sacct::LocalClock;
use serde::{Deserialize, Serialize};

/// Date at which the clock of a log is 0, from its header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogStart {
    pub unix: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

impl LogStart {
    /// Date that the header of a log states for clock time 0; `None` if it states none.
    pub fn of(header: &Header) -> Option<LogStart> {
        let number = |label| -> Option<i64> {
            let word = header.get(label)?.split_whitespace().next()?;
            word.parse().ok()
        };
        let zone = header.get("TimeZoneString").filter(|zone| !zone.is_empty());
        Some(LogStart {
            unix: number("UnixStartTime").filter(|&unix| unix > 0)?,
            offset: number("TimeZone").filter(|offset| offset.abs() < 100_000),
            zone: zone.map(str::to_owned),
        })
    }

    pub fn at(unix: f64) -> LogStart {
        LogStart { unix: unix as i64, offset: None, zone: None }
    }

    /// Clock of the log's time zone: the named one if it is known, else the offset, else UTC.
    pub fn local(&self) -> LocalClock {
        let named = self.zone.as_deref().and_then(|zone| LocalClock::read(zone).ok());
        named.or_else(|| self.offset.map(LocalClock::fixed)).unwrap_or_else(LocalClock::utc)
    }

    /// Date and time of an instant in seconds on the log's clock, in the log's time zone.
    ///
    /// ```
    /// use meshwork_lab::inputs::start::LogStart;
    /// let start = LogStart { unix: 749_458_803, offset: None, zone: None };
    /// assert_eq!(start.date(0.0), "1993-10-01 07:00:03 UTC");
    /// let west = LogStart { zone: Some("US/Pacific".to_owned()), ..start };
    /// assert_eq!(west.date(0.0), "1993-10-01 00:00:03 -07:00");
    /// assert_eq!(west.date(31.0 * 86_400.0), "1993-10-31 23:00:03 -08:00");
    /// ```
    pub fn date(&self, instant: f64) -> String {
        self.local().shown(self.unix.saturating_add(instant as i64))
    }

    /// Converts a date to seconds since 1970-01-01 UTC. A date without a time zone is in the log's
    /// time zone.
    pub fn unix_seconds(&self, text: &str) -> Option<f64> {
        let seconds = unix_seconds(text)?;
        if has_zone(text) {
            return Some(seconds);
        }
        let whole = seconds.floor();
        Some(self.local().second(whole as i64) as f64 + (seconds - whole))
    }

    /// Label of the time zone of pages: `UTC`, or the offset from it when the log begins.
    pub fn place(&self) -> String {
        match self.ahead() {
            0 => "UTC".to_owned(),
            ahead => {
                let sign = if ahead < 0 { '-' } else { '+' };
                let minutes = ahead.abs() / 60;
                format!("UTC{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }

    /// Seconds by which the log's time zone is ahead of UTC when the log begins.
    pub fn ahead(&self) -> i64 {
        self.local().ahead(self.unix)
    }

    /// Copy for a page, on which all dates have the UTC offset that is valid when the log begins.
    pub fn on_pages(&self) -> LogStart {
        let offset = Some(self.ahead()).filter(|&ahead| ahead != 0);
        LogStart { unix: self.unix, offset, zone: offset.map(|_| self.place()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_when_a_log_begins() {
        let header = |text: &[&str]| {
            let mut header = Header::default();
            text.iter().for_each(|line| header.add(line));
            LogStart::of(&header)
        };
        let zone = Some("US/Pacific".to_owned());
        assert_eq!(
            header(&[
                " UnixStartTime: 749454003",
                " TimeZone: -28800",
                " TimeZoneString: US/Pacific"
            ]),
            Some(LogStart { unix: 749_454_003, offset: Some(-28_800), zone })
        );
        assert_eq!(header(&[" UnixStartTime: 0"]), None, "0 is what logs say that do not know");
        assert_eq!(header(&[" TimeZone: 3600"]), None);
    }

    #[test]
    fn dates_are_in_the_named_zone_or_else_at_the_offset() {
        let log = |offset, zone: Option<&str>| LogStart {
            unix: 749_458_803,
            offset,
            zone: zone.map(str::to_owned),
        };
        let winter = 31.0 * 86_400.0;
        for (start, first, later, page) in [
            (log(None, None), "07:00:03 UTC", "07:00:03 UTC", "UTC"),
            (log(Some(-28_800), None), "23:00:03 -08:00", "23:00:03 -08:00", "UTC-08:00"),
            (log(Some(19_800), Some("here")), "12:30:03 +05:30", "12:30:03 +05:30", "UTC+05:30"),
            (log(None, Some("US/Pacific")), "00:00:03 -07:00", "23:00:03 -08:00", "UTC-07:00"),
            (
                log(Some(-28_800), Some("US/Pacific")),
                "00:00:03 -07:00",
                "23:00:03 -08:00",
                "UTC-07:00",
            ),
        ] {
            assert_eq!(start.date(0.0)[11..], *first);
            assert_eq!(start.date(winter)[11..], *later);
            assert_eq!(
                (start.place(), start.on_pages().place()),
                (page.to_owned(), page.to_owned())
            );
            assert_eq!(start.on_pages().ahead(), start.ahead());
        }
    }

    #[test]
    fn a_date_without_a_zone_is_in_that_of_the_log() {
        let start = LogStart { unix: 1, offset: None, zone: Some("US/Pacific".to_owned()) };
        for (text, zoned) in [
            ("1993-10-01", "1993-10-01T07:00:00Z"),
            ("1993-12-01 12:00:00.5", "1993-12-01T20:00:00.5Z"),
            ("1993-10-01T00:00Z", "1993-10-01T00:00Z"),
            ("1993-10-01T00:00+02:00", "1993-09-30T22:00Z"),
        ] {
            assert_eq!(start.unix_seconds(text), unix_seconds(zoned), "{text}");
        }
        assert_eq!(start.unix_seconds("5"), None);
    }
}
