//! Loopback model servers: they stream what a scene says over any of the four wires, and pace, cut, go
//! silent, answer errors or drop the connection where told. Each request is recorded.

pub mod accepts;
pub mod scene;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// What happens after a reply's last byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Then {
    /// The stream ends as it should.
    End,
    /// The connection closes in the middle.
    Cut,
    /// Nothing more comes until the client goes.
    Silence,
}

/// One reply. The server gives them in order, the last one again and again.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A stream: pieces with a pause before each.
    Stream { pieces: Vec<Vec<u8>>, pause: Duration, then: Then },
    /// An answer with a status, headers (whole lines) and a body.
    Answer { status: u16, headers: Vec<String>, body: String },
    /// The connection closes without a word.
    Drop,
}

impl Reply {
    /// A whole stream at once.
    pub fn whole(text: &str) -> Self {
        Self::stream(vec![text.as_bytes().to_vec()], Duration::ZERO, Then::End)
    }
    /// The first bytes of a stream, then this.
    pub fn part(text: &str, bytes: usize, then: Then) -> Self {
        Self::stream(vec![text.as_bytes()[..bytes].to_vec()], Duration::ZERO, then)
    }
    /// A stream in pieces.
    pub fn stream(pieces: Vec<Vec<u8>>, pause: Duration, then: Then) -> Self {
        Reply::Stream { pieces, pause, then }
    }
    /// An error.
    pub fn error(status: u16, headers: &[&str], body: &str) -> Self {
        Reply::Answer {
            status,
            headers: headers.iter().map(ToString::to_string).collect(),
            body: body.to_string(),
        }
    }
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its first line and headers.
    pub head: String,
    /// Its body.
    pub body: String,
}

/// A server; it ends when dropped.
pub struct Server {
    /// Its port on 127.0.0.1.
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    gone: Arc<Semaphore>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Starts a server with these replies.
    pub async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, gone) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Semaphore::new(0)));
        let (seen2, gone2) = (Arc::clone(&seen), Arc::clone(&gone));
        let task = tokio::spawn(async move {
            let mut serving = tokio::task::JoinSet::new();
            let mut next = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let reply = replies[next.min(replies.len() - 1)].clone();
                next += 1;
                serving.spawn(serve(stream, reply, Arc::clone(&seen2), Arc::clone(&gone2)));
            }
        });
        Self { port, seen, gone, task }
    }
    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
    /// The requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
    /// Waits until a client left a silent stream.
    pub async fn client_gone(&self) {
        let wait = tokio::time::timeout(Duration::from_secs(10), self.gone.acquire());
        wait.await.expect("the client closes").unwrap().forget();
    }
}

async fn serve(mut stream: TcpStream, reply: Reply, seen: Arc<Mutex<Vec<Seen>>>, gone: Arc<Semaphore>) {
    let Some(request) = read_request(&mut stream).await else { return };
    seen.lock().unwrap().push(request);
    match reply {
        Reply::Drop => {}
        Reply::Answer { status, headers, body } => {
            let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
            let length = body.len();
            let text = format!(
                "HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
            );
            let _gone = stream.write_all(text.as_bytes()).await;
        }
        Reply::Stream { pieces, pause, then } => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
            let _gone = stream.write_all(head.as_bytes()).await;
            for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
                chunk.extend_from_slice(piece);
                chunk.extend_from_slice(b"\r\n");
                if stream.write_all(&chunk).await.is_err() {
                    gone.add_permits(1);
                    return;
                }
            }
            match then {
                Then::End => {
                    let _gone = stream.write_all(b"0\r\n\r\n").await;
                }
                Then::Cut => {}
                Then::Silence => {
                    let mut byte = [0u8; 1];
                    while matches!(stream.read(&mut byte).await, Ok(1)) {}
                    gone.add_permits(1);
                }
            }
        }
    }
    let _gone = stream.shutdown().await;
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut buffer = [0u8; 16 << 10];
    loop {
        let read = stream.read(&mut buffer).await.ok()?;
        if read == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..read]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok())
            .unwrap_or(0usize);
        if bytes.len() >= end + 4 + length {
            let body = String::from_utf8_lossy(&bytes[end + 4..]).into_owned();
            return Some(Seen { head, body });
        }
    }
}
