//! Help, manual pages and completion scripts.

use crate::pages::text;

#[test]
fn help_has_examples_and_exit_statuses() {
    let help = text("zstd --help");
    for part in [
        "Examples:",
        "linerate zstd -19 --long",
        "Exit status:",
        "--memory",
        "--long",
        "--ultra",
        "-19",
        "--max-output",
    ] {
        assert!(help.contains(part), "{part}");
    }
    assert!(text("--help").contains("zstd"));
    let page = text("man zstd");
    assert!(page.contains(".TH linerate-zstd 1") && page.contains(".SH EXAMPLES\n.nf\n"));
    assert!(text("completions bash").contains("zstd"));
}
