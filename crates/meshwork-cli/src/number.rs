//! Aligns numbers in columns, and measures the width of texts on a terminal.

use meshwork_lab::text::number::Rounded;

/// Aligns numbers at their decimal points and `±`, and pads them to one width.
pub(crate) fn align(numbers: &[Rounded]) -> Vec<String> {
    let means: Vec<&str> = numbers.iter().map(|number| number.mean.as_str()).collect();
    let halves: Vec<&str> =
        numbers.iter().map(|number| number.half_width.as_deref().unwrap_or("")).collect();
    let (means, halves) = (align_points(&means), align_points(&halves));
    let suffix = numbers.iter().map(|number| width(&number.suffix)).max().unwrap_or(0);
    let any_half = numbers.iter().any(|number| number.half_width.is_some());
    let line = |((number, mean), half): ((&Rounded, String), String)| {
        let half = match (any_half, &number.half_width) {
            (false, _) => String::new(),
            (true, Some(_)) => format!(" ± {half}"),
            (true, None) => format!("   {half}"),
        };
        let gap = if suffix > 0 { " " } else { "" };
        format!("{mean}{half}{gap}{}", right(&number.suffix, suffix))
    };
    numbers.iter().zip(means).zip(halves).map(line).collect()
}

fn align_points(texts: &[&str]) -> Vec<String> {
    let point = |text: &str| text.find('.').unwrap_or(text.len());
    let before = texts.iter().map(|text| point(text)).max().unwrap_or(0);
    let after = texts.iter().map(|text| text.len() - point(text)).max().unwrap_or(0);
    let padded = |text: &&str| {
        let left = " ".repeat(before - point(text));
        let right = " ".repeat(after - (text.len() - point(text)));
        format!("{left}{text}{right}")
    };
    texts.iter().map(padded).collect()
}

pub(crate) fn width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// Pads a text with blanks on its right, up to `columns` columns.
pub(crate) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Pads a text with blanks on its left, up to `columns` columns.
pub(crate) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_signs_stand_below_each_other() {
        let numbers = [
            Rounded::new(Some(8053.0), Some(120.0)),
            Rounded::new(Some(12.345), Some(0.67)),
            Rounded::new(None, None),
            Rounded::new(Some(5.0), None),
        ];
        assert_eq!(
            align(&numbers),
            ["8053    ± 120   ", "  12.35 ±   0.67", "   -            ", "   5            "]
        );
    }
}
