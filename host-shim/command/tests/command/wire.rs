//! HTTP as it is written, so that a test can say what no library would.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A message that was sent: a request, or an answer to one.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// The first line.
    pub(crate) head: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Sent {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn status(&self) -> u16 {
        let status = self.head.split(' ').nth(1).expect("a status");
        status.parse().expect("a number")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// The data of the events of a stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter(|data| !data.is_empty())
            .map(|data| serde_json::from_str(data).expect("JSON"))
            .collect()
    }

    /// The answer, whether it is alone or the last of a stream.
    pub(crate) fn answer(&self) -> Value {
        match self.header("content-type") {
            Some("text/event-stream") => self.events().pop().expect("an event"),
            _ => self.json(),
        }
    }
}

/// Reads a head, and the body that it announces.
pub(crate) fn read(stream: &mut BufReader<TcpStream>) -> Option<Sent> {
    let mut line = || {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        Some(line.trim_end().to_owned())
    };
    let head = line()?;
    if head.is_empty() {
        return None;
    }
    let mut headers = Vec::new();
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut sent = Sent {
        head,
        headers,
        body: String::new(),
    };
    let mut body = Vec::new();
    if let Some(length) = sent.header("content-length") {
        body.resize(length.parse().expect("a length"), 0);
        stream.read_exact(&mut body).ok()?;
    } else if sent.header("transfer-encoding") == Some("chunked") {
        loop {
            let mut size = String::new();
            stream.read_line(&mut size).ok()?;
            let Ok(size) = usize::from_str_radix(size.trim(), 16) else {
                break;
            };
            let mut chunk = vec![0; size + 2];
            if stream.read_exact(&mut chunk).is_err() || size == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
    sent.body = String::from_utf8(body).expect("UTF-8");
    Some(sent)
}

/// Sends a request and reads the answer to its end.
pub(crate) fn ask(address: &str, head: &str, headers: &[(&str, &str)], body: &str) -> Sent {
    let mut stream = open(address, head, headers, body);
    read(&mut stream).expect("an answer")
}

/// Sends a request, whose answer is read later.
pub(crate) fn open(address: &str, head: &str, headers: &[(&str, &str)], body: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("a timeout");
    let mut text = format!("{head} HTTP/1.1\r\n");
    let usual = [
        ("host", address),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("connection", "close"),
    ];
    let usual = usual
        .iter()
        .filter(|(name, _)| !headers.iter().any(|(given, _)| given == name));
    for (name, value) in usual.chain(headers) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    text.push_str(body);
    // A server that has heard enough answers before the end.
    let _ = stream.write_all(text.as_bytes());
    BufReader::new(stream)
}

/// A server that answers each request by a function, which writes to the connection.
pub(crate) struct Upstream {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Sent>>>,
}

impl Upstream {
    pub(crate) fn start(answer: impl Fn(&Sent, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("an address");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let seen: Arc<Mutex<Vec<Sent>>> = Arc::default();
        let (answer, all) = (Arc::new(answer), Arc::clone(&seen));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let (answer, all) = (Arc::clone(&answer), Arc::clone(&all));
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
                    if let Some(request) = read(&mut reader) {
                        all.lock().expect("requests").push(request.clone());
                        answer(&request, &mut stream);
                    }
                });
            }
        });
        Self { url, seen }
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Sent> {
        self.seen.lock().expect("requests").clone()
    }

    /// Those whose message has this method.
    pub(crate) fn messages(&self, method: &str) -> Vec<Sent> {
        let has = |sent: &Sent| {
            let message: Value = serde_json::from_str(&sent.body).unwrap_or_default();
            message["method"] == method
        };
        self.seen().into_iter().filter(has).collect()
    }
}

/// Writes an answer.
pub(crate) fn reply(stream: &mut TcpStream, status: &str, headers: &[(&str, &str)], body: &str) {
    let mut text = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n",
        body.len()
    );
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    // Whoever asked may have left.
    let _ = stream.write_all(format!("{text}\r\n{body}").as_bytes());
}

/// Begins a stream of events, which ends with the connection.
pub(crate) fn stream(stream: &mut TcpStream, events: &str) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let _ = stream.write_all(format!("{head}{events}").as_bytes());
}
