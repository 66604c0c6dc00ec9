//! `scripts/publish-packages.sh OUT jars`, with programs in place of gpg and curl.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::{root, text};

const MODULE: &str = "maven/dev/linerate/linerate-x";

/// A repository of files with one module and its parent, as `make dist` leaves it.
struct Packages(TempDir);

impl Packages {
    fn new(version: &str) -> Self {
        let packages = Packages(tempfile::tempdir().expect("a folder"));
        let jars =
            ["", "-sources", "-javadoc"].map(|kind| format!("{MODULE}/{version}/linerate-x-1{kind}.jar"));
        jars.iter().for_each(|jar| packages.write(jar, jar));
        packages.write(&format!("{MODULE}/{version}/linerate-x-1.pom"), "<project/>");
        packages.write(
            &format!("maven/dev/linerate/linerate-parent/{version}/linerate-parent-1.pom"),
            "<project><packaging>pom</packaging></project>",
        );
        packages.write(&format!("{MODULE}/maven-metadata.xml"), "<metadata/>");
        packages
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and its checksums.
    fn write(&self, name: &str, content: &str) {
        fs::create_dir_all(self.path(name).parent().expect("a folder")).expect("room");
        fs::write(self.path(name), content).expect("room");
        let sums =
            "for kind in md5 sha1; do set -- $(${kind}sum <\"$0\"); printf %s \"$1\" >\"$0.$kind\"; done";
        assert!(
            Command::new("bash").args(["-c", sums]).arg(self.path(name)).status().expect("bash").success()
        );
    }

    /// Runs the script. gpg writes `signed`, and curl copies the bundle to `bundle.tar.gz`.
    fn publish(&self, really: &[&str]) -> Output {
        let programs = r#"
            gpg() { while [ $# -gt 1 ]; do shift; done; echo signed >"$1.asc"; }
            curl() { cat >"$HOME/header"; cp "$(printf '%s\n' "$@" | sed -n 's/^bundle=@//p')" "$HOME/bundle.tar.gz"; }
            export -f gpg curl
            exec scripts/publish-packages.sh "$@" "$HOME" jars <<<y"#;
        let mut command = Command::new("bash");
        command.args(["-c", programs, "publish"]).args(really).current_dir(root());
        command.env("HOME", self.0.path()).env("MAVEN_USERNAME", "u").env("MAVEN_PASSWORD", "p");
        command.env_remove("MAVEN_GPG_PASSPHRASE").output().expect("bash")
    }
}

/// The files of a bundle, unpacked into a folder.
fn unpacked(bundle: &Path, folder: &Path) -> Vec<String> {
    fs::create_dir(folder).expect("room");
    let tar = Command::new("tar").arg("-C").arg(folder).arg("-xvzf").arg(bundle).output().expect("tar");
    let mut names: Vec<String> = text(&tar.stdout).lines().map(str::to_owned).collect();
    names.retain(|name| !name.ends_with('/'));
    names.sort();
    names
}

#[test]
fn jars_that_were_tested_are_signed_and_uploaded() {
    let packages = Packages::new("1");
    let output = packages.publish(&["--really"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let header = fs::read_to_string(packages.path("header")).expect("curl ran");
    assert_eq!(header, "Authorization: Bearer dTpw\n");
    let names = unpacked(&packages.path("bundle.tar.gz"), &packages.path("bundle"));
    // Each of five files has a signature and two checksums.
    assert_eq!(names.len(), 5 * 4, "{names:?}");
    assert!(names.iter().all(|name| !name.contains("metadata")), "{names:?}");
    let jar = "dev/linerate/linerate-x/1/linerate-x-1.jar";
    let uploaded = fs::read(packages.path("bundle").join(jar)).expect("the jar");
    assert_eq!(uploaded, fs::read(packages.path("maven").join(jar)).expect("the jar"));
    assert!(packages.path("bundle").join(format!("{jar}.asc")).exists());
    assert!(!packages.path("maven").join(format!("{jar}.asc")).exists(), "the packages are as before");
}

#[test]
fn without_really_nothing_is_uploaded() {
    let packages = Packages::new("1-SNAPSHOT");
    let output = packages.publish(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!packages.path("header").exists());
}

#[test]
fn snapshots_damaged_jars_and_missing_ones_are_refused() {
    let refused = |packages: &Packages, really: &[&str], why: &str| {
        let output = packages.publish(really);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
        assert!(!packages.path("header").exists());
    };
    refused(&Packages::new("1-SNAPSHOT"), &["--really"], "has a SNAPSHOT");
    let damaged = Packages::new("1");
    fs::write(damaged.path(MODULE).join("1/linerate-x-1.jar"), "damaged").expect("room");
    refused(&damaged, &[], "linerate-x-1.jar differs from its .md5");
    let incomplete = Packages::new("1");
    fs::remove_file(incomplete.path(MODULE).join("1/linerate-x-1-javadoc.jar")).expect("it exists");
    refused(&incomplete, &[], "lacks linerate-x-1-javadoc.jar");
}
