//! `scripts/record.sh`, which describes the machine of a record.

use std::fs;
use std::process::Command;

use super::{run, text};

#[test]
fn processor_is_named_by_cpuinfo_or_else_by_its_architecture() {
    let folder = tempfile::tempdir().expect("a folder");
    let machine = text(&Command::new("uname").arg("-m").output().expect("uname").stdout);
    let x86 = "cpu family\t: 6\nmodel\t\t: 167\nmodel name\t: A CPU\n";
    let arm64 = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
    for (info, expected) in [(x86, "A CPU (family 6 model 167)\n"), (arm64, &machine), ("", &machine)] {
        let file = folder.path().join("cpuinfo");
        fs::write(&file, info).expect("room");
        let mut command = Command::new("bash");
        command.args(["-c", ". scripts/record.sh; processor \"$0\""]).arg(&file);
        assert_eq!(text(&run(&mut command).stdout), expected, "{info}");
    }
    let mut command = Command::new("bash");
    command.args(["-c", ". scripts/record.sh; processor /absent"]);
    assert_eq!(text(&run(&mut command).stdout), machine);
}
