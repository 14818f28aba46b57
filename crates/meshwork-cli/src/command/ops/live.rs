//! Common parts of the commands beside a running Slurm: machine, policy, metrics and pauses.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use meshwork::catalogue::Catalogue;
use meshwork_lab::Study;
use meshwork_lab::live::policy::{LivePolicy, node_names};
use meshwork_lab::operator::folder::SlurmMachine;
use meshwork_lab::slurm::hostlist;

use crate::args::ops;
use crate::output::Stop;

/// Maximum length of a request for metrics, in bytes.
const MOST: u64 = 8 << 10;
/// Time limit for a client.
const SLOW: Duration = Duration::from_secs(2);
/// Minimum pause between looks, even if the agent is woken.
const LEAST: Duration = Duration::from_millis(100);

/// The machine of a folder with Slurm's files.
pub(super) fn machine(site: &Path) -> Result<SlurmMachine, Stop> {
    SlurmMachine::of_folder(site).map_err(Stop::Wrong)
}

/// The policy of a study for a partition.
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

/// A server of one text for Prometheus.
pub(super) struct MetricsServer {
    text: Arc<Mutex<String>>,
}

impl MetricsServer {
    /// Listens on a thread of its own, if an address is given.
    pub(super) fn begin(address: Option<SocketAddr>) -> Result<MetricsServer, Stop> {
        let text = Arc::new(Mutex::new(String::new()));
        if let Some(address) = address {
            let listener = TcpListener::bind(address)
                .map_err(|error| Stop::Failed(format!("{address}: no metrics there ({error})")))?;
            let shared = Arc::clone(&text);
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let text = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    // A client that is gone is no trouble.
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

/// Answers `GET /metrics` alone, one client after the other.
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

/// Pauses between looks, which a datagram can end early.
pub(super) struct Pause {
    poll: Duration,
    wake: Option<UdpSocket>,
}

impl Pause {
    pub(super) fn new(poll: Duration, wake: Option<u16>) -> Result<Pause, Stop> {
        let bind = |port: u16| {
            UdpSocket::bind(("127.0.0.1", port))
                .map_err(|error| Stop::Failed(format!("port {port} cannot be used ({error})")))
        };
        Ok(Pause { poll, wake: wake.map(bind).transpose()? })
    }

    /// Waits for what is left of the time between looks. A signal or a datagram ends it early.
    pub(super) fn wait(&self, taken: Duration) {
        let left = self.poll.saturating_sub(taken).max(Duration::from_millis(1));
        let Some(socket) = &self.wake else {
            std::thread::sleep(left);
            return;
        };
        std::thread::sleep(left.min(LEAST));
        let rest = left.saturating_sub(LEAST);
        let mut piece = [0; 64];
        // What has come while the agent was busy is for the look that follows.
        let woken = drain(socket, &mut piece);
        if woken || rest.is_zero() {
            return;
        }
        let _ = socket.set_nonblocking(false);
        let _ = socket.set_read_timeout(Some(rest));
        let _ = socket.recv(&mut piece);
    }
}

/// Discards all received datagrams; returns whether there was one.
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
