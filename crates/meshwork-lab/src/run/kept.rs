//! Recordings of whole runs, written event by event while they run.
//!
//! The file `recordings/<key>.run` begins with `MAGIC` and the key of its run. Then come the events
//! in the order of the engine: a byte for the kind, followed by numbers of variable length. Of a
//! time, only the bytes that differ from the previous one are stored. The file ends with the byte
//! `END`, the number of events, and a digest of all preceding bytes. A file without this end, or
//! with the key of another run, is invalid. During the run it has a temporary name.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use meshwork::job::{Dims, Job, Request, Time};
use meshwork::machine::{Block, NodePart, Parts, Placement};
use meshwork::observe::{Event, JobId, Observer, Running};
use meshwork::topology::Node;
use meshwork::workload::table::pieces_in_words;

use super::event::{EventKind, NOBODY, RunEvent};
use crate::files::{FileError, temporary_of_run};

pub const RECORDINGS: &str = "recordings";

/// First bytes of a recording, with the version of the format.
const MAGIC: &[u8] = b"meshwork recording 1\n";

const BUFFER: usize = 1 << 16;

/// Maximum size of a recording, in bytes. Larger recordings are dropped. Some ten million jobs fit.
const MAX_BYTES: u64 = 256 << 20;

const DIGEST: usize = 32;

const ARRIVED: u8 = 0;
const REFUSED: u8 = 1;
const TURNED_AWAY: u8 = 2;
const STARTED: u8 = 3;
const MOVED: u8 = 4;
const FINISHED: u8 = 5;
/// Code of every outage event. The bits at `REQUEST` tell which outage event it is.
const OUTAGE: u8 = 6;
const INTERRUPTED: u8 = 0;
const DOWN: u8 = 1;
const UP: u8 = 2;
const END: u8 = 7;
const KINDS: u8 = 7;
/// Flag in an event's first byte: the event is later than the previous one. The changed bits of its
/// time follow.
const LATER: u8 = 8;
/// Position of the first bit after the kind of an event, in the first byte of the event.
///
/// The meaning of these bits depends on the kind. They give the form of a request (count, block,
/// subcube or pieces), say whether a placement has parts of nodes, or give the kind of an outage
/// event.
const REQUEST: u32 = 4;
/// Form of a request that is stored as text: a request for pieces (equal parts of nodes).
const PIECES: u8 = 3;
/// Flag in an event's first byte: parts of nodes follow the placement.
const PARTS: u8 = 1;
const MAX_WORDS: u64 = 1 << 16;

pub fn path(folder: &Path, key: &str) -> PathBuf {
    folder.join(RECORDINGS).join(format!("{key}.run"))
}

/// Recorded runs of a study: first replications of all or of some scenarios.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    folder: PathBuf,
    /// Whether the study requests recordings of all scenarios.
    all: bool,
    some: Vec<usize>,
}

impl Kept {
    /// Selects the scenarios whose runs are recorded. If the study sets `record`, these are all
    /// scenarios or none. Otherwise they are the scenarios `some`.
    pub fn of(folder: &Path, record: Option<bool>, some: Vec<usize>) -> Option<Kept> {
        let all = record == Some(true);
        (record != Some(false)).then(|| Kept { folder: folder.to_owned(), all, some })
    }

    pub fn has(&self, point: usize, replication: u64) -> bool {
        replication == 0 && (self.all || self.some.contains(&point))
    }

    /// Whether the study requests recordings. If so, runs without a recording are repeated, and
    /// failures to record are reported.
    pub fn is_asked_for(&self) -> bool {
        self.all
    }

    pub fn path(&self, key: &str) -> PathBuf {
        path(&self.folder, key)
    }

    pub fn begin(&self, key: &str) -> Result<RunRecorder, FileError> {
        RunRecorder::create(&self.folder, key)
    }
}

/// Observer that writes the events of a run to a recording file.
///
/// Events for which [`RunEvent`] has no kind are left out. For a log in whole seconds, an event
/// takes some 7 bytes. If the recording cannot be written or grows beyond 256 MiB, it is dropped
/// and leaves no file; the run goes on.
pub struct RunRecorder {
    path: PathBuf,
    temporary: PathBuf,
    file: Option<File>,
    buffer: Vec<u8>,
    digest: blake3::Hasher,
    bytes: u64,
    events: u64,
    before: Before,
    error: Option<FileError>,
}

#[derive(Default)]
struct Before {
    at: u64,
    arrived: u64,
    number: u64,
    started: u64,
    ended: u64,
}

impl RunRecorder {
    pub fn create(folder: &Path, key: &str) -> Result<RunRecorder, FileError> {
        let home = folder.join(RECORDINGS);
        fs::create_dir_all(&home).map_err(|error| FileError::making(&home, &error))?;
        let path = path(folder, key);
        let temporary = temporary_of_run(&path);
        let file = File::create(&temporary).map_err(|error| FileError::writing(&path, &error))?;
        let mut buffer = Vec::with_capacity(BUFFER + 1024);
        buffer.extend(head(key));
        Ok(RunRecorder {
            path,
            temporary,
            file: Some(file),
            buffer,
            digest: blake3::Hasher::new(),
            bytes: 0,
            events: 0,
            before: Before::default(),
            error: None,
        })
    }

    /// Completes the recording, and gives its file the final name.
    ///
    /// If the recording was dropped because of its size, this is no error.
    ///
    /// # Errors
    /// If the file could not be written, during the run or now. In this case no file is left.
    pub fn finish(mut self) -> Result<(), FileError> {
        self.buffer.push(END);
        self.buffer.extend_from_slice(&self.events.to_le_bytes());
        self.flush();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let Some(mut file) = self.file.take() else { return Ok(()) };
        file.write_all(self.digest.finalize().as_bytes())
            .and_then(|()| fs::rename(&self.temporary, &self.path))
            .map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &io::Error) -> FileError {
        FileError::writing(&self.path, error)
    }

    fn flush(&mut self) {
        let Some(file) = &mut self.file else { return self.buffer.clear() };
        self.digest.update(&self.buffer);
        self.bytes += self.buffer.len() as u64;
        let written = file.write_all(&self.buffer);
        self.buffer.clear();
        if let Err(error) = written {
            self.error = Some(self.failed(&error));
            self.file = None;
        } else if self.bytes > MAX_BYTES {
            self.file = None;
        }
    }

    fn event(&mut self, now: Time, kind: u8) {
        self.events += 1;
        let at = now.units().to_bits();
        if at == self.before.at {
            self.buffer.push(kind);
            return;
        }
        self.buffer.push(kind | LATER);
        write_time(&mut self.buffer, at ^ self.before.at);
        self.before.at = at;
    }

    fn arrival(&mut self, now: Time, id: JobId, job: &Job, kind: u8) {
        let form = match job.request {
            Request::Nodes(_) | Request::Constrained(_) => 0,
            Request::Block(_) => 1,
            Request::Subcube(_) => 2,
            Request::Pieces(_) => PIECES,
        };
        self.event(now, kind | (form << REQUEST));
        write_change(&mut self.buffer, id.0, &mut self.before.arrived);
        write_change(&mut self.buffer, job.number, &mut self.before.number);
        match &job.request {
            Request::Nodes(count) | Request::Subcube(count) => {
                write_number(&mut self.buffer, u64::from(*count));
            }
            // Constraints are not shown, so only the count is stored.
            Request::Constrained(_) => write_number(&mut self.buffer, job.request.nodes()),
            Request::Pieces(pieces) => {
                let words = pieces.to_string();
                write_number(&mut self.buffer, words.len() as u64);
                self.buffer.extend_from_slice(words.as_bytes());
            }
            Request::Block(sides) => write_sides(&mut self.buffer, sides),
        }
    }

    fn ending(&mut self, now: Time, id: JobId, kind: u8) {
        self.event(now, kind);
        write_change(&mut self.buffer, id.0, &mut self.before.ended);
    }

    fn outage(&mut self, now: Time, what: u8, site: usize, node: Node) {
        self.event(now, OUTAGE | (what << REQUEST));
        write_number(&mut self.buffer, site as u64);
        write_number(&mut self.buffer, u64::from(node));
    }

    fn placement(&mut self, now: Time, kind: u8, running: &Running) {
        let parts = running.placement.parts.as_deref();
        self.event(now, kind | (parts.map_or(0, |_| PARTS) << REQUEST));
        write_change(&mut self.buffer, running.id.0, &mut self.before.started);
        write_number(&mut self.buffer, running.site as u64);
        write_number(&mut self.buffer, running.placement.blocks.len() as u64);
        for block in &running.placement.blocks {
            write_number(&mut self.buffer, u64::from(block.base));
            write_sides(&mut self.buffer, &block.sides);
        }
        let Some(Parts { parts, cores }) = parts else { return };
        write_number(&mut self.buffer, u64::from(*cores));
        write_number(&mut self.buffer, parts.len() as u64);
        for NodePart { node, pieces, cells } in parts {
            let numbers = [*node, *pieces, cells.len() as u32];
            let cells = cells.iter().flat_map(|&(cell, amount)| [u32::from(cell), amount]);
            for number in numbers.into_iter().chain(cells) {
                write_number(&mut self.buffer, u64::from(number));
            }
        }
    }
}

impl Observer for RunRecorder {
    fn observe(&mut self, now: Time, event: &Event<'_>) {
        if self.file.is_none() {
            return;
        }
        match event {
            Event::Arrived(id, job) => self.arrival(now, *id, job, ARRIVED),
            Event::Refused(id, job) => self.arrival(now, *id, job, REFUSED),
            Event::TurnedAway(id, _) => self.ending(now, *id, TURNED_AWAY),
            Event::Started(running) => self.placement(now, STARTED, running),
            Event::Moved { running, .. } => self.placement(now, MOVED, running),
            Event::Finished(running) => self.ending(now, running.id, FINISHED),
            Event::Interrupted(running) => {
                self.ending(now, running.id, OUTAGE | (INTERRUPTED << REQUEST));
            }
            Event::Down { site, node } => self.outage(now, DOWN, *site, *node),
            Event::Up { site, node } => self.outage(now, UP, *site, *node),
            _ => return,
        }
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }
}

impl Drop for RunRecorder {
    fn drop(&mut self) {
        self.file = None;
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Writes a number with seven bits in each byte, the lowest first.
fn write_number(buffer: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        buffer.push(number as u8 | 0x80);
        number >>= 7;
    }
    buffer.push(number as u8);
}

/// Writes the difference between a number and the previous one. The difference is often small, and
/// may be negative.
fn write_change(buffer: &mut Vec<u8>, number: u64, before: &mut u64) {
    let change = number.wrapping_sub(*before) as i64;
    write_number(buffer, ((change << 1) ^ (change >> 63)) as u64);
    *before = number;
}

/// Writes the bytes of a time that differ from the previous time, after a byte with their
/// positions.
///
/// The argument `difference` is the exclusive or of both times. A time in whole seconds takes two
/// or three bytes.
fn write_time(buffer: &mut Vec<u8>, difference: u64) {
    let bytes = difference.to_le_bytes();
    let first = (difference.trailing_zeros() / 8).min(7) as usize;
    let end = 8 - (difference.leading_zeros() / 8).min(7) as usize;
    buffer.push((first << 4 | end) as u8);
    buffer.extend_from_slice(&bytes[first..end]);
}

fn write_sides(buffer: &mut Vec<u8>, sides: &[u32]) {
    write_number(buffer, sides.len() as u64);
    sides.iter().for_each(|&side| write_number(buffer, u64::from(side)));
}

/// Error for a recording that is missing, damaged or incomplete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: this recording cannot be read ({why})")]
pub struct UnreadRecording {
    pub path: String,
    pub why: String,
}

/// Calls `visit` with each event of a run's recording, until `visit` returns `false`.
///
/// Jobs have their numbers and requests, but neither run times nor estimates.
pub fn replay(
    folder: &Path,
    key: &str,
    visit: &mut dyn FnMut(RunEvent) -> bool,
) -> Result<(), UnreadRecording> {
    let path = path(folder, key);
    let failed = |error: &io::Error| UnreadRecording {
        path: path.display().to_string(),
        why: error.to_string(),
    };
    let end = whole(&path, key).map_err(|error| failed(&error))?;
    let mut events = Events::open(&path, key).map_err(|error| failed(&error))?;
    for _ in 0..end {
        let happening = events.next().map_err(|error| failed(&error))?;
        if !visit(happening) {
            return Ok(());
        }
    }
    Ok(())
}

/// Checks that the file is a complete recording of the run with this key. Returns the number of
/// events.
fn whole(path: &Path, key: &str) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let head = head(key);
    let length = file.metadata()?.len();
    let tail = 1 + 8 + DIGEST;
    if length < (head.len() + tail) as u64 {
        return Err(wrong("it ends too soon"));
    }
    let mut left = length - DIGEST as u64;
    let mut digest = blake3::Hasher::new();
    let mut chunk = vec![0; BUFFER];
    let mut last = Vec::new();
    while left > 0 {
        let size = left.min(BUFFER as u64) as usize;
        file.read_exact(&mut chunk[..size])?;
        digest.update(&chunk[..size]);
        last.extend_from_slice(&chunk[..size]);
        last.drain(..last.len().saturating_sub(9));
        left -= size as u64;
    }
    let mut stored = [0; DIGEST];
    file.read_exact(&mut stored)?;
    match last[..] {
        [END, ref count @ ..] if digest.finalize() == stored => {
            Ok(count.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
        }
        _ => Err(wrong("it is not whole")),
    }
}

fn wrong(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

fn head(key: &str) -> Vec<u8> {
    [MAGIC, key.as_bytes(), b"\n"].concat()
}

struct Events {
    file: BufReader<File>,
    before: Before,
}

impl Events {
    fn open(path: &Path, key: &str) -> io::Result<Events> {
        let mut file = BufReader::with_capacity(BUFFER, File::open(path)?);
        let expected = head(key);
        let mut begin = vec![0; expected.len()];
        file.read_exact(&mut begin)?;
        if begin != expected {
            return Err(wrong("it is of another run, or of another version of Meshwork"));
        }
        Ok(Events { file, before: Before::default() })
    }

    fn next(&mut self) -> io::Result<RunEvent> {
        let first = self.byte()?;
        if first & LATER != 0 {
            self.before.at ^= self.time()?;
        }
        let units = f64::from_bits(self.before.at);
        if units.is_nan() {
            return Err(wrong("a time is no number"));
        }
        let at = Time::new(units);
        let (id, what) = match first & KINDS {
            kind @ (ARRIVED | REFUSED) => {
                let (id, job) = self.arrival(at, first >> REQUEST)?;
                let is_new = kind == ARRIVED;
                (id, if is_new { EventKind::Arrived(job) } else { EventKind::Refused(job) })
            }
            TURNED_AWAY => (self.ended()?, EventKind::TurnedAway),
            STARTED => {
                let (id, site, placement) = self.placement(first >> REQUEST)?;
                (id, EventKind::Started { site, placement })
            }
            MOVED => {
                let (id, _, placement) = self.placement(first >> REQUEST)?;
                (id, EventKind::Moved { placement })
            }
            FINISHED => (self.ended()?, EventKind::Finished),
            OUTAGE if first >> REQUEST == INTERRUPTED => (self.ended()?, EventKind::Interrupted),
            OUTAGE => {
                let (site, node) = (self.number()? as usize, self.number()? as Node);
                match first >> REQUEST {
                    DOWN => (NOBODY.0, EventKind::Down { site, node }),
                    _ => (NOBODY.0, EventKind::Up { site, node }),
                }
            }
            _ => return Err(wrong("it ends too soon")),
        };
        Ok(RunEvent { at, id: JobId(id), what })
    }

    fn arrival(&mut self, at: Time, form: u8) -> io::Result<(u64, Job)> {
        let id = self.change(|before| &mut before.arrived)?;
        let number = self.change(|before| &mut before.number)?;
        let request = match form {
            0 => Request::Nodes(self.number()? as u32),
            1 => Request::Block(self.sides()?),
            PIECES => pieces_in_words(&self.words()?).map_err(wrong)?,
            _ => Request::Subcube(self.number()? as u32),
        };
        Ok((id, Job::new(number, at, request, 0.0)))
    }

    fn ended(&mut self) -> io::Result<u64> {
        self.change(|before| &mut before.ended)
    }

    fn placement(&mut self, flags: u8) -> io::Result<(u64, usize, Placement)> {
        let id = self.change(|before| &mut before.started)?;
        let site = self.number()? as usize;
        let count = self.number()?;
        let mut placement = Placement::default();
        for _ in 0..count {
            let base = self.number()? as u32;
            placement.blocks.push(Block { base, sides: self.sides()? });
        }
        if flags == PARTS {
            let mut parts = Parts { cores: self.number()? as u32, parts: Vec::new() };
            for _ in 0..self.number()? {
                let (node, pieces) = (self.number()? as Node, self.number()? as u32);
                let count = self.number()?;
                let cells = (0..count).map(|_| Ok((self.number()? as u16, self.number()? as u32)));
                let cells = cells.collect::<io::Result<_>>()?;
                parts.parts.push(NodePart { node, pieces, cells });
            }
            placement.parts = Some(Box::new(parts));
        }
        Ok((id, site, placement))
    }

    fn words(&mut self) -> io::Result<String> {
        let length = self.number()?.min(MAX_WORDS);
        let mut bytes = vec![0; length as usize];
        self.file.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| wrong("a request is no text"))
    }

    fn byte(&mut self) -> io::Result<u8> {
        let buffer = self.file.fill_buf()?;
        let byte = *buffer.first().ok_or(io::ErrorKind::UnexpectedEof)?;
        self.file.consume(1);
        Ok(byte)
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Ok(number)
    }

    fn change(&mut self, which: fn(&mut Before) -> &mut u64) -> io::Result<u64> {
        let folded = self.number()?;
        let change = (folded >> 1) as i64 ^ -((folded & 1) as i64);
        let before = which(&mut self.before);
        *before = before.wrapping_add(change as u64);
        Ok(*before)
    }

    fn time(&mut self) -> io::Result<u64> {
        let place = self.byte()?;
        let (first, end) = (usize::from(place >> 4), usize::from(place & 15).min(8));
        let mut difference = 0;
        for byte in first..end {
            difference |= u64::from(self.byte()?) << (8 * byte);
        }
        Ok(difference)
    }

    fn sides(&mut self) -> io::Result<Dims> {
        let count = self.number()?;
        (0..count).map(|_| Ok(self.number()? as u32)).collect()
    }
}
