//! Memory of many connections compared with zlib-rs and libzstd, as CSV: `rss FILE.zlib FILE.zst`
//!
//! Files are messages, each preceded by its length in four bytes, as `linerate gateway` reads them. Each row is
//! measured in a process of its own, which decodes the first thirty messages on each of 2,500 connections and
//! keeps the connections; the growth of its resident memory is divided by their number. The environment variables
//! `CONNECTIONS` and `MESSAGES` set other numbers. Linux only.

use std::fs::File;
use std::io::BufReader;
use std::process::{Command, ExitCode};

use linerate_gateway::{Limits, Messages, Scratch, Session, Transport};
use zlib_rs::{Inflate, InflateFlush};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

/// Resident memory of this process, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    let kib: usize = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib << 10
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |number| number.parse().expect("a number"))
}

/// A decoder whose connections are measured after some messages.
trait Connect {
    fn connect(&mut self, messages: &[Vec<u8>]) -> Box<dyn std::any::Any>;
}

struct Ours(Transport, Scratch);
struct ZlibRs(Vec<u8>);
struct Libzstd(Vec<u8>);

impl Connect for Ours {
    fn connect(&mut self, messages: &[Vec<u8>]) -> Box<dyn std::any::Any> {
        let mut session = Session::new(self.0, Limits::new());
        for message in messages {
            session.message(message, &mut self.1).expect("valid").expect("complete");
        }
        Box::new(session)
    }
}

impl Connect for ZlibRs {
    fn connect(&mut self, messages: &[Vec<u8>]) -> Box<dyn std::any::Any> {
        let mut inflate = Inflate::new(true, 15);
        for message in messages {
            inflate.decompress(message, &mut self.0, InflateFlush::NoFlush).expect("valid");
        }
        Box::new(inflate)
    }
}

impl Connect for Libzstd {
    fn connect(&mut self, messages: &[Vec<u8>]) -> Box<dyn std::any::Any> {
        let mut context = DCtx::create();
        context.set_parameter(DParameter::WindowLogMax(16)).expect("a parameter");
        for message in messages {
            let mut input = InBuffer::around(message);
            while input.pos() < message.len() {
                let mut output = OutBuffer::around(&mut self.0[..]);
                context.decompress_stream(&mut output, &mut input).expect("valid");
            }
        }
        Box::new(context)
    }
}

/// One row.
fn measure(path: &str, decoder: &str) {
    let (connections, max) = (number("CONNECTIONS", 2500), number("MESSAGES", 30));
    let transport = if path.ends_with(".zlib") { Transport::Zlib } else { Transport::Zstd };
    let file = BufReader::new(File::open(path).expect("a file"));
    let messages: Vec<Vec<u8>> = Messages::new(file).take(max).collect::<Result<_, _>>().expect("messages");
    let mut decoder: (&str, Box<dyn Connect>) = match (decoder, transport) {
        ("linerate", _) => ("linerate", Box::new(Ours(transport, Scratch::new()))),
        (_, Transport::Zlib) => ("zlib-rs", Box::new(ZlibRs(vec![0; 1 << 20]))),
        _ => ("libzstd", Box::new(Libzstd(vec![0; 1 << 20]))),
    };
    // The first connection allocates what all share.
    drop(decoder.1.connect(&messages));
    let mut all = Vec::with_capacity(connections);
    let before = resident();
    all.extend((0..connections).map(|_| decoder.1.connect(&messages)));
    let grown = resident() - before;
    println!("{transport},{},{connections},{},{grown},{}", decoder.0, messages.len(), grown / connections);
    drop(all);
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [path, decoder] = &arguments[..]
        && ["linerate", "peer"].contains(&decoder.as_str())
    {
        measure(path, decoder);
        return ExitCode::SUCCESS;
    }
    println!("transport,decoder,connections,messages,resident_bytes,bytes_per_connection");
    let this = std::env::current_exe().expect("a path");
    for path in &arguments {
        for decoder in ["linerate", "peer"] {
            let status = Command::new(&this).args([path, decoder]).status().expect("this program");
            if !status.success() {
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
