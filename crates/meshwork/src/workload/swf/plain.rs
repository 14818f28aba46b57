//! Fast reader of plain lines: 18 numbers separated by single blanks, as programs write them.
//!
//! Nearly all lines of logs are plain and are read here, directly from the buffer. The general
//! reader reads all other lines.

use super::format::{Record, is_blank, number_in};
use crate::registry::LARGEST;

/// The text `-1 `, which stands for an unknown number, in the lowest bytes of a 64-bit word.
const NOT_KNOWN: u64 = u64::from_le_bytes(*b"-1 \0\0\0\0\0");
const THREE_NOT_KNOWN: u64 = u64::from_le_bytes(*b"-1 -1 -1");

/// The text `-1` with a line end, as a 64-bit word. At the end of a line, it stands for an unknown
/// number.
const LAST_NOT_KNOWN: u64 = u64::from_le_bytes(*b"-1\n\0\0\0\0\0");

impl Record {
    /// Reads a plain line (18 numbers, single blanks) at the start of `text` into this record.
    /// Returns the length of the line with its line end, or `None` for a line that is not plain.
    #[inline]
    pub(super) fn read_plain(&mut self, text: &[u8]) -> Option<usize> {
        let [fields @ .., last] = &mut self.fields;
        let (mut at, mut i) = (0, 0);
        while let Some(field) = fields.get_mut(i) {
            let (bytes, ninth) = ahead(text, at)?;
            if bytes & 0xff_ffff == NOT_KNOWN {
                *field = -1.0;
                if bytes == THREE_NOT_KNOWN
                    && ninth == b' '
                    && let Some(further) = fields.get_mut(i + 1..i + 3)
                {
                    further.fill(-1.0);
                    (at, i) = (at + 9, i + 3);
                } else {
                    (at, i) = (at + 3, i + 1);
                }
                continue;
            }
            if let Some((number, digits)) = short(bytes, |end| end == b' ') {
                *field = f64::from(number);
                (at, i) = (at + digits + 1, i + 1);
                continue;
            }
            let (number, length) = long(text, at, bytes)?;
            *field = number;
            at += length;
            if text.get(at) != Some(&b' ') {
                return None;
            }
            (at, i) = (at + 1, i + 1);
        }
        let (bytes, _) = ahead(text, at)?;
        if bytes & 0xff_ffff == LAST_NOT_KNOWN {
            *last = -1.0;
            return Some(at + 3);
        }
        if let Some((number, digits)) = short(bytes, |end| end == b'\n') {
            *last = f64::from(number);
            return Some(at + digits + 1);
        }
        let (number, length) = match short(bytes, is_blank) {
            Some((number, digits)) => (f64::from(number), digits),
            None => long(text, at, bytes)?,
        };
        *last = number;
        at += length;
        match text.get(at..)? {
            [b'\n', ..] => Some(at + 1),
            [b'\r', b'\n', ..] => Some(at + 2),
            _ => None,
        }
    }
}

/// Returns the eight bytes from an index on, and the ninth byte; `None` if fewer than nine are
/// left.
#[inline(always)]
fn ahead(text: &[u8], at: usize) -> Option<(u64, u8)> {
    let (bytes, ninth) = text.get(at..at + 9)?.split_first_chunk()?;
    Some((u64::from_le_bytes(*bytes), ninth[0]))
}

/// Values of the ASCII digits with which eight bytes begin, and a mask that shows their end.
///
/// The lowest set bit of the mask is in the first byte that is no digit; without one, it is 0.
#[inline(always)]
pub(super) fn digits(bytes: u64) -> (u64, u64) {
    // For a byte that is no digit, the high bit is set here or by the addition below.
    let values = bytes ^ 0x3030_3030_3030_3030;
    // Bytes after the first non-digit may contain a carry and are not used.
    (values, (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080)
}

/// Returns the number made of `count` digits (1 to 8), given the values of the digits.
#[inline(always)]
pub(super) fn number(count: u32, values: u64) -> u32 {
    // Leading zeros are shifted in; then digits are combined to pairs, pairs to groups of four, and
    // groups to the number.
    let all = values << (64 - 8 * count);
    let pairs = all.wrapping_mul(10 * 0x100 + 1) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100 * 0x1_0000 + 1) >> 16 & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000 * 0x1_0000_0000 + 1) >> 32) as u32
}

/// Reads a number of one to seven digits; `None` if `is_end` rejects the byte after the number.
#[inline(always)]
pub(super) fn short(bytes: u64, is_end: impl Fn(u8) -> bool) -> Option<(u32, usize)> {
    let (values, others) = digits(bytes);
    // If the first seven bytes are digits, the eighth must end the number, otherwise it is too
    // long.
    let count = (others | 1 << 63).trailing_zeros() / 8;
    let is_whole = count > 0 && is_end((bytes >> (8 * count)) as u8);
    is_whole.then(|| (number(count, values), count as usize))
}

/// Reads the number that begins at index `at` and ends before a blank. `bytes` holds the first
/// eight bytes from index `at` on.
fn long(text: &[u8], at: usize, bytes: u64) -> Option<(f64, usize)> {
    let (values, others) = digits(bytes);
    if others != 0 {
        return odd(text, at);
    }
    let high = f64::from(number(8, values));
    let (further, _) = ahead(text, at + 8)?;
    if is_blank(further as u8) {
        return Some((high, 8));
    }
    // With up to 15 digits all of these operations are exact.
    const POWERS: [f64; 8] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];
    match short(further, is_blank) {
        Some((low, digits)) => Some((high * POWERS[digits] + f64::from(low), 8 + digits)),
        None => odd(text, at),
    }
}

/// Reads a number in any notation from index `at` on, and returns it with its length.
#[inline(never)]
fn odd(text: &[u8], at: usize) -> Option<(f64, usize)> {
    let token = &text[at..];
    let length = token.iter().position(|&byte| is_blank(byte))?;
    let number = number_in(&token[..length])?;
    (number.abs() <= LARGEST).then_some((number + 0.0, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Slow reference version of the fast reader. It splits the first line at single blanks, and
    /// parses each field.
    fn by_lines(text: &[u8]) -> Option<(Record, usize)> {
        let length = text.iter().position(|&byte| byte == b'\n')?;
        let line = text[..length].strip_suffix(b"\r").unwrap_or(&text[..length]);
        let is_plain =
            line.split(|&byte| byte == b' ').count() == 18 && line.iter().all(|&byte| byte >= b' ');
        let record = Record::parse(line).ok()?;
        is_plain.then_some((record, length + 1))
    }

    fn field() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => Just("-1".to_owned()),
            4 => "[0-9]{1,7}",
            2 => "[0-9]{8,17}",
            1 => "[-+]?[0-9]{1,9}\\.[0-9]{0,9}",
            1 => "-?[0-9]{1,3}e[0-9]",
            1 => "[-+.0-9;a]{0,4}",
        ]
    }

    proptest! {
        #[test]
        fn a_plain_line_is_read_as_any_other(
            fields in prop::collection::vec(field(), 17..20),
            blanks in prop::collection::vec(prop_oneof![30 => Just(" "), 1 => Just("  "), 1 => Just("\t")], 20),
            end in prop_oneof![8 => Just("\n"), 2 => Just("\r\n"), 1 => Just(" \n"), 1 => Just("")],
            behind in "[-0-9 \n]{0,20}",
        ) {
            let mut line = String::new();
            for (i, (field, blank)) in fields.iter().zip(&blanks).enumerate() {
                line.push_str(if i > 0 { blank } else { "" });
                line.push_str(field);
            }
            let text = line + end + &behind;
            let mut record = Record { fields: [7.0; 18] };
            let found = record.read_plain(text.as_bytes());
            let expected = by_lines(text.as_bytes());
            if let Some(length) = found {
                let bits = |record: Record| record.fields.map(f64::to_bits);
                prop_assert_eq!(
                    Some((bits(record), length)),
                    expected.map(|(record, length)| (bits(record), length))
                );
            } else if let Some((_, length)) = expected {
                // Only lines so close to the end that words cannot be read are left to the general
                // reader.
                prop_assert!(text.len() - length < 18, "{text:?}");
            }
        }
    }
}
