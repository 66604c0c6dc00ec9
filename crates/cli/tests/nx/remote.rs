//! Archives on a web server: what is asked of it, and that nothing is written to it.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::data::{FAILED, golden};
use crate::support::Folder;
#[cfg(feature = "s3")]
use crate::support::Run;

/// A server of ranges of one content, which counts what it sends.
struct Server {
    url: String,
    sent: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn of(content: Vec<u8>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sent, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, ends) = (Arc::clone(&sent), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let content = Arc::new(content);
            for stream in listener.incoming().map_while(Result::ok) {
                if ends.load(Ordering::Relaxed) {
                    break;
                }
                let (content, count) = (Arc::clone(&content), Arc::clone(&count));
                thread::spawn(move || serve(&content, &stream, &count));
            }
        });
        Server { url: format!("http://{address}/a.nx"), sent, stop, thread: Some(thread) }
    }

    /// Bytes sent since the last call.
    fn sent(&self) -> u64 {
        self.sent.swap(0, Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let address = self.url.trim_start_matches("http://").trim_end_matches("/a.nx");
        drop(TcpStream::connect(address));
        self.thread.take().map(JoinHandle::join);
    }
}

/// Answers the requests of one connection until it is closed or silent.
fn serve(content: &[u8], mut stream: &TcpStream, count: &AtomicU64) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let mut lines = BufReader::new(stream).lines();
    loop {
        let head: Vec<String> =
            lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        if head.is_empty() {
            return;
        }
        let asks = ["GET /a.nx ", "GET /bucket/a.nx "].iter().any(|start| head[0].starts_with(start));
        let answer = match asks.then(|| range(&head, content.len())).flatten() {
            Some((first, last)) => {
                let part = &content[first..=last];
                count.fetch_add(part.len() as u64, Ordering::Relaxed);
                let (len, all) = (part.len(), content.len());
                let head = format!(
                    "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Length: {len}\r\nContent-Range: bytes {first}-{last}/{all}\r\n\r\n"
                );
                [head.as_bytes(), part].concat()
            }
            None => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
        };
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

/// The first and the last byte asked for.
fn range(head: &[String], len: usize) -> Option<(usize, usize)> {
    let line = head.iter().map(|line| line.to_ascii_lowercase()).find(|line| line.starts_with("range:"))?;
    let (first, last) = line.split_once("bytes=")?.1.split_once('-')?;
    let (first, last): (usize, usize) = (first.parse().ok()?, last.trim().parse().ok()?);
    (first <= last && first < len).then(|| (first, last.min(len - 1)))
}

#[test]
fn lists_fetch_the_header_and_files_their_blocks() {
    let folder = Folder::new();
    let golden = golden("dups-off");
    let server = Server::of(std::fs::read(&golden.path).unwrap());
    let here = folder.nx(&["list", "--long", golden.file()]).ok().lines();
    assert_eq!(folder.nx(&["list", "--long", &server.url]).ok().lines(), here);
    let header = folder.nx(&["info", "--json", golden.file()]).ok().objects()[0]["header_bytes"].as_u64();
    let header = header.expect("a number");
    assert_eq!(server.sent(), header);

    let files = folder.nx(&["list", "--json", golden.file()]).ok().objects();
    let small = files.iter().find(|file| file["size"].as_u64() > Some(0) && file["blocks"] == 1).unwrap();
    let path = small["path"].as_str().expect("a path");
    let remote = folder.nx(&["extract", "-c", &server.url, path]).ok().stdout;
    assert_eq!(remote, folder.nx(&["extract", "-c", golden.file(), path]).ok().stdout);
    let sent = server.sent();
    let all = std::fs::metadata(&golden.path).unwrap().len();
    assert!(sent > header && sent < all / 2, "{sent} bytes of {all}");

    folder.nx(&["extract", &server.url, "-o", "out"]).ok();
    folder.nx(&["verify", "--against", "out", golden.file()]).ok();
    folder.nx(&["verify", &server.url]).ok();
    folder.nx(&["diff", "--exit-code", &server.url, golden.file()]).ok();
    folder.nx(&["repack", "--solidlevel=1", "--chunkedlevel=1", &server.url, "-o", "b.nx"]).ok();
    folder.nx(&["diff", "--exit-code", golden.file(), "b.nx"]).ok();
}

#[test]
fn nothing_is_written_to_a_server() {
    let folder = Folder::new();
    let server = Server::of(std::fs::read(golden("single-1-byte").path).unwrap());
    let run = folder.nx(&["repack", &server.url]);
    let line =
        format!("linerate: {}: what is on a web server cannot be written; -o names a file", server.url);
    run.fails(FAILED, &line);
    assert!(folder.names().is_empty());
}

#[test]
fn what_is_not_there_is_one_line() {
    let folder = Folder::new();
    let server = Server::of(vec![0; 10]);
    let run = folder.nx(&["list", &server.url.replace("a.nx", "b.nx")]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(FAILED), 1), "{}", run.stderr);
    assert!(run.stderr.contains("b.nx: cannot open: "), "{}", run.stderr);
}

#[cfg(feature = "s3")]
#[test]
fn buckets_are_read_with_the_settings_of_the_environment() {
    let folder = Folder::new();
    let golden = golden("dups-off");
    let server = Server::of(std::fs::read(&golden.path).unwrap());
    let run = |args: &[&str]| {
        let mut command = folder.command(&["nx"]);
        let names = std::env::vars_os().map(|(name, _)| name);
        for name in names.filter(|name| name.to_string_lossy().starts_with("AWS_")) {
            command.env_remove(name);
        }
        command.env("AWS_ENDPOINT_URL", server.url.trim_end_matches("/a.nx"));
        command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
        Run::of(command.env("NO_PROXY", "*").args(args), b"")
    };
    let here = folder.nx(&["list", "--long", golden.file()]).ok().lines();
    assert_eq!(run(&["list", "--long", "s3://bucket/a.nx"]).ok().lines(), here);
    run(&["extract", "s3://bucket/a.nx", "-o", "out"]).ok();
    folder.nx(&["verify", "--against", "out", golden.file()]).ok();
    let missing = "linerate: s3://bucket/b.nx: cannot open: the server has no such archive";
    run(&["list", "s3://bucket/b.nx"]).fails(FAILED, missing);
    let line = "linerate: s3://bucket/a.nx: what is on a web server cannot be written; -o names a file";
    run(&["repack", "s3://bucket/a.nx"]).fails(FAILED, line);
}

#[cfg(not(feature = "s3"))]
#[test]
fn buckets_need_a_feature() {
    let folder = Folder::new();
    let line = "this program was built without the feature `s3`, which reads from buckets";
    let run = folder.nx(&["list", "s3://bucket/a.nx"]);
    run.fails(FAILED, &format!("linerate: s3://bucket/a.nx: {line}"));
}
