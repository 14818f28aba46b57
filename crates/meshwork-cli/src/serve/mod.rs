//! A loopback-only server: three GET/HEAD routes, and a strict check of `Host`.
//!
//! It listens on the loopback interface alone, on a port that the system chooses. It answers GET and HEAD, one request
//! for each connection, and only to those who call it by a name of the loopback interface: a page from
//! elsewhere whose name has been bound to 127.0.0.1 is turned away. It opens no file. Every request has a few
//! seconds and a few kilobytes, and there is room for a few connections at once, so whatever knocks, the
//! runs beside it go on.

pub(crate) mod http;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use http::{Refusal, Request, Resource};

/// How many connections are served at once; others are asked to come again.
const MAX_CONNECTIONS: usize = 32;

/// How long a request may take to arrive: a browser on the same machine needs a millisecond.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long an answer may take to be read.
const ANSWERING: Duration = Duration::from_secs(20);

/// The most bytes that are read of whoever goes on sending after the answer.
const MAX_DRAINED: usize = 1 << 16;

/// The stack of a connection's thread, which calls nothing deep.
const STACK: usize = 1 << 20;

/// What an address holds now.
pub(crate) struct Answer {
    /// Its media type.
    pub(crate) kind: &'static str,
    /// A name of this state of it, for those who ask again; empty if it has none.
    pub(crate) tag: String,
    /// Its bytes.
    pub(crate) body: Arc<Vec<u8>>,
}

/// Who knows the answers.
pub(crate) trait Source: Send + Sync + 'static {
    /// What is there now, for someone who knows the state with this tag: nothing if it is the same.
    fn answer(&self, resource: Resource, known: Option<&str>) -> Option<Answer>;
}

/// A server on a thread of its own, until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    is_closing: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// If no port can be had.
    pub(crate) fn start(source: Arc<dyn Source>) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let is_closing = Arc::new(AtomicBool::new(false));
        let closing = Arc::clone(&is_closing);
        let serve = move || listen(&listener, address.port(), &closing, &source);
        let listener = Some(thread::Builder::new().name("serve".to_owned()).spawn(serve)?);
        Ok(Server { address, is_closing, listener })
    }

    /// Where it is.
    pub(crate) fn address(&self) -> String {
        format!("http://{}/", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_closing.store(true, Ordering::Release);
        // Whoever waits for a connection gets one.
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
            // The system is out of something: it will not have more of it at once.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        let place = Place::take(&connections);
        let source = Arc::clone(source);
        let serve = move || match place {
            Some(_place) => serve(stream, port, &*source),
            None => turn_away(stream),
        };
        // If there is no thread to be had, the connection is closed, and that is the answer.
        let _ = thread::Builder::new().name("connection".to_owned()).stack_size(STACK).spawn(serve);
    }
}

/// One of the places for connections, until it is dropped.
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

/// Someone for whom there is no place: told so, if that takes no time.
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

/// The request of a connection; nothing if there comes none.
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
            // The time is up, which the next round says, or a signal came.
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

/// Writes everything, if it is taken in time.
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

/// Says that there is no more, and lets go of what still comes: a connection that is closed with bytes
/// unread takes the answer with it.
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
