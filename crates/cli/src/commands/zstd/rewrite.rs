//! Handles options of `zstd` that clap cannot express: levels such as `-19`, options in environment
//! variables, and unsupported options.

use std::ffi::OsString;

use super::args;

/// Short options that take a value, which may follow in the same argument.
const WITH_VALUE: [char; 4] = ['o', 'D', 'M', 'T'];

/// Options of `zstd` that are not supported, or the text that several of them begin with, and what
/// to do instead.
const UNSUPPORTED: [(&str, &str); 20] = [
    ("--adapt", "choose a level, such as -3"),
    ("--compress-literals", "leave it out: the level decides"),
    ("--dictID", "`linerate dict train` trains dictionaries"),
    ("--exclude-compressed", "leave it out: -r skips .zst files"),
    ("--filelist", "`xargs -a LIST linerate zstd` reads names from a file"),
    ("--format", "`linerate gzip` reads and writes gzip"),
    ("--maxdict", "`linerate dict train` trains dictionaries"),
    ("--no-compress-literals", "leave it out: the level decides"),
    ("--no-row-match-finder", "leave it out: the level decides"),
    ("--output-dir", "outputs are written beside their sources; -o FILE names the output of one file"),
    ("--patch-from", "-D OLD --long uses any file as a dictionary"),
    ("--priority", "`nice` sets the priority of a program"),
    ("--row-match-finder", "leave it out: the level decides"),
    ("--target-compressed-block-size", "leave it out: the level decides"),
    ("--trace", "--json prints sizes and times"),
    ("--train", "`linerate dict train` trains dictionaries"),
    ("--zstd", "a level and --long choose all parameters"),
    ("-B", "leave it out: the level and --long decide"),
    ("-H", "--help prints all options"),
    ("-b", "`linerate-bench frames` measures speeds"),
];

/// Rewrites a command line of `linerate zstd`: a level such as `-19` becomes `--level=19`, since
/// clap would take each digit for an option, and the options that environment variables stand for
/// are inserted. What follows `--`, and the command line of another subcommand, are unchanged.
///
/// # Errors
/// A sentence about an option that is not supported.
pub(crate) fn rewrite(mut arguments: impl Iterator<Item = OsString>) -> Result<Vec<OsString>, String> {
    let mut rewritten: Vec<OsString> = arguments.by_ref().take(2).collect();
    if rewritten.get(1).is_some_and(|subcommand| subcommand == "zstd") {
        // Options from the environment come first, so that those of the command line override them.
        rewritten.extend(args::environment().0.into_iter().map(OsString::from));
        for argument in arguments.by_ref() {
            match argument.to_str() {
                Some("--") => {
                    rewritten.push(argument);
                    break;
                }
                Some(text) if text.starts_with("--") => {
                    check_supported(text)?;
                    rewritten.push(argument);
                }
                Some(text) if text.starts_with('-') => options(text, &mut rewritten)?,
                _ => rewritten.push(argument),
            }
        }
    }
    rewritten.extend(arguments);
    Ok(rewritten)
}

/// Splits an argument of one or more short options into one argument each, and appends these to
/// `rewritten`: `-19k` becomes `--level=19` and `-k`.
fn options(argument: &str, rewritten: &mut Vec<OsString>) -> Result<(), String> {
    let mut rest = &argument[1..];
    // A dash alone is standard input.
    if rest.is_empty() {
        rewritten.push(argument.into());
    }
    while let Some(option) = rest.chars().next() {
        let len = match option {
            '0'..='9' => rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()),
            _ if WITH_VALUE.contains(&option) => rest.len(),
            _ => option.len_utf8(),
        };
        let (first, after) = rest.split_at(len);
        if option.is_ascii_digit() {
            rewritten.push(format!("--level={first}").into());
        } else {
            check_supported(&format!("-{option}"))?;
            rewritten.push(format!("-{first}").into());
        }
        rest = after;
    }
    Ok(())
}

/// Returns the error of an option that is not supported.
fn check_supported(option: &str) -> Result<(), String> {
    match UNSUPPORTED.iter().find(|(name, _)| option.starts_with(name)) {
        Some((_, instead)) => {
            let name = option.split('=').next().unwrap_or(option);
            Err(format!("{name} is not supported: {instead}"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(line: &str) -> Result<String, String> {
        let rewritten = rewrite(line.split(' ').map(OsString::from))?;
        Ok(rewritten.join(" ".as_ref()).into_string().expect("UTF-8"))
    }

    #[test]
    fn levels_become_options_with_a_value() {
        for (line, wanted) in [
            ("linerate zstd -19 a", "linerate zstd --level=19 a"),
            ("linerate zstd -k19f -T2 a", "linerate zstd -k --level=19 -f -T2 a"),
            (
                "linerate zstd -1 -9 -T16 -M9 -Dd1 -oa2",
                "linerate zstd --level=1 --level=9 -T16 -M9 -Dd1 -oa2",
            ),
            ("linerate zstd -vo 7 --ultra -22 -", "linerate zstd -v -o 7 --ultra --level=22 -"),
            ("linerate zstd -dc -- -19", "linerate zstd -d -c -- -19"),
            ("linerate gzip -12 a", "linerate gzip -12 a"),
            ("linerate", "linerate"),
        ] {
            assert_eq!(rewritten(line).as_deref(), Ok(wanted));
        }
    }

    #[test]
    fn options_that_are_not_supported_are_errors_that_name_another_way() {
        for option in
            ["--adapt=min=1", "--train-cover=k=5", "--output-dir-flat", "-b3", "-kB2", "--zstd=wlog=23"]
        {
            let error = rewritten(&format!("linerate zstd {option} a")).expect_err(option);
            let name = if option == "-kB2" { "-B" } else { option.split('=').next().unwrap_or_default() };
            let name = if option == "-b3" { "-b" } else { name };
            assert!(error.starts_with(&format!("{name} is not supported: ")), "{error}");
        }
        // After `--` such a word is the name of a file. Other subcommands leave it to clap.
        assert!(rewritten("linerate zstd -- --adapt").is_ok());
        assert!(rewritten("linerate gzip --adapt").is_ok());
    }

    #[test]
    fn no_option_of_this_command_is_listed_as_unsupported_and_those_with_values_are_known() {
        let root = crate::command();
        let command = root.find_subcommand("zstd").expect("the subcommand");
        for argument in command.get_arguments() {
            if let Some(short) = argument.get_short() {
                assert_eq!(check_supported(&format!("-{short}")), Ok(()));
                assert_eq!(argument.get_action().takes_values(), WITH_VALUE.contains(&short), "-{short}");
            }
            for long in argument.get_long_and_visible_aliases().unwrap_or_default() {
                assert_eq!(check_supported(&format!("--{long}")), Ok(()));
            }
        }
    }
}
