//! Many files at a time give the same reports, statuses and files as one after the other.

use linerate_testkit::data::mixed as sample;
use linerate_testkit::program::Folder;

use crate::outcome::{Outcome, outcome};

/// Creates files and folders. Returns their names, and some of files that do not exist, in the
/// order of the command line.
fn plant(folder: &Folder) -> Vec<String> {
    let mut names = Vec::new();
    for i in 0..300 {
        let name = format!("f{i}");
        match i % 50 {
            7 => {}
            9 => drop(folder.write(&format!("{name}/inner"), b"in a folder")),
            11 => drop(folder.write(&format!("{name}.gz"), b"taken")),
            _ => {}
        }
        if !matches!(i % 50, 7 | 9) {
            folder.write(&name, &sample(i * 10));
        }
        names.push(name);
    }
    // A large file in between, names that are given twice, and a file that has the suffix already.
    folder.write("large", &sample(3_000_000));
    names.insert(100, "large".into());
    names.insert(200, "f3".into());
    names.push("f0".into());
    folder.write("z.gz", b"no");
    names.push("z.gz".into());
    names
}

#[test]
fn files_compressed_in_parallel_are_reported_in_operand_order() {
    let [one, several]: [Vec<Outcome>; 2] = ["-p1", "-p4"].map(|threads| {
        let folder = Folder::new();
        let names = plant(&folder);
        let names = || names.iter().map(String::as_str);
        let packed: Vec<String> = names().map(|name| format!("{name}.gz")).collect();
        let gzip = |args: &[&str], files: &[&str]| {
            // -n leaves the times out of gzip headers: they differ from run to run.
            let run = folder.gzip(&[&[threads, "--json", "-n"], args, files].concat());
            outcome(&folder, run)
        };
        let files: Vec<&str> = names().collect();
        let packed: Vec<&str> = packed.iter().map(String::as_str).collect();
        vec![
            gzip(&["-k"], &files[..50]),
            gzip(&["-f"], &files),
            gzip(&["-t"], &packed),
            gzip(&["-d"], &packed),
        ]
    });
    for (one, several) in one.into_iter().zip(several) {
        assert_eq!((several.0, several.1), (one.0, one.1));
        assert_eq!(several.2, one.2);
        assert!(several.3 == one.3, "the files are the same");
        assert!(one.2.len() > 40);
    }
}

#[test]
fn recursion_in_parallel_processes_every_file_once() {
    let folder = Folder::new();
    for i in 0..200 {
        folder.write(&format!("d/{}/f{i}", i % 7), &sample(i));
    }
    folder.gzip(&["-r", "-p4", "d", "d"]).ok();
    for i in 0..200 {
        assert!(folder.has(&format!("d/{}/f{i}.gz", i % 7)) && !folder.has(&format!("d/{}/f{i}", i % 7)));
    }
    folder.gzip(&["-dr", "-p4", "d"]).ok();
    for i in 0..200 {
        assert!(folder.read(&format!("d/{}/f{i}", i % 7)) == sample(i));
    }
}

#[test]
fn standard_output_is_in_operand_order_for_any_threads() {
    let folder = Folder::new();
    let names: Vec<String> = (0..40).map(|i| format!("f{i}")).collect();
    let mut all = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let data = sample(i * 1000);
        folder.write(name, &data);
        all.extend(data);
    }
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    let packed = folder.gzip(&[&["-c", "-p4"], &files[..]].concat()).ok().stdout;
    assert!(folder.gzip_with(&["-d"], &packed).ok().stdout == all);
}
