//! Tests the examples `stream`, `load` and `mount`, each run as a program. `cargo test --tests`
//! links no examples, so this program includes their code and starts itself: if the variable
//! [`EXAMPLE`] is set, it runs the example of that name.

#[path = "../examples/load.rs"]
mod load;
#[cfg(feature = "mount")]
#[path = "../examples/mount.rs"]
mod mount;
#[path = "it/pack_tree.rs"]
mod pack_tree;
#[path = "../examples/stream.rs"]
mod stream;

use std::error::Error;
use std::ffi::OsStr;
use std::process::Command;

use linerate_nx::pack::PackOptions;
use linerate_nx::{Archive, FileSource};
use pack_tree::{TreeFile, content, pack};

/// Environment variable with the name of the example to run.
const EXAMPLE: &str = "LINERATE_NX_EXAMPLE";

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::var(EXAMPLE).as_deref() {
        Ok("stream") => return stream::main(),
        Ok("load") => return load::main(),
        #[cfg(all(feature = "mount", target_os = "linux"))]
        Ok("mount") => return mount::main(),
        Ok(name) => return Err(format!("there is no example {name}").into()),
        Err(_) => {}
    }
    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("a.nx");
    let files = files();
    std::fs::write(
        &archive,
        pack(&files, &PackOptions { chunk: 1 << 15, solid_limit: 0x7fff, ..PackOptions::new() }).0,
    )?;
    stream_prints_the_beginning_and_plays_the_second_half(archive.as_os_str(), &files[0]);
    load_has_the_first_hundred_files(archive.as_os_str())?;
    #[cfg(all(feature = "mount", target_os = "linux"))]
    mount_shows_the_files_until_enter(archive.as_os_str(), &folder.path().join("mnt"), &files)?;
    Ok(())
}

/// Returns a file of several chunks and 119 smaller files, in the order of their paths.
fn files() -> Vec<TreeFile> {
    let len = |i: usize| if i == 0 { 200_000 } else { 500 + 7 * i };
    (0..120).map(|i| (format!("level/{i:03}"), content(1, i as u64, len(i)))).collect()
}

fn example(name: &str, args: &[&OsStr]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.env(EXAMPLE, name).args(args);
    command
}

fn output(name: &str, args: &[&OsStr]) -> String {
    let output = example(name, args).output().expect("started");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn stream_prints_the_beginning_and_plays_the_second_half(archive: &OsStr, (path, content): &TreeFile) {
    let printed = output("stream", &[archive, path.as_ref()]);
    let begins = format!("{path}: {} bytes, begins with {:02x?}", content.len(), &content[..16]);
    assert!(printed.starts_with(&begins), "{printed}");
    assert!(printed.contains(&format!("\n{} bytes from the middle on", content.len() / 2)), "{printed}");
    let missing = example("stream", &[archive, "no such file".as_ref()]).output().expect("started");
    assert!(!missing.status.success());
}

/// The files are the first in the order of blocks, not of paths.
fn load_has_the_first_hundred_files(archive: &OsStr) -> Result<(), Box<dyn Error>> {
    let bytes: u64 =
        Archive::open(FileSource::open(archive)?)?.files().take(100).map(|file| file.size()).sum();
    assert_eq!(output("load", &[archive]), format!("100 of 100 files, {bytes} bytes\n"));
    Ok(())
}

/// Prints a note if the system cannot mount anything.
#[cfg(all(feature = "mount", target_os = "linux"))]
fn mount_shows_the_files_until_enter(
    archive: &OsStr,
    folder: &std::path::Path,
    files: &[TreeFile],
) -> Result<(), Box<dyn Error>> {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;

    std::fs::create_dir(folder)?;
    let mut command = example("mount", &[archive, folder.as_os_str()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut printed = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    printed.read_line(&mut line)?;
    if line.is_empty() {
        let error = child.wait_with_output()?.stderr;
        // This is no failure, even with STRICT=1: no package enables mounting on a system that
        // forbids it.
        eprintln!("note: nothing can be mounted here: {}", String::from_utf8_lossy(&error).trim());
        return Ok(());
    }
    for (path, content) in files {
        assert!(std::fs::read(folder.join(path))? == *content, "{path}");
    }
    drop(child.stdin.take()); // the end of the input unmounts, as Enter does
    printed.read_to_string(&mut line)?;
    assert!(child.wait()?.success() && line.contains("mounted on"), "{line}");
    assert!(std::fs::read_dir(folder)?.next().is_none(), "it was unmounted");
    Ok(())
}
