//! `linerate gateway record` over TLS, from a gateway of the test behind an encrypting proxy on the
//! loopback interface.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use linerate_gateway_sim::{Script, Server};
use rcgen::{CertificateParams, DnType, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::data::{FAILED, USAGE};
use linerate_testkit::program::{Folder, Run};

const IDENTIFY: &str = r#"{"op":2,"d":{"token":"test","intents":0,"properties":{}}}"#;
/// Time that the proxy waits for one side before it reads from the other.
const TICK: Duration = Duration::from_millis(5);

/// A self-signed certificate, in PEM form, and the configuration of a server that presents it.
struct Certificate {
    pem: String,
    config: Arc<ServerConfig>,
}

impl Certificate {
    fn new(subject: &str, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Certificate {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        // With equal names, one certificate would appear to have signed the other.
        params.distinguished_name.push(DnType::CommonName, subject);
        change(&mut params);
        let made = params.self_signed(&key).expect("a certificate");
        let private = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.der().clone()], private)
            .expect("a certificate and its key");
        Certificate { pem: made.pem(), config: Arc::new(config) }
    }
}

/// A proxy that accepts TLS connections one after the other, and forwards their data to a gateway.
struct Front {
    port: u16,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Front {
    fn start(gateway: SocketAddr, config: &Arc<ServerConfig>) -> Front {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener that does not wait");
        let port = listener.local_addr().expect("its address").port();
        let (over, config) = (Arc::new(AtomicBool::new(false)), Arc::clone(config));
        let ends = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((client, _)) => pass(client, gateway, &config, &ends),
                    Err(_) => std::thread::sleep(TICK),
                }
            }
        });
        Front { port, over, thread: Some(thread) }
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Forwards data in both directions until one side ends the connection, or `ends` becomes true.
fn pass(client: TcpStream, gateway: SocketAddr, config: &Arc<ServerConfig>, ends: &AtomicBool) {
    client.set_nonblocking(false).expect("a stream that waits");
    let mut gateway = TcpStream::connect(gateway).expect("the gateway");
    for socket in [&client, &gateway] {
        socket.set_read_timeout(Some(TICK)).expect("a timeout");
    }
    let connection = ServerConnection::new(Arc::clone(config)).expect("a connection");
    let mut client = StreamOwned::new(connection, client);
    while !ends.load(Ordering::Relaxed)
        && hand_on(&mut client, &mut gateway)
        && hand_on(&mut gateway, &mut client)
    {}
    client.conn.send_close_notify();
    let _ = client.flush();
}

/// Forwards the data that is available now. Returns whether more may come.
fn hand_on(from: &mut impl Read, to: &mut impl Write) -> bool {
    let mut piece = [0; 16 << 10];
    match from.read(&mut piece) {
        Ok(0) => false,
        Ok(n) => to.write_all(&piece[..n]).and_then(|()| to.flush()).is_ok(),
        Err(error) => {
            matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
        }
    }
}

/// Records 20 messages of a gateway through a proxy that presents this certificate.
fn recorded(folder: &Folder, certificate: &Certificate, host: &str, args: &[&str]) -> Run {
    let mut script = Script::new();
    script.max_duration = Duration::from_secs(60);
    let server = Server::start(script).expect("a server on loopback");
    let front = Front::start(server.addr, &certificate.config);
    folder.write("identify", IDENTIFY.as_bytes());
    let url = format!("wss://{host}:{}/?v=10&encoding=json&compress=zstd-stream", front.port);
    let all = ["record", "--json", &url, "-o", "live.lgwr", "--send", "identify", "--messages", "20"];
    folder.gateway(&[&all[..], args].concat())
}

#[test]
fn messages_over_tls_are_recorded() {
    let certificate = Certificate::new("own", "localhost", |_| ());
    let folder = Folder::new();
    folder.write("trusted.pem", certificate.pem.as_bytes());
    let object = recorded(&folder, &certificate, "localhost", &["--cacert", "trusted.pem"]).ok().object();
    assert_eq!((&object["messages"], &object["end"]), (&20.into(), &"messages".into()));
    let replayed =
        folder.gateway(&["replay", "--json", "--check", "json-sequence", "live.lgwr"]).ok().object();
    assert_eq!(replayed["messages"], 20);
}

#[test]
fn certificate_for_an_ip_address_is_accepted() {
    let certificate = Certificate::new("own", "127.0.0.1", |_| ());
    let folder = Folder::new();
    folder.write("trusted.pem", certificate.pem.as_bytes());
    recorded(&folder, &certificate, "127.0.0.1", &["--cacert", "trusted.pem"]).ok();
}

#[test]
fn wrong_certificate_is_an_error_with_the_reason_and_no_file() {
    let own = Certificate::new("own", "localhost", |_| ());
    let other = Certificate::new("other", "elsewhere.example", |_| ());
    let old = Certificate::new("old", "localhost", |params| {
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2002, 1, 1);
    });
    let signed =
        "no trusted authority signed its certificate; --cacert FILE trusts the certificates of a file";
    for (certificate, trusted, reason) in [
        (&own, None, signed),
        (&own, Some(&old), signed),
        (&other, Some(&other), "its certificate is for another name"),
        (&old, Some(&old), "its certificate has expired"),
    ] {
        let folder = Folder::new();
        let mut args = Vec::new();
        if let Some(trusted) = trusted {
            folder.write("trusted.pem", trusted.pem.as_bytes());
            args.extend(["--cacert", "trusted.pem"]);
        }
        let run = recorded(&folder, certificate, "localhost", &args);
        let sentence = format!("localhost is not trusted: {reason}\n");
        assert!(run.status == Some(FAILED) && run.stderr.ends_with(&sentence), "{reason}: {run:?}");
        assert!(!folder.has("live.lgwr"));
    }
}

#[test]
fn wss_to_an_unencrypted_gateway_is_an_error() {
    let mut script = Script::new();
    script.max_duration = Duration::from_secs(60);
    let server = Server::start(script).expect("a server on loopback");
    let folder = Folder::new();
    let url = format!("wss://localhost:{}/?compress=zlib-stream", server.addr.port());
    let run = folder.gateway(&["record", &url, "-o", "live.lgwr"]);
    assert!(run.status == Some(FAILED) && run.stderr.contains("no TLS connection to localhost: "), "{run:?}");
    assert!(!folder.has("live.lgwr"));
}

#[test]
fn cacert_file_without_certificates_is_an_error() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url =
        format!("wss://localhost:{}/?compress=zlib-stream", taken.local_addr().expect("its address").port());
    folder.write("empty.pem", b"nothing");
    for (file, said) in
        [("empty.pem", "it contains no certificates in PEM form"), ("none.pem", "cannot read")]
    {
        let run = folder.gateway(&["record", &url, "-o", "x", "--cacert", file]);
        assert!(run.status == Some(FAILED) && run.stderr.contains(said), "{run:?}");
    }
    let plain = ["record", "ws://localhost/?compress=zlib-stream", "-o", "x", "--cacert", "empty.pem"];
    assert_eq!(folder.gateway(&plain).status, Some(USAGE));
}
