//! Events of a recording as columns of numbers, which are packed into text.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// Events of a recording as columns of times, indices and counts.
///
/// In JSON, `columns` lists the name, type (`u8`, `u32` or `f64`) and length of every column.
/// `data` has the bytes of all columns, as a zlib stream in base64. A column begins with the lowest
/// bytes of all its numbers. Then come their second bytes, and so on, because adjacent equal bytes
/// compress well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    pub at: Vec<f64>,
    pub count: Vec<u32>,
    /// Kind of each event.
    ///
    /// For a job: 0 arrived, 1 refused, 2 turned away, 3 started, 4 moved, 5 finished, 6
    /// interrupted and waiting again. For a node: 7 out of service, 8 back in service.
    pub kind: Vec<u8>,
    /// Index of the job of each event or, for an event of a node, the number of the node on its
    /// site.
    pub job: Vec<u32>,
    /// For each job, in order of arrival, its number in the workload.
    pub number: Vec<f64>,
    /// For each job, index of its request in the list of requests.
    pub request: Vec<u32>,
    /// For each job, index of its user in the list of users. Empty if no job has a known user.
    pub user: Vec<u32>,
    /// For each job, index of its partition in the list of partitions. Empty if no job names a
    /// partition.
    pub partition: Vec<u32>,
    /// Index of the site for every start of a job and every event of a node. Moves have none,
    /// because a job stays on its site.
    pub site: Vec<u32>,
    /// Number of blocks in the placement, for each start and each move of a job.
    pub blocks: Vec<u32>,
    /// Node at the corner of each block, from which the block extends.
    pub base: Vec<u32>,
    /// For each block, index of its sides in the list of shapes.
    pub shape: Vec<u32>,
    pub parts: PartColumns,
    /// Number of changed answers of allocators at each instant. Empty if the recording has no
    /// reasons for waiting.
    pub answers: Vec<u32>,
    /// For each changed answer of an allocator, the index of its request in the list of requests.
    pub answered: Vec<u32>,
    /// For each changed answer of an allocator, the new answer. 0 means too few free nodes, 1
    /// enough nodes but not in the required shape, and 2 that the request could start.
    pub answer: Vec<u8>,
    pub asleep: Spans,
}

/// Parts of nodes that jobs hold. Parts of one placement follow each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartColumns {
    /// For each start and each move of a job, number of node parts in its placement.
    pub count: Vec<u32>,
    pub node: Vec<u32>,
    pub cpu: Vec<u32>,
    /// Memory of each part, in MiB.
    pub mem: Vec<u32>,
    /// Held thousandths of a GPU, for each part of a node that a job holds.
    pub gpu: Vec<u32>,
    /// For each part of a node that a job holds, the amount of the resource `other` in the part.
    ///
    /// The study defines what this resource is.
    pub other: Vec<u32>,
}

/// Time intervals of single nodes, as columns with one entry for each interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spans {
    pub node: Vec<u32>,
    pub site: Vec<u32>,
    pub from: Vec<f64>,
    /// End of each interval; infinite if the interval lasts to the end of the run.
    pub until: Vec<f64>,
}

impl Columns {
    /// List of all columns with name, type and length, and the bytes of all columns.
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
        let PartColumns { count, node, cpu, mem, gpu, other } = &self.parts;
        let parts = [
            ("parts", count),
            ("part_node", node),
            ("part_cpu", cpu),
            ("part_mem", mem),
            ("part_gpu", gpu),
            ("part_other", other),
        ];
        parts.iter().filter(|_| !count.is_empty()).for_each(|(name, own)| u32s(name, own));
        for (name, numbers) in [("kind", &self.kind), ("answer", &self.answer)] {
            bytes.extend_from_slice(numbers);
            list.push((name, "u8", numbers.len()));
        }
        (list, bytes)
    }
}

/// Appends the first bytes of all numbers to `bytes`, then the second bytes, and so on.
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

    /// Unpacks columns in the way in which a page's script does, independently of `pack`.
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
                "parts" => columns.parts.count = whole(),
                "part_node" => columns.parts.node = whole(),
                "part_cpu" => columns.parts.cpu = whole(),
                "part_mem" => columns.parts.mem = whole(),
                "part_gpu" => columns.parts.gpu = whole(),
                "part_other" => columns.parts.other = whole(),
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
                parts: PartColumns {
                    count: vec![1; whole.len()],
                    node: whole.iter().map(|n| n % 11).collect(),
                    cpu: whole.clone(),
                    mem: vec![3; whole.len()],
                    gpu: whole.iter().map(|n| n % 8000).collect(),
                    other: vec![0; whole.len()],
                },
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
