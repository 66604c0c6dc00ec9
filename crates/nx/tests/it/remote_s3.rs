//! Tests archives in a bucket: the requests, their signatures, and stores that misbehave. The store
//! is a server on the loopback interface that implements just enough of S3.

use std::time::Duration;

use linerate_nx::{Archive, Extractor, HttpOptions, Kind, PAGE, ReadAt, Result, S3Source};

use linerate_testkit::web::{Reply, Request, Server};

use crate::common::make::{COPY, Make, noise};
use crate::common::{assert_fails, goldens};

const KEY: &str = "AKEY";

fn options() -> HttpOptions {
    HttpOptions::new().retry_delay(Duration::from_millis(1)).max_attempts(3).use_proxies(false)
}

/// Returns the environment variables of a user with a key to the store.
fn settings(server: &Server) -> Vec<(&'static str, String)> {
    vec![
        ("AWS_ENDPOINT_URL", server.address()),
        ("AWS_REGION", "elsewhere-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
    ]
}

fn open(server: &Server) -> Result<S3Source> {
    S3Source::open_with("s3://bucket/folder/archive.nx", options(), settings(server))
}

/// Opens a source of the store and reads 1000 bytes at offset 5000.
fn read(server: &Server) -> Result<Vec<u8>> {
    let (source, mut out) = (open(server)?, vec![0; 1000]);
    match source.read_at(5000, &mut out) {
        Ok(()) => Ok(out),
        Err(e) => Err(*e.get_ref().and_then(|e| e.downcast_ref()).expect("an error of the source")),
    }
}

/// Starts a store that has these bytes under every key. `tag` returns the `ETag` for the number of
/// a request.
fn store(bytes: Vec<u8>, tag: impl Fn(usize) -> &'static str + Send + Sync + 'static) -> Server {
    Server::new(move |request| {
        let tag = tag(request.number);
        if request.header("if-match").is_some_and(|wanted| wanted != tag) {
            return Reply::status("412 Precondition Failed");
        }
        Reply::range(&bytes, request).with("ETag", Some(tag))
    })
}

#[test]
fn the_header_then_blocks_in_signed_requests() {
    let golden = goldens().into_iter().find(|golden| golden.name == "edges-32k").unwrap();
    let server = store(std::fs::read(&golden.path).unwrap(), |_| "\"one\"");
    let archive = Archive::open(open(&server).unwrap()).unwrap();
    assert_eq!(archive.len(), golden.files.len());
    assert_eq!((server.requests(), server.bytes()), (1, archive.header().bytes()));

    let local = golden.open();
    let file = archive.find("chunk2_5.txt").unwrap();
    assert_eq!(archive.read(file), local.read(local.get(file.index()).unwrap()));
    let blocks = &archive.toc().blocks[file.blocks()];
    let stored: u64 = blocks.iter().map(|block| u64::from(block.compressed)).sum();
    let fetched = server.bytes() - archive.header().bytes();
    assert!(fetched <= stored + PAGE * (blocks.len() as u64 - 1), "{fetched}");

    let folder = tempfile::tempdir().unwrap();
    let done = Extractor::new(&archive).threads(2).to_folder(folder.path()).unwrap();
    assert_eq!((done.files, done.failures.len()), (golden.files.len() as u64, 0));
    assert_eq!(server.requests(), 3, "all blocks in one request");
    for (i, request) in server.seen().iter().enumerate() {
        assert_eq!(request.path, "/bucket/folder/archive.nx");
        assert_eq!(request.header("if-match"), (i > 0).then_some("\"one\""));
        assert_signed(request);
    }
}

/// Checks that the request has a signature for this key, region, service and request.
fn assert_signed(request: &Request) {
    let said = request.header("authorization").expect("a signature");
    let date = request.header("x-amz-date").expect("a date");
    let scope = format!("AWS4-HMAC-SHA256 Credential={KEY}/{}/elsewhere-1/s3/aws4_request", &date[..8]);
    assert!(said.starts_with(&scope), "{said}");
    assert!(said.contains("host;") && said.contains("x-amz-date"), "{said}");
    let signature = said.rsplit_once("Signature=").expect("a signature").1;
    assert!(signature.len() == 64 && signature.bytes().all(|b| b.is_ascii_hexdigit()), "{said}");
    assert!(request.header("x-amz-content-sha256").is_some());
}

#[test]
fn an_object_that_is_replaced_is_noticed() {
    let bytes = noise(10_000, 1);
    let tag = |number| if number == 0 { "\"one\"" } else { "\"two\"" };
    assert_fails(read(&store(bytes.clone(), tag)), Kind::Corrupt, "changed");
    // A store that ignores the condition.
    let server =
        Server::new(move |request| Reply::range(&bytes, request).with("ETag", Some(tag(request.number))));
    assert_fails(read(&server), Kind::Corrupt, "changed");
    assert_eq!(server.requests(), 2);
}

#[test]
fn rejected_request_is_an_error_and_not_retried() {
    for (status, kind, what) in [
        ("400 Bad Request", Kind::Read, "refuses"),
        ("403 Forbidden", Kind::Read, "denies"),
        ("404 Not Found", Kind::Read, "no such file"),
        ("301 Moved Permanently", Kind::Read, "another region"),
        ("416 Range Not Satisfiable", Kind::Truncated, "is empty"),
    ] {
        let server = Server::new(move |_| Reply::status(status));
        assert_fails(read(&server), kind, what);
        assert_eq!(server.requests(), 1, "{status}");
    }
    // A redirect is not followed: it may lead to another host, and a signature is valid for one
    // host only.
    let server =
        Server::new(|_| Reply::status("307 Temporary Redirect").with("Location", Some("/elsewhere")));
    assert_fails(read(&server), Kind::Read, "another region");
    assert_eq!(server.requests(), 1);
}

#[test]
fn answers_that_are_not_of_the_range_are_refused() {
    let spoiled = |spoil: fn(Reply) -> Reply| {
        let bytes = noise(10_000, 2);
        read(&Server::new(move |request| {
            let reply = Reply::range(&bytes, request);
            if request.number == 0 { reply } else { spoil(reply) }
        }))
    };
    let other = |reply: Reply| reply.with("Content-Range", Some("bytes 5001-6000/10000"));
    assert_fails(spoiled(other), Kind::Corrupt, "not one of S3");
    assert_fails(spoiled(|reply| reply.with("Content-Range", None)), Kind::Corrupt, "which range");
    let whole = |mut reply: Reply| {
        reply.status = "200 OK";
        reply
    };
    assert_fails(spoiled(whole), Kind::Read, "does not serve ranges");
    assert!(spoiled(|reply| reply).is_ok());
}

#[test]
fn transient_error_is_retried_from_the_same_offset() {
    let bytes = noise(10_000, 3);
    let server = Server::new({
        let bytes = bytes.clone();
        move |request| match request.number {
            1 => Reply::range(&bytes, request).cut(300),
            2 => Reply::status("503 Slow Down"),
            _ => Reply::range(&bytes, request),
        }
    });
    assert_eq!(read(&server).unwrap(), bytes[5000..6000]);
    assert_eq!(server.ranges(), [0..4096, 5000..6000, 5300..6000, 5300..6000]);
    let server = Server::new(|_| Reply::status("500 Internal Server Error"));
    assert_fails(read(&server), Kind::Read, "cannot answer");
    assert_eq!(server.requests(), 3);
}

#[test]
fn without_credentials_nothing_is_signed() {
    let server = store(noise(100, 4), |_| "\"one\"");
    let endpoint = [("AWS_ENDPOINT_URL", server.address()), ("AWS_ACCESS_KEY_ID", String::new())];
    let source = S3Source::open_with("s3://bucket/a", options(), endpoint).unwrap();
    assert_eq!(source.len(), 100);
    assert_eq!(server.seen()[0].header("authorization"), None);
    let half = [("AWS_ENDPOINT_URL", server.address()), ("AWS_ACCESS_KEY_ID", KEY.to_owned())];
    assert_fails(S3Source::open_with("s3://bucket/a", options(), half), Kind::BadArgument, "settings");
    assert_eq!(server.requests(), 1);
}

#[test]
fn session_token_is_sent_and_the_endpoint_of_s3_takes_precedence() {
    let server = store(noise(100, 5), |_| "\"one\"");
    let mut settings = settings(&server);
    settings[0].1 = "https://elsewhere.invalid".to_owned();
    settings.push(("AWS_ENDPOINT_URL_S3", server.address()));
    settings.push(("AWS_SESSION_TOKEN", "a session".to_owned()));
    settings.push(("AWS_SOMETHING_ELSE", "1".to_owned()));
    S3Source::open_with("s3://bucket/a", options(), settings).unwrap();
    let request = &server.seen()[0];
    assert_eq!(request.header("x-amz-security-token"), Some("a session"));
    assert_signed(request);
}

/// Returns the answer of a server that gives out credentials.
fn credentials() -> Reply {
    let body = format!(
        r#"{{"AccessKeyId":"{KEY}","SecretAccessKey":"x","Token":"t","Expiration":"2100-01-01T00:00:00Z"}}"#
    );
    let reply = Reply::status("200 OK").with("Content-Length", Some(&body.len().to_string()));
    Reply { body: body.into_bytes(), ..reply }
}

#[test]
fn transient_error_of_the_credentials_server_is_retried() {
    let server = store(noise(100, 9), |_| "\"one\"");
    let token = tempfile::NamedTempFile::new().unwrap();
    let open = |giver: &Server| {
        let settings = [
            ("AWS_ENDPOINT_URL", server.address()),
            ("AWS_REGION", "elsewhere-1".to_owned()),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", giver.address() + "/credentials"),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.path().to_str().unwrap().to_owned()),
        ];
        S3Source::open_with("s3://bucket/a", options(), settings)
    };
    let slow = Server::new(|request| match request.number {
        0 => Reply::status("503 Service Unavailable"),
        1 => credentials().cut(10),
        _ => credentials(),
    });
    open(&slow).unwrap();
    assert_eq!((slow.requests(), server.requests()), (3, 1));
    for (status, reason, requests) in
        [("500 Internal Server Error", "credentials cannot be", 3), ("403 Forbidden", "gives none out", 1)]
    {
        let refusing = Server::new(move |_| Reply::status(status));
        assert_fails(open(&refusing), Kind::Read, reason);
        assert_eq!(refusing.requests(), requests, "{status}");
    }
    assert_eq!(server.requests(), 1);
}

#[test]
fn a_container_gets_its_credentials_by_http() {
    let bytes = noise(100, 6);
    let server = Server::new(move |request| match request.path.as_str() {
        "/credentials" => credentials(),
        "/endless" => Reply {
            body: vec![b' '; 2 << 20],
            ..Reply::status("200 OK").with("Content-Length", Some(&(2 << 20).to_string()))
        },
        _ => Reply::range(&bytes, request),
    });
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(token.path(), "a token").unwrap();
    let open = |path: &str| {
        let settings = [
            ("AWS_ENDPOINT_URL", server.address()),
            ("AWS_REGION", "elsewhere-1".to_owned()),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.address() + path),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.path().to_str().unwrap().to_owned()),
        ];
        S3Source::open_with("s3://bucket/a", options(), settings)
    };
    open("/credentials").unwrap();
    let seen = server.seen();
    assert_eq!(seen[0].header("authorization"), Some("a token"));
    assert_signed(&seen[1]);
    assert_fails(open("/endless"), Kind::Read, "credentials");
}

#[test]
fn plain_http_is_for_endpoints_that_say_so() {
    let server = store(noise(100, 7), |_| "\"one\"");
    let mut settings = settings(&server);
    settings.push(("AWS_ALLOW_HTTP", "true".to_owned()));
    settings[0].1 = server.address().replace("http:", "https:");
    // The server waits for the end of a line, which the start of TLS may not contain.
    let hasty = options().timeout(Duration::from_millis(300)).max_attempts(1);
    assert_fails(S3Source::open_with("s3://bucket/a", hasty, settings.clone()), Kind::Read, "");
    settings[0].1 = server.address().replace("http://", "");
    assert_fails(S3Source::open_with("s3://bucket/a", options(), settings), Kind::BadArgument, "endpoint");
    assert_eq!(server.bytes(), 0);
}

#[test]
fn keys_are_sent_unchanged() {
    let server = store(noise(100, 8), |_| "\"one\"");
    let open = |url: &str| S3Source::open_with(url, options(), settings(&server));
    open("S3://my.bucket/a b/c%20d/\u{e9}+=?#.nx").unwrap();
    assert_eq!(server.seen()[0].path, "/my.bucket/a%20b/c%2520d/%C3%A9%2B%3D%3F%23.nx");
    for url in [
        "s3://",
        "s3:///a",
        "s3://bucket",
        "s3://bucket/",
        "s3://bucket//a",
        "s3://bucket/../a",
        "s3://bucket/./a",
        "s3://bu@cket/a",
        "s3://bu?cket/a",
        "http://bucket/a",
        "bucket/a",
    ] {
        assert_fails(open(url), Kind::BadArgument, "S3 URL");
    }
    assert_eq!(server.requests(), 1);
    // Keys may have empty parts.
    for key in ["a//b", "a///b.nx", "a/"] {
        open(&format!("s3://bucket/{key}")).unwrap();
        assert_eq!(server.seen().last().map(|request| request.path.clone()), Some(format!("/bucket/{key}")));
    }
}

#[test]
fn threads_and_other_runtimes_may_read() {
    let mut made = Make::new(11);
    for i in 0..20u32 {
        let content = noise(50_000, i);
        made = made.file(format!("{i}"), &content, u64::from(i), 0).block(COPY, content);
    }
    let bytes = made.bytes();
    let server = store(bytes.clone(), |_| "\"one\"");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let options = options().coalesce_limit(0);
        let source = S3Source::open_with("s3://bucket/a", options, settings(&server)).unwrap();
        let archive = Archive::open(source).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let done = Extractor::new(&archive).threads(4).to_folder(folder.path()).unwrap();
        assert_eq!((done.files, done.failures.len()), (20, 0), "{:?}", done.failures);
    });
    assert_eq!(server.requests(), 21);
}
