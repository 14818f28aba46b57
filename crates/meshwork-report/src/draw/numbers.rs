//! Selection and formatting of the numbers along an axis.

/// Puts commas between groups of three digits, if at least five digits precede the decimal point.
fn grouped(text: &str) -> String {
    let (whole, part) =
        text.split_once('.').map_or((text, None), |(whole, part)| (whole, Some(part)));
    let digits = whole.chars().filter(char::is_ascii_digit).count();
    if digits < 5 {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut seen = 0;
    for c in whole.chars() {
        if c.is_ascii_digit() {
            if seen > 0 && (digits - seen) % 3 == 0 {
                out.push(',');
            }
            seen += 1;
        }
        out.push(c);
    }
    if let Some(part) = part {
        out.push('.');
        out += part;
    }
    out
}

fn plain(number: f64) -> String {
    if number == 0.0 { "0".to_owned() } else { number.to_string().replace('-', "−") }
}

fn digits(number: f64, most: usize) -> String {
    plain(format!("{number:.*e}", most - 1).parse().unwrap_or(number))
}

pub(super) fn tick(number: f64) -> String {
    let size = number.abs();
    for (power, letter) in [(1e12, 'T'), (1e9, 'B'), (1e6, 'M')] {
        if size >= power {
            return format!("{}{letter}", grouped(&digits(number / power, 4)));
        }
    }
    if size > 0.0 && size < 1e-4 {
        return format!("{number:e}").replace('-', "−");
    }
    grouped(&digits(number, 6))
}

/// Formats a number with five significant digits, or in scientific notation if it is extreme.
pub(super) fn brief(number: f64) -> String {
    let size = number.abs();
    if size > 0.0 && !(1e-4..1e15).contains(&size) {
        return format!("{number:.3e}").replace('-', "−");
    }
    if size >= 1e5 { grouped(&plain((number + 0.5).floor())) } else { grouped(&digits(number, 5)) }
}

fn fixed(number: f64, decimals: usize) -> String {
    let power = 10_f64.powi(decimals as i32);
    let rounded = (number * power + 0.5).floor() / power;
    grouped(&format!("{:.decimals$}", if rounded == 0.0 { 0.0 } else { rounded }).replace('-', "−"))
}

/// Formats a mean and its half width. Both are rounded to the second digit of the half width.
pub(super) fn rounded(mean: f64, half: Option<f64>) -> String {
    let Some(half) = half else { return brief(mean) };
    let decimals = 1.0 - half.log10().floor();
    if half <= 0.0 || decimals > 6.0 || mean.abs() >= 1e15 {
        return format!("{} ± {}", brief(mean), brief(half));
    }
    let decimals = decimals.max(0.0) as usize;
    format!("{} ± {}", fixed(mean, decimals), fixed(half, decimals))
}

/// Formats a signed percentage with the ends of its interval. The upper end may be infinite.
pub(super) fn percent(mean: f64, ends: Option<[f64; 2]>) -> String {
    let signed = |number: f64, decimals: usize| {
        format!("{}{}", if number > 0.0 { "+" } else { "" }, fixed(number, decimals))
    };
    let decimals = |size: f64| {
        if size > 0.0 { (1.0 - size.log10().floor()).clamp(0.0, 6.0) as usize } else { 0 }
    };
    let Some([low, high]) = ends else {
        return format!("{} %", signed(mean, decimals(mean.abs())));
    };
    let own = decimals(if high.is_finite() { high - low } else { 100.0 });
    let top = if high.is_finite() { signed(high, own) } else { "∞".to_owned() };
    format!("{} % ({} to {top})", signed(mean, own), signed(low, own))
}

/// Converts a difference from a baseline, in percent, to a ratio to the baseline.
pub(super) fn ratio_of(percent: f64) -> f64 {
    1.0 + percent / 100.0
}

/// Converts a ratio to a difference in percent, rounded to nine significant digits.
///
/// A ratio of 1 is a difference of 0 percent.
pub(super) fn percent_of(ratio: f64) -> f64 {
    let percent = 100.0 * (ratio - 1.0);
    format!("{percent:.8e}").parse().unwrap_or(percent) + 0.0
}

/// Ticks in percent, such as −90, 0 and +900, for an axis that is logarithmic in the ratio.
///
/// A ratio of 1 to the baseline is a difference of 0 percent.
pub(super) fn ratio_ticks(from: f64, until: f64, most: f64) -> Vec<f64> {
    log_ticks(ratio_of(from), ratio_of(until), most).into_iter().map(percent_of).collect()
}

/// Ticks in a range: multiples of 1, 2 or 5 times a power of ten. Their number is about `about`.
pub(super) fn linear_ticks(from: f64, until: f64, about: f64) -> Vec<f64> {
    let span = until - from;
    if span.is_nan() || span <= 0.0 {
        return vec![from];
    }
    let raw = span / about.max(1.0);
    let power = raw.log10().floor() as i32;
    let error = raw / 10_f64.powi(power);
    let factor = if error >= 50_f64.sqrt() {
        10.0
    } else if error >= 10_f64.sqrt() {
        5.0
    } else if error >= std::f64::consts::SQRT_2 {
        2.0
    } else {
        1.0
    };
    // Divide if the step is below 1, so that 0.3 is exactly 0.3.
    let at = |k: f64| {
        if power < 0 { k * factor / 10_f64.powi(-power) } else { k * factor * 10_f64.powi(power) }
    };
    let first = (from / at(1.0) - 1e-9).ceil();
    let ticks = (0..).map(|i| at(first + f64::from(i)));
    ticks.take_while(|&tick| tick <= until + at(1.0) * 1e-9).collect()
}

/// Sets of ticks of a logarithmic axis, from dense to sparse: mantissas, and a step of exponents.
const SETS: [(&[f64], i32); 8] = [
    (&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1),
    (&[1.0, 2.0, 3.0, 5.0, 7.0], 1),
    (&[1.0, 2.0, 5.0], 1),
    (&[1.0, 3.0], 1),
    (&[1.0], 1),
    (&[1.0], 2),
    (&[1.0], 3),
    (&[1.0], 10),
];

/// Ticks of a logarithmic axis: at least two, and otherwise at most `most`.
pub(super) fn log_ticks(from: f64, until: f64, most: f64) -> Vec<f64> {
    let (first, last) = (from.log10().floor() as i32, until.log10().ceil() as i32);
    let mut finer = linear_ticks(from, until, most - 1.0);
    finer.retain(|&number| number > 0.0);
    for (marks, step) in SETS {
        let powers = (first..=last).filter(|power| power % step == 0);
        let ticks: Vec<f64> = powers
            .flat_map(|power| {
                marks.iter().map(move |mark| {
                    if power < 0 { mark / 10_f64.powi(-power) } else { mark * 10_f64.powi(power) }
                })
            })
            .filter(|&number| number >= from && number <= until)
            .collect();
        if ticks.len() < 2 {
            break;
        }
        if ticks.len() as f64 <= most {
            return ticks;
        }
        finer = ticks;
    }
    let step = (finer.len() as f64 / most.max(2.0)).ceil().max(1.0) as usize;
    finer.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_grouped() {
        let ticks = [0.0, -0.3, 0.1 + 0.2, 1234.5, 999_999.0, 1.5e6, -2e9, 0.00001].map(tick);
        assert_eq!(ticks, ["0", "−0.3", "0.3", "1234.5", "999,999", "1.5M", "−2B", "1e−5"]);
        let briefs = [1.0 / 3.0, 24_485.4, 123_456.7, -0.000_012_345, 2e15].map(brief);
        assert_eq!(briefs, ["0.33333", "24,485", "123,457", "−1.234e−5", "2.000e15"]);
        let shown = [(24_485.4, Some(159.2)), (-0.012_345, Some(0.004_56)), (7.0, Some(0.0))];
        let shown = shown.map(|(mean, half)| rounded(mean, half));
        assert_eq!(shown, ["24,485 ± 159", "−0.0123 ± 0.0046", "7 ± 0"]);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(linear_ticks(0.0, 1.0, 5.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(linear_ticks(-3.0, 12.0, 4.0), [0.0, 5.0, 10.0]);
        assert_eq!(linear_ticks(2.0, 2.0, 4.0), [2.0]);
        assert_eq!(log_ticks(0.5, 80.0, 8.0), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(log_ticks(0.01, 1e6, 5.0), [0.01, 1.0, 100.0, 10_000.0, 1e6]);
        assert_eq!(log_ticks(0.01, 1e6, 4.0), [1.0, 1000.0, 1e6]);
        assert_eq!(log_ticks(20.0, 900.0, 2.0), [30.0, 300.0]);
        assert_eq!(log_ticks(120.0, 900.0, 3.0), [200.0, 500.0]);
        assert_eq!(log_ticks(350.0, 480.0, 4.0), [350.0, 400.0, 450.0]);
    }

    #[test]
    fn percentages_have_signs_and_ends() {
        assert_eq!(percent(-97.4, Some([-99.8, -72.0])), "−97 % (−100 to −72)");
        assert_eq!(percent(12.0, Some([-3.0, f64::INFINITY])), "+12 % (−3 to ∞)");
        assert_eq!(percent(0.25, None), "+0.25 %");
    }
}
