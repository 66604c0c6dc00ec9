//! Compiles C and C++ programs with a header and a library of the workspace, by several standards
//! of both languages or with sanitizers, and makes commands that run them under valgrind. For tests
//! of a package with the crate types `lib`, `cdylib` and `staticlib`: Cargo builds the other two
//! together with the first.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{has_program, require};

/// Command lines of compilers. A header of the workspace must compile without a warning with each.
pub const STANDARDS: [&[&str]; 4] = [
    &["cc", "-std=c99", "-pedantic"],
    &["cc", "-std=c11", "-pedantic"],
    &["c++", "-x", "c++", "-std=c++17", "-pedantic"],
    &["c++", "-x", "c++", "-std=c++20", "-pedantic"],
];

/// The command line of a C compiler with AddressSanitizer, including its search for leaks, and
/// UndefinedBehaviorSanitizer. They check the C code, and the heap of C and Rust.
pub const SANITIZED: &[&str] =
    &["cc", "-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// The libraries of a package that Cargo built for its tests.
pub struct Library {
    folder: PathBuf,
    stem: String,
}

impl Library {
    /// Finds the library of which Cargo has built `libSTEM.so`. If there is none, reports the test
    /// as skipped and returns `None`.
    ///
    /// # Panics
    /// If there is none and the environment variable `STRICT` is 1.
    #[track_caller]
    pub fn built(stem: &str) -> Option<Library> {
        let program = env::current_exe().expect("the path of this test");
        let folder = program.parent().expect("the folder of tests");
        let shared = format!("lib{stem}.so");
        let found = [folder, folder.parent().expect("the folder of the profile")].into_iter();
        let folder = found.filter(|folder| folder.join(&shared).exists()).map(Path::to_owned).next();
        require(folder.is_some(), &format!("{shared} was not built"));
        folder.map(|folder| Library { folder, stem: stem.to_owned() })
    }

    /// The folder of the built libraries, from which `scripts/install-c.sh` can install them.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn static_library(&self) -> PathBuf {
        self.folder.join(format!("lib{}.a", self.stem))
    }

    pub fn shared(&self) -> PathBuf {
        self.folder.join(format!("lib{}.so", self.stem))
    }

    /// Copies the shared library to `folder`, under the name that programs linked with it load.
    pub fn copy_as(&self, soname: &str, folder: &Path) -> PathBuf {
        let copy = folder.join(soname);
        fs::copy(self.shared(), &copy).expect("the library is copied");
        copy
    }

    /// The functions that the shared library exports: `NAME`, or `NAME@@VERSION` if it has a
    /// version. If the program `nm` is missing, reports the test as skipped and returns `None`.
    ///
    /// # Panics
    /// If `nm` is missing and the environment variable `STRICT` is 1.
    #[track_caller]
    pub fn exports(&self) -> Option<BTreeSet<String>> {
        has_program("nm").then(|| {
            let output = Command::new("nm").args(["-D", "--defined-only"]).arg(self.shared()).output();
            let symbols = String::from_utf8(output.expect("nm runs").stdout).expect("names of symbols");
            let functions =
                symbols.lines().filter_map(|line| Some(line.split_once(" T ")?.1.trim().to_owned()));
            functions.collect()
        })
    }
}

/// Compiles `source` with a command line such as [`SANITIZED`] and the headers in the folder
/// `include`, links it with the file `library`, and writes it to `program`. The program searches
/// the folder of `library` for shared libraries when it starts.
///
/// # Panics
/// If there is an error or a warning.
#[track_caller]
pub fn compile(compiler: &[&str], include: &Path, source: &Path, library: &Path, program: &Path) {
    let compiled = Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-Wall", "-Wextra", "-Werror", "-I"])
        .arg(include)
        .arg(source)
        .args(["-x", "none"])
        .arg(library)
        .arg(format!("-Wl,-rpath,{}", library.parent().expect("a folder").display()))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(program)
        .output()
        .expect("the compiler runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// The command that runs `program` under valgrind. It exits with 9 after an error that valgrind
/// reports, such as an invalid memory access, or if memory is "definitely lost". Memory that is
/// "possibly lost" is no error, since the block of a thread's handle always is.
pub fn valgrind(program: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
    command.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]).arg(program);
    // valgrind does not support AVX-512.
    command.env("LINERATE_CPU", "avx2");
    command
}
