//! Many files at a time give the same reports, statuses and files as one after the other.

use std::time::Instant;

use linerate_testkit::program::Folder;

use super::data::{npy, wave};
use crate::outcome::{Outcome, outcome};

/// Creates arrays, and some files and folders that cannot be encoded. Returns their names, and some
/// of files that do not exist, in the order of the command line.
fn plant(folder: &Folder) -> Vec<String> {
    let array = |samples: usize| npy("<i2", &format!("({samples},)"), &wave(samples));
    let mut names = Vec::new();
    for i in 0..100 {
        let name = format!("f{i}.npy");
        match i % 25 {
            7 => {}
            9 => drop(folder.write(&format!("{name}/inner"), b"in a folder")),
            11 => drop(folder.write(&name, b"no array")),
            _ => drop(folder.write(&name, &array(i * 30))),
        }
        if i % 25 == 13 {
            folder.write(&format!("f{i}.rice"), b"taken");
        }
        names.push(name);
    }
    // A large file in between, names that are given twice, and an array whose output has the name
    // of an operand.
    folder.write("large.npy", &array(1_500_000));
    names.insert(50, "large.npy".into());
    names.insert(70, "f3.npy".into());
    names.push("f0.npy".into());
    folder.write("same", &array(10));
    folder.write("same.rice", &array(20));
    names.extend(["same".into(), "same.rice".into()]);
    names
}

#[test]
fn files_coded_in_parallel_are_reported_in_operand_order() {
    let [one, several]: [Vec<Outcome>; 2] = ["-p1", "-p4"].map(|threads| {
        let folder = Folder::new();
        let names = plant(&folder);
        let encoded: Vec<String> = names.iter().map(|name| name.replace(".npy", ".rice")).collect();
        let rice = |args: &[&str], files: &[String]| {
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            outcome(&folder, folder.rice(&[args, &[threads, "--json"], &files].concat()))
        };
        vec![
            rice(&["encode"], &names[..40]),
            rice(&["encode", "-f"], &names),
            rice(&["verify"], &encoded),
            rice(&["verify", "--against", "f4.npy"], &encoded),
            rice(&["decode"], &encoded[..40]),
            rice(&["decode", "-f"], &encoded),
            rice(&["encode", "--v1"], &names),
            rice(&["tune"], &names[..30]),
            rice(&["encode", "-r", "-f", "."], &[]),
        ]
    });
    for (one, several) in one.into_iter().zip(several) {
        assert_eq!((several.0, several.1), (one.0, one.1));
        assert_eq!(several.2, one.2);
        assert!(several.3 == one.3, "the files are the same");
        assert!(one.2.len() >= 30);
    }
}

#[test]
fn recursion_in_parallel_processes_every_file_once() {
    let folder = Folder::new();
    let array = |samples: usize| npy("<i2", &format!("({samples},)"), &wave(samples));
    for i in 0..100 {
        folder.write(&format!("d/{}/f{i}.npy", i % 7), &array(i));
        folder.write(&format!("d/{}/f{i}.txt", i % 7), b"another file");
    }
    folder.rice(&["encode", "-r", "-p4", "d"]).ok();
    for i in 0..100 {
        let name = format!("d/{}/f{i}", i % 7);
        std::fs::remove_file(folder.path(&format!("{name}.npy"))).expect("it is there");
    }
    folder.rice(&["verify", "-r", "-p4", "d"]).ok();
    folder.rice(&["decode", "-r", "-p4", "d"]).ok();
    for i in 0..100 {
        assert!(folder.read(&format!("d/{}/f{i}.npy", i % 7)) == array(i));
    }
}

#[test]
fn time_of_a_large_file_does_not_include_the_wait_for_others() {
    let folder = Folder::new();
    let names: Vec<String> = (0..8).map(|i| format!("f{i}.npy")).collect();
    for name in &names {
        folder.write(name, &npy("<i2", "(1500000,)", &wave(1_500_000)));
    }
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    let begun = Instant::now();
    let records =
        folder.rice(&[&["encode", "--verify", "-p8", "--json"][..], &files].concat()).ok().objects();
    let elapsed = begun.elapsed().as_secs_f64();
    let seconds: Vec<f64> = records.iter().filter_map(|record| record["seconds"].as_f64()).collect();
    // One file is encoded after the other. With the waits, the sum would be some four times the time.
    assert_eq!(seconds.len(), names.len());
    assert!(seconds.iter().sum::<f64>() < 2.0 * elapsed, "{seconds:?} in {elapsed}");
}
