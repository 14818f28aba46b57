//! HTTP server for a page of results, on the loopback interface only.
//!
//! The system chooses the port. The server answers one GET or HEAD request per connection, for one
//! of three paths, and only if the header `Host` is a name of the loopback interface: a foreign
//! page whose name resolves to 127.0.0.1 is refused. The server opens no file. Time, size and
//! number of connections are limited, so that no client can slow down the runs in the same process.

pub(crate) mod http;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use http::{Refusal, Request, Resource};

/// Maximum number of open connections. Clients beyond it get the HTTP status 503.
const MAX_CONNECTIONS: usize = 32;

/// Time limit for a request to arrive. A browser on the same machine needs a millisecond.
const PATIENCE: Duration = Duration::from_secs(3);

/// Time limit for a client to read an answer.
const ANSWERING: Duration = Duration::from_secs(20);

/// Maximum number of bytes that are read and discarded after an answer was sent.
const MAX_DRAINED: usize = 1 << 16;

/// Size in bytes of the stack of a connection's thread. The thread makes no deep calls.
const STACK: usize = 1 << 20;

pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const JSON: &str = "application/json; charset=utf-8";

/// Current content of a page or file that the server offers.
pub(crate) struct Answer {
    pub(crate) kind: &'static str,
    /// Entity tag of this version, for the HTTP header `ETag`; empty if it has none.
    pub(crate) tag: String,
    pub(crate) body: Arc<Vec<u8>>,
}

pub(crate) trait Source: Send + Sync + 'static {
    /// Content to send; `None` if the client already has it, as its entity tag `known` shows.
    fn answer(&self, resource: Resource, known: Option<&str>) -> Option<Answer>;
}

pub(crate) struct Server {
    address: SocketAddr,
    is_closing: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts the server in a new thread, on a free port of the loopback interface.
    ///
    /// # Errors
    ///
    /// If no port is available, or the thread cannot be started.
    pub(crate) fn start(source: Arc<dyn Source>) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let is_closing = Arc::new(AtomicBool::new(false));
        let closing = Arc::clone(&is_closing);
        let serve = move || listen(&listener, address.port(), &closing, &source);
        let listener = Some(thread::Builder::new().name("serve".to_owned()).spawn(serve)?);
        Ok(Server { address, is_closing, listener })
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}/", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_closing.store(true, Ordering::Release);
        // Connect to the server once, so that its thread returns from `accept`.
        let woken = TcpStream::connect_timeout(&self.address, PATIENCE).is_ok();
        if let Some(listener) = self.listener.take().filter(|_| woken) {
            let _ = listener.join();
        }
    }
}

fn listen(listener: &TcpListener, port: u16, closing: &AtomicBool, source: &Arc<dyn Source>) {
    let connections = Arc::new(AtomicUsize::new(0));
    loop {
        let connection = listener.accept();
        if closing.load(Ordering::Acquire) {
            return;
        }
        let Ok((stream, _)) = connection else {
            // The system lacks a resource, such as a file descriptor, and may lack it for a while.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        let place = Place::take(&connections);
        let source = Arc::clone(source);
        let serve = move || match place {
            Some(_place) => serve(stream, port, &*source),
            None => turn_away(stream),
        };
        // If no thread can be started, the connection is closed without an answer.
        let _ = thread::Builder::new().name("connection".to_owned()).stack_size(STACK).spawn(serve);
    }
}

/// Slot for one of the limited number of open connections. Dropping the value frees the slot.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(connections: &Arc<AtomicUsize>) -> Option<Place> {
        let place = Place(Arc::clone(connections));
        (connections.fetch_add(1, Ordering::AcqRel) < MAX_CONNECTIONS).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Refuses a client because all connections are in use. The time limit for this answer is short.
fn turn_away(mut stream: TcpStream) {
    let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
    let _ = stream.write_all(&http::refusal(&Refusal::BUSY, false));
}

fn serve(mut stream: TcpStream, port: u16, source: &dyn Source) {
    let answered = match request(&mut stream, port) {
        Ok(Some(request)) => {
            let answer = source.answer(request.resource, request.known.as_deref());
            respond(&mut stream, &request, answer.as_ref())
        }
        Ok(None) => return,
        Err(refusal) => write(&mut stream, &http::refusal(&refusal, false)),
    };
    if answered.is_ok() {
        drain(&mut stream);
    }
}

/// Reads a request; `None` if no request arrives.
fn request(stream: &mut TcpStream, port: u16) -> Result<Option<Request>, Refusal> {
    let end = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut chunk = [0; 1024];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return if bytes.is_empty() { Ok(None) } else { Err(Refusal::SLOW) };
        }
        if stream.set_read_timeout(Some(left)).is_err() {
            return Ok(None);
        }
        match stream.read(&mut chunk) {
            Ok(0) if bytes.is_empty() => return Ok(None),
            Ok(0) => return Err(Refusal::HALF),
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            // Either the time is up, which the next iteration detects, or a signal arrived.
            Err(error) if is_pause(&error) => continue,
            Err(_) => return Ok(None),
        }
        if let Some(request) = http::read(&bytes, port)? {
            return Ok(Some(request));
        }
    }
}

fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

fn respond(stream: &mut TcpStream, request: &Request, answer: Option<&Answer>) -> io::Result<()> {
    let Some(answer) = answer else { return write(stream, &http::unchanged()) };
    write(stream, &http::head(answer.kind, &answer.tag, answer.body.len()))?;
    if request.is_head { Ok(()) } else { write(stream, &answer.body) }
}

/// Writes all bytes, but stops at the time limit for answers.
fn write(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    let end = Instant::now() + ANSWERING;
    for chunk in bytes.chunks(1 << 14) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        stream.write_all(chunk)?;
    }
    stream.flush()
}

/// Closes the sending side and discards further input. Closing a connection with unread bytes would
/// also discard the answer.
fn drain(stream: &mut TcpStream) {
    let end = Instant::now() + Duration::from_millis(500);
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
    let (mut chunk, mut drained) = ([0; 4096], 0);
    while Instant::now() < end && drained < MAX_DRAINED {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(count) => drained += count,
        }
    }
}

#[cfg(test)]
mod tests;
