//! Traces of outages: event tables of the Failure Trace Archive, and CSV.

use std::io::{self, BufRead, Read};

use crate::geometry::places::Sites;
use crate::registry::LARGEST;
use crate::topology::Node;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outage {
    pub(super) site: usize,
    pub(super) node: Node,
    /// Index of the GPU on its node; `None` if the whole node was out of service.
    pub(super) gpu: Option<u32>,
    pub(super) from: f64,
    /// End of the outage, in units of the clock; infinite if the node never came back.
    pub(super) until: f64,
    line: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// Instant of the trace that becomes instant 0 of the run.
    pub(super) start: Option<f64>,
    /// Number that the first node of the machine has in the trace.
    pub(super) first_node: u64,
}

/// Minimum number of columns of an event table. They are event, component, node, platform, node
/// name, type, start and end. A further column may give the reason.
const EVENT_COLUMNS: usize = 8;
/// Type of an event during which a node was not available.
const UNAVAILABLE: &str = "0";
const MAX_LINE: u64 = 1 << 20;

/// The lines of a text; a line longer than [`MAX_LINE`] is an error.
fn lines(mut text: Box<dyn BufRead + Send>) -> impl Iterator<Item = io::Result<String>> {
    std::iter::from_fn(move || {
        let mut line = String::new();
        match text.by_ref().take(MAX_LINE + 1).read_line(&mut line) {
            Ok(0) => None,
            Ok(read) if read as u64 > MAX_LINE => {
                Some(Err(io::Error::other("a line has more than a million bytes")))
            }
            read => Some(read.map(|_| line)),
        }
    })
}

/// Reads the outages of a trace, in order of site, node, GPU and time.
///
/// Empty lines and lines that begin with `#` are skipped. A file with a comma in its first line is
/// CSV with the columns `node`, `down` and `up` in any order, and possibly `gpu`, counted from 0 on
/// each node. A node is a number, or coordinates in quotation marks; without `up`, it never comes
/// back. Any other file is an event table of the Failure Trace Archive, with tabs or blanks between
/// columns, whose events of type 0 are outages. An end of `NULL` is infinite. It is an error if
/// outages of a node or GPU overlap.
pub(super) fn read(
    path: &str,
    text: Box<dyn BufRead + Send>,
    sites: &Sites<'_>,
    reading: Reading,
) -> Result<Vec<Outage>, String> {
    let mut outages = Vec::new();
    let mut form: Option<Form> = None;
    for (number, line) in (1..).zip(lines(text)) {
        let at = |says: String| format!("{path}, line {number}: {says}");
        let line = line.map_err(|error| format!("{path}: cannot be read on ({error})"))?;
        let line = line.trim_end_matches('\r').trim();
        let line = line.trim_start_matches('\u{feff}');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let outage = match &form {
            None if line.contains(',') => {
                form = Some(Form::Csv(Columns::of(line).map_err(at)?));
                continue;
            }
            None => {
                form = Some(Form::Events);
                event(line, sites, reading).map_err(at)?
            }
            Some(Form::Events) => event(line, sites, reading).map_err(at)?,
            Some(Form::Csv(columns)) => Some(columns.outage(line, sites, reading).map_err(at)?),
        };
        if let Some(outage) = outage {
            if outage.until < outage.from {
                let Outage { from, until, .. } = outage;
                return Err(at(format!("the outage ends at {until}, before it begins at {from}")));
            }
            outages.push(Outage { line: number, ..outage });
        }
    }
    let earliest = outages.iter().map(|outage| outage.from).fold(f64::INFINITY, f64::min);
    let start = match (reading.start, &form) {
        (Some(start), _) => start,
        (None, Some(Form::Events)) if earliest.is_finite() => earliest,
        (None, _) => 0.0,
    };
    for outage in &mut outages {
        outage.from -= start;
        outage.until -= start;
    }
    // Outages that ended before the run began are dropped.
    outages.retain(|outage| outage.until > 0.0);
    for outage in &mut outages {
        outage.from = outage.from.max(0.0);
    }
    let key = |outage: &Outage| (outage.site, outage.node, outage.gpu);
    outages.sort_by(|a, b| key(a).cmp(&key(b)).then(a.from.total_cmp(&b.from)));
    for pair in outages.windows(2) {
        let [one, other] = pair else { continue };
        if key(one) == key(other) && other.from < one.until {
            let (first, second) = (one.line.min(other.line), one.line.max(other.line));
            return Err(format!(
                "{path}, line {second}: this outage overlaps that of line {first}, and a {} is out of service once at a time",
                if one.gpu.is_some() { "GPU" } else { "node" }
            ));
        }
    }
    Ok(outages)
}

enum Form {
    Csv(Columns),
    Events,
}

struct Columns {
    node: usize,
    down: usize,
    up: usize,
    gpu: Option<usize>,
}

impl Columns {
    fn of(line: &str) -> Result<Columns, String> {
        let names = cells(line);
        let place = |name: &str| {
            names.iter().position(|cell| cell.trim() == name).ok_or_else(|| {
                format!(
                    "the first line of a trace as CSV names the columns `node`, `down` and `up`, but `{name}` is missing: it is \
                     `{line}`"
                )
            })
        };
        let (node, down, up) = (place("node")?, place("down")?, place("up")?);
        Ok(Columns { node, down, up, gpu: place("gpu").ok() })
    }

    fn outage(&self, line: &str, sites: &Sites<'_>, reading: Reading) -> Result<Outage, String> {
        let cells = cells(line);
        let cell = |at: usize| cells.get(at).map_or("", |cell| cell.trim());
        let (site, node) = node(cell(self.node), sites, reading)?;
        let from = instant("down", cell(self.down))?;
        let gpu = match self.gpu.map_or("", cell) {
            "" => None,
            text => Some(gpu(text, cell(self.node), sites, (site, node))?),
        };
        let up = cell(self.up);
        let until = if up.is_empty() { f64::INFINITY } else { instant("up", up)? };
        Ok(Outage { site, node, gpu, from, until, line: 0 })
    }
}

/// Splits a line of CSV into cells; quoted cells may contain commas.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("there is always one").push(letter),
        }
    }
    cells
}

fn node(text: &str, sites: &Sites<'_>, reading: Reading) -> Result<(usize, Node), String> {
    let first = reading.first_node;
    let known = if text.contains(',') {
        sites.at(text)
    } else {
        let number = text.parse::<u64>().ok().and_then(|number| number.checked_sub(first));
        number.and_then(|number| sites.numbered(number))
    };
    known.ok_or_else(|| {
        let last = first + sites.nodes() - 1;
        format!("`{text}` is no node of the machine, whose nodes are {first} to {last}")
    })
}

fn gpu(
    text: &str,
    name: &str,
    sites: &Sites<'_>,
    (site, node): (usize, Node),
) -> Result<u32, String> {
    let gpus = sites.0[site].types().map_or(0, |types| types.of(node).gpu);
    text.parse::<u32>().ok().filter(|gpu| *gpu < gpus).ok_or_else(|| match gpus {
        0 => format!("`gpu` is `{text}`, but node {name} has no GPUs"),
        _ => format!("`gpu` is `{text}`, but the GPUs of node {name} are 0 to {}", gpus - 1),
    })
}

fn instant(name: &str, text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.abs() <= LARGEST);
    number.ok_or_else(|| format!("`{name}` is `{text}`, but must be a number of at most 1e15"))
}

/// Reads an outage from a line of an event table; `None` for a header or another type of event.
fn event(line: &str, sites: &Sites<'_>, reading: Reading) -> Result<Option<Outage>, String> {
    let columns: Vec<&str> = if line.contains('\t') {
        line.split('\t').map(str::trim).collect()
    } else {
        line.split_whitespace().collect()
    };
    if columns.len() < EVENT_COLUMNS {
        return Err(format!(
            "there are {} columns, but an event table has at least {EVENT_COLUMNS}: event, component, node, platform, node name, \
             type, start and end",
            columns.len()
        ));
    }
    // Header lines and other event types.
    if columns[5].starts_with(char::is_alphabetic) || columns[5] != UNAVAILABLE {
        return Ok(None);
    }
    let (site, node) = node(columns[2], sites, reading)?;
    let from = instant("the start", columns[6])?;
    let never = ["NULL", "null", "\\N", "-1"].contains(&columns[7]);
    let until = if never { f64::INFINITY } else { instant("the end", columns[7])? };
    Ok(Some(Outage { site, node, gpu: None, from, until, line: 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;
    use crate::topology::types::{NodeType, NodeTypes};

    const READING: Reading = Reading { start: None, first_node: 0 };

    fn outages(text: &str, reading: Reading) -> Result<Vec<(Node, f64, f64)>, String> {
        let mesh = [Topology::mesh(&[4, 3]).unwrap()];
        let text = Box::new(io::Cursor::new(text.to_owned()));
        let outages = read("t.csv", text, &Sites(&mesh), reading)?;
        Ok(outages.into_iter().map(|one| (one.node, one.from, one.until)).collect())
    }

    #[test]
    fn a_table_of_nodes() {
        let text = "# outages\nup,why,node,down\n20,disk,7,10\n,fan,\"2,1\",5.5\r\n10,,7,4\n";
        let expected = [(6, 5.5, f64::INFINITY), (7, 4.0, 10.0), (7, 10.0, 20.0)];
        assert_eq!(outages(text, READING).unwrap(), expected);
        let from_one = Reading { start: Some(6.0), first_node: 1 };
        let expected = [(5, 0.0, f64::INFINITY), (6, 0.0, 4.0), (6, 4.0, 14.0)];
        let text = "node,down,up\n6,5.5,\n7,4,10\n7,10,20\n";
        assert_eq!(outages(text, from_one).unwrap(), expected);
    }

    #[test]
    fn a_gpu_alone_may_fail() {
        let with = |gpu: u32| NodeType { cpu: 8, gpu, islands: 1, ..NodeType::default() };
        let types = NodeTypes::new(vec![with(2), with(0)], vec![0, 0, 1, 1]);
        let sites = [Topology::flat(4).unwrap().with_types(types)];
        let read = |text: &str| {
            let text = Box::new(io::Cursor::new(text.to_owned()));
            let outages = read("t.csv", text, &Sites(&sites), READING)?;
            let brief = |own: &Outage| (own.node, own.gpu, own.from);
            Ok::<_, String>(outages.iter().map(brief).collect::<Vec<_>>())
        };
        let text = "node,gpu,down,up\n1,1,5,9\n1,0,6,7\n1,,8,9\n2,,1,2\n";
        let expected = [(1, None, 8.0), (1, Some(0), 6.0), (1, Some(1), 5.0), (2, None, 1.0)];
        assert_eq!(read(text).unwrap(), expected);
        for (lines, says) in [
            ("1,2,5,9", "line 2: `gpu` is `2`, but the GPUs of node 1 are 0 to 1"),
            ("2,0,5,9", "line 2: `gpu` is `0`, but node 2 has no GPUs"),
            ("1,0,5,9\n1,0,8,9", "line 3: this outage overlaps that of line 2, and a GPU is out"),
        ] {
            let refused = read(&format!("node,gpu,down,up\n{lines}\n")).unwrap_err();
            assert!(refused.contains(says), "{refused}");
        }
    }

    #[test]
    fn an_event_table_of_the_archive() {
        let text = "# event_id component_id node_id platform_id node_name event_type event_start_time event_end_time event_end_reason\n\
                    0\t0\t1\t0\tnode 1\t1\t1000.0\t1100.0\t0\n\
                    1\t0\t1\t0\tnode 1\t0\t1100.0\t1150.0\t1\n\
                    2\t0\t2\t0\tnode 2\t0\t1120\tNULL\t1\n\
                    3\t0\t2\t0\tnode 2\t7\t1120\t1130\t1\n";
        assert_eq!(outages(text, READING).unwrap(), [(1, 0.0, 50.0), (2, 20.0, f64::INFINITY)]);
        let late = Reading { start: Some(1110.0), first_node: 1 };
        assert_eq!(outages(text, late).unwrap(), [(0, 0.0, 40.0), (1, 10.0, f64::INFINITY)]);
        assert_eq!(
            outages("0 0 3 0 n 0 5 9\n", READING).unwrap(),
            [(3, 0.0, 4.0)],
            "blanks, no reason"
        );
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        for (text, part) in [
            (
                "node,down\n1,2\n",
                "t.csv, line 1: the first line of a trace as CSV names the columns `node`, `down` and `up`, but `up` is missing",
            ),
            (
                "node,down,up\n12,1,2\n",
                "t.csv, line 2: `12` is no node of the machine, whose nodes are 0 to 11",
            ),
            ("node,down,up\n\"4,0\",1,2\n", "`4,0` is no node of the machine"),
            ("node,down,up\n\n1,soon,2\n", "t.csv, line 3: `down` is `soon`, but must be a number"),
            ("node,down,up\n1,3,2\n", "line 2: the outage ends at 2, before it begins at 3"),
            (
                "node,down,up\n1,5,9\n2,1,2\n1,1,6\n",
                "t.csv, line 4: this outage overlaps that of line 2",
            ),
            ("1 2 3\n", "t.csv, line 1: there are 3 columns, but an event table has at least 8"),
            ("0 0 99 0 n 0 5 9\n", "`99` is no node of the machine"),
        ] {
            let refused = outages(text, READING).unwrap_err();
            assert!(refused.contains(part), "{text}: {refused}");
        }
        // An outage that begins as another ends does not overlap it.
        assert_eq!(outages("node,down,up\n1,6,9\n1,1,6\n", READING).unwrap().len(), 2);
        assert_eq!(outages("", READING).unwrap(), []);
    }
}
