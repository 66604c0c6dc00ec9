//! `linerate nx mount`: mounts an archive as a read-only folder, until a signal or `umount` ends
//! it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueHint;

use super::args::LimitArgs;
use crate::ui::error::CliError;
use crate::ui::exit_code;
use crate::ui::reporter::Reporter;
use crate::ui::size;
use crate::ui::summary::RunSummary;
use crate::ui::threads::ThreadArgs;
use crate::ui::verbosity::VerbosityArgs;

const NOTES: &str = "\
Mounting:
  Mounting works on Linux only, with FUSE: it needs /dev/fuse, and root or the program `fusermount3`. The
  program stays in the foreground until Ctrl-C, SIGTERM or `umount FOLDER` ends it. If other programs
  still have files open then, the archive disappears from the folder at once, and they lose access when
  this program ends.

  All files belong to the user who mounts. Times, modes and links come from the archive's metadata, if
  it has any; otherwise files have the time of the archive, or 1970 if that is on a server. Paths that
  `extract` refuses are not shown.

Examples:
  linerate nx mount mods.nx /mnt/mods
  linerate nx mount --cache 256M -p 4 https://example.org/mods.nx /mnt/mods";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{NOTES}\n\n{}", exit_code::HELP))]
pub(crate) struct MountArgs {
    /// Maximum bytes of decoded blocks in memory, besides what the system caches
    #[arg(long, value_name = "SIZE", value_parser = size::parse, default_value = "64M")]
    pub(crate) cache: u64,

    /// Do not check the hashes of contents
    #[arg(long)]
    pub(crate) no_verify: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArgs,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    #[command(flatten)]
    pub(crate) verbosity: VerbosityArgs,

    /// The archive
    #[arg(value_name = "ARCHIVE", value_hint = ValueHint::FilePath)]
    pub(crate) archive: PathBuf,

    /// The folder to mount the archive on, which must exist; its files are hidden meanwhile
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}

pub(super) fn run(args: &MountArgs) -> ExitCode {
    Reporter::new(&args.verbosity, false).one(&args.archive, |reporter| process(args, reporter))
}

#[cfg(all(feature = "mount", target_os = "linux"))]
fn process(args: &MountArgs, reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    use linerate_nx::mount::{Mount, MountOptions};
    use linerate_nx::shared::{SharedArchive, SharedCache, SharedOptions};
    use serde_json::json;

    use super::metadata::carried;
    use super::open::{damage, open};
    use crate::ui::printer::to_stdout;
    use crate::ui::signals::CancelToken;

    let cancel = CancelToken::on_signal();
    let mut summary = RunSummary::new(&args.archive, "mount");
    let archive = open(&args.archive, &args.limits)?;
    let mut options =
        MountOptions::new().threads(args.threads.count()).name(args.archive.display().to_string());
    if let Ok(modified) = std::fs::metadata(&args.archive).and_then(|found| found.modified()) {
        options = options.modified(modified);
    }
    if let Some(metadata) = carried(&archive, &args.archive, reporter) {
        options = options.metadata(metadata);
    }
    let files = archive.len();
    let shared = SharedOptions::new().cache(&SharedCache::new(args.cache)).verify(!args.no_verify);
    let shared = SharedArchive::with_options(archive, shared).map_err(damage)?;
    let mount = Mount::new(&shared, &args.folder, options).map_err(at(&args.folder))?;
    if mount.left_out() > 0 {
        let what = format!(
            "{} files and links are not shown: their paths leave the folder or clash",
            mount.left_out()
        );
        reporter.note(&args.archive.display().to_string(), &what);
    }
    if reporter.is_json() {
        to_stdout(json!({ "status": "mounted", "folder": args.folder.display().to_string() }));
    } else if !args.verbosity.quiet {
        to_stdout(format_args!("mounted on {}", args.folder.display()));
    }
    while mount.is_mounted() && !cancel.is_cancelled() {
        std::thread::sleep(POLL_INTERVAL);
    }
    mount.unmount().map_err(CliError::io_at("cannot unmount", &args.folder))?;
    let counters = shared.cache().counters();
    summary.text = Some(format!("{files} files, {} bytes decoded", counters.decoded_bytes));
    summary.set("files", files);
    summary.set("decoded_bytes", counters.decoded_bytes);
    summary.set("hits", counters.hits);
    summary.set("misses", counters.misses);
    Ok(summary)
}

/// Interval between checks whether the archive was unmounted or a signal has arrived.
#[cfg(all(feature = "mount", target_os = "linux"))]
const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(50);

/// Makes a function that converts the error of mounting on `folder`, and adds a remedy where one is
/// known.
#[cfg(all(feature = "mount", target_os = "linux"))]
fn at(folder: &Path) -> impl FnOnce(std::io::Error) -> CliError {
    use std::io::ErrorKind;

    move |error| {
        let shown = folder.display();
        let is_dead = error.raw_os_error() == Some(rustix::io::Errno::NOTCONN.raw_os_error());
        let what = match error.kind() {
            _ if is_dead => {
                let path = shown.to_string();
                let quoted = shlex::try_quote(&path).unwrap_or_default();
                format!("the program of an earlier mount was killed; `umount {quoted}` removes it")
            }
            ErrorKind::NotADirectory => "it is not a folder; name an existing folder".to_owned(),
            ErrorKind::NotFound if !folder.exists() => "there is no such folder; create it first".to_owned(),
            _ if !Path::new("/dev/fuse").exists() => {
                "there is no /dev/fuse; `modprobe fuse` makes it".to_owned()
            }
            _ => return CliError::io_at("cannot mount on", folder)(error),
        };
        CliError::Refused(format!("cannot mount on {shown}: {what}"))
    }
}

#[cfg(not(all(feature = "mount", target_os = "linux")))]
fn process(args: &MountArgs, _reporter: &mut Reporter) -> Result<RunSummary, CliError> {
    let why = match cfg!(target_os = "linux") {
        true => "this program cannot mount archives: it was built without the feature `mount`",
        false => "archives can be mounted on Linux only",
    };
    let _: &Path = &args.folder;
    Err(CliError::Refused(why.into()))
}

#[cfg(all(test, feature = "mount", target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn advised_command_quotes_the_folder() {
        let error = std::io::Error::from_raw_os_error(rustix::io::Errno::NOTCONN.raw_os_error());
        let message = at(Path::new("/my mods; ls"))(error).to_string();
        assert!(message.contains("`umount '/my mods; ls'` removes it"), "{message}");
    }
}
