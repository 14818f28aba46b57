//! Parser of requests and writer of answers for the part of HTTP/1.1 that `--serve` needs.

const MAX_BYTES: usize = 8 << 10;

const MAX_HEADERS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// The HTML page, at the path `/`.
    Page,
    /// The report as JSON, at the path `/report.json`.
    Report,
    /// Progress and machine as JSON, at `/machine.json`.
    Machine,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) resource: Resource,
    pub(crate) is_head: bool,
    /// Entity tag of the version that the client already has.
    pub(crate) known: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: &'static str,
    sentence: &'static str,
}

impl Refusal {
    const MALFORMED: Refusal =
        Refusal { status: "400 Bad Request", sentence: "This is not a request of HTTP/1.1." };
    pub(crate) const HALF: Refusal =
        Refusal { status: "400 Bad Request", sentence: "The request ends in its middle." };
    const FOREIGN: Refusal = Refusal {
        status: "421 Misdirected Request",
        sentence: "This page is for this machine alone: call it by the address that was printed.",
    };
    const UNKNOWN: Refusal =
        Refusal { status: "404 Not Found", sentence: "There is no such page." };
    const METHOD: Refusal =
        Refusal { status: "405 Method Not Allowed", sentence: "Only GET and HEAD are answered." };
    const LONG: Refusal = Refusal {
        status: "431 Request Header Fields Too Large",
        sentence: "A request has at most 8 kB and 64 headers.",
    };
    pub(crate) const SLOW: Refusal =
        Refusal { status: "408 Request Timeout", sentence: "The request took too long to come." };
    pub(crate) const BUSY: Refusal = Refusal {
        status: "503 Service Unavailable",
        sentence: "Too many connections are open: come again in a moment.",
    };
}

/// Parses all bytes received so far; `None` while the request is incomplete.
///
/// `port` is the port of this server. The header `Host` must be `127.0.0.1`, `localhost` or `[::1]`
/// with this port. Another host name may be an attack by a web page.
pub(crate) fn read(bytes: &[u8], port: u16) -> Result<Option<Request>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length <= MAX_BYTES => {}
        Ok(httparse::Status::Partial) if bytes.len() < MAX_BYTES => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Refusal::LONG),
        Err(_) => return Err(Refusal::MALFORMED),
    }
    let is_head = match parsed.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err(Refusal::METHOD),
    };
    let all = |name: &'static str| {
        let headers = parsed.headers.iter();
        headers.filter(move |header| header.name.eq_ignore_ascii_case(name)).map(|h| h.value)
    };
    let mut hosts = all("host");
    let is_own = hosts.next().is_some_and(|host| is_loopback(host, port));
    if !is_own || hosts.next().is_some() {
        return Err(Refusal::FOREIGN);
    }
    let resource = match parsed.path {
        Some("/") => Resource::Page,
        Some("/report.json") => Resource::Report,
        Some("/machine.json") => Resource::Machine,
        _ => return Err(Refusal::UNKNOWN),
    };
    let known = all("if-none-match").next().and_then(|tag| str::from_utf8(tag).ok());
    let known = known.map(|tag| tag.trim().trim_matches('"').to_owned());
    Ok(Some(Request { resource, is_head, known }))
}

fn is_loopback(host: &[u8], port: u16) -> bool {
    let Ok(host) = str::from_utf8(host) else { return false };
    let Some((name, given)) = host.trim().rsplit_once(':') else { return false };
    let is_name = ["127.0.0.1", "localhost", "[::1]"].iter().any(|n| name.eq_ignore_ascii_case(n));
    is_name && given == port.to_string()
}

/// HTTP headers that forbid caching, guessing the media type, and use by other pages.
const ALWAYS: &str = "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
     X-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n\r\n";

pub(crate) fn head(kind: &str, tag: &str, length: usize) -> Vec<u8> {
    let tag = if tag.is_empty() { String::new() } else { format!("ETag: \"{tag}\"\r\n") };
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{tag}{ALWAYS}")
        .into_bytes()
}

/// Answer to a client that already has the current version.
pub(crate) fn unchanged() -> Vec<u8> {
    format!("HTTP/1.1 304 Not Modified\r\n{ALWAYS}").into_bytes()
}

pub(crate) fn refusal(refusal: &Refusal, is_head: bool) -> Vec<u8> {
    let Refusal { status, sentence } = refusal;
    let allow = if *refusal == Refusal::METHOD { "Allow: GET, HEAD\r\n" } else { "" };
    let length = sentence.len() + 1;
    let body = if is_head { String::new() } else { format!("{sentence}\n") };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n{allow}{ALWAYS}{body}"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "Host: 127.0.0.1:8080\r\n";

    fn asked(text: &str) -> Result<Option<Request>, Refusal> {
        read(text.as_bytes(), 8080)
    }

    #[test]
    fn three_addresses_are_known() {
        for (path, resource) in [
            ("/", Resource::Page),
            ("/report.json", Resource::Report),
            ("/machine.json", Resource::Machine),
        ] {
            for (method, is_head) in [("GET", false), ("HEAD", true)] {
                let request = asked(&format!("{method} {path} HTTP/1.1\r\n{HOST}\r\n"));
                assert_eq!(request, Ok(Some(Request { resource, is_head, known: None })));
            }
        }
        let tagged = format!("GET /report.json HTTP/1.1\r\n{HOST}If-None-Match: \"7\"\r\n\r\n");
        assert_eq!(asked(&tagged).unwrap().unwrap().known.as_deref(), Some("7"));
        for path in
            ["/x", "//", "/..", "/etc/passwd", "/report.json?x", "*", "http://127.0.0.1:8080/"]
        {
            let request = asked(&format!("GET {path} HTTP/1.1\r\n{HOST}\r\n"));
            assert_eq!(request, Err(Refusal::UNKNOWN), "{path}");
        }
    }

    #[test]
    fn nothing_but_get_and_head_is_answered() {
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get", "G"] {
            let request = asked(&format!("{method} / HTTP/1.1\r\n{HOST}\r\n"));
            assert_eq!(request, Err(Refusal::METHOD), "{method}");
        }
    }

    #[test]
    fn who_calls_it_by_another_name_is_turned_away() {
        let of = |host: &str| asked(&format!("GET / HTTP/1.1\r\n{host}\r\n"));
        for host in ["127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "[::1]:8080"] {
            assert!(of(&format!("Host: {host}\r\n")).is_ok(), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8080",
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1:08080",
            "127.0.0.1:8080:8080",
            "127.0.0.1.evil.example:8080",
            "user@127.0.0.1:8080",
            "0.0.0.0:8080",
            ":8080",
            "127.0.0.1:",
        ] {
            assert_eq!(of(&format!("Host: {host}\r\n")), Err(Refusal::FOREIGN), "{host}");
        }
        assert_eq!(of(""), Err(Refusal::FOREIGN));
        assert_eq!(of(&format!("{HOST}Host: evil.example\r\n")), Err(Refusal::FOREIGN));
        assert!(of("Host: \u{7f}\u{80}\r\n").is_err());
    }

    #[test]
    fn a_request_may_come_in_pieces_and_has_an_end() {
        let whole = format!("GET / HTTP/1.1\r\n{HOST}Accept: */*\r\n\r\n");
        for length in 0..whole.len() {
            assert_eq!(asked(&whole[..length]), Ok(None), "{length}");
        }
        assert!(asked(&whole).unwrap().is_some());
        let long = format!("GET / HTTP/1.1\r\n{HOST}X: {}\r\n\r\n", "x".repeat(MAX_BYTES));
        assert_eq!(asked(&long), Err(Refusal::LONG));
        assert_eq!(asked(&long[..MAX_BYTES]), Err(Refusal::LONG));
        let many = format!("GET / HTTP/1.1\r\n{HOST}{}\r\n", "X: y\r\n".repeat(MAX_HEADERS));
        assert_eq!(asked(&many), Err(Refusal::LONG));
    }

    #[test]
    fn garbage_is_never_a_request() {
        let mut rng = meshwork::rng::Stream::new(1, 0, "garbage");
        for length in 0..2000 {
            let bytes: Vec<u8> = (0..length % 300).map(|_| rng.below(256) as u8).collect();
            assert!(!matches!(read(&bytes, 8080), Ok(Some(_))), "{bytes:?}");
        }
        for text in
            ["\0", "GET", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}"]
        {
            assert!(!matches!(asked(text), Ok(Some(_))), "{text:?}");
        }
    }

    /// Checks a request with one wrong byte: it is refused, incomplete, or keeps its meaning.
    #[test]
    fn one_wrong_byte_opens_no_other_door() {
        let whole = format!("GET /report.json HTTP/1.1\r\n{HOST}\r\n").into_bytes();
        for place in 0..whole.len() {
            for byte in 0..=255 {
                let mut spoilt = whole.clone();
                spoilt[place] = byte;
                if let Ok(Some(request)) = read(&spoilt, 8080) {
                    assert!(!request.is_head && request.resource == Resource::Report);
                }
            }
        }
    }
}
