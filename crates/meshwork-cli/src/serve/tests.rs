//! Tests of the HTTP server with clients that break the rules, over real connections.

use std::sync::Mutex;

use super::*;

/// Source whose contents have `bytes` bytes. It records the requests.
struct Fake {
    bytes: usize,
    asked: Mutex<Vec<Resource>>,
}

impl Source for Fake {
    fn answer(&self, resource: Resource, known: Option<&str>) -> Option<Answer> {
        self.asked.lock().unwrap().push(resource);
        let body = Arc::new(vec![b'x'; self.bytes]);
        let answer = Answer { kind: "text/plain", tag: "one".to_owned(), body };
        (known != Some("one")).then_some(answer)
    }
}

fn server(bytes: usize) -> (Server, Arc<Fake>) {
    let fake = Arc::new(Fake { bytes, asked: Mutex::default() });
    (Server::start(fake.clone()).expect("a port can be had"), fake)
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

fn get(server: &Server, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address)
}

/// Text that the server sends until it closes the connection.
fn heard(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    // Bytes that arrived before a reset are kept.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn said(server: &Server, request: &[u8]) -> String {
    let mut stream = connect(server);
    // The server may close the connection before the whole request is written.
    let _ = stream.write_all(request);
    heard(stream)
}

fn is_well(server: &Server) {
    let answer = said(server, get(server, "/").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[test]
fn it_is_on_the_loopback_interface_alone_and_gone_when_it_is_dropped() {
    let (server, _) = server(10);
    assert!(server.address.ip().is_loopback());
    assert_eq!(server.address(), format!("http://127.0.0.1:{}/", server.address.port()));
    let address = server.address;
    is_well(&server);
    drop(server);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn an_answer_has_its_length_and_may_not_be_kept_or_framed() {
    let (server, fake) = server(5);
    let answer = said(&server, get(&server, "/report.json").as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "xxxxx");
    for line in [
        "Content-Length: 5",
        "Content-Type: text/plain",
        "Cache-Control: no-store",
        "ETag: \"one\"",
        "X-Content-Type-Options: nosniff",
        "X-Frame-Options: DENY",
        "Cross-Origin-Resource-Policy: same-origin",
        "Connection: close",
    ] {
        assert!(head.lines().any(|given| given == line), "{line}\n{head}");
    }
    let head_only = get(&server, "/").replace("GET", "HEAD");
    let answer = said(&server, head_only.as_bytes());
    assert!(answer.contains("Content-Length: 5") && answer.ends_with("\r\n\r\n"), "{answer}");
    let known = get(&server, "/").replace("\r\n\r\n", "\r\nIf-None-Match: \"one\"\r\n\r\n");
    let answer = said(&server, known.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 304 ") && answer.ends_with("\r\n\r\n"), "{answer}");
    assert_eq!(*fake.asked.lock().unwrap(), [Resource::Report, Resource::Page, Resource::Page]);
}

#[test]
fn what_it_refuses_it_refuses_in_a_sentence_and_asks_nobody() {
    let (server, fake) = server(5);
    let own = format!("Host: {}", server.address);
    for (request, status) in [
        (get(&server, "/etc/passwd"), "404"),
        (get(&server, "/../../etc/passwd"), "404"),
        (get(&server, "/").replace("GET", "POST"), "405"),
        (get(&server, "/").replace(&own, "Host: evil.example"), "421"),
        (get(&server, "/").replace(&own, "Accept: */*"), "421"),
        (get(&server, "/").replace("HTTP/1.1", "HTTP/7.5"), "400"),
        (format!("{}{}", get(&server, "/").trim_end(), "\r\nX: y".repeat(200)), "431"),
        (format!("GET /{} HTTP/1.1\r\n", "a".repeat(1 << 16)), "431"),
        (format!("{}\r\nX: {}", get(&server, "/").trim_end(), "a".repeat(1 << 20)), "431"),
        ("\u{16}\u{3}\u{1}\u{0}\u{a5}\u{1}\r\n\r\n".to_owned(), "400"),
    ] {
        let answer = said(&server, request.as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {answer:?}");
        assert!(answer.ends_with(".\n"), "{answer:?}");
    }
    assert!(fake.asked.lock().unwrap().is_empty());
    is_well(&server);
}

#[test]
fn garbage_and_broken_connections_do_it_no_harm() {
    let (server, fake) = server(5);
    let mut rng = meshwork::rng::Stream::new(3, 0, "garbage");
    for round in 0..200_u32 {
        let mut stream = connect(&server);
        let bytes: Vec<u8> = (0..rng.below(3000)).map(|_| rng.below(256) as u8).collect();
        let _ = stream.write_all(&bytes);
        match round % 4 {
            0 => drop(stream),
            1 => drop(stream.shutdown(Shutdown::Both)),
            2 => drop(stream.shutdown(Shutdown::Write)),
            _ => {
                let _ = stream.write_all(b"\r\n\r\n");
            }
        }
    }
    assert!(fake.asked.lock().unwrap().is_empty());
    // The server may take a moment to give back the places of the last connections.
    for _ in 0..100 {
        if said(&server, get(&server, "/").as_bytes()).starts_with("HTTP/1.1 200") {
            break;
        }
        thread::sleep(Duration::from_millis(100));
    }
    is_well(&server);
}

#[test]
fn a_request_that_stops_in_its_middle_is_given_up() {
    let (server, _) = server(5);
    let mut half = connect(&server);
    half.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
    let silent = connect(&server);
    let began = Instant::now();
    is_well(&server);
    assert!(heard(half).starts_with("HTTP/1.1 408 "));
    assert_eq!(heard(silent), "");
    assert!(began.elapsed() < 5 * PATIENCE, "{:?}", began.elapsed());
    let mut ended = connect(&server);
    ended.write_all(b"GET / HT").unwrap();
    ended.shutdown(Shutdown::Write).unwrap();
    assert!(heard(ended).starts_with("HTTP/1.1 400 "));
}

#[test]
fn one_byte_at_a_time_is_too_slow() {
    let (server, _) = server(5);
    let mut slow = connect(&server);
    let began = Instant::now();
    let dripping =
        get(&server, "/").replace("\r\n\r\n", "\r\nX: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    for byte in dripping.bytes().cycle() {
        // Send one byte every 40 ms. The server's time limit is for the whole request.
        if slow.write_all(&[byte]).is_err() || began.elapsed() > PATIENCE + PATIENCE / 2 {
            break;
        }
        thread::sleep(Duration::from_millis(40));
    }
    assert!(heard(slow).starts_with("HTTP/1.1 4"), "it is refused");
    is_well(&server);
}

#[test]
fn many_connections_are_bounded_and_end() {
    let (server, _) = server(5);
    let open: Vec<TcpStream> = (0..3 * MAX_CONNECTIONS).map(|_| connect(&server)).collect();
    let busy = said(&server, get(&server, "/").as_bytes());
    assert!(busy.starts_with("HTTP/1.1 503 ") || busy.is_empty(), "{busy}");
    thread::sleep(PATIENCE + Duration::from_millis(500));
    // The server has disconnected the silent clients, although their sockets are still open here.
    is_well(&server);
    drop(open);
}

#[test]
fn who_does_not_read_the_answer_keeps_nobody_waiting() {
    let (server, _) = server(64 << 20);
    let mut deaf = connect(&server);
    deaf.write_all(get(&server, "/").as_bytes()).unwrap();
    let quick = get(&server, "/").replace("GET", "HEAD");
    assert!(said(&server, quick.as_bytes()).starts_with("HTTP/1.1 200 "));
    drop(deaf);
    assert!(said(&server, quick.as_bytes()).starts_with("HTTP/1.1 200 "));
}
