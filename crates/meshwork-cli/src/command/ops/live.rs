//! Code that `ops agent` and `ops shadow` share: machine, policy, metrics and pauses.

use std::cell::Cell;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use meshwork::catalogue::Catalogue;
use meshwork_lab::Study;
use meshwork_lab::slurm::folder::{Folder, SlurmMachine};
use meshwork_operator::live::ends::{EndRule, ExpectedEnds};
use meshwork_operator::live::policy::{LivePolicy, node_names};
use meshwork_slurm::hostlist;

use crate::args::ops;
use crate::output::{Stop, say};

/// Maximum length in bytes of an HTTP request for metrics.
const MOST: u64 = 8 << 10;
/// Time limit for each read from a client that requests metrics, and each write to it.
const SLOW: Duration = Duration::from_secs(2);
/// Shortest pause between two queries of Slurm.
///
/// Slurm's controller sends a datagram to the port of `--wake` when a job starts or ends. A
/// datagram ends a longer pause early, but never before this time.
const LEAST: Duration = Duration::from_millis(100);
/// Longest pause between two queries of Slurm soon after a datagram has arrived.
///
/// The limit holds for the next `SHORT` pauses.
const SOON: Duration = Duration::from_millis(500);
const SHORT: u8 = 10;

pub(super) fn machine(site: &Path) -> Result<SlurmMachine, Stop> {
    SlurmMachine::of_folder(site).map_err(Stop::Wrong)
}

/// Policy for a partition, from the study of `--policy`.
pub(super) fn policy(
    catalogue: &Catalogue,
    asked: &ops::Live,
    machine: &SlurmMachine,
    partition: &str,
) -> Result<LivePolicy, Stop> {
    let Some(path) = &asked.policy else {
        return Err(Stop::Wrong("a policy is needed: --policy STUDY".to_owned()));
    };
    let study = Study::read_in(catalogue, path, &asked.settings)?;
    let names = match &asked.names {
        Some(list) => hostlist::names(list).map_err(|says| format!("--names: {says}")),
        None => node_names(machine, partition, &study)
            .map_err(|says| format!("{}: {says}", asked.site.display())),
    };
    LivePolicy::of(&study, names.map_err(Stop::Wrong)?).map_err(Stop::Wrong)
}

/// History from which ends of jobs are predicted. It is read again when it has changed.
pub(super) struct EndsFile {
    rule: EndRule,
    site: Option<PathBuf>,
    /// Modification time of the history file when it was last read.
    written: Option<SystemTime>,
    is_read: bool,
}

impl EndsFile {
    pub(super) fn new(asked: &ops::Live) -> EndsFile {
        let site = asked.history.clone().filter(|_| asked.ends != EndRule::Limit);
        EndsFile { rule: asked.ends, site, written: None, is_read: false }
    }

    /// Expected ends of jobs, if the history file has changed since it was last read.
    ///
    /// `None` if it has not changed, or if no history file is used.
    pub(super) fn renewed(&mut self) -> Result<Option<ExpectedEnds>, String> {
        let Some(site) = &self.site else { return Ok(None) };
        let path = site.join("jobs.csv");
        let written = std::fs::metadata(path).and_then(|data| data.modified()).ok();
        if self.is_read && written == self.written {
            return Ok(None);
        }
        (self.is_read, self.written) = (true, written);
        let folder = Folder::read(site)?;
        Ok(Some(ExpectedEnds::of(self.rule, &folder.history)))
    }

    /// Reads the history file again if it has changed, and replaces the expected ends of jobs.
    ///
    /// If the file cannot be read, a warning is printed, and the expected ends stay unchanged.
    pub(super) fn renew(&mut self, ends: &mut ExpectedEnds) {
        match self.renewed() {
            Ok(Some(new)) => *ends = new,
            Ok(None) => {}
            Err(says) => say("warning", &format!("{says}: ends are expected as before")),
        }
    }
}

pub(super) struct MetricsServer {
    text: Arc<Mutex<String>>,
}

impl MetricsServer {
    /// Starts a thread that serves metrics, if an address is given.
    pub(super) fn begin(address: Option<SocketAddr>) -> Result<MetricsServer, Stop> {
        let text = Arc::new(Mutex::new(String::new()));
        if let Some(address) = address {
            let listener = TcpListener::bind(address)
                .map_err(|error| Stop::Failed(format!("{address}: no metrics there ({error})")))?;
            let shared = Arc::clone(&text);
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let text = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    // An error is ignored: it only means that the client is gone.
                    let _ = answer(stream, &text);
                }
            });
        }
        Ok(MetricsServer { text })
    }

    pub(super) fn publish(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

/// Answers `GET /metrics`, and other requests with an error status.
fn answer(mut stream: TcpStream, text: &str) -> std::io::Result<()> {
    stream.set_read_timeout(Some(SLOW))?;
    stream.set_write_timeout(Some(SLOW))?;
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") && (bytes.len() as u64) < MOST {
        match stream.read(&mut piece)? {
            0 => break,
            count => bytes.extend_from_slice(&piece[..count]),
        }
    }
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let is_whole = request.parse(&bytes).is_ok_and(|status| status.is_complete());
    let (status, body) = match (is_whole, request.method, request.path) {
        (true, Some("GET"), Some("/metrics")) => ("200 OK", text),
        (true, Some("GET"), _) => ("404 Not Found", "metrics are at /metrics\n"),
        _ => ("400 Bad Request", "only GET is answered\n"),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Pause between two queries of Slurm, which a datagram at the port of `--wake` ends early.
///
/// Slurm's controller sends the datagram before Slurm's commands show the change. A pause that was
/// ended early is therefore followed by short pauses.
pub(super) struct Pause {
    poll: Duration,
    wake: Option<UdpSocket>,
    /// Number of further pauses that are kept short because a datagram has arrived.
    short: Cell<u8>,
}

impl Pause {
    pub(super) fn new(poll: Duration, wake: Option<u16>) -> Result<Pause, Stop> {
        let bind = |port: u16| {
            UdpSocket::bind(("127.0.0.1", port))
                .map_err(|error| Stop::Failed(format!("port {port} cannot be used ({error})")))
        };
        Ok(Pause { poll, wake: wake.map(bind).transpose()?, short: Cell::new(0) })
    }

    /// Waits until the next query; `taken` is the time since the last query began.
    ///
    /// A datagram ends the wait early. A signal does so only while the command waits for a
    /// datagram.
    pub(super) fn wait(&self, taken: Duration) {
        let short = self.short.get();
        self.short.set(short.saturating_sub(1));
        let poll = if short > 0 { self.poll.min(SOON) } else { self.poll };
        let left = poll.saturating_sub(taken).max(Duration::from_millis(1));
        let Some(socket) = &self.wake else {
            std::thread::sleep(left);
            return;
        };
        std::thread::sleep(left.min(LEAST));
        let rest = left.saturating_sub(LEAST);
        let mut piece = [0; 64];
        // Datagrams that arrived between two pauses end this pause too.
        let mut is_woken = drain(socket, &mut piece);
        if !is_woken && !rest.is_zero() {
            let _ = socket.set_nonblocking(false);
            let _ = socket.set_read_timeout(Some(rest));
            is_woken = socket.recv(&mut piece).is_ok();
        }
        if is_woken {
            self.short.set(SHORT);
        }
    }
}

/// Discards all received datagrams. Returns whether there were any.
fn drain(socket: &UdpSocket, piece: &mut [u8]) -> bool {
    let mut woken = false;
    if socket.set_nonblocking(true).is_ok() {
        loop {
            match socket.recv(piece) {
                Ok(_) => woken = true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    }
    woken
}
