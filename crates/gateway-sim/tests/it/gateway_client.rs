//! Tests the client of `linerate-gateway` against the server.

use std::net::TcpStream;
use std::time::Duration;

use linerate_gateway::client::{Address, Client, Event};
use linerate_gateway::{Limits, Scratch, Session, Transport};
use linerate_gateway_sim::traffic::Traffic;
use linerate_gateway_sim::{Events, InjectedFault, Script, Server};

const IDENTIFY: &str = r#"{"op":2,"d":{"token":"t","intents":0,"properties":{}}}"#;

/// A script whose server stops by itself if a test fails.
fn script(events: usize) -> Script {
    let messages = Traffic::new(7).guilds(3).events(events).shard(0).collect::<Vec<_>>();
    let mut script = Script::new().events(Events::new(&messages).unwrap());
    script.max_duration = Duration::from_secs(60);
    script
}

fn connect(server: &Server, transport: Transport) -> Client<TcpStream> {
    let address = Address::parse(server.url(), Some(transport)).unwrap();
    let client = Client::handshake(&address, address.connect().unwrap()).unwrap();
    client.stream().set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    client
}

#[test]
fn heartbeats_follow_hello_at_its_interval() {
    for transport in Transport::STREAMS {
        let mut script = script(1);
        script.heartbeat_interval = Duration::from_millis(20);
        let server = Server::start(script).unwrap();
        let mut client = connect(&server, transport);
        let (mut session, mut scratch, mut hellos) =
            (Session::new(transport, Limits::new()), Scratch::new(), 0);
        while server.report().heartbeats < 3 {
            match client.next_event().unwrap() {
                Event::Frame(frame) => {
                    let message = session.message(&frame, &mut scratch).unwrap();
                    hellos += usize::from(message.is_some_and(|message| client.observe(message.payload)));
                }
                Event::Idle => {}
                Event::Closed(code) => panic!("closed: {code:?}"),
            }
        }
        assert_eq!(hellos, 1, "{transport}");
        client.close();
        assert_eq!(server.stop().connections, 1);
    }
}

#[test]
fn close_of_the_gateway_is_an_event_with_its_code() {
    let mut script = script(20);
    script.inject_fault(5, InjectedFault::Close(4000));
    let server = Server::start(script).unwrap();
    let mut client = connect(&server, Transport::Zstd);
    let (mut session, mut scratch) = (Session::new(Transport::Zstd, Limits::new()), Scratch::new());
    let code = loop {
        match client.next_event().unwrap() {
            Event::Frame(frame) => {
                let message = session.message(&frame, &mut scratch).unwrap();
                if message.is_some_and(|message| client.observe(message.payload)) {
                    client.send(IDENTIFY).unwrap();
                }
            }
            Event::Idle => {}
            Event::Closed(code) => break code,
        }
    };
    assert_eq!(code, Some(4000));
    assert_eq!(server.stop().identifies, 1);
}

#[test]
fn stream_that_does_not_answer_the_handshake_is_an_error() {
    let address = Address::parse("ws://127.0.0.1:1/", Some(Transport::Zlib)).unwrap();
    let silent = std::io::Cursor::new(Vec::new());
    assert!(Client::handshake(&address, silent).is_err());
}
