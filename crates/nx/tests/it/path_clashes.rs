//! Tests paths that no file system, or only some file systems, can hold together.

use linerate_nx::{collisions, folder_clashes, portable_clashes};

#[test]
fn file_that_is_also_a_folder_clashes_with_what_is_below() {
    let paths = ["a/b", "a", "a.txt", "a b/c", "x/y/z", "x", "x/y", "a/c", "a", "B/c", "b"];
    assert_eq!(folder_clashes(paths), [(1, 0), (5, 4), (6, 4), (8, 0)]);
    assert!(folder_clashes(["a", "ab/c", "a-/d", "e/a"]).is_empty());
    assert!(collisions(["a", "b", "a/b"]).is_empty(), "no two files have one path");
}

#[test]
fn clashes_by_case_or_normalization_are_found_for_files_and_folders() {
    let paths = ["a", "A/b", "x", "X", "e\u{301}", "\u{c9}/x", "B", "b.txt"];
    assert_eq!(portable_clashes(paths), [vec![2, 3], vec![0, 1], vec![4, 5]]);
    assert_eq!(portable_clashes(["a", "a/b"]), [[0, 1]]);
    assert!(portable_clashes(["A/x", "a/y"]).is_empty(), "folders become one");
}

#[test]
fn paths_of_very_many_folders_are_checked_in_linear_time() {
    // Time in proportion to the square of the components would be hours.
    let deep = "x/".repeat(1 << 20) + "x";
    let paths = [&deep, "x", "x/x-", "x/x", &deep[..(1 << 21) - 1]];
    assert_eq!(folder_clashes(paths), [(1, 0), (3, 0), (4, 0)]);
    assert_eq!(portable_clashes(paths), [[1, 0], [3, 0], [4, 0]]);
}
