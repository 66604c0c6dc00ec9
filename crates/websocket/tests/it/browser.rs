//! Tests the chat of `examples/chat.rs`, with headless Chromium as one of its users.

#[allow(dead_code, reason = "its `main` is the example's")]
#[path = "../../examples/chat.rs"]
mod chat;

use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use linerate_testkit::tools::has_program;
use linerate_websocket::{DeflateStream, Options};
use tungstenite::{Message, WebSocket};

/// Serves the chat until the test ends.
fn serve() -> SocketAddr {
    let (sender, address) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime
            .block_on(chat::run("127.0.0.1:0", |address| sender.send(address).expect("the test waits")))
            .expect("served");
    });
    address.recv_timeout(Duration::from_secs(10)).expect("an address")
}

type User = WebSocket<DeflateStream<TcpStream>>;

/// Joins the chat and reads the server's greeting.
fn join(address: SocketAddr, options: Options) -> User {
    let socket = TcpStream::connect(address).expect("connected");
    socket.set_nodelay(true).expect("an option");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let stream = DeflateStream::client(socket, options);
    let (mut user, _) = tungstenite::client(format!("ws://{address}/chat"), stream).expect("upgraded");
    let greeting = user.read().expect("a greeting").into_text().expect("text");
    assert!(greeting.starts_with("compressed"), "{greeting}");
    user
}

/// Waits for a message that begins with `start`.
fn hear(user: &mut User, start: &str) -> String {
    loop {
        let text = user.read().expect("a message").into_text().expect("text").to_string();
        if text.starts_with(start) {
            return text;
        }
    }
}

#[test]
fn users_of_the_chat_hear_each_other() {
    let address = serve();
    let mut one = join(address, Options::default());
    let mut other = join(address, Options::window_bits(9));
    let agreement = |user: &User| user.get_ref().agreement().expect("an agreement");
    assert_eq!((agreement(&one).server.window_bits, agreement(&other).server.window_bits), (11, 9));
    for i in 0..500 {
        let text = format!("number {i}: {}", "la ".repeat(i % 300));
        one.send(Message::text(text.clone())).expect("sent");
        assert_eq!(hear(&mut one, "number"), text);
        assert_eq!(hear(&mut other, "number"), text);
    }
}

/// A browser that is killed when the test ends.
struct Browser(Child);

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn chromium_takes_part_with_a_window_of_2_kib() {
    if !has_program("chromium") {
        return;
    }
    let address = serve();
    let mut user = join(address, Options::default());
    let profile = tempfile::tempdir().expect("a folder");
    let browser = Command::new("chromium")
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
        ])
        .args(["--disable-component-update", "--remote-debugging-port=0"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("http://{address}/?echo"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _browser = Browser(browser.expect("it starts"));
    let started = Instant::now();
    let extensions = hear(&mut user, "browser: ");
    assert_eq!(
        extensions,
        "browser: permessage-deflate; server_max_window_bits=11; client_max_window_bits=11"
    );
    for i in 0..1_000 {
        let text = format!("{i}: {}", "said before, and said again ".repeat(i % 200));
        user.send(Message::text(format!("say {text}"))).expect("sent");
        assert_eq!(hear(&mut user, &format!("{i}: ")), text);
    }
    assert!(started.elapsed() < Duration::from_secs(300));
}
