//! Formatting of numbers with a sensible number of digits.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rounded {
    pub mean: String,
    pub half_width: Option<String>,
    pub suffix: String,
}

impl Rounded {
    /// Formats a number with as many decimals as two significant digits of the half width need.
    pub fn new(mean: Option<f64>, half_width: Option<f64>) -> Rounded {
        let Some(mean) = mean else {
            return Rounded { mean: "-".to_owned(), ..Rounded::default() };
        };
        let Some(half_width) = half_width else {
            return Rounded { mean: significant(mean, 5), ..Rounded::default() };
        };
        let decimals = if half_width > 0.0 { decimals(half_width, 2) } else { 0 };
        // Tiny: mere rounding error, or too small to be written out.
        let is_tiny = decimals > 9 || half_width > 0.0 && decimals + magnitude(mean).max(0) > 12;
        let (mean, half_width) = match half_width {
            0.0 => (significant(mean, 5), "0".to_owned()),
            // No more digits are known of a mean whose interval contains 0.
            _ if is_tiny && mean.abs() <= half_width => {
                (significant(mean, 2), scientific(half_width, 2))
            }
            _ if is_tiny => (significant(mean, 9), scientific(half_width, 2)),
            _ => (fixed(mean, decimals), fixed(half_width, decimals)),
        };
        Rounded { mean, half_width: Some(half_width), suffix: String::new() }
    }

    pub fn signed(mut self) -> Rounded {
        let is_number = self.mean.starts_with(|c: char| c.is_ascii_digit());
        if is_number && self.mean.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
            self.mean.insert(0, '+');
        }
        self
    }
}

/// Formats a number with `digits` significant digits, without trailing zeros.
pub fn significant(number: f64, digits: i32) -> String {
    if number.abs() > 0.0 && magnitude(number) < -5 {
        return scientific(number, digits as usize);
    }
    trimmed(fixed(number, if number.abs() > 0.0 { decimals(number, digits) } else { 0 }))
}

/// Removes zeros at the end of a number's decimals. A number with an exponent is unchanged.
pub fn trimmed(text: String) -> String {
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

pub fn count(number: u64) -> String {
    grouped(&number.to_string())
}

pub fn plural(number: u64, what: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{} {what}{end}", count(number))
}

/// Decimal exponent of a number's first significant digit: 0 for units, −1 for tenths.
fn magnitude(number: f64) -> i32 {
    if number.abs() > 0.0 { number.abs().log10().floor() as i32 } else { 0 }
}

fn decimals(number: f64, digits: i32) -> i32 {
    let shown = (digits - 1 - magnitude(number)).max(0);
    // 0.996 with two digits is 1.0 and not 1.00.
    let rounded: f64 = format!("{:.*}", shown as usize, number.abs()).parse().unwrap_or(number);
    (digits - 1 - magnitude(rounded)).max(0)
}

fn fixed(number: f64, decimals: i32) -> String {
    if number.abs() >= 1e15 {
        return scientific(number, 5);
    }
    let text = format!("{number:.*}", decimals as usize);
    let is_zero = !text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    match text.strip_prefix('-') {
        Some(positive) if is_zero => positive.to_owned(),
        Some(positive) => format!("-{}", grouped(positive)),
        None => grouped(&text),
    }
}

fn scientific(number: f64, digits: usize) -> String {
    format!("{number:.*e}", digits - 1)
}

fn grouped(digits: &str) -> String {
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    if whole.len() < 5 {
        return digits.to_owned();
    }
    let mut text = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(mean: f64, half_width: Option<f64>) -> String {
        let rounded = Rounded::new(Some(mean), half_width);
        match rounded.half_width {
            Some(half) => format!("{} ± {half}", rounded.mean),
            None => rounded.mean,
        }
    }

    #[test]
    fn two_digits_of_the_half_width_decide() {
        for (mean, half_width, text) in [
            (12.3456, 0.6712, "12.35 ± 0.67"),
            (12.3456, 1.234, "12.3 ± 1.2"),
            (12.3456, 0.0996, "12.35 ± 0.10"),
            (12.3456, 9.96, "12 ± 10"),
            (12_345.6, 678.0, "12,346 ± 678"),
            (0.712_344, 0.000_123, "0.71234 ± 0.00012"),
            (-0.001, 0.5, "0.00 ± 0.50"),
            (200.0, 0.0, "200 ± 0"),
            (0.0, 0.0, "0 ± 0"),
            (0.5, 1.2e-17, "0.5 ± 1.2e-17"),
            (-1.850_371_71e-17, 8.0e-17, "-1.9e-17 ± 8.0e-17"),
            (3e-9, 4.3e-11, "3.00000000e-9 ± 4.3e-11"),
            (1e14, 0.25, "100,000,000,000,000 ± 2.5e-1"),
        ] {
            assert_eq!(shown(mean, Some(half_width)), text);
        }
    }

    #[test]
    fn without_a_half_width_there_are_five_digits() {
        for (number, text) in [
            (12.3456, "12.346"),
            (0.5, "0.5"),
            (0.0, "0"),
            (-0.0, "0"),
            (-12.3456, "-12.346"),
            (63_072_000.0, "63,072,000"),
            (9_999.0, "9999"),
            (0.000_012_345_6, "0.000012346"),
            (0.000_001_234_56, "1.2346e-6"),
            (1e300, "1.0000e300"),
        ] {
            assert_eq!(shown(number, None), text);
        }
        assert_eq!(Rounded::new(None, None).mean, "-");
    }

    #[test]
    fn a_difference_shows_its_sign() {
        let signed = |number: f64| Rounded::new(Some(number), None).signed().mean;
        assert_eq!([2.5, -2.5, 0.0].map(signed), ["+2.5", "-2.5", "0"]);
    }
}
