//! Hazards of Nx and R3A archives for their readers.

use crate::Hazard;

const VECTORS: &str = "crates/nx/tests/vectors.rs";
const R3A: &str = "crates/nx/tests/r3a.rs";
const R3A_WRITE: &str = "crates/nx/tests/r3a_write.rs";
const EXTRACT: &str = "crates/nx/tests/extract.rs";
const HAZARDS: &str = "crates/nx/tests/hazards.rs";
const PACK: &str = "crates/nx/tests/pack.rs";
const EDIT: &str = "crates/nx/tests/pack_edit.rs";
const FILTERED: &str = "crates/nx/tests/filtered.rs";
const DAMAGE: &str = "crates/nx/tests/damage.rs";
const FILTERS: &str = "crates/nx/tests/filters.rs";
const CLI_EXTRACT: &str = "crates/cli/tests/nx/extract.rs";

/// The vectors named in `vectors.rs` begin with the letter of their hazard.
const EVERY_VECTOR: (&str, &[&str]) = (VECTORS, &["each_vector_gives_its_expected_result"]);

/// Lettered after sections 4 and 8 of the format's reference.
pub(crate) const LIST: &[Hazard] = &[
    (
        "a: paths that lead out: absolute, `..`, drives, UNC, NUL, streams, devices, back-slashes",
        &[
            (VECTORS, &["no_path_leads_out_of_the_folder"]),
            ("crates/nx/src/paths.rs", &["unsafe_paths_are_rejected", "name_above_255_bytes_is_rejected"]),
            (CLI_EXTRACT, &["paths_outside_the_folder_are_not_extracted"]),
            (EXTRACT, &["selected_files_are_extracted_under_other_names"]),
            (PACK, &["duplicate_or_unsafe_path_is_an_error"]),
            (EDIT, &["names_that_some_systems_reject_are_kept_and_unsafe_ones_are_errors"]),
        ],
    ),
    (
        "a: links in the folder that is extracted to",
        &[
            (EXTRACT, &["links_below_the_folder_are_not_followed"]),
            (HAZARDS, &["links_at_any_depth_are_not_followed"]),
            (CLI_EXTRACT, &["extraction_does_not_follow_links"]),
        ],
    ),
    (
        "a: names and paths without end",
        &[
            (HAZARDS, &["name_that_is_too_long_is_an_error_of_its_file_only", "enormous_path_is_an_error"]),
            ("crates/nx/src/pool.rs", &["path_longer_than_the_limit_is_an_error"]),
            ("crates/nx/src/tree.rs", &["deep_and_many_folders_stay_within_the_descriptor_limit"]),
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
            (HAZARDS, &["names_that_differ_in_normalization_never_overwrite_each_other"]),
            ("crates/nx/src/paths.rs", &["colliding_paths_are_grouped"]),
            (CLI_EXTRACT, &["equal_paths_are_extracted_once_and_reported"]),
        ],
    ),
    (
        "c: sums and products that wrap: chunk sizes of 23 to 31, blocks past the end, offsets past a block",
        &[
            EVERY_VECTOR,
            (
                "crates/nx/src/layout.rs",
                &[
                    "file_past_the_last_block_is_an_error_at_its_entry",
                    "stored_or_empty_block_smaller_than_its_files_is_an_error",
                    "truncated_archive_is_an_error",
                ],
            ),
            ("crates/nx/tests/tables.rs", &["tables_come_back"]),
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
            ("crates/nx/tests/golden.rs", &["limits_are_kept"]),
            ("crates/nx/src/layout.rs", &["million_files_over_the_same_blocks_take_linear_time"]),
            ("crates/nx/src/parallel.rs", &["memory_limit_bounds_the_number_of_threads"]),
            (HAZARDS, &["window_limit_decides_which_windows_are_decoded"]),
            (CLI_EXTRACT, &["exceeded_limits_exit_with_4"]),
            ("crates/nx/tests/memory.rs", &["large_file_is_streamed_in_bounded_memory"]),
        ],
    ),
    (
        "e: no room on the disk",
        &[
            (
                "crates/cli/tests/nx/disk_full.rs",
                &[
                    "extraction_larger_than_the_free_space_writes_nothing",
                    "extraction_that_fills_the_disk_leaves_only_complete_files",
                    "pack_that_fills_the_disk_leaves_the_old_archive",
                    "repack_that_fills_the_disk_leaves_the_old_archive",
                ],
            ),
            (CLI_EXTRACT, &["full_standard_output_is_one_error"]),
            ("crates/nx/src/parallel.rs", &["full_disk_stops_the_work_and_discards_incomplete_files"]),
        ],
    ),
    (
        "f: two contents of one hash, when equal ones are looked for",
        &[(
            "crates/nx/src/pack/dedup.rs",
            &["pieces_with_equal_hashes_but_different_bytes_are_not_duplicates"],
        )],
    ),
    ("h: paths that are not UTF-8", &[EVERY_VECTOR, (R3A, &["bad_pool_is_an_error"])]),
    ("i: fewer or more paths than files", &[EVERY_VECTOR, (R3A, &["bad_pool_is_an_error"])]),
    (
        "j: frames without an end, bytes after one, blocks cut short",
        &[
            EVERY_VECTOR,
            (
                "crates/nx/src/decode.rs",
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
        "l: filtered blocks: in other versions, without regions, with regions that overlap or reach past their files",
        &[
            EVERY_VECTOR,
            (
                "crates/nx/src/regions.rs",
                &[
                    "bad_table_is_an_error_at_its_region",
                    "region_across_the_end_of_the_content_is_an_error_and_one_after_it_is_not",
                ],
            ),
            ("crates/nx/src/header.rs", &["all_versions_but_0_1_and_65_are_refused_at_their_offset"]),
            (
                "crates/nx/src/toc.rs",
                &["filtered_blocks_are_zstd_or_lz4_and_need_the_header_version_of_filters"],
            ),
            (
                FILTERED,
                &[
                    "damaged_filtered_archive_is_an_error_or_gives_its_files",
                    "content_beyond_the_limit_of_a_block_is_an_error",
                ],
            ),
            ("crates/nx/src/parallel.rs", &["memory_limit_counts_filtered_blocks_twice"]),
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
                    "damaged_files_of_goldens_are_named_and_others_extracted",
                    "flipped_bits_never_give_a_wrong_file",
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
        &[("crates/nx/src/header.rs", &["each_bad_field_is_an_error_at_its_offset"])],
    ),
    (
        "empty files in folders that are not there yet, on several threads",
        &[(HAZARDS, &["folders_of_empty_files_are_created"])],
    ),
    (
        "kills: no half file under a final name, no harm to sources or archives",
        &[
            ("crates/nx/tests/extract_killed.rs", &["killed_extraction_leaves_no_incomplete_file"]),
            ("crates/nx/tests/pack_killed.rs", &["killed_packing_leaves_source_and_target_unchanged"]),
            (
                "crates/cli/tests/nx/killed.rs",
                &[
                    "killed_pack_leaves_the_old_archive",
                    "killed_repack_leaves_the_old_or_the_new_archive",
                    "killed_extract_leaves_only_complete_files",
                ],
            ),
        ],
    ),
    (
        "blocks that only our own decoder understands",
        &[(PACK, &["zstd_program_decodes_blocks_by_offset", "independent_reader_finds_every_file"])],
    ),
    (
        "one cache for many threads: damaged blocks, blocks that all want at once, budgets smaller than a block",
        &[
            (
                "crates/nx/tests/shared.rs",
                &[
                    "many_threads_with_any_budget_read_what_was_packed_and_memory_stays_bounded",
                    "damaged_block_is_an_error_for_each_reader_and_what_lies_before_it_is_read",
                    "content_that_does_not_match_its_hash_is_an_error_before_its_last_block_is_handed_over",
                ],
            ),
            (
                "crates/nx/src/shared/cache.rs",
                &["failed_and_panicked_decoding_is_not_cached_and_ends_every_wait"],
            ),
        ],
    ),
    (
        "mounted archives: links that lead out, paths that are refused or taken, damage",
        &[
            ("crates/nx/src/mount/tree.rs", &["paths_are_folders_and_entries_are_found_by_name"]),
            ("crates/nx/src/mount/filesystem.rs", &["damage_is_an_error_of_its_block_only"]),
        ],
    ),
    (
        "texture headers that are cut short, or whose sizes and offsets overflow; bytes that no encoder made",
        &[(
            FILTERS,
            &[
                "truncated_headers_are_no_textures",
                "hostile_headers",
                "headers_of_random_fields_are_survived",
                "filters_are_bijections",
            ],
        )],
    ),
];
