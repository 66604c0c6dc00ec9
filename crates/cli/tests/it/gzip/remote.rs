//! `--range` of files on a web server.

use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::{DAMAGED, FAILED, Folder};
use linerate_testkit::web::{Reply, Server};

/// Serves `a.gz` and its index, if there is one.
fn serve(file: Vec<u8>, index: Option<Vec<u8>>) -> (Server, String) {
    let server = Server::new(move |request| match (request.path.as_str(), &index) {
        ("/a.gz", _) => Reply::range(&file, request),
        ("/a.gz.gzidx", Some(index)) => Reply::range(index, request),
        _ => Reply::status("404 Not Found"),
    });
    let url = format!("{}/a.gz", server.address());
    (server, url)
}

#[test]
fn a_range_takes_the_bytes_it_needs_of_the_file_and_its_index() {
    let (folder, content) = (Folder::new(), sample(12_000_000));
    folder.write("a", &content);
    folder.gzip(&["-0", "a"]).ok();
    folder.gzip(&["--index", "a.gz"]).ok();
    let (server, url) = serve(folder.read("a.gz"), Some(folder.read("a.gz.gzidx")));
    let run = folder.gzip(&["-c", "--range", "8600000+5000", &url]).ok();
    assert!(run.stdout == content[8_600_000..8_605_000]);
    // The file from the index's point just after 8 MiB of content to the end of the range, and less
    // than 128 KiB of the index, take less than this.
    let sent = server.bytes();
    assert!(sent < 600_000, "{sent} bytes in {} requests", server.requests());

    // Each request asks for more bytes than the one before, so that few are enough.
    let before = server.requests();
    let run = folder.gzip(&["-c", "--range", "1000+4000000", &url]).ok();
    assert!(run.stdout == content[1000..4_001_000]);
    let requests = server.requests() - before;
    assert!(requests < 15, "{requests} requests");
    assert!(server.bytes() - sent < 5_000_000, "{}", server.bytes() - sent);

    folder.gzip(&["--range", "11999990+", "-o", "end", &url]).ok();
    assert_eq!(folder.read("end"), content[11_999_990..]);
    assert_eq!(folder.names(), ["a.gz", "a.gz.gzidx", "end"]);
}

#[test]
fn the_index_of_a_file_on_a_server_may_be_here_and_that_of_a_file_here_on_a_server() {
    let folder = Folder::new();
    folder.write("a", b"0123456789");
    folder.gzip(&["a"]).ok();
    folder.gzip(&["--index", "a.gz"]).ok();
    let (server, url) = serve(folder.read("a.gz"), None);
    let run = folder.gzip(&["-c", "--range", "3+4", "--index-file", "a.gz.gzidx", &url]).ok();
    assert_eq!(run.stdout, b"3456");
    assert!(server.seen().iter().all(|request| request.path == "/a.gz"));
    let index = Server::of(folder.read("a.gz.gzidx"));
    let run = folder.gzip(&["-dc", "--range", "3+4", "--index-file", &index.url(), "a.gz"]).ok();
    assert_eq!(run.stdout, b"3456");
    folder.gzip(&["-t", "--index-file", &index.url(), "a.gz"]).ok();
}

#[test]
fn files_on_a_server_without_their_index_are_one_line_of_error() {
    let folder = Folder::new();
    folder.write("a", b"0123456789");
    folder.gzip(&["a"]).ok();
    let (server, url) = serve(folder.read("a.gz"), None);
    let run = folder.gzip(&["-c", "--range", "3+4", &url]);
    let missing = "cannot open: the server has no such file";
    let remedy = "a range of a URL needs this index; `linerate gzip --index` makes it";
    run.fails(FAILED, &format!("linerate: {url}: {url}.gzidx: {missing}; {remedy}"));
    assert!(run.stdout.is_empty());
    let other = format!("{}/b.gz", server.address());
    folder.gzip(&["-c", "--range", "3+4", &other]).fails(FAILED, &format!("linerate: {other}: {missing}"));

    let run = folder.gzip(&["-dc", &url]);
    let line = "a URL is read only in ranges; -c --range 0+ reads all of it";
    run.fails(FAILED, &format!("linerate: {url}: {line}"));

    folder.gzip(&["--index", "a.gz"]).ok();
    let longer = [&folder.read("a.gz")[..], b"\0"].concat();
    let (_server, url) = serve(longer, Some(folder.read("a.gz.gzidx")));
    let len = folder.read("a.gz").len();
    let what = format!("it is the index of a file of {len} bytes, not {}; --index makes it again", len + 1);
    let run = folder.gzip(&["-c", "--range", "3+4", &url]);
    run.fails(DAMAGED, &format!("linerate: {url}: {url}.gzidx: {what}"));
}
