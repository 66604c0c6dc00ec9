//! Compiles the C examples as C and as C++ and runs them under sanitizers and valgrind; checks the
//! exported functions.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::MultiGzDecoder;
use linerate_gateway::{Encoder, Transport};
use linerate_testkit::c_program::{self, Library, SANITIZED, STANDARDS, valgrind};
use linerate_testkit::data;
use linerate_testkit::program::Run;
use linerate_testkit::tools::{has_program, require};
use tempfile::TempDir;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn soname() -> String {
    format!("liblinerate.so.{}", env!("CARGO_PKG_VERSION").rsplit_once('.').expect("three numbers").0)
}

/// A compiled example and the way to run it.
struct Example {
    program: PathBuf,
    with_valgrind: bool,
}

impl Example {
    fn command(&self, args: &[&str]) -> Command {
        let mut command =
            if self.with_valgrind { valgrind(&self.program) } else { Command::new(&self.program) };
        command.args(args);
        command
    }

    fn run(&self, args: &[&str], input: &[u8]) -> Run {
        let run = Run::of(&mut self.command(args), input);
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        run
    }
}

fn source(name: &str) -> PathBuf {
    Path::new(HERE).join("examples").join(format!("{name}.c"))
}

/// Returns the names of all C examples.
fn c_examples() -> Vec<String> {
    let files =
        fs::read_dir(Path::new(HERE).join("examples")).unwrap().map(|entry| entry.unwrap().file_name());
    let names = files.filter_map(|file| Some(file.to_str()?.strip_suffix(".c")?.to_owned()));
    names.collect()
}

/// Compiles an example twice: with the sanitizers and the shared library, and for valgrind with the
/// static library. Calls `check` for each program.
fn watched(name: &str, check: impl Fn(&Example)) {
    let (Some(library), true) = (Library::built("linerate"), has_program("cc")) else { return };
    let folder = TempDir::new().unwrap();
    let program = folder.path().join(name);
    let shared = library.copy_as(&soname(), folder.path());
    c_program::compile(SANITIZED, Path::new(HERE), &source(name), &shared, &program);
    check(&Example { program: program.clone(), with_valgrind: false });
    if has_program("valgrind") {
        let compiler = ["cc", "-std=c11", "-g"];
        c_program::compile(&compiler, Path::new(HERE), &source(name), &library.static_library(), &program);
        check(&Example { program, with_valgrind: true });
    }
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    MultiGzDecoder::new(bytes).read_to_end(&mut out).expect("gzip");
    out
}

#[test]
fn deflate_streams_are_decoded_by_zlib() {
    watched("deflate", |example| {
        for input in [data::mixed(120_000), data::json_rows(1, 100), Vec::new()] {
            let run = example.run(&[], &input);
            assert_eq!(gunzip(&run.stdout), input);
            assert!(run.stderr.starts_with(&format!("linerate {}: zlib is ", env!("CARGO_PKG_VERSION"))));
        }
    });
}

#[test]
fn messages_of_a_session_are_one_stream() {
    let text = r#"{"timestamp":"2026-11-21T08:","level":"INFO","service":""#;
    let rows = data::json_rows(2, 200);
    watched("session", |example| {
        let run = example.run(&[], &rows);
        let mut decoder = flate2::Decompress::new(true);
        let mut out = Vec::with_capacity(rows.len() + 1);
        assert!(decoder.decompress_vec(&run.stdout, &mut out, flate2::FlushDecompress::None).is_err());
        decoder.set_dictionary(text.as_bytes()).expect("the dictionary");
        let rest = &run.stdout[decoder.total_in() as usize..];
        decoder.decompress_vec(rest, &mut out, flate2::FlushDecompress::Finish).expect("zlib");
        assert_eq!(out, rows);
        assert!(run.stdout.len() * 2 < rows.len());
    });
}

#[test]
fn messages_that_are_compressed_once_are_part_of_each_stream() {
    let rows = data::json_rows(3, 200);
    watched("broadcast", |example| {
        let lens = ["remember", "forget"].map(|argument| {
            let stream = example.run(&[argument], &rows).stdout;
            let (mut decoder, mut out) = (flate2::Decompress::new(false), Vec::with_capacity(rows.len() + 1));
            decoder.decompress_vec(&stream, &mut out, flate2::FlushDecompress::Sync).expect("deflate");
            assert_eq!(out, rows);
            stream.len()
        });
        assert!(lens[0] < lens[1] && lens[1] < rows.len(), "{lens:?}");
    });
}

#[test]
fn streams_of_zlib_are_decoded() {
    let input = data::mixed(100_000);
    let gzip = |input: &[u8]| {
        let mut out = Vec::new();
        flate2::read::GzEncoder::new(input, flate2::Compression::best()).read_to_end(&mut out).unwrap();
        out
    };
    let members = [gzip(&input), gzip(b"a second member")].concat();
    watched("inflate", |example| {
        assert_eq!(example.run(&[], &members).stdout, [&input[..], b"a second member"].concat());
        let mut damaged = members.clone();
        damaged[5000] ^= 0x55;
        let run = Run::of(&mut example.command(&[]), &damaged);
        assert_eq!(run.status, Some(1));
        assert!(run.stderr.contains("corrupt: ") && run.stderr.contains(" (at byte "), "{}", run.stderr);
    });
}

#[test]
fn gzip_files_are_read_from_any_position() {
    let content = data::mixed(3_000_000);
    let gzip = |input: &[u8]| {
        let mut out = Vec::new();
        flate2::read::GzEncoder::new(input, flate2::Compression::fast()).read_to_end(&mut out).unwrap();
        out
    };
    let file = [gzip(&content[..2_000_000]), gzip(&content[2_000_000..])].concat();
    assert!(file.len() > 200_000, "threads decode it");
    let options = linerate_inflate::index::Options::new().spacing(1 << 18);
    let (mut index, folder) = (Vec::new(), TempDir::new().unwrap());
    linerate_inflate::index::Index::build(&file[..], &options).unwrap().write_gzidx(&mut index).unwrap();
    let path = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (whole, indexed) = (path("a.gz", &file), path("a.gz.gzidx", &index));
    let (small, cut) = (path("b.gz", &gzip(b"few")), path("c.gz", &file[..file.len() - 9]));
    watched("gzip", |example| {
        assert!(example.run(&[&whole], &[]).stdout == content);
        assert!(example.run(&[&whole, &indexed], &[]).stdout == content);
        assert_eq!(example.run(&[&small], &[]).stdout, b"few");
        for (arguments, wanted) in [
            (vec![&*cut], "truncated: the input ends before the stream does"),
            (vec![&*small, &*indexed], "bad argument: the index is of a file of another size"),
            (vec![&*indexed], "corrupt: the input is not in gzip format"),
            (vec!["none.gz"], "cannot read: cannot open the file: No such file"),
        ] {
            let run = Run::of(&mut example.command(&arguments), &[]);
            assert_eq!(run.status, Some(1));
            assert!(run.stderr.starts_with(wanted), "{}", run.stderr);
        }
    });
}

/// Compresses each piece to a zstd frame with a raw-content dictionary.
fn frames<'p>(pieces: impl Iterator<Item = &'p [u8]>, dictionary: &[u8]) -> Vec<u8> {
    let mut context = zstd_safe::CCtx::create();
    let mut frames = Vec::new();
    for piece in pieces {
        let mut frame = vec![0; zstd_safe::compress_bound(piece.len())];
        let n =
            context.compress_using_dict(&mut frame[..], piece, dictionary, 3).expect("libzstd compresses");
        frames.extend_from_slice(&frame[..n]);
    }
    frames
}

const TEXT: &str = r#""method":"GET","path":"/api/v2/search/items/","status":200,"duration_us":"#;

#[test]
fn frames_of_libzstd_are_decoded() {
    let (input, rows) = (data::mixed(150_000), data::json_rows(3, 100));
    watched("zstd", |example| {
        let plain = frames(input.chunks(50_000), b"");
        assert_eq!(example.run(&[], &plain).stdout, input);
        assert_eq!(example.run(&[TEXT], &frames(rows.chunks(500), TEXT.as_bytes())).stdout, rows);
        let run = Run::of(&mut example.command(&[]), &plain[..plain.len() - 3]);
        assert_eq!((run.status, &*run.stderr), (Some(1), "the input ends early\n"));
    });
}

#[test]
fn batches_of_blocks_are_decoded_through_a_store() {
    let rows = data::json_rows(4, 100);
    watched("store", |example| {
        assert_eq!(example.run(&[TEXT], &frames(rows.chunks(1500), TEXT.as_bytes())).stdout, rows);
    });
}

#[test]
fn a_controller_lowers_the_level_under_load_and_raises_it_after() {
    watched("controller", |example| {
        let levels = String::from_utf8(example.run(&[], b"").stdout).unwrap();
        assert!(levels.starts_with("3210") && levels.ends_with("3\n"), "{levels}");
    });
}

/// Compresses three gateway messages, each preceded by its length. The second is too large for the
/// example's buffer.
fn recorded(transport: Transport, dictionary: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut encoder = Encoder::new(transport).unwrap();
    if !dictionary.is_empty() {
        encoder = encoder.with_dictionary(dictionary).unwrap();
    }
    let (mut wire, mut payloads) = (Vec::new(), Vec::new());
    for (s, filler) in [(7, 10), (8, 5000), (9, 0)] {
        let payload = format!(r#"{{"t":"READY","s":{s},"op":0,"d":"{}"}}"#, "filler".repeat(filler));
        let mut message = Vec::new();
        encoder.message(payload.as_bytes(), &mut message).unwrap();
        wire.extend_from_slice(&u32::to_le_bytes(message.len() as u32));
        wire.extend_from_slice(&message);
        payloads.extend_from_slice(payload.as_bytes());
    }
    (wire, payloads)
}

#[test]
fn messages_of_a_gateway_are_decoded() {
    let text = r#"{"t":"READY","s":1,"op":0,"d":"filler"}"#;
    watched("gateway", |example| {
        for (number, transport) in Transport::ALL.into_iter().enumerate() {
            let (wire, payloads) = recorded(transport, b"");
            assert_eq!(example.run(&[&number.to_string()], &wire).stdout, payloads, "{transport}");
        }
        let (wire, payloads) = recorded(Transport::ZstdFrame, text.as_bytes());
        assert_eq!(example.run(&["2", text], &wire).stdout, payloads);
        let (wire, _) = recorded(Transport::Zlib, b"");
        let run = Run::of(&mut example.command(&["0"]), &wire[4 + usize::from(wire[0])..]);
        assert_eq!(run.status, Some(1), "the first message is missing");
    });
}

#[test]
fn samples_are_encoded_in_both_versions_and_come_back() {
    let samples: Vec<i16> = (0..20_000).map(|i| (i % 700 + i % 13) as i16).collect();
    let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    watched("rice", |example| {
        let out = example.run(&[], &bytes).stdout;
        let params = linerate_rice::Params::new(8, 1000.try_into().ok()).unwrap();
        let options = linerate_rice::Options::new();
        let chunk = linerate_rice::encode(&params, &samples, options).unwrap();
        assert_eq!(out[..chunk.len()], chunk);
        assert_eq!(linerate_rice::v2::decode::<i16>(&out[chunk.len()..], options).unwrap(), samples);
    });
}

#[test]
fn archives_are_listed_read_verified_and_extracted() {
    let files =
        [("a/first.txt", data::mixed(150_000)), ("b.json", data::json_rows(5, 20)), ("empty", Vec::new())];
    let mut builder = linerate_nx::pack::Builder::new(linerate_nx::pack::PackOptions::default()).unwrap();
    for (path, content) in &files {
        builder.add_bytes(*path, content.clone()).unwrap();
    }
    let (mut archive, _) = builder.to_bytes().unwrap();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("files.nx");
    fs::write(&path, &archive).unwrap();
    watched("archive", |example| {
        let target = folder.path().join(if example.with_valgrind { "one" } else { "two" });
        let args = [path.to_str().unwrap(), target.to_str().unwrap(), "cancel"];
        let lines = String::from_utf8(example.run(&args[..2], &archive).stdout).unwrap();
        assert!(lines.contains("  150000 a/first.txt\n") && lines.contains("       0 empty\n"), "{lines}");
        assert!(
            lines.ends_with("verified 3, failed 0, stopped 0\nextracted 3, failed 0, skipped 0\n"),
            "{lines}"
        );
        for (name, content) in &files {
            assert_eq!(&fs::read(target.join(name)).unwrap(), content, "{name}");
        }
        let lines = String::from_utf8(example.run(&args, &archive).stdout).unwrap();
        assert!(lines.contains(", stopped 1\nextracted 0, failed 0, skipped 3\n"), "{lines}");
        let missing = Run::of(&mut example.command(&["/does/not/exist", args[1]]), b"");
        let message = "cannot read: cannot open the archive: No such file or directory\n";
        assert_eq!((missing.status, &*missing.stderr), (Some(1), message));
    });
    // The example begins with the first file of the table. Its block is the first one, after a page
    // of tables.
    archive[4096 + 100] ^= 0x10;
    fs::write(&path, &archive).unwrap();
    watched("archive", |example| {
        let run = Run::of(
            &mut example.command(&[path.to_str().unwrap(), folder.path().join("damaged").to_str().unwrap()]),
            &archive,
        );
        assert_eq!(run.status, Some(1));
        assert!(run.stderr.starts_with("corrupt: "), "{}", run.stderr);
    });
}

/// Returns the files of an archive, ordered by path.
fn contents(archive: &Path) -> Vec<(String, Vec<u8>)> {
    let archive = linerate_nx::Archive::open(fs::read(archive).unwrap()).unwrap();
    let mut reader = archive.reader().unwrap();
    let mut files: Vec<_> =
        archive.files().map(|file| (file.path().to_owned(), reader.read(file).unwrap().to_vec())).collect();
    files.sort();
    files
}

/// Writes files to a folder and returns them in order.
fn plant(folder: &Path, files: &[(&str, &[u8])]) -> Vec<(String, Vec<u8>)> {
    for (name, content) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    files.iter().map(|(name, content)| ((*name).to_owned(), content.to_vec())).collect()
}

#[test]
fn archives_are_packed_cancelled_updated_and_merged() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let large = data::mixed(2_300_000);
    let mods =
        plant(&folder.path().join("mods"), &[("a/first.txt", &large), ("b", b"before"), ("c", b"stays")]);
    plant(&folder.path().join("mods"), &[("old.bak", b"is not chosen")]);
    std::os::unix::fs::symlink("b", folder.path().join("mods/link")).unwrap();
    let patch = plant(&folder.path().join("patch"), &[("b", b"after!"), ("new", b"another")]);
    watched("pack", |example| {
        let out = TempDir::new_in(&folder).unwrap();
        let target = out.path().join("mods.nx");
        let run = |more: &[&str]| {
            let run = Run::of(&mut example.command(&[&[target.to_str().unwrap()], more].concat()), b"");
            (run.status, String::from_utf8(run.stdout).unwrap(), run.stderr)
        };
        let names =
            || fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();

        let (status, _, said) = run(&[&path("mods"), "cancel"]);
        assert_eq!((status, names().len()), (Some(1), 0), "{said}");
        assert!(said.ends_with("\ncannot write: cancelled before the archive was complete\n"), "{said}");
        fs::write(&target, "an old target").unwrap();
        assert_eq!(run(&[&path("mods"), "cancel"]).0, Some(1));
        assert_eq!((fs::read(&target).unwrap(), names().len()), (b"an old target".to_vec(), 1));

        let (status, lines, said) = run(&[&path("mods")]);
        assert!(status == Some(0) && said.contains("100 % "), "{said}");
        let link = format!("{}: neither a file nor a folder\n", path("mods/link"));
        assert_eq!(
            lines,
            link + "3 files, 2300011 bytes; 1 left out; 0 added, 0 replaced, 0 unchanged, 0 removed\n"
        );
        assert!(contents(&target) == mods);
        fs::copy(&target, out.path().join("first.nx")).unwrap();

        let (status, lines, said) = run(&[&path("patch"), "update", "none"]);
        assert_eq!((status, &*lines), (Some(1), "none: the archive has no file of this path\n"), "{said}");
        let (status, lines, said) = run(&[&path("patch"), "update", "a/"]);
        assert_eq!(status, Some(0), "{said}");
        assert_eq!(lines, "3 files, 18 bytes; 0 left out; 1 added, 1 replaced, 0 unchanged, 1 removed\n");
        assert_eq!(contents(&target), [patch[0].clone(), mods[2].clone(), patch[1].clone()]);

        let first = out.path().join("first.nx").to_str().unwrap().to_owned();
        fs::rename(&target, out.path().join("second.nx")).unwrap();
        let (status, _, said) = run(&[&first, "merge", out.path().join("second.nx").to_str().unwrap()]);
        assert_eq!(status, Some(0), "{said}");
        let merged = [mods[0].clone(), patch[0].clone(), mods[2].clone(), patch[1].clone()];
        assert!(contents(&target) == merged);
        let (status, lines, said) = run(&[&path("nowhere")]);
        let missing = format!("{}: cannot read the file\n", path("nowhere"));
        assert_eq!((status, lines), (Some(1), missing), "{said}");
        assert!(said.ends_with("\ncannot read: cannot read the file: No such file or directory\n"), "{said}");
    });
}

#[test]
fn header_and_examples_compile_without_a_warning_as_c_and_as_cpp() {
    let (Some(library), true, true) = (Library::built("linerate"), has_program("cc"), has_program("c++"))
    else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let shared = library.copy_as(&soname(), folder.path());
    let program = folder.path().join("compress");
    let input = data::mixed(300_000);
    for standard in STANDARDS {
        for name in c_examples() {
            c_program::compile(standard, Path::new(HERE), &source(&name), &shared, &folder.path().join(name));
        }
        let run = Run::of(&mut Command::new(&program), &input).ok();
        assert_eq!(gunzip(&run.stdout), input);
        let decompress = |stream: &[u8]| Run::of(&mut Command::new(folder.path().join("decompress")), stream);
        assert_eq!(decompress(&run.stdout).ok().stdout, input);
        let early = decompress(&run.stdout[..run.stdout.len() - 9]);
        assert_eq!((early.status, &*early.stderr), (Some(1), "the input ends early\n"));
        // FDICT (RFC 1950, section 2.2).
        assert_eq!(decompress(&[0x78, 0xbb, 1, 2, 3, 4, 5]).status, Some(1));
    }
}

/// Creates an archive of one file, `a/text`. Returns its path and the content of the file.
fn small_archive(folder: &TempDir) -> (PathBuf, Vec<u8>) {
    let content = data::mixed(50_000);
    let mut builder = linerate_nx::pack::Builder::new(linerate_nx::pack::PackOptions::default()).unwrap();
    builder.add_bytes("a/text", content.clone()).unwrap();
    let path = folder.path().join("files.nx");
    fs::write(&path, builder.to_bytes().unwrap().0).unwrap();
    (path, content)
}

/// Compiles a C++ example into a folder with each standard and with sanitizers, and passes the
/// program to the test.
fn for_each_cpp(name: &str, folder: &TempDir, test: impl Fn(&Path)) {
    let (Some(library), true) = (Library::built("linerate"), has_program("c++")) else { return };
    let shared = library.copy_as(&soname(), folder.path());
    for standard in ["-std=c++17", "-std=c++20"] {
        let program = folder.path().join(standard);
        let compiler =
            ["c++", standard, "-pedantic", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
        let source = Path::new(HERE).join("examples").join(name);
        c_program::compile(&compiler, Path::new(HERE), &source, &shared, &program);
        test(&program);
    }
}

#[test]
fn the_cpp_header_packs_and_passes_exceptions_of_callbacks_on() {
    let folder = TempDir::new().unwrap();
    let mods = plant(&folder.path().join("mods"), &[("a", &data::mixed(2_300_000)), ("b", b"small")]);
    plant(&folder.path().join("mods"), &[("old.bak", b"is not chosen")]);
    for_each_cpp("pack.cpp", &folder, |program| {
        let target = folder.path().join("mods.nx");
        let run = |more: &[&str]| {
            let mut command = Command::new(program);
            Run::of(command.arg(&target).arg(folder.path().join("mods")).args(more), b"")
        };
        let thrown = run(&["cancel"]);
        assert_eq!((thrown.status, target.exists()), (Some(1), false), "{}", thrown.stderr);
        assert!(thrown.stderr.ends_with(" bytes\nenough\n"), "{}", thrown.stderr);
        let packed = run(&[]);
        assert_eq!((packed.status, &*packed.stdout), (Some(0), &b"2 files\n"[..]), "{}", packed.stderr);
        assert!(contents(&target) == mods);
        let again = run(&[]);
        assert!(again.stderr.ends_with("\nthe target exists already\n"), "{}", again.stderr);
        assert_eq!(again.stdout, format!("{}: the target exists already\n", target.display()).into_bytes());
        fs::remove_file(&target).unwrap();
    });
}

#[test]
fn exception_of_choose_or_on_failure_keeps_the_target_if_there_is_no_file_to_pack() {
    const PROGRAM: &str = r#"
#include <linerate.hpp>
#include <iostream>

int main(int, char **argv)
try {
	linerate::packer packer;
	packer.options.replace = 1;
	if (std::string(argv[3]) == "choose")
		packer.choose = [](std::string_view) -> bool { throw std::runtime_error("enough"); };
	else
		packer.on_failure = [](std::string_view, const linerate::error &) { throw std::runtime_error("enough"); };
	packer.pack({argv[2]}, argv[1]);
	return 0;
} catch (const std::exception &error) {
	std::cerr << error.what() << '\n';
	return 1;
}
"#;
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("throws.cpp");
    fs::write(&source, PROGRAM).unwrap();
    let mods = folder.path().join("mods");
    fs::create_dir(&mods).unwrap();
    std::os::unix::fs::symlink("nowhere", mods.join("link")).unwrap();
    let target = folder.path().join("mods.nx");
    fs::write(&target, "an old target").unwrap();
    for_each_cpp(source.to_str().unwrap(), &folder, |program| {
        for callback in ["choose", "on_failure"] {
            let run = Run::of(Command::new(program).arg(&target).arg(&mods).arg(callback), b"");
            assert_eq!((run.status, &*run.stderr), (Some(1), "enough\n"), "{callback}");
            assert_eq!(fs::read_to_string(&target).unwrap(), "an old target", "{callback}");
        }
    });
}

#[test]
fn the_cpp_header_reads_an_archive_and_throws_errors() {
    let folder = TempDir::new().unwrap();
    let (archive, content) = small_archive(&folder);
    for_each_cpp("archive.cpp", &folder, |program| {
        let run = Run::of(Command::new(program).arg(&archive).arg("a/text"), b"").ok();
        assert_eq!(run.stdout, content);
        let run = Run::of(Command::new(program).arg(&archive).arg("missing"), b"");
        run.fails(1, "the archive has no file of this path");
    });
}

#[test]
fn a_go_program_compresses() {
    let Some(library) = Library::built("linerate") else { return };
    let is_there = Command::new("go").arg("version").output().is_ok_and(|run| run.status.success());
    if !(require(is_there, "go is not installed") && has_program("cc")) {
        return;
    }
    let folder = TempDir::new().unwrap();
    library.copy_as(&soname(), folder.path());
    std::os::unix::fs::symlink(soname(), folder.path().join("liblinerate.so")).unwrap();
    let (program, path) = (folder.path().join("compress"), folder.path().display());
    let built = Command::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(Path::new(HERE).join("examples/compress.go"))
        .envs([("CGO_ENABLED", "1"), ("GO111MODULE", "off"), ("GOFLAGS", "")])
        .env("CGO_CFLAGS", format!("-I{HERE}"))
        .env("CGO_LDFLAGS", format!("-L{path} -Wl,-rpath,{path}"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    for input in [data::json_rows(6, 300), Vec::new()] {
        let run = Run::of(&mut Command::new(&program), &input).ok();
        assert_eq!(gunzip(&run.stdout), input);
    }
}

#[test]
fn a_csharp_program_reads_an_archive() {
    let Some(library) = Library::built("linerate") else { return };
    if !(has_program("mcs") && has_program("mono")) {
        return;
    }
    let folder = TempDir::new().unwrap();
    library.copy_as(&soname(), folder.path());
    let (archive, content) = small_archive(&folder);
    let run = csharp("ReadArchive", folder.path());
    let archive = archive.to_str().unwrap();
    assert_eq!(run(&[archive, "a/text"]).ok().stdout, content);
    let missing = run(&[archive, "missing"]);
    assert!(missing.stderr.contains("the archive has no file of this path"), "{}", missing.stderr);
}

/// Compiles a C# example into a folder with the library. Returns a function that runs it.
fn csharp(name: &str, folder: &Path) -> impl Fn(&[&str]) -> Run {
    let program = folder.join(format!("{name}.exe"));
    let built = Command::new("mcs")
        .arg(format!("-out:{}", program.display()))
        .arg(Path::new(HERE).join("examples").join(format!("{name}.cs")))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stdout));
    let folder = folder.to_owned();
    move |args| {
        let mut command = Command::new("mono");
        command.env("LD_LIBRARY_PATH", &folder).env("LC_ALL", "C.UTF-8");
        Run::of(command.arg(&program).args(args), b"")
    }
}

#[test]
fn csharp_examples_pass_paths_as_utf8() {
    for name in ["ReadArchive.cs", "PackMods.cs"] {
        let text = fs::read_to_string(Path::new(HERE).join("examples").join(name)).unwrap();
        // "Ansi" is UTF-8 in Mono on Linux, where the tests run, but the user's code page on
        // Windows.
        assert!(text.contains("Encoding.UTF8.GetBytes") && !text.contains("StringToHGlobalAnsi"), "{name}");
    }
}

#[test]
fn a_csharp_program_packs_with_progress_and_cancels() {
    let Some(library) = Library::built("linerate") else { return };
    if !(has_program("mcs") && has_program("mono")) {
        return;
    }
    let folder = TempDir::new().unwrap();
    library.copy_as(&soname(), folder.path());
    let mods = plant(&folder.path().join("möds"), &[("a", &data::mixed(2_300_000)), ("b", b"small")]);
    let run = csharp("PackMods", folder.path());
    let (target, from) = (folder.path().join("möds.nx"), folder.path().join("möds"));
    let args = [target.to_str().unwrap(), from.to_str().unwrap(), "cancel"];
    let cancelled = run(&args);
    assert_eq!((cancelled.status, target.exists()), (Some(8), false), "{}", cancelled.stderr);
    assert_eq!(cancelled.stdout, b"cancelled before the archive was complete\n");
    let packed = run(&args[..2]);
    assert_eq!((packed.status, &*packed.stdout), (Some(0), &b"2 files\n"[..]), "{}", packed.stderr);
    assert!(packed.stderr.ends_with("\r2300005 of 2300005 bytes"), "{}", packed.stderr);
    assert!(contents(&target) == mods);
}

#[test]
fn the_programs_of_the_page_have_less_than_40_lines() {
    for name in ["compress.c", "decompress.c", "compress.go", "ReadArchive.cs", "PackMods.cs"] {
        let text = fs::read_to_string(Path::new(HERE).join("examples").join(name)).unwrap();
        assert!(text.lines().count() < 40, "{name}");
    }
}

/// Returns the names of the library's functions in a header or a program: those before a
/// parenthesis, outside of comments.
fn names_in(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//") && !line.starts_with(" *"));
    let names = code.flat_map(|line| {
        let calls = line.split('(').rev().skip(1);
        calls
            .filter_map(|before| before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next())
            .collect::<Vec<_>>()
    });
    names.filter(|name| name.starts_with("linerate_")).map(str::to_owned).collect()
}

#[test]
fn the_library_exports_the_functions_of_the_header_and_nothing_else() {
    let Some(mut exported) = Library::built("linerate").and_then(|library| library.exports()) else { return };
    let header = fs::read_to_string(Path::new(HERE).join("linerate.h")).unwrap();
    // If crates with the feature `linerate-nx/s3` are built too, the library contains their
    // dependency crc-fast, which exports C functions.
    exported.retain(|name| !name.starts_with("crc_fast_"));
    assert_eq!(exported, names_in(&header));
}

#[test]
fn every_function_is_called_by_an_example() {
    let examples = fs::read_dir(Path::new(HERE).join("examples")).unwrap();
    let called: BTreeSet<String> =
        examples.flat_map(|entry| names_in(&fs::read_to_string(entry.unwrap().path()).unwrap())).collect();
    let header = names_in(&fs::read_to_string(Path::new(HERE).join("linerate.h")).unwrap());
    let missing: Vec<&String> = header.difference(&called).collect();
    assert!(header.len() > 30, "{header:?}");
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_is_installed_is_found_by_pkg_config_and_cmake_and_removed_whole() {
    let (Some(library), true) = (Library::built("linerate"), has_program("cc")) else { return };
    let folder = TempDir::new().unwrap();
    let prefix = folder.path().join("usr");
    let install = |what: &Path| {
        let script = Path::new(HERE).join("../../../scripts/install-c.sh");
        let done = Command::new(script).arg(what).arg(&prefix).arg("linerate").env_remove("DESTDIR").output();
        let done = done.unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let said = install(library.folder());
    let lib = prefix.join("lib").display().to_string();
    assert!(said.contains(&format!("-Wl,-rpath,{lib}")), "no word on how programs find it: {said}");
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.txt"] {
        assert!(prefix.join("share/doc/linerate-c").join(name).is_file(), "{name}");
    }
    let check = |program: &Path| {
        let mut command = Command::new(program);
        let run = Run::of(command.env("LD_LIBRARY_PATH", prefix.join("lib")), b"the installed library").ok();
        assert_eq!(gunzip(&run.stdout), b"the installed library");
    };
    if has_program("pkg-config") {
        let flags = Command::new("pkg-config")
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
            .args(["--cflags", "--libs", "linerate >= 0.1"])
            .output()
            .unwrap();
        assert!(flags.status.success(), "{flags:?}");
        let program = folder.path().join("compress");
        let mut compile = Command::new("cc");
        compile.arg(source("compress")).args(String::from_utf8(flags.stdout).unwrap().split_whitespace());
        assert!(compile.arg("-o").arg(&program).status().unwrap().success());
        check(&program);
    }
    if has_program("cmake") {
        let lines = format!(
            "cmake_minimum_required(VERSION 3.13)\nproject(example C)\nfind_package(linerate 0.1 REQUIRED)\n\
             foreach(kind linerate static)\nadd_executable(with_${{kind}} {})\n\
             target_link_libraries(with_${{kind}} linerate::${{kind}})\nendforeach()\n",
            source("compress").display()
        );
        fs::write(folder.path().join("CMakeLists.txt"), lines).unwrap();
        let build = folder.path().join("build");
        let cmake = |args: &[&str]| {
            let run = Command::new("cmake").args(args).current_dir(folder.path()).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        };
        let package = format!("-Dlinerate_DIR={}", prefix.join("lib/cmake/linerate").display());
        cmake(&["-S", ".", "-B", "build", &package]);
        cmake(&["--build", "build"]);
        check(&build.join("with_linerate"));
        check(&build.join("with_static"));
    }
    install(Path::new("--remove"));
    let mut folders = vec![prefix];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            assert!(path.is_dir(), "{} is left", path.display());
            folders.push(path);
        }
    }
}
