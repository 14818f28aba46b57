//! Columns of numbers, packed into text.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// What happened, as columns. Everything that is not a time is an index or a count.
///
/// As JSON: `columns`, a list of name, kind (`u8`, `u32` or `f64`) and length, and `data`. That is, in base64 and as a
/// zlib stream, the columns one after the other; of each, the lowest byte of every number first, then the next
/// bytes, so that the bytes that hardly change lie together and take hardly any room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// Every instant at which something happened, in order.
    pub at: Vec<f64>,
    /// How much happened at each of them.
    pub count: Vec<u32>,
    /// What happened to a job: 0 it arrived, 1 it was refused, 2 it was turned away, 3 it started, 4 it was moved, 5 it
    /// finished, 6 it was interrupted and waits again; or to a node: 7 it went out of service, 8 it is in service again.
    pub kind: Vec<u8>,
    /// Which job: its place in `number`; or which node of its site.
    pub job: Vec<u32>,
    /// The workload's own number of every job, in order of arrival.
    pub number: Vec<f64>,
    /// What it asked for: its place in the list of that.
    pub request: Vec<u32>,
    /// Who submitted it: its place in the list of users; empty where no user is known.
    pub user: Vec<u32>,
    /// Its partition: its place in the list of partitions; empty where none is known.
    pub partition: Vec<u32>,
    /// The site of every start, and of every node that goes or comes, in order; a job stays on it.
    pub site: Vec<u32>,
    /// Of how many blocks each placement is: those of starts and moves, in order.
    pub blocks: Vec<u32>,
    /// The lowest corner of every block.
    pub base: Vec<u32>,
    /// Its sides: their place in the list of shapes.
    pub shape: Vec<u32>,
    /// How many answers to those who wait have changed by the end of each instant; empty where nobody was asked.
    pub answers: Vec<u32>,
    /// What they are answers to: its place in the list of what was asked for.
    pub answered: Vec<u32>,
    /// The answers: 0 too few nodes are free, 1 enough are, but not as they would have to lie, 2 there is room.
    pub answer: Vec<u8>,
    /// The spans during which nodes slept.
    pub asleep: Spans,
}

/// Spans of time of single nodes, as columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spans {
    /// The node of each.
    pub node: Vec<u32>,
    /// Its site.
    pub site: Vec<u32>,
    /// The beginning.
    pub from: Vec<f64>,
    /// The end; infinite, if that of the run.
    pub until: Vec<f64>,
}

impl Columns {
    /// Name, kind and length of every column, and the bytes.
    fn pack(&self) -> (Vec<(&'static str, &'static str, usize)>, Vec<u8>) {
        let mut bytes = Vec::new();
        let mut list = Vec::new();
        let mut f64s = |name, numbers: &[f64]| {
            planes(&mut bytes, numbers, f64::to_le_bytes);
            list.push((name, "f64", numbers.len()));
        };
        f64s("at", &self.at);
        f64s("number", &self.number);
        f64s("asleep_from", &self.asleep.from);
        f64s("asleep_until", &self.asleep.until);
        let mut u32s = |name, numbers: &[u32]| {
            planes(&mut bytes, numbers, u32::to_le_bytes);
            list.push((name, "u32", numbers.len()));
        };
        u32s("count", &self.count);
        u32s("job", &self.job);
        u32s("request", &self.request);
        u32s("user", &self.user);
        u32s("partition", &self.partition);
        u32s("site", &self.site);
        u32s("blocks", &self.blocks);
        u32s("base", &self.base);
        u32s("shape", &self.shape);
        u32s("answers", &self.answers);
        u32s("answered", &self.answered);
        u32s("asleep_node", &self.asleep.node);
        u32s("asleep_site", &self.asleep.site);
        for (name, numbers) in [("kind", &self.kind), ("answer", &self.answer)] {
            bytes.extend_from_slice(numbers);
            list.push((name, "u8", numbers.len()));
        }
        (list, bytes)
    }
}

/// The first byte of every number, then the second ones, and so on.
fn planes<T: Copy, const N: usize>(bytes: &mut Vec<u8>, numbers: &[T], split: fn(T) -> [u8; N]) {
    for byte in 0..N {
        bytes.extend(numbers.iter().map(|&number| split(number)[byte]));
    }
}

fn squeezed(bytes: &[u8]) -> std::io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (list, bytes) = self.pack();
        let data = squeezed(&bytes).map_err(serde::ser::Error::custom)?;
        let mut fields = serializer.serialize_struct("Columns", 2)?;
        fields.serialize_field("columns", &list)?;
        fields.serialize_field("data", &data)?;
        fields.end()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// What a browser does, in other words.
    pub(crate) fn unpacked(json: &Value) -> Columns {
        let packed = STANDARD.decode(json["data"].as_str().unwrap()).unwrap();
        let mut bytes = Vec::new();
        ZlibDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        let mut columns = Columns::default();
        let mut at = 0;
        for column in json["columns"].as_array().unwrap() {
            let length = column[2].as_u64().unwrap() as usize;
            let width = match column[1].as_str().unwrap() {
                "f64" => 8,
                "u32" => 4,
                _ => 1,
            };
            let planes = &bytes[at..at + length * width];
            at += length * width;
            let number = |i: usize| {
                (0..width)
                    .fold(0_u64, |n, byte| n | u64::from(planes[byte * length + i]) << (8 * byte))
            };
            let whole = || (0..length).map(|i| number(i) as u32).collect::<Vec<u32>>();
            let real = || (0..length).map(|i| f64::from_bits(number(i))).collect::<Vec<f64>>();
            match column[0].as_str().unwrap() {
                "at" => columns.at = real(),
                "number" => columns.number = real(),
                "count" => columns.count = whole(),
                "job" => columns.job = whole(),
                "request" => columns.request = whole(),
                "user" => columns.user = whole(),
                "partition" => columns.partition = whole(),
                "site" => columns.site = whole(),
                "blocks" => columns.blocks = whole(),
                "base" => columns.base = whole(),
                "shape" => columns.shape = whole(),
                "answers" => columns.answers = whole(),
                "answered" => columns.answered = whole(),
                "asleep_from" => columns.asleep.from = real(),
                "asleep_until" => columns.asleep.until = real(),
                "asleep_node" => columns.asleep.node = whole(),
                "asleep_site" => columns.asleep.site = whole(),
                "kind" => columns.kind = planes.to_vec(),
                "answer" => columns.answer = planes.to_vec(),
                other => panic!("a column {other}"),
            }
        }
        assert_eq!(at, bytes.len(), "nothing is left over");
        columns
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back(
            at in prop::collection::vec(any::<f64>().prop_filter("a number", |x| !x.is_nan()), 0..50),
            whole in prop::collection::vec(any::<u32>(), 0..50),
            kind in prop::collection::vec(0..9_u8, 0..50),
        ) {
            let columns = Columns {
                number: at.iter().rev().copied().collect(),
                asleep: Spans {
                    node: whole.iter().map(|n| n % 9).collect(),
                    site: vec![0; whole.len()],
                    from: at.clone(),
                    until: vec![f64::INFINITY; at.len()],
                },
                at,
                kind,
                count: whole.clone(),
                job: whole.iter().map(|n| n / 3).collect(),
                request: whole.iter().map(|n| n % 7).collect(),
                site: vec![],
                blocks: vec![1; whole.len()],
                base: whole.iter().rev().copied().collect(),
                answers: whole.clone(),
                answered: whole.iter().map(|n| n % 5).collect(),
                answer: whole.iter().map(|n| (n % 3) as u8).collect(),
                user: whole.iter().map(|n| n % 4).collect(),
                partition: vec![2; whole.len()],
                shape: whole,
            };
            prop_assert_eq!(unpacked(&serde_json::to_value(&columns).unwrap()), columns);
        }
    }
}
