//! Describes a measurement: its date, its processor and its command line.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Today's date in UTC, as `2026-01-31`.
pub fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Returns year, month and day of the date, in the Gregorian calendar, that is `days` days after
/// 1970-01-01.
pub fn civil(mut days: u64) -> (u64, u64, u64) {
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

/// Returns the processor's name in `/proc/cpuinfo`, with family and model if it has them, because
/// virtual machines give processors of several generations the same name. Returns the architecture,
/// such as `x86_64`, if there is no name, as on systems other than Linux.
pub fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    match (field(&info, "model name"), field(&info, "cpu family"), field(&info, "model")) {
        (Some(name), Some(family), Some(model)) => format!("{name} (family {family} model {model})"),
        (Some(name), ..) => name.into(),
        _ => std::env::consts::ARCH.into(),
    }
}

fn field<'a>(info: &'a str, key: &str) -> Option<&'a str> {
    let pairs = info.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(k, v)| (k.trim(), v.trim())).find(|(k, _)| *k == key).map(|(_, v)| v)
}

/// Options, each with a value, that do not influence what is measured. [`command`] leaves them and
/// their values out.
const OMITTED: [&str; 3] = ["--csv", "--record", "--against"];

/// Returns the command line of this process without the folders of this machine: of the program,
/// and of a path that begins with `/`, only the last part is kept. `--record`, `--csv` and
/// `--against` are left out with their files. The environment variable `LINERATE_CPU` comes first
/// if it is set.
pub fn command() -> String {
    let mask = std::env::var("LINERATE_CPU").ok().map(|tier| format!("LINERATE_CPU={tier}"));
    let mut args = std::env::args();
    let program = args.next().unwrap_or_default();
    let program = Path::new(&program).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    mask.into_iter().chain(program).chain(portable(args)).collect::<Vec<_>>().join(" ")
}

fn portable(args: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut args = args.peekable();
    while let Some(arg) = args.next() {
        let option = arg.split_once('=').map_or(arg.as_str(), |(option, _)| option);
        if OMITTED.contains(&arg.as_str()) {
            args.next();
        } else if !OMITTED.contains(&option) {
            kept.push(quoted(&without_folders(&arg)));
        }
    }
    kept
}

/// Shortens `/a/b` to `b` and `--corpus=/a/b` to `--corpus=b`.
fn without_folders(arg: &str) -> String {
    let (option, value) = match arg.split_once('=') {
        Some((option, value)) if option.starts_with("--") => (format!("{option}="), value),
        _ => (String::new(), arg),
    };
    let value = match value.strip_prefix('/') {
        Some(path) => path.trim_end_matches('/').rsplit('/').next().unwrap_or(""),
        None => value,
    };
    option + value
}

fn quoted(arg: &str) -> String {
    if arg.contains(' ') { format!("'{arg}'") } else { arg.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(58), (1970, 2, 28));
        assert_eq!(civil(59), (1970, 3, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(11_017), (2000, 3, 1));
        assert_eq!(civil(20_453), (2025, 12, 31));
        assert_eq!(civil(20_454), (2026, 1, 1));
    }

    #[test]
    fn fields_are_found_by_their_whole_key() {
        let info = "cpu family\t: 6\nmodel\t\t: 167\nmodel name\t: A CPU\n";
        assert_eq!(field(info, "model"), Some("167"));
        assert_eq!(field(info, "model name"), Some("A CPU"));
        assert_eq!(field(info, "stepping"), None);
    }

    #[test]
    fn the_recorded_command_names_no_folder_of_the_machine() {
        let args = [
            "bytes",
            "--corpus",
            "/a/b/web/",
            "--csv",
            "x.csv",
            "--only=ISA-L 1",
            "--corpus=/a/b",
            "--against=r",
        ];
        let kept = portable(args.into_iter().map(String::from));
        assert_eq!(kept.join(" "), "bytes --corpus web '--only=ISA-L 1' --corpus=b");
    }
}
