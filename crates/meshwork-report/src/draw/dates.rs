//! Date ticks of an axis whose clock has a known start.

use crate::views::Dates;
use meshwork_slurm::date::{civil, days, written};

const DAY: i64 = 86_400;

/// Possible distances between ticks in seconds, for distances shorter than a month.
const STEPS: [i64; 21] = [
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    10_800,
    21_600,
    43_200,
    DAY,
    2 * DAY,
    7 * DAY,
    14 * DAY,
];

const MONTHS: [i64; 13] = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000];

const MONTH: f64 = 30.436_875 * DAY as f64;

/// First Monday after 1970-01-01, in seconds since that date. Ticks that are one or two weeks apart
/// are on Mondays.
const MONDAY: i64 = 4 * DAY;

/// Whether a time in seconds since 1970 lies in the years 0 to 9999, so that it can be formatted.
fn is_written(second: f64) -> bool {
    (-62_167_219_200.0..253_402_300_800.0).contains(&second)
}

/// Ticks of an axis at round dates, with their labels, in about the requested number.
pub(super) fn date_ticks(dates: Dates, from: f64, until: f64, about: f64) -> Vec<(f64, String)> {
    let (seconds, start) = (dates.seconds, dates.start as f64);
    let (first, last) = (start + from * seconds, start + until * seconds);
    if first.is_nan() || first >= last || !is_written(first) || !is_written(last) {
        return Vec::new();
    }
    let raw = (last - first) / about.max(1.0) * 0.999;
    let found = |second: i64, text: String| ((second as f64 - start) / seconds, text);
    if let Some(step) = STEPS.into_iter().find(|&step| step as f64 >= raw) {
        let shift = if step % (7 * DAY) == 0 { MONDAY } else { 0 };
        let begin = ((first - shift as f64) / step as f64 - 1e-9).ceil() as i64;
        let ticks = (begin..).map(|k| k * step + shift);
        return ticks
            .take_while(|&second| second as f64 <= last + step as f64 * 1e-9)
            .map(|second| found(second, short(second, step)))
            .collect();
    }
    let months = MONTHS.into_iter().find(|&months| months as f64 * MONTH >= raw).unwrap_or(12_000);
    let (year, month, _) = civil((first / DAY as f64).floor() as i64);
    let mut ticks = Vec::new();
    for k in (year * 12 + month - 1).div_euclid(months).. {
        let month = k * months;
        let second = days(month.div_euclid(12), month.rem_euclid(12) + 1, 1) * DAY;
        if second as f64 > last {
            break;
        }
        if second as f64 >= first {
            let digits = if months % 12 == 0 { 4 } else { 7 };
            ticks.push(found(second, written(second)[..digits].to_owned()));
        }
    }
    ticks
}

/// Formats the date of a tick as short as the step between ticks allows.
fn short(second: i64, step: i64) -> String {
    let text = written(second);
    if step >= DAY {
        return text[..10].to_owned();
    }
    let clock = if step % 60 == 0 { &text[11..16] } else { &text[11..] };
    let is_midnight = second.rem_euclid(DAY) == 0;
    (if is_midnight { &text[5..10] } else { clock }).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_dates_of_the_calendar() {
        // From half past ten in the evening of 28 February 2000 on, in hours.
        let dates = Dates { seconds: 3600.0, start: 951_777_000 };
        let texts = |until: f64, about: f64| -> Vec<String> {
            date_ticks(dates, 0.0, until, about).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts(12.0, 5.0), ["02-29", "03:00", "06:00", "09:00"]);
        assert_eq!(texts(72.0, 3.0), ["2000-02-29", "2000-03-01", "2000-03-02"]);
        assert_eq!(texts(24.0 * 21.0, 3.0), ["2000-03-06", "2000-03-13", "2000-03-20"]);
        assert_eq!(texts(24.0 * 100.0, 4.0), ["2000-03", "2000-04", "2000-05", "2000-06"]);
        assert_eq!(texts(24.0 * 2900.0, 4.0), ["2002", "2004", "2006", "2008"]);
        assert_eq!(texts(0.01, 2.0), ["22:30:00", "22:30:30"]);
        assert!(texts(1e12, 4.0).is_empty());
        let first = date_ticks(dates, 0.0, 72.0, 3.0)[0].0;
        assert!((first - 1.5).abs() < 1e-9);
    }
}
