//! Tests the plugin in RocksDB 11: compiles `cpp/check.cpp`, and the example of the documentation,
//! against the headers and the library of `scripts/setup.sh rocksdb-11`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use linerate_testkit::c_program::Library;
use linerate_testkit::testdata::repository;
use linerate_testkit::tools::{has_program, require};

/// Files that the tests compile against and link with.
struct RocksDb {
    include: PathBuf,
    /// Folder of `librocksdb.so`.
    folder: PathBuf,
    /// Folder of the plugin.
    plugin: PathBuf,
}

/// Returns RocksDB and the plugin. Without them, reports the test as skipped and returns `None`.
fn rocksdb() -> Option<&'static RocksDb> {
    static BUILT: OnceLock<Option<RocksDb>> = OnceLock::new();
    let built = BUILT.get_or_init(build).as_ref();
    require(built.is_some(), "RocksDB 11 or a C++ compiler is not there (scripts/setup.sh cxx rocksdb-11)");
    built
}

fn build() -> Option<RocksDb> {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = temporary.with_file_name("rocksdb");
    let include = folder.join("include");
    let header = include.join("rocksdb/advanced_compression.h");
    if !has_program("c++") || !header.exists() || !folder.join("librocksdb.so").exists() {
        return None;
    }
    let library = Library::built("linerate_rocksdb_rust")?.static_library();
    let plugin = temporary.join("rocksdb-plugin");
    let linked = Command::new("bash")
        .arg(repository().join("scripts/rocksdb-plugin.sh"))
        .args([&plugin, &library])
        .env("ROCKSDB_INCLUDE", &include)
        .output()
        .expect("bash runs");
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
    Some(RocksDb { include, folder, plugin })
}

impl RocksDb {
    /// Compiles a program from a source file of this package.
    fn compile(&self, source: &str) -> PathBuf {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let source = package.join(source);
        let program = self.plugin.join(source.file_stem().expect("a name"));
        let compiled = Command::new("c++")
            .args(["-std=c++20", "-O1", "-fno-rtti", "-Wall", "-Wextra", "-Werror", "-isystem"])
            .arg(&self.include)
            .arg("-I")
            .arg(package.join("plugin/include"))
            .arg(&source)
            .args([self.plugin.join("liblinerate_rocksdb.so"), self.folder.join("librocksdb.so")])
            .arg(format!("-Wl,-rpath,{}:{}", self.plugin.display(), self.folder.display()))
            .args(["-lpthread", "-o"])
            .arg(&program)
            .output()
            .expect("the compiler runs");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        program
    }
}

/// Runs a program and returns what it prints.
fn run(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("the program runs");
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {printed}{errors}", output.status);
    printed.into_owned()
}

/// Returns the compiled `cpp/check.cpp`, or `None` without RocksDB.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    rocksdb().map(|rocksdb| PROGRAM.get_or_init(|| rocksdb.compile("tests/cpp/check.cpp")).as_path())
}

/// Runs a test of `cpp/check.cpp` in an empty folder. Without RocksDB, the test is reported as
/// skipped.
fn check(test: &str) {
    let Some(program) = program() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    run(program, &[test, folder.path().to_str().expect("a path")]);
}

#[test]
fn headers_that_are_missing_or_too_old_are_one_sentence() {
    if !require(has_program("c++"), "a C++ compiler is not there (scripts/setup.sh cxx)") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |version: &str| {
        std::fs::create_dir_all(folder.path().join("rocksdb")).expect("a folder");
        std::fs::write(folder.path().join("rocksdb/version.h"), version).expect("a file");
        let output = Command::new("bash")
            .arg(repository().join("scripts/rocksdb-plugin.sh"))
            .args([&folder.path().join("plugin"), Path::new("none.a")])
            .env("ROCKSDB_INCLUDE", folder.path())
            .output()
            .expect("bash runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && errors.lines().count() == 1, "{errors}");
        assert!(
            errors.contains("librocksdb-dev") && errors.contains("scripts/setup.sh rocksdb-11"),
            "{errors}"
        );
        assert!(!folder.path().join("plugin").exists());
        errors
    };
    assert!(refused("#error none\n").contains("RocksDB's headers are not there"));
    let old = refused("#define ROCKSDB_MAJOR 10\n#define ROCKSDB_MINOR 3\n");
    assert!(old.contains("RocksDB's headers are of version 10.3"), "{old}");
}

/// Reads the plugin's build files as RocksDB's Makefile and CMakeLists.txt do, from
/// `plugin/linerate`.
#[test]
#[cfg(unix)]
fn rocksdbs_own_build_finds_sources_headers_and_the_registering_function() {
    if !require(
        has_program("make") && has_program("cmake"),
        "make or cmake is not there (scripts/setup.sh cmake)",
    ) {
        return;
    }
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("plugin")).expect("a folder");
    std::os::unix::fs::symlink(&plugin, folder.path().join("plugin/linerate")).expect("a link");
    let lines = "include plugin/linerate/*.mk\nall:\n\t@echo $(linerate_SOURCES),$(linerate_HEADERS),$(linerate_FUNC)\n";
    std::fs::write(folder.path().join("Makefile"), lines).expect("a file");
    let lines = "cmake_minimum_required(VERSION 3.18)\nproject(stub NONE)\nadd_subdirectory(plugin/linerate)\n\
                 file(READ plugin/linerate/linerate.mk mk)\nstring(REGEX MATCH \"_FUNC = ([^\\n]*)\" all ${mk})\n\
                 message(STATUS \"= ${linerate_SOURCES},${linerate_HEADERS},${CMAKE_MATCH_1}\")\n";
    std::fs::write(folder.path().join("CMakeLists.txt"), lines).expect("a file");
    let path = folder.path().to_str().expect("a path");
    let made = run(Path::new("make"), &["-s", "-C", path]);
    let configured = run(Path::new("cmake"), &["-S", path, "-B", &format!("{path}/build")]);
    for printed in [made, configured] {
        let line = printed.lines().find(|line| line.contains("linerate.cc")).unwrap_or_default();
        let mut parts = line.trim_start_matches("-- = ").split(',');
        let (source, header, function) = (parts.next(), parts.next(), parts.next());
        assert!(plugin.join(header.expect("a header")).exists(), "{printed}");
        let source = std::fs::read_to_string(plugin.join(source.expect("a source"))).expect("the source");
        let definition = format!("int {}(rocksdb::ObjectLibrary&", function.expect("a function"));
        assert!(source.contains(&definition), "{printed}");
    }
}

#[test]
fn each_decoder_reads_the_block_formats_it_should() {
    check("formats");
}

#[test]
fn damaged_files_are_refused_as_by_rocksdb_itself() {
    check("damage");
}

#[test]
fn damaged_blocks_and_dictionaries_are_refused_or_decode_as_by_rocksdb_itself() {
    check("dictionaries");
}

#[test]
fn option_strings_and_files_name_the_manager() {
    check("registered");
}

#[test]
fn files_compacted_without_the_plugin_and_with_it_keep_every_row() {
    check("rewritten");
}

#[test]
fn values_in_blob_files_are_read_with_the_plugin_and_without() {
    check("blobs");
}

/// RocksDB 7 of the distribution rewrites the files: `sst_dump` compresses them again in memory,
/// and `ldb` compacts them.
#[test]
fn files_are_recompressed_and_compacted_by_an_older_rocksdb() {
    let Some(program) = program() else { return };
    if !(has_program("ldb") && has_program("sst_dump")) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().to_str().expect("a path");
    run(program, &["make-old", database]);
    let sst_dump = |command: &str, wanted: &str| {
        let files =
            std::fs::read_dir(folder.path()).expect("a folder").map(|file| file.expect("a file").path());
        let tables: Vec<_> = files.filter(|file| file.extension().is_some_and(|e| e == "sst")).collect();
        assert!(!tables.is_empty());
        for table in tables {
            let file = format!("--file={}", table.display());
            let printed = run(Path::new("sst_dump"), &[&file, command, "--compression_types=kZSTD"]);
            assert!(printed.contains(wanted) && !printed.contains("Corruption"), "{printed}");
        }
    };
    sst_dump("--command=recompress", "Compression: kZSTD");
    // The OPTIONS file has options that RocksDB 7 does not have.
    run(Path::new("ldb"), &[&format!("--db={database}"), "--try_load_options=false", "compact"]);
    sst_dump("--command=verify", "The file is ok");
    run(program, &["read-old", database]);
}

#[test]
fn threads_read_while_files_are_compacted_and_deleted() {
    check("threads");
}

#[test]
fn threads_that_share_decompressors_have_no_data_race() {
    let Some(program) = program().filter(|_| has_program("valgrind")) else { return };
    let output = Command::new("valgrind")
        .args(["--tool=helgrind", "--quiet", "--error-exitcode=9"])
        .arg(program)
        .args(["shared", "."])
        .env("LINERATE_CPU", "avx2") // valgrind has no AVX-512
        .output()
        .expect("valgrind runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_example_compares_random_rows() {
    let Some(rocksdb) = rocksdb() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_str().expect("a path");
    let Some(program) = program() else { return };
    run(program, &["make", folder]);
    let printed = run(&rocksdb.compile("examples/random_rows.cpp"), &[folder, "1000000"]);
    assert!(printed.starts_with("1000000 rows alike, "), "{printed}");
    assert!(!printed.ends_with(" 0 blocks by Linerate\n"), "{printed}");
}
