//! Lists what untrusted input can do to its readers, and checks that each hazard has its tests. They are in the crates
//! and bindings, so that this rule of the tree stands beside the others.

mod gateway;
mod nx;
mod websocket;

use std::fs;

use linerate_testkit::testdata::repository;

/// A hazard and the tests against it: files of the repository, and functions in them. Without functions the whole
/// file is the test.
type Hazard = (&'static str, &'static [(&'static str, &'static [&'static str])]);

/// The tests in the list that do not exist.
fn missing_tests(list: &[Hazard]) -> Vec<String> {
    let mut missing = Vec::new();
    for (hazard, cover) in list {
        for (file, tests) in *cover {
            let Ok(source) = fs::read_to_string(repository().join(file)) else {
                missing.push(format!("{hazard}: no file {file}"));
                continue;
            };
            let is_defined = |test: &str| {
                ["fn", "void", "def"].iter().any(|kind| source.contains(&format!("{kind} {test}(")))
            };
            let lacking = tests.iter().filter(|test| !is_defined(test));
            missing.extend(lacking.map(|test| format!("{hazard}: no {test} in {file}")));
        }
    }
    missing
}

#[test]
fn each_hazard_of_gateway_streams_has_its_tests() {
    assert_eq!(missing_tests(gateway::LIST), Vec::<String>::new());
    assert!(gateway::LIST.iter().all(|(_, tests)| !tests.is_empty()));
}

#[test]
fn each_hazard_of_permessage_deflate_has_its_tests() {
    assert_eq!(missing_tests(websocket::LIST), Vec::<String>::new());
    assert!(websocket::LIST.iter().all(|(_, tests)| !tests.is_empty()));
}

#[test]
fn each_hazard_of_archives_has_its_tests() {
    assert_eq!(missing_tests(nx::LIST), Vec::<String>::new());
    assert!(nx::LIST.iter().all(|(_, tests)| !tests.is_empty()));
    for letter in ["a", "b", "c", "d", "e", "f", "h", "i", "j", "k", "l"] {
        assert!(nx::LIST.iter().any(|(hazard, _)| hazard.starts_with(&format!("{letter}: "))), "{letter}");
    }
}

#[test]
fn tests_and_files_that_do_not_exist_are_missing() {
    let list: &[Hazard] = &[("a", &[("README.md", &["there_is_no_such_test"]), ("no/such/file", &[])])];
    assert_eq!(missing_tests(list), ["a: no there_is_no_such_test in README.md", "a: no file no/such/file"]);
}
