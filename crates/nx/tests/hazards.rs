//! What an archive can do to its reader, each with the tests that show that it does not: [`COVER`] is
//! the list, after sections 4 and 8 of the format's reference. Below it are those tests that belong
//! nowhere else.

mod common;

use std::fs;
use std::path::Path;

use common::make::{COPY, Frame, Make, ZSTD, frame, noise};
use linerate_nx::pack::{Builder, Options};
use linerate_nx::{Archive, Existing, Extractor, FileError, Kind, Limits, Verifier};

/// A hazard, and the tests against it: files below `crates`, and functions in them.
type Cover = (&'static str, &'static [(&'static str, &'static [&'static str])]);

const VECTORS: &str = "nx/tests/vectors.rs";
const R3A: &str = "nx/tests/r3a.rs";
const R3A_WRITE: &str = "nx/tests/r3a_write.rs";
const EXTRACT: &str = "nx/tests/extract.rs";
const HERE: &str = "nx/tests/hazards.rs";
const PACK: &str = "nx/tests/pack.rs";
const EDIT: &str = "nx/tests/pack_edit.rs";
const DAMAGE: &str = "nx/tests/damage.rs";
const CLI_EXTRACT: &str = "cli/tests/nx/extract.rs";

/// The vectors named in `vectors.rs` begin with the letter of their hazard.
const EVERY_VECTOR: (&str, &[&str]) = (VECTORS, &["each_vector_gives_its_expected_result"]);

const COVER: &[Cover] = &[
    (
        "a: paths that lead out: absolute, `..`, drives, UNC, NUL, streams, devices, back-slashes",
        &[
            (VECTORS, &["no_path_leads_out_of_the_folder"]),
            ("nx/src/paths.rs", &["unsafe_paths_are_rejected", "name_above_255_bytes_is_rejected"]),
            (CLI_EXTRACT, &["paths_that_lead_elsewhere_are_refused"]),
            (EXTRACT, &["selected_files_are_extracted_under_other_names"]),
            (PACK, &["duplicate_or_unsafe_path_is_an_error"]),
            (EDIT, &["names_that_some_systems_reject_are_kept_and_unsafe_ones_are_errors"]),
        ],
    ),
    (
        "a: links in the folder that is extracted to",
        &[
            (EXTRACT, &["links_below_the_folder_are_not_followed"]),
            (HERE, &["links_at_any_depth_are_not_followed"]),
            (CLI_EXTRACT, &["links_are_not_followed"]),
        ],
    ),
    (
        "a: names and paths without end",
        &[
            (HERE, &["name_that_is_too_long_is_an_error_of_its_file_only", "enormous_path_is_an_error"]),
            ("nx/src/pool.rs", &["path_longer_than_the_limit_is_an_error"]),
            ("nx/src/tree.rs", &["deep_and_many_folders_stay_within_the_descriptor_limit"]),
        ],
    ),
    (
        "b: equal names, names that fall together in case or Unicode form, a file where a folder must be",
        &[
            (
                VECTORS,
                &[
                    "equal_names_do_not_overwrite_each_other",
                    "file_at_the_path_of_a_folder_is_an_error_of_that_file_only",
                ],
            ),
            (EXTRACT, &["colliding_names_are_reported_and_extracted_where_the_file_system_allows"]),
            (HERE, &["names_that_differ_in_normalization_never_overwrite_each_other"]),
            ("nx/src/paths.rs", &["colliding_paths_are_grouped"]),
            (CLI_EXTRACT, &["the_same_name_twice_is_written_once"]),
        ],
    ),
    (
        "c: sums and products that wrap: chunk sizes of 23 to 31, blocks past the end, offsets past a block",
        &[
            EVERY_VECTOR,
            (
                "nx/src/layout.rs",
                &[
                    "file_past_the_last_block_is_an_error_at_its_entry",
                    "stored_or_empty_block_smaller_than_its_files_is_an_error",
                    "truncated_archive_is_an_error",
                ],
            ),
            ("nx/tests/tables.rs", &["tables_come_back"]),
            (
                R3A,
                &[
                    "widths_and_counts_beyond_64_bits_are_refused",
                    "offsets_of_more_than_24_bits_are_refused",
                    "entry_past_its_block_is_an_error_at_its_offset",
                    "bad_header_is_an_error_at_its_offset",
                ],
            ),
        ],
    ),
    (
        "d: codecs without a meaning",
        &[EVERY_VECTOR, (R3A, &["block_of_unsupported_codec_is_an_error_of_its_files_only"])],
    ),
    (
        "e: bombs: total, per file, ratio, header, block, window; and their overrides",
        &[
            EVERY_VECTOR,
            (VECTORS, &["decompression_bomb_is_an_error", "large_files_with_shared_blocks_are_extracted"]),
            (EXTRACT, &["extraction_beyond_the_limits_is_an_error_before_writing"]),
            ("nx/tests/golden.rs", &["limits_are_kept"]),
            ("nx/src/layout.rs", &["million_files_over_the_same_blocks_take_linear_time"]),
            ("nx/src/parallel.rs", &["memory_limit_bounds_the_number_of_threads"]),
            (HERE, &["window_limit_decides_which_windows_are_decoded"]),
            (CLI_EXTRACT, &["limits_have_a_status_of_their_own"]),
            ("nx/tests/memory.rs", &["large_file_is_streamed_in_bounded_memory"]),
        ],
    ),
    (
        "e: no room on the disk",
        &[
            (
                "cli/tests/nx/disk_full.rs",
                &[
                    "an_extraction_without_room_is_not_begun",
                    "an_extraction_that_fills_the_disk_leaves_whole_files",
                    "a_pack_that_fills_the_disk_leaves_the_archive_of_before",
                    "a_repack_that_fills_the_disk_leaves_the_archive",
                ],
            ),
            (CLI_EXTRACT, &["a_full_disk_is_told_once"]),
            ("nx/src/parallel.rs", &["full_disk_stops_the_work_and_discards_incomplete_files"]),
        ],
    ),
    (
        "f: two contents of one hash, when equal ones are looked for",
        &[("nx/src/pack/dedup.rs", &["pieces_with_equal_hashes_but_different_bytes_are_not_duplicates"])],
    ),
    ("h: paths that are not UTF-8", &[EVERY_VECTOR, (R3A, &["bad_pool_is_an_error"])]),
    ("i: fewer or more paths than files", &[EVERY_VECTOR, (R3A, &["bad_pool_is_an_error"])]),
    (
        "j: frames without an end, bytes after one, blocks cut short",
        &[
            EVERY_VECTOR,
            (
                "nx/src/decode.rs",
                &["each_kind_of_ending_is_reported", "truncated_frame_is_an_error_or_gives_the_content"],
            ),
            (DAMAGE, &["every_truncation_is_an_error", "every_flipped_bit_is_an_error_or_harmless"]),
        ],
    ),
    (
        "k: a dictionary that is missing or another one",
        &[
            EVERY_VECTOR,
            (R3A, &["bad_dictionary_segment_is_an_error"]),
            (R3A_WRITE, &["dictionaries_are_written_with_hashes_and_read"]),
        ],
    ),
    (
        "silent damage: hashes are checked, also before blocks are carried over",
        &[
            (DAMAGE, &["flipped_bit_in_stored_content_is_an_error_of_its_file"]),
            (EXTRACT, &["verifier_reports_exactly_the_damaged_entries"]),
            (
                EDIT,
                &[
                    "damaged_entry_is_an_error_that_names_it",
                    "damage_is_copied_only_without_verify_existing",
                    "damaged_archives_are_errors_or_what_a_reader_finds",
                    "wrong_hash_of_a_duplicate_is_an_error",
                ],
            ),
            (
                CLI_EXTRACT,
                &[
                    "what_its_packer_damaged_fails_by_name_and_the_rest_comes_out",
                    "bits_that_flip_never_make_a_wrong_file",
                ],
            ),
        ],
    ),
    (
        "repacking that mixes files up",
        &[(
            EDIT,
            &[
                "blocks_of_goldens_are_reused_unchanged",
                "repacked_files_are_the_same",
                "edits_in_a_row_keep_what_they_should",
            ],
        )],
    ),
    ("output that depends on threads", &[(PACK, &["threads_and_order_do_not_show"])]),
    (
        "limits of the format that are passed in silence",
        &[
            (PACK, &["limits_of_the_format_are_errors_that_name_them"]),
            (R3A_WRITE, &["exceeding_a_limit_of_the_format_is_an_error"]),
        ],
    ),
    (
        "headers of zeros, left by writers that were interrupted",
        &[("nx/src/header.rs", &["each_bad_field_is_an_error_at_its_offset"])],
    ),
    (
        "empty files in folders that are not there yet, on several threads",
        &[(HERE, &["folders_of_empty_files_are_created"])],
    ),
    (
        "kills: no half file under a final name, no harm to sources or archives",
        &[
            ("nx/tests/extract_killed.rs", &["killed_extraction_leaves_no_incomplete_file"]),
            ("nx/tests/pack_killed.rs", &["killed_packing_leaves_source_and_target_unchanged"]),
            (
                "cli/tests/nx/killed.rs",
                &[
                    "a_killed_pack_leaves_the_archive_of_before",
                    "a_killed_repack_leaves_the_archive_or_the_new_one",
                    "a_killed_extract_leaves_whole_files_or_none",
                ],
            ),
        ],
    ),
    (
        "blocks that only our own decoder understands",
        &[(PACK, &["zstd_program_decodes_blocks_by_offset", "independent_reader_finds_every_file"])],
    ),
];

#[test]
fn each_hazard_has_its_tests() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (hazard, cover) in COVER {
        for (file, tests) in *cover {
            let source = fs::read_to_string(crates.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
            for test in *tests {
                assert!(source.contains(&format!("fn {test}(")), "{hazard}: no {test} in {file}");
            }
        }
    }
    for letter in ["a", "b", "c", "d", "e", "f", "h", "i", "j", "k"] {
        assert!(COVER.iter().any(|(hazard, _)| hazard.starts_with(&format!("{letter}: "))), "{letter}");
    }
}

/// An archive of these paths, each with a byte of its own in one stored block of chunks of 1 MiB.
fn of(paths: &[&str]) -> Archive<Vec<u8>> {
    let content: Vec<u8> = (0..paths.len()).map(|i| b'A' + i as u8).collect();
    let make = Make::new(11).block(COPY, content.clone());
    let add = |make: Make, (i, path): (usize, &&str)| make.file(path, &content[i..=i], 0, i as u64);
    Archive::open(paths.iter().enumerate().fold(make, add).bytes()).unwrap()
}

#[cfg(unix)]
#[test]
fn links_at_any_depth_are_not_followed() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(outside.path().join("deep")).unwrap();
    let archive = of(&["a/b/c/file", "a/up/file", "a/gone/file", "loop/x/file", "good/file"]);
    for existing in [Existing::Fail, Existing::Skip, Existing::Replace] {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        fs::create_dir_all(at("a/b")).unwrap();
        symlink(outside.path().join("deep"), at("a/b/c")).unwrap();
        symlink("../..", at("a/up")).unwrap();
        symlink(outside.path().join("not there"), at("a/gone")).unwrap();
        symlink("loop", at("loop")).unwrap();
        let done = Extractor::new(&archive).existing(existing).threads(2).to_folder(place.path()).unwrap();
        let failed: Vec<&str> = done.failures.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(failed, ["a/b/c/file", "a/gone/file", "a/up/file", "loop/x/file"], "{existing:?}");
        assert!(at("good/file").is_file());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        assert_eq!(fs::read_dir(outside.path().join("deep")).unwrap().count(), 0);
        let names = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["a", "good", "loop"]);
    }
}

/// A file that a link stands for is not written through it, whatever is to happen to what is there.
#[cfg(unix)]
#[test]
fn link_at_the_path_of_a_file_is_not_written_through() {
    let outside = tempfile::tempdir().unwrap();
    let archive = of(&["file"]);
    for existing in [Existing::Fail, Existing::Skip, Existing::Replace] {
        let place = tempfile::tempdir().unwrap();
        let link = place.path().join("file");
        std::os::unix::fs::symlink(outside.path().join("not there"), &link).unwrap();
        let done = Extractor::new(&archive).existing(existing).to_folder(place.path()).unwrap();
        assert_eq!(link.is_symlink(), existing != Existing::Replace);
        assert_eq!(done.files, u64::from(existing == Existing::Replace), "{existing:?}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}

#[test]
fn names_that_differ_in_normalization_never_overwrite_each_other() {
    let paths =
        ["\u{e9}.txt", "e\u{301}.txt", "Case", "case", "D/x", "d/x", "\u{212b}", "\u{c5}", "a\u{30a}"];
    let archive = of(&paths);
    for threads in [1, 3] {
        let place = tempfile::tempdir().unwrap();
        let done = Extractor::new(&archive).threads(threads).to_folder(place.path()).unwrap();
        assert_eq!(done.files + done.failures.len() as u64, paths.len() as u64);
        assert!(
            done.failures.iter().all(|f| matches!(f.source, FileError::Collision)),
            "{:?}",
            done.failures
        );
        let failed: Vec<&str> = done.failures.iter().map(|f| f.path.as_str()).collect();
        for (i, path) in paths.iter().enumerate().filter(|(_, path)| !failed.contains(path)) {
            let there = fs::read(place.path().join(path)).unwrap();
            assert_eq!(there, [b'A' + i as u8], "{path:?}");
        }
    }
    // On whatever file system: all are noted.
    let verified = Verifier::new(&archive).run().unwrap();
    assert_eq!(verified.notes.len(), 4, "{:?}", verified.notes);
}

#[test]
fn name_that_is_too_long_is_an_error_of_its_file_only() {
    let name = |len: usize| "n".repeat(len);
    let (longest, longer) = (name(255), name(256));
    let folder = format!("{}/{}/x", name(100), name(300));
    let archive = of(&["before", &longest, &longer, &folder, "behind"]);
    let place = tempfile::tempdir().unwrap();
    let done = Extractor::new(&archive).threads(2).to_folder(place.path()).unwrap();
    let mut failed: Vec<&str> = done.failures.iter().map(|f| f.path.as_str()).collect();
    failed.sort_unstable();
    assert_eq!((done.files, failed), (3, vec![&*folder, &*longer]));
    for failure in &done.failures {
        assert!(failure.to_string().ends_with("255 bytes, which most file systems refuse"), "{failure}");
    }
    assert_eq!(fs::read(place.path().join(longest)).unwrap(), b"B");
    assert!(!place.path().join(name(100)).exists());
}

#[test]
fn enormous_path_is_an_error() {
    let enormous = "a/".repeat(8 << 20) + "a";
    let make = Make::new(11).block(COPY, b"A".to_vec());
    // The pool as a packer writes it: 16 MiB in some hundred bytes.
    let pool = linerate_nx::Pool::encode([&*enormous]).unwrap();
    let bytes = make.file(&enormous, b"A", 0, 0).with(|make| make.pool = Some(pool)).bytes();
    assert!(bytes.len() <= 8192);
    assert_eq!(Archive::open(&bytes[..]).unwrap_err().kind, Kind::Limit);
    // Who lifts the limit gets what the system says to it, which is no harm.
    let archive = Archive::open_with(&bytes[..], Limits::none()).unwrap();
    assert_eq!(archive.read(archive.get(0).unwrap()).unwrap(), b"A");
    let long = Limits { path: enormous.len() as u64, ..Limits::default() };
    assert!(Archive::open_with(&bytes[..], long).is_ok());
}

/// A frame whose window is larger than zstd's programs take.
#[test]
fn window_limit_decides_which_windows_are_decoded() {
    let content = noise(5000, 1);
    let mut block = frame(&content, Frame::Open);
    // An exponent of 18 above 2^10.
    block[5] = 18 << 3;
    let bytes = Make::new(11).file("a", &content, 0, 0).block(ZSTD, block).bytes();
    let read = |window_log| {
        let archive = Archive::open_with(&bytes[..], Limits { window_log, ..Limits::default() })?;
        archive.read(archive.get(0).unwrap())
    };
    assert_eq!(read(27).unwrap_err().kind, Kind::Limit);
    assert!(read(28).unwrap() == content);
    assert_eq!(read(99).unwrap_err().kind, Kind::BadArgument);
}

#[test]
fn folders_of_empty_files_are_created() {
    let mut builder = Builder::new(Options::default()).unwrap();
    let paths: Vec<String> = (0..300).map(|i| format!("f{}/g{}/h{i}/empty", i % 3, i % 50)).collect();
    for path in &paths {
        builder.add_bytes(path.as_str(), &b""[..]).unwrap();
    }
    let archive = Archive::open(builder.to_bytes().unwrap().0).unwrap();
    for threads in [2, 4] {
        let place = tempfile::tempdir().unwrap();
        let done = Extractor::new(&archive).threads(threads).to_folder(place.path()).unwrap();
        assert_eq!((done.files, done.failures.len()), (300, 0), "{:?}", done.failures);
        assert!(paths.iter().all(|path| place.path().join(path).is_file()));
    }
}
