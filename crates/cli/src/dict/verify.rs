//! `linerate dict verify`: every block, dictionary and number of files, whatever their kind.

use std::path::Path;
use std::process::ExitCode;

use linerate_dict::Pack;

use super::blockfile::{input, open_blocks};
use super::kinds::{FileKind, FilesArgs, kind_of};
use super::sst_report;
use crate::account::Account;
use crate::done::Done;
use crate::exit;
use crate::failure::Failure;
use crate::figures::failure;

const EXAMPLES: &str = "\
Examples:
  linerate dict verify rows.blocks dictionaries.pack 000012.sst
  linerate dict verify --pack dictionaries.pack *.blocks     files whose dictionaries are there
  linerate dict verify -v --json rows.blocks";

#[derive(clap::Args, Debug)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    given: FilesArgs,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode, String> {
    let account = Account::new(&args.given.say, false);
    Ok(account.each(&args.given.files, |path, account| match kind_of(path)? {
        FileKind::Blocks => blocks(args, path),
        FileKind::Pack => pack(path),
        FileKind::Sst => sst_report::verify(&args.given.limits, path, account),
    }))
}

fn blocks(args: &VerifyArgs, path: &Path) -> Result<Done, Failure> {
    let mut done = Done::new(path, "verify");
    let file = open_blocks(path, &args.given.pack)?;
    let verified = file.verify(&mut file.reader()).map_err(failure)?;
    let counts = verified.counts;
    done.bytes = counts.content_bytes;
    let hashes = if verified.checksums { "" } else { ", without hashes of contents" };
    done.words = Some(format!("OK, {} records in {} blocks{hashes}", counts.records, counts.blocks));
    done.set("kind", "blocks");
    done.set("records", counts.records);
    done.set("blocks", counts.blocks);
    done.set("checksums", verified.checksums);
    Ok(done)
}

/// Checks a pack, all dictionaries with it.
pub(super) fn pack(path: &Path) -> Result<Done, Failure> {
    let mut done = Done::new(path, "verify");
    let stats = Pack::open_input(input(path)?).and_then(|pack| pack.verify()).map_err(failure)?;
    done.bytes = stats.bytes;
    done.words = Some(format!("OK, {} dictionaries", stats.dictionaries));
    done.set("kind", "pack");
    done.set("dictionaries", stats.dictionaries);
    done.set("bytes", stats.bytes);
    done.set("ignored", stats.ignored);
    Ok(done)
}
