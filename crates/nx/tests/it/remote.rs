//! Tests archives on a server: the ranges that are fetched, and servers that misbehave.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::ops::Range;
use std::time::Duration;

use linerate_nx::{Archive, Existing, Extractor, HttpOptions, HttpSource, Kind, PAGE, ReadAt, Result, r3a};

use linerate_testkit::web::{Reply, Request, Server, Then};

use crate::common::make::{COPY, Frame, Make, ZSTD, frame, noise};
use crate::common::{Golden, assert_fails, goldens};

/// Returns options with short timeouts, since the server is on this machine.
fn options() -> HttpOptions {
    let retry_delay = Duration::from_millis(1);
    patient().timeout(Duration::from_millis(400)).max_attempts(3).retry_delay(retry_delay)
}

/// Returns options with the default timeouts, for servers that are only slower than this machine.
fn patient() -> HttpOptions {
    HttpOptions::new().use_proxies(false)
}

fn open(url: &str) -> Result<Archive<HttpSource>> {
    Archive::open(HttpSource::open_with(url, patient())?)
}

fn golden(name: &str) -> Golden {
    goldens().into_iter().find(|golden| golden.name == name).expect("a golden of that name")
}

/// Returns bytes that encode their position.
fn numbers(len: u32) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + (i >> 8)) as u8).collect()
}

/// Opens a source of the server and reads 1000 bytes at offset 5000.
fn read(server: &Server) -> Result<Vec<u8>> {
    let source = HttpSource::open_with(&server.url(), options())?;
    let mut out = vec![0; 1000];
    match source.read_at(5000, &mut out) {
        Ok(()) => Ok(out),
        Err(e) => Err(*e.get_ref().and_then(|e| e.downcast_ref()).expect("an error of the source")),
    }
}

/// Reads like [`read`], but from a server that spoils its responses from number `from` on.
fn read_spoiled(from: usize, spoil: impl Fn(Reply) -> Reply + Send + Sync + 'static) -> Result<Vec<u8>> {
    let bytes = numbers(10_000);
    read(&Server::new(move |request| {
        let reply = Reply::range(&bytes, request);
        if request.number >= from { spoil(reply) } else { reply }
    }))
}

#[test]
fn listing_fetches_the_header_only() {
    for golden in goldens().iter().filter(|golden| golden.is_small()) {
        let server = Server::of(std::fs::read(&golden.path).unwrap());
        let archive = open(&server.url()).unwrap();
        let mut paths: Vec<_> = archive.files().map(|file| file.path().to_owned()).collect();
        let mut expected: Vec<_> = golden.files.iter().map(|file| file.path.clone()).collect();
        paths.sort();
        expected.sort();
        assert_eq!(paths, expected, "{}", golden.name);
        assert_eq!(server.bytes(), archive.header().bytes(), "{}", golden.name);
        assert_eq!(server.requests(), if archive.header().bytes() > PAGE { 2 } else { 1 }, "{}", golden.name);
    }
}

#[test]
fn one_file_fetches_its_blocks_only() {
    for golden in goldens().iter().filter(|golden| golden.is_small()) {
        let server = Server::of(std::fs::read(&golden.path).unwrap());
        let (archive, local) = (open(&server.url()).unwrap(), golden.open());
        for file in archive.files().step_by(archive.len().div_ceil(20).max(1)) {
            let before = server.bytes();
            let expected = local.read(local.get(file.index()).unwrap());
            assert_eq!(archive.read(file), expected, "{}: {}", golden.name, file.path());
            let blocks = &archive.toc().blocks[file.blocks()];
            let stored: u64 = blocks.iter().map(|block| u64::from(block.compressed)).sum();
            // Blocks begin at multiples of the page.
            let padding = PAGE * (blocks.len() as u64).saturating_sub(1);
            let fetched = server.bytes() - before;
            assert!(fetched <= stored + padding, "{}: {}: {fetched}", golden.name, file.path());
        }
    }
}

#[test]
fn neighbouring_blocks_come_in_one_request() {
    let golden = golden("single-chunked");
    let server = Server::of(std::fs::read(&golden.path).unwrap());
    for (reach, whole) in [(4 << 20, true), (0, false)] {
        let source = HttpSource::open_with(&server.url(), patient().coalesce_limit(reach)).unwrap();
        let archive = Archive::open(source).unwrap();
        let file = archive.get(0).unwrap();
        assert!(file.blocks().len() > 1);
        let before = server.requests();
        archive.read(file).unwrap();
        let requests = server.requests() - before;
        assert_eq!(requests, if whole { 1 } else { file.blocks().len() }, "a reach of {reach}");
    }
}

#[test]
fn many_files_are_extracted_in_parallel() {
    for name in ["many", "defaults", "single-chunked"] {
        let golden = golden(name);
        let server = Server::of(std::fs::read(&golden.path).unwrap());
        let archive = open(&server.url()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let done = Extractor::new(&archive).threads(4).to_folder(folder.path()).unwrap();
        assert!(done.failures.is_empty(), "{:?}", done.failures);
        let local = golden.open();
        for file in local.files() {
            let there = std::fs::read(folder.path().join(file.path())).unwrap();
            assert!(there == local.read(file).unwrap(), "{name}: {}", file.path());
        }
    }
}

/// Extracts the files for which `wanted` returns true, and returns the requested ranges in the
/// order of the archive.
fn ranges(archive: &[u8], reach: u64, wanted: impl Fn(&str) -> bool) -> Vec<Range<u64>> {
    let server = Server::of(archive.to_vec());
    let source = HttpSource::open_with(&server.url(), patient().coalesce_limit(reach)).unwrap();
    let remote = Archive::open(source).unwrap();
    let (folder, before) = (tempfile::tempdir().unwrap(), server.requests());
    let extractor = Extractor::new(&remote).threads(4);
    let done = extractor.names(|file| wanted(file.path()).then(|| file.path().to_owned()));
    let done = done.to_folder(folder.path()).unwrap();
    assert!(done.failures.is_empty(), "{:?}", done.failures);
    let local = Archive::open(archive).unwrap();
    for file in local.files().filter(|file| wanted(file.path())) {
        let there = std::fs::read(folder.path().join(file.path())).unwrap();
        assert!(there == local.read(file).unwrap(), "{}", file.path());
    }
    let mut ranges = server.ranges().split_off(before);
    ranges.sort_by_key(|range| range.start);
    assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{ranges:?}");
    ranges
}

/// Returns the ranges of the blocks that hold files.
fn spans(archive: &[u8]) -> Vec<Range<u64>> {
    let archive = Archive::open(archive).unwrap();
    let files = archive.files().filter(|file| file.size() > 0);
    let blocks: BTreeSet<usize> = files.flat_map(|file| file.blocks()).collect();
    let span = |block: usize| {
        let at = archive.layout().offset(block);
        at..at + u64::from(archive.toc().blocks[block].compressed)
    };
    blocks.into_iter().map(span).collect()
}

fn total(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

#[test]
fn a_whole_archive_comes_in_few_requests() {
    for golden in goldens().iter().filter(|golden| golden.is_small() && golden.damaged.is_empty()) {
        let bytes = std::fs::read(&golden.path).unwrap();
        let all = spans(&bytes);
        let Some(last) = all.last() else { continue };
        let whole = all[0].start..last.end;
        for reach in [4 << 20, 256 << 10, 16 << 10] {
            let asked = ranges(&bytes, reach, |_| true);
            // No two requests could have been one.
            let parted = asked.windows(2).all(|pair| pair[1].end - pair[0].start > reach);
            assert!(parted, "{}: {asked:?}", golden.name);
            assert_eq!((asked[0].start, asked[asked.len() - 1].end), (whole.start, whole.end));
            assert!(asked.len() <= all.len() && total(&asked) <= whole.end - whole.start);
        }
        assert_eq!(ranges(&bytes, 0, |_| true), all, "{}: each block by itself", golden.name);
    }
}

/// Returns an archive of sixty stored files of 40,000 bytes in three folders. There are 960 bytes
/// between them.
fn sixty() -> Vec<u8> {
    sixty_of(COPY, |content| content)
}

fn sixty_of(codec: u32, pack: impl Fn(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let mut made = Make::new(11);
    for i in 0..60u32 {
        let content = noise(40_000, i);
        made = made.file(format!("{}/{i:02}", ["a", "b", "c"][i as usize / 20]), &content, u64::from(i), 0);
        made = made.block(codec, pack(content));
    }
    made.bytes()
}

#[test]
fn r3a_comes_in_few_requests_too() {
    let frames = sixty_of(ZSTD, |content| frame(&content, Frame::Streamed));
    for bytes in [sixty(), frames] {
        let nx = Archive::open(&bytes[..]).unwrap();
        let mut r3a = Vec::new();
        r3a::from_nx(&nx, r3a::Tables::Presets, &[], &mut r3a).unwrap();
        let server = Server::of(r3a);
        let source = HttpSource::open_with(&server.url(), patient()).unwrap();
        let archive = r3a::AsNx::new(r3a::Archive::open(source).unwrap()).unwrap().open().unwrap();
        let before = server.requests();
        let folder = tempfile::tempdir().unwrap();
        let done = Extractor::new(&archive).threads(2).to_folder(folder.path()).unwrap();
        assert_eq!((done.files, done.failures.len()), (60, 0), "{:?}", done.failures);
        assert_eq!(server.requests() - before, 1);
        for file in nx.files() {
            assert!(std::fs::read(folder.path().join(file.path())).unwrap() == nx.read(file).unwrap());
        }
    }
}

#[test]
fn adjacent_files_are_fetched_in_one_request() {
    let bytes = sixty();
    let asked = ranges(&bytes, 4 << 20, |path| path.starts_with("b/"));
    assert_eq!((asked.len(), &asked[0]), (1, &(4096 + 20 * 40_960..4096 + 39 * 40_960 + 40_000)));
    let asked = ranges(&bytes, 10 * 40_960, |path| path.starts_with("b/"));
    assert_eq!(asked.len(), 2);
}

#[test]
fn short_gap_between_blocks_is_fetched_along() {
    let bytes = sixty();
    let number = |path: &str| path[2..].parse::<u64>().unwrap();
    // The gap between the files is 41,920 bytes, less than 1/64 of 4 MiB.
    let asked = ranges(&bytes, 4 << 20, |path| number(path) % 2 == 0);
    assert_eq!((asked.len(), &asked[0]), (1, &(4096..4096 + 58 * 40_960 + 40_000)));
    let asked = ranges(&bytes, 4 << 20, |path| number(path) % 3 == 0);
    assert_eq!(asked.len(), 20);
    assert_eq!(total(&asked), 20 * 40_000);
}

#[test]
fn nothing_is_fetched_for_skipped_files() {
    let bytes = sixty();
    let server = Server::of(bytes.clone());
    let archive = open(&server.url()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("b")).unwrap();
    for i in 20..40 {
        std::fs::write(folder.path().join(format!("b/{i}")), "mine").unwrap();
    }
    let extract = || Extractor::new(&archive).threads(2).existing(Existing::Skip).to_folder(folder.path());
    let (done, ranges) = (extract().unwrap(), server.ranges());
    assert_eq!((done.files, done.skipped.len(), done.failures.len()), (40, 20, 0));
    assert_eq!(total(&ranges[1..]), 2 * (19 * 40_960 + 40_000));
    assert_eq!(std::fs::read(folder.path().join("b/30")).unwrap(), b"mine");
    let done = extract().unwrap();
    assert_eq!((done.files, done.skipped.len()), (0, 60));
    assert_eq!(server.ranges(), ranges);
}

#[test]
fn failed_server_is_not_asked_again_for_a_while() {
    let bytes = sixty();
    let server = Server::new(move |request| {
        let reply = Reply::range(&bytes, request);
        if request.number == 0 { reply } else { reply.cut(100) }
    });
    let options = options().coalesce_limit(0).cooldown(Duration::from_secs(3600));
    let archive = Archive::open(HttpSource::open_with(&server.url(), options).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let done = Extractor::new(&archive).threads(2).to_folder(folder.path()).unwrap();
    let told = done.failures.iter().filter(|failure| failure.to_string().contains("broke")).count();
    assert_eq!((done.files, told), (0, 60));
    // The second thread may have just begun.
    assert!((4..=7).contains(&server.requests()), "{}", server.requests());
}

#[test]
fn recovered_server_is_asked_again() {
    let bytes = numbers(10_000);
    let server = Server::new(move |request| match request.number {
        1 => Reply::status("503 Service Unavailable"),
        _ => Reply::range(&bytes, request),
    });
    let read = |rest| {
        let options = options().max_attempts(1).cooldown(rest);
        let source = HttpSource::open_with(&server.url(), options).unwrap();
        let read = || source.read_at(5000, &mut [0; 10]).is_ok();
        [read(), read()]
    };
    assert_eq!(read(Duration::ZERO), [false, true]);
    assert_eq!(server.requests(), 3);
}

#[test]
fn reads_are_of_the_bytes_asked_for() {
    let bytes = numbers(10_000);
    let server = Server::of(bytes.clone());
    let source = HttpSource::open_with(&server.url(), patient()).unwrap();
    assert_eq!((source.len(), server.bytes()), (10_000, PAGE));
    for range in [0..0, 0..1, 0..4096, 4000..4200, 4096..4097, 9_999..10_000, 0..10_000, 10_000..10_000] {
        let mut out = vec![0; range.len()];
        source.read_at(range.start as u64, &mut out).unwrap();
        assert_eq!(out, bytes[range]);
    }
    let before = server.requests();
    for offset in [9_999, 10_000, u64::MAX] {
        let error = source.read_at(offset, &mut [0; 2]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
    }
    assert_eq!(server.requests(), before);
}

#[test]
fn an_archive_may_be_shorter_than_a_page() {
    let server = Server::of(numbers(100));
    let source = HttpSource::open_with(&server.url(), patient()).unwrap();
    let mut out = [0; 100];
    source.read_at(0, &mut out).unwrap();
    assert_eq!((source.len(), out.as_slice()), (100, numbers(100).as_slice()));
    assert!(Archive::open(source).is_err());
    assert_fails(read(&Server::of(Vec::new())), Kind::Truncated, "is empty");
}

#[test]
fn redirects_are_followed_to_an_end() {
    let bytes = numbers(10_000);
    let to = |path: &str| Reply::status("302 Found").with("Location", Some(path));
    let there = Server::new({
        let bytes = bytes.clone();
        move |request: &Request| match request.path.as_str() {
            "/elsewhere" => Reply::range(&bytes, request),
            _ => to("/elsewhere"),
        }
    });
    assert_eq!(read(&there).unwrap(), bytes[5000..6000]);
    let circle = Server::new(move |_| to("/archive.nx"));
    assert_fails(read(&circle), Kind::Read, "redirects too often");
    assert!(circle.requests() < 10);
}

#[test]
fn a_server_without_ranges_is_refused() {
    let whole = |mut reply: Reply| {
        reply.status = "200 OK";
        reply.with("Content-Range", None)
    };
    assert_fails(read_spoiled(0, whole), Kind::Read, "does not serve ranges");
    assert_fails(read_spoiled(1, whole), Kind::Read, "does not serve ranges");
}

#[test]
fn endless_response_is_not_read() {
    let server = Server::new(|_| {
        let headers = vec![("Content-Length", u64::MAX.to_string())];
        Reply { status: "200 OK", headers, body: vec![0; 1 << 20], then: Then::Hang }
    });
    assert_fails(read(&server), Kind::Read, "does not serve ranges");
}

#[test]
fn archive_that_changes_on_the_server_is_an_error() {
    assert_fails(read_spoiled(1, |r| r.with("ETag", Some("\"2\""))), Kind::Corrupt, "changed");
    assert_fails(read_spoiled(1, |r| r.with("ETag", None)), Kind::Corrupt, "changed");
    let longer = |r: Reply| r.with("Content-Range", Some("bytes 5000-5999/10001"));
    assert_fails(read_spoiled(1, longer), Kind::Corrupt, "changed");
    let bytes = numbers(10_000);
    let dated = Server::new(move |request| {
        let date = format!("Mon, 02 Jan 2023 00:00:{:02} GMT", request.number);
        Reply::range(&bytes, request).with("ETag", None).with("Last-Modified", Some(&date))
    });
    assert_fails(read(&dated), Kind::Corrupt, "changed");
}

#[test]
fn response_with_another_range_is_an_error() {
    for (said, what) in [
        (Some("bytes 5001-6000/10000"), "another range"),
        (Some("bytes 5000-5998/10000"), "Content-Length"),
        (Some("bytes 5000-5999/*"), "how long"),
        (Some("bytes 5000-5999/5500"), "ends after"),
        (Some("bytes=5000-5999/10000"), "is no range"),
        (None, "which range"),
    ] {
        let error = read_spoiled(1, move |r| r.with("Content-Range", said)).unwrap_err();
        assert!(error.message.contains(what) && error.offset == 5000, "{said:?}: {error:?}");
    }
}

#[test]
fn a_compressed_answer_is_refused() {
    assert_fails(read_spoiled(0, |r| r.with("Content-Encoding", Some("gzip"))), Kind::Corrupt, "compresses");
}

#[test]
fn interrupted_response_is_resumed() {
    let bytes = numbers(10_000);
    let server = Server::new({
        let bytes = bytes.clone();
        move |request| match request.number {
            1 => Reply::range(&bytes, request).cut(300),
            _ => Reply::range(&bytes, request),
        }
    });
    assert_eq!(read(&server).unwrap(), bytes[5000..6000]);
    assert_eq!(server.ranges(), [0..4096, 5000..6000, 5300..6000]);
}

#[test]
fn response_that_always_breaks_off_is_an_error() {
    let bytes = numbers(10_000);
    let server = Server::new(move |request| {
        let reply = Reply::range(&bytes, request);
        if request.number == 0 { reply } else { reply.cut(100) }
    });
    let error = read(&server).unwrap_err();
    assert_eq!((error.kind, error.offset), (Kind::Read, 5300));
    assert_eq!(server.ranges(), [0..4096, 5000..6000, 5100..6000, 5200..6000]);
}

#[test]
fn an_answer_longer_than_its_range_is_refused() {
    let longer = |mut reply: Reply| {
        reply.body.push(0);
        reply.with("Content-Length", None).then(Then::Close)
    };
    assert_fails(read_spoiled(1, longer), Kind::Corrupt, "more than the range");
}

#[test]
fn a_busy_server_is_asked_again_but_not_forever() {
    let bytes = numbers(10_000);
    let busy = || Reply::status("503 Service Unavailable").with("Retry-After", Some("0"));
    let server = Server::new({
        let bytes = bytes.clone();
        move |request| if request.number % 3 < 2 { busy() } else { Reply::range(&bytes, request) }
    });
    assert_eq!(read(&server).unwrap(), bytes[5000..6000]);
    assert_eq!(server.requests(), 6);
    let server = Server::new(move |_| busy());
    assert_fails(read(&server), Kind::Read, "cannot answer");
    assert_eq!(server.requests(), 3);
}

#[test]
fn client_error_status_is_not_retried() {
    for (status, what) in [
        ("401 Unauthorized", "denies"),
        ("403 Forbidden", "denies"),
        ("404 Not Found", "no such file"),
        ("418 I'm a teapot", "refuses"),
    ] {
        let server = Server::new(move |_| Reply::status(status));
        assert_fails(read(&server), Kind::Read, what);
        assert_eq!(server.requests(), 1, "{status}");
    }
}

#[test]
fn silent_server_is_an_error() {
    let silent = |mut reply: Reply| {
        reply.body.truncate(10);
        reply.then(Then::Hang)
    };
    assert_fails(read_spoiled(1, silent), Kind::Read, "too long");
    // A server that accepts connections and never reads from them.
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let error = HttpSource::open_with(&url, options().max_attempts(1)).unwrap_err();
    assert!(error.kind == Kind::Read && error.message.contains("too long"), "{error:?}");
}

#[test]
fn missing_server_is_an_error_with_a_message() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let error = HttpSource::open_with(&url, options()).unwrap_err();
    assert!(error.kind == Kind::Read && error.message.contains("cannot be reached"), "{error:?}");
}

#[test]
fn a_server_without_tls_is_not_trusted() {
    let server = Server::of(numbers(10_000));
    let url = server.url().replace("http:", "https:");
    let error = HttpSource::open_with(&url, options()).unwrap_err();
    assert_eq!(error.kind, Kind::Read, "{error:?}");
    assert_eq!(server.bytes(), 0);
}

#[test]
fn an_answer_that_is_not_http_is_refused() {
    let server = Server::new(|_| Reply {
        status: "what\u{0}?",
        headers: vec![("", "\u{1}".to_owned())],
        body: Vec::new(),
        then: Then::Close,
    });
    assert!(matches!(read(&server).unwrap_err().kind, Kind::Corrupt | Kind::Read));
}

#[test]
fn enormous_length_allocates_nothing() {
    let golden = golden("names");
    let bytes = std::fs::read(&golden.path).unwrap();
    let server = Server::new(move |request| {
        let mut reply = Reply::range(&bytes, request);
        let said = format!("bytes {}-{}/{}", request.range.start, request.range.end - 1, u64::MAX);
        reply.body.resize((request.range.end - request.range.start) as usize, 0);
        let len = reply.body.len().to_string();
        reply.with("Content-Range", Some(&said)).with("Content-Length", Some(&len))
    });
    let archive = open(&server.url()).unwrap();
    assert_eq!(archive.source().len(), u64::MAX);
    let file = archive.find("emoji/🎮.bin").unwrap();
    assert_eq!(archive.read(file).unwrap().len(), 407);
}

/// Returns options that retry at once after a transient error.
fn never_resting() -> HttpOptions {
    options().cooldown(Duration::ZERO)
}

#[test]
fn a_replaced_archive_is_not_asked_for_again() {
    for header in ["ETag", "Last-Modified"] {
        // Servers that support conditional requests, and servers that do not.
        for knows in [true, false] {
            let bytes = numbers(100_000);
            let server = Server::new(move |request| {
                let version = |n: usize| match header {
                    "ETag" => format!("\"{n}\""),
                    _ => format!("Mon, 02 Jan 2023 00:00:0{n} GMT"),
                };
                let now = version(usize::from(request.number > 1));
                let condition = if header == "ETag" { "If-Match" } else { "If-Unmodified-Since" };
                let asked = request.header(condition).map(str::to_owned);
                assert_eq!(asked, (request.number > 0).then(|| version(0)), "{header}");
                if knows && asked.is_some_and(|asked| asked != now) {
                    return Reply::status("412 Precondition Failed");
                }
                Reply::range(&bytes, request).with("ETag", None).with(header, Some(&now))
            });
            let source = HttpSource::open_with(&server.url(), never_resting()).unwrap();
            let read = |offset| source.read_at(offset, &mut [0; 100]).map_err(|e| e.to_string());
            assert_eq!((read(5000), source.end()), (Ok(()), None));
            for offset in [7000, 8000, 9000] {
                let error = read(offset).unwrap_err();
                assert!(error.contains("the file on the server changed"), "{error}");
            }
            assert_eq!(server.requests(), 3, "{header}");
            assert_eq!(source.end().map(|error| error.kind), Some(Kind::Corrupt));
        }
    }
}

#[test]
fn an_archive_that_became_shorter_or_empty_is_not_asked_for_again() {
    for reply in [|| Reply::status("416 Range Not Satisfiable"), || Reply::status("200 OK")] {
        let bytes = numbers(100_000);
        let server = Server::new(move |request| match request.number {
            0 => Reply::range(&bytes, request),
            _ => reply(),
        });
        let source = HttpSource::open_with(&server.url(), never_resting()).unwrap();
        for offset in [7000, 8000] {
            let error = source.read_at(offset, &mut [0; 100]).unwrap_err();
            assert!(error.to_string().contains("the file on the server changed"), "{error}");
        }
        assert_eq!(server.requests(), 2);
    }
}

#[test]
fn an_empty_file_on_a_server_is_said_to_be_empty() {
    for reply in [
        || Reply::status("416 Range Not Satisfiable").with("Content-Range", Some("bytes */0")),
        || Reply::status("200 OK"),
    ] {
        let error = HttpSource::open_with(&Server::new(move |_| reply()).url(), options()).unwrap_err();
        assert_eq!((error.kind, error.message), (Kind::Truncated, "the file on the server is empty"));
    }
}

/// A label has at most 63 characters (RFC 1035), so the system does not look up this name.
#[test]
fn a_name_without_a_server_is_said_to_have_none() {
    let url = format!("http://{}.invalid/a.nx", "a".repeat(64));
    let error = HttpSource::open_with(&url, options()).unwrap_err();
    assert_eq!((error.kind, error.message), (Kind::Read, "there is no server of that name"));
}

#[test]
fn user_and_password_are_sent_decoded_to_their_host() {
    let bytes = numbers(10_000);
    let server = Server::new(move |request| {
        // user:p@ss in Base64.
        match request.header("Authorization") == Some("Basic dXNlcjpwQHNz") {
            true if request.path == "/archive.nx" => {
                Reply::status("302 Found").with("Location", Some("/elsewhere"))
            }
            true => Reply::range(&bytes, request),
            false => Reply::status("401 Unauthorized"),
        }
    });
    let url = server.url().replace("http://", "http://user:p%40ss@");
    HttpSource::open_with(&url, options()).unwrap().read_at(5000, &mut [0; 100]).unwrap();
    let denied = HttpSource::open_with(&server.url(), options()).unwrap_err();
    assert!(denied.message.contains("denies access"), "{denied}");
}
