//! Dates in ISO 8601 format.

/// Parses a date, or a date and time of day, into seconds since 1970-01-01 UTC.
///
/// Accepts `2003-05-01`, `2003-05-01 12:30`, `2003-05-01T12:30:15.5Z`, `2003-05-01T12:30:15+02:00`.
/// Without a time zone the time is UTC. `None` if the text has another form, or if there is no such
/// date or time of day.
///
/// ```
/// use meshwork_slurm::date::unix_seconds;
/// assert_eq!(unix_seconds("1970-01-02"), Some(86_400.0));
/// assert_eq!(unix_seconds("1970-01-01T01:00:00+01:00"), Some(0.0));
/// assert_eq!(unix_seconds("5"), None);
/// ```
pub fn unix_seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let (date, rest) = text.split_at_checked(10)?;
    let [year, month, day] = fields(date, '-', &[4, 2, 2])?[..] else { return None };
    if !(1..=12).contains(&month) || !(1..=length(year, month)).contains(&day) {
        return None;
    }
    let mut seconds = (days(year, month, day) * 86_400) as f64;
    let Some(rest) = rest.strip_prefix(['T', 't', ' ']) else {
        return rest.is_empty().then_some(seconds);
    };
    let zone = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone);
    let (time, part) = time.trim_end().split_once('.').unwrap_or((time.trim_end(), "0"));
    let time = match time.len() {
        5 => fields(time, ':', &[2, 2])?,
        _ => fields(time, ':', &[2, 2, 2])?,
    };
    let (hour, minute, second) = (time[0], time[1], time.get(2).copied().unwrap_or(0));
    // 60 is a leap second, which Unix time does not count.
    if hour > 23 || minute > 59 || second > 60 || !part.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    seconds +=
        (hour * 3_600 + minute * 60 + second) as f64 + format!("0.{part}").parse::<f64>().ok()?;
    let ahead = match zone.as_bytes() {
        [] | [b'Z' | b'z'] => 0,
        [sign, ..] => {
            let offset = &zone[1..];
            let offset = match offset.len() {
                5 => fields(offset, ':', &[2, 2])?,
                4 => vec![offset[..2].parse().ok()?, offset[2..].parse().ok()?],
                _ => fields(offset, ':', &[2])?,
            };
            let minutes = offset[0] * 60 + offset.get(1).copied().unwrap_or(0);
            if *sign == b'-' { -minutes } else { minutes }
        }
    };
    Some(seconds - (ahead * 60) as f64)
}

/// Whether a date states its time zone, as `2003-05-01T12:30Z` does.
pub fn has_zone(text: &str) -> bool {
    text.trim().get(10..).is_some_and(|time| time.contains(['Z', 'z', '+', '-']))
}

/// Splits a text at `between` into numbers, each with as many digits as `digits` says. `None` if
/// the text does not match.
fn fields(text: &str, between: char, digits: &[usize]) -> Option<Vec<i64>> {
    let parts: Vec<&str> = text.split(between).collect();
    let is_right = |(part, &digits): (&&str, &usize)| {
        part.len() == digits && part.bytes().all(|c| c.is_ascii_digit())
    };
    let all = parts.len() == digits.len() && parts.iter().zip(digits).all(is_right);
    all.then(|| parts.iter().filter_map(|part| part.parse().ok()).collect())
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn length(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    // Leap days of earlier years. A leap day of this year is counted with its months.
    let before = year - 1;
    let leap_days = before / 4 - before / 100 + before / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
    let months: i64 = (1..month).map(|month| length(year, month)).sum();
    (year - 1970) * 365 + leap_days + months + day - 1
}

/// Formats seconds since 1970-01-01 as date and time of day: `2001-02-03 04:05:06`.
pub fn written(second: i64) -> String {
    let (days, second) = (second.div_euclid(86_400), second.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Year, month and day for a number of days since 1970-01-01.
pub fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (cycle * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_one_by_one() {
        let mut seconds = 0.0;
        for year in 1970..2200 {
            for month in 1..=12 {
                for day in 1..=length(year, month) {
                    let text = format!("{year}-{month:02}-{day:02}");
                    assert_eq!(unix_seconds(&text), Some(seconds), "{text}");
                    seconds += 86_400.0;
                }
            }
        }
    }

    #[test]
    fn every_form_and_what_is_none() {
        for (text, seconds) in [
            ("1998-04-24T22:00:26Z", 893_455_226.0),
            ("1998-04-24 22:00:26", 893_455_226.0),
            ("1998-04-25T00:00:26+02:00", 893_455_226.0),
            ("1998-04-24T17:30:26-0430", 893_455_226.0),
            ("1998-04-24T22:00", 893_455_200.0),
            ("1998-04-24T22:00:26.25Z", 893_455_226.25),
            ("1969-12-31T23:59:59Z", -1.0),
            (" 1970-01-01 ", 0.0),
        ] {
            assert_eq!(unix_seconds(text), Some(seconds), "{text}");
        }
        for text in [
            "",
            "5",
            "1998",
            "1998-04",
            "1998-13-01",
            "1998-02-29",
            "98-04-24",
            "1998-04-24T",
            "1998-04-24T25:00",
            "1998-04-24T22:00:26X",
            "1998/04/24",
            "１998-04-24",
            "1998-04-24T22:00:26.x",
            "1998-04-24T22:00:26+2",
            "nan",
            "1998-04-2é",
            "1998-04-24T22:00:26+é1:00",
        ] {
            assert_eq!(unix_seconds(text), None, "{text}");
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        // Compare every day of 800 years in sequence with the rule of the Gregorian calendar.
        let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..292_194 {
            assert_eq!(civil(days), (year, month, day));
            let length = match month {
                2 => 28 + i64::from(is_leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!(civil(-1), (1969, 12, 31));
        assert_eq!(civil(-719_468), (0, 3, 1));
    }
}
