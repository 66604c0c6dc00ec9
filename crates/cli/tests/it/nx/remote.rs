//! Archives on a web server: the requests, and that nothing is written to the server.

use super::data::{DAMAGED, FAILED, golden};
use linerate_testkit::program::Folder;
#[cfg(feature = "s3")]
use linerate_testkit::program::Run;
use linerate_testkit::web::{Reply, Server};

const SERVER_REFUSED: &str = "an archive on a server cannot be changed; -o FILE writes the result to a file";

#[test]
fn list_fetches_the_header_and_extract_the_blocks_of_files() {
    let folder = Folder::new();
    let golden = golden("dups-off");
    let server = Server::of(std::fs::read(&golden.path).unwrap());
    let here = folder.nx(&["list", "--long", golden.file()]).ok().lines();
    assert_eq!(folder.nx(&["list", "--long", &server.url()]).ok().lines(), here);
    let header = folder.nx(&["info", "--json", golden.file()]).ok().objects()[0]["header_bytes"].as_u64();
    let header = header.expect("a number");
    assert_eq!(server.bytes(), header);

    let files = folder.nx(&["list", "--json", golden.file()]).ok().objects();
    let small = files.iter().find(|file| file["size"].as_u64() > Some(0) && file["blocks"] == 1).unwrap();
    let path = small["path"].as_str().expect("a path");
    let remote = folder.nx(&["extract", "-c", &server.url(), path]).ok().stdout;
    assert_eq!(remote, folder.nx(&["extract", "-c", golden.file(), path]).ok().stdout);
    let sent = server.bytes() - header;
    let all = std::fs::metadata(&golden.path).unwrap().len();
    assert!(sent > header && sent < all / 2, "{sent} bytes of {all}");

    folder.nx(&["extract", &server.url(), "-o", "out"]).ok();
    folder.nx(&["verify", "--against", "out", golden.file()]).ok();
    folder.nx(&["verify", &server.url()]).ok();
    folder.nx(&["diff", "--exit-code", &server.url(), golden.file()]).ok();
    folder.nx(&["repack", "--solidlevel=1", "--chunkedlevel=1", &server.url(), "-o", "b.nx"]).ok();
    folder.nx(&["diff", "--exit-code", golden.file(), "b.nx"]).ok();
}

#[test]
fn repack_of_a_url_is_an_error() {
    let folder = Folder::new();
    let server = Server::of(std::fs::read(golden("single-1-byte").path).unwrap());
    let run = folder.nx(&["repack", &server.url()]);
    run.fails(FAILED, &format!("linerate: {}: {SERVER_REFUSED}", server.url()));
    assert!(folder.names().is_empty());
}

/// Commands that would change an archive on a server fail before they send a request.
#[test]
fn changing_an_archive_on_a_server_makes_no_request() {
    let folder = Folder::new();
    folder.write("in/a", b"text");
    let server = Server::of(std::fs::read(golden("dups-off").path).unwrap());
    let url = server.url();
    for args in [&["update", &url, "in"][..], &["delete", &url, "*"], &["repack", &url]] {
        folder.nx(args).fails(FAILED, &format!("linerate: {url}: {SERVER_REFUSED}"));
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn an_archive_that_is_replaced_while_it_is_read_is_one_line_of_error() {
    let golden = golden("dups-off");
    let bytes = std::fs::read(&golden.path).unwrap();
    for args in [&["extract", "-o", "out"][..], &["extract", "-c"], &["verify"]] {
        let folder = Folder::new();
        let (bytes, first) = (bytes.clone(), folder.nx(&["info", "--json", golden.file()]).object());
        let header = first["header_bytes"].as_u64().expect("a number");
        let server = Server::new(move |request| {
            let tag = if request.range.end <= header.max(4096) { "\"1\"" } else { "\"2\"" };
            Reply::range(&bytes, request).with("ETag", Some(tag))
        });
        let run = folder.nx(&[args, &[&server.url()]].concat());
        let line = format!("linerate: {}: the file on the server changed while it was read", server.url());
        run.fails(DAMAGED, &line);
    }
}

#[test]
fn missing_url_is_one_line_of_error() {
    let folder = Folder::new();
    let server = Server::new(|_| Reply::status("404 Not Found"));
    let run = folder.nx(&["list", &server.url()]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(FAILED), 1), "{}", run.stderr);
    assert!(run.stderr.contains("archive.nx: cannot open: "), "{}", run.stderr);
}

#[cfg(feature = "s3")]
#[test]
fn buckets_are_read_with_the_settings_of_the_environment() {
    let folder = Folder::new();
    let golden = golden("dups-off");
    let bytes = std::fs::read(&golden.path).unwrap();
    let server = Server::new(move |request| match request.path.as_str() {
        "/bucket/a.nx" => Reply::range(&bytes, request),
        _ => Reply::status("404 Not Found"),
    });
    let run = |args: &[&str]| {
        let mut command = folder.command(&["nx"]);
        let names = std::env::vars_os().map(|(name, _)| name);
        for name in names.filter(|name| name.to_string_lossy().starts_with("AWS_")) {
            command.env_remove(name);
        }
        command.env("AWS_ENDPOINT_URL", server.address());
        command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
        Run::of(command.env("NO_PROXY", "*").args(args), b"")
    };
    let here = folder.nx(&["list", "--long", golden.file()]).ok().lines();
    assert_eq!(run(&["list", "--long", "s3://bucket/a.nx"]).ok().lines(), here);
    run(&["extract", "s3://bucket/a.nx", "-o", "out"]).ok();
    folder.nx(&["verify", "--against", "out", golden.file()]).ok();
    let missing = "linerate: s3://bucket/b.nx: cannot open: the server has no such file";
    run(&["list", "s3://bucket/b.nx"]).fails(FAILED, missing);
    let line = &format!("linerate: s3://bucket/a.nx: {SERVER_REFUSED}");
    run(&["repack", "s3://bucket/a.nx"]).fails(FAILED, line);
}

#[cfg(not(feature = "s3"))]
#[test]
fn bucket_url_without_feature_s3_is_an_error() {
    let folder = Folder::new();
    let line = "this program cannot read from buckets: it was built without the feature `s3`";
    let run = folder.nx(&["list", "s3://bucket/a.nx"]);
    run.fails(FAILED, &format!("linerate: s3://bucket/a.nx: {line}"));
}
