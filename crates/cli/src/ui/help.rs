//! Joins the lines of the text below the options of `--help`, so that clap alone wraps them.
//!
//! The source wraps that text by hand. As in doc comments, a paragraph ends at a blank line, and
//! its lines are joined; clap wraps them to the width of the terminal. A title stays on a line
//! above its indented paragraph. In lists (examples, exit statuses) each line is an item and stays
//! a line. The description of an item that is too wide for a narrow terminal moves to a line of its
//! own.

use clap::Command;

/// First lines of the paragraphs that are lists. Each line after the first one is an item.
const LISTS: [&str; 4] = ["Examples:", "Exit status:", "Presets:", "Shapes:"];
/// Width, in columns, of the narrowest terminal on which no item of a list is wrapped.
const NARROW: usize = 80;
/// Indentation of an item's description that has a line of its own.
const INDENT: &str = "        ";

/// Lays out the text after the options in the help of a command and of all its subcommands.
pub(crate) fn lay_out(command: Command) -> Command {
    let text = command.get_after_help().map(|text| joined(&text.to_string()));
    let command = match text {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(lay_out)
}

/// Whether a paragraph is a list, as its first line tells.
pub(crate) fn is_list(paragraph: &str) -> bool {
    paragraph.lines().next().is_some_and(|title| LISTS.contains(&title))
}

/// Joins the lines of each paragraph that is no list. In lists, moves the description of each item
/// that is too wide to a line of its own.
fn joined(text: &str) -> String {
    let paragraphs: Vec<String> = text.split("\n\n").map(paragraph).collect();
    paragraphs.join("\n\n")
}

fn paragraph(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    if is_list(text) {
        text.lines().for_each(|line| item(line, &mut lines));
        return lines.join("\n");
    }
    for line in text.lines() {
        match lines.last_mut() {
            Some(last) if indentation(last) == indentation(line) => {
                last.push(' ');
                last.push_str(line.trim_start());
            }
            // A title, before the indented text below it.
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

/// Adds an item of a list, `  command    description`, to `lines`: as one line if that is narrow
/// enough, else as two. An item without two spaces before a description always stays one line.
fn item(line: &str, lines: &mut Vec<String>) {
    let start = indentation(line);
    match line[start..].split_once("  ") {
        Some((command, description)) if line.chars().count() > NARROW => {
            lines.push(format!("{}{command}", &line[..start]));
            lines.push(format!("{INDENT}{}", description.trim_start()));
        }
        _ => lines.push(line.to_owned()),
    }
}

/// Number of bytes of white space at the beginning of a line.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `check` with the full name of every command and the command.
    fn each_command(command: &Command, name: &str, check: &mut dyn FnMut(&str, &Command)) {
        check(name, command);
        for sub in command.get_subcommands() {
            each_command(sub, &format!("{name} {}", sub.get_name()), check);
        }
    }

    fn help(command: &Command, width: usize) -> String {
        command.clone().term_width(width).max_term_width(0).render_long_help().to_string()
    }

    /// The first line of a paragraph that ends although the first word of the next line would fit,
    /// together with that line.
    fn line_ended_early(paragraph: &str, width: usize) -> Option<String> {
        let lines: Vec<&str> = paragraph.lines().collect();
        lines.windows(2).find_map(|pair| {
            let word = pair[1].split_whitespace().next()?;
            let joined = pair[0].chars().count() + 1 + word.chars().count();
            (indentation(pair[0]) == indentation(pair[1]) && joined <= width).then(|| pair.join("\n"))
        })
    }

    #[test]
    fn help_of_every_subcommand_is_wrapped_once_at_80_100_and_120_columns() {
        let mut root = crate::command();
        root.build();
        let mut checked = 0;
        each_command(&root, "linerate", &mut |name, command| {
            let Some(source) = command.get_after_help().map(ToString::to_string) else { return };
            for width in [80, 100, 120] {
                let help = help(command, width);
                let words: String = source.chars().take_while(|&c| c != '\n').take(40).collect();
                let start = help.find(&words).expect("the text is shown");
                for paragraph in help[start..].split("\n\n") {
                    let wide = paragraph.lines().find(|line| line.chars().count() > width);
                    assert_eq!(wide, None, "{name}: wider than {width} columns");
                    if !is_list(paragraph) {
                        assert_eq!(line_ended_early(paragraph, width), None, "{name} at {width} columns");
                        checked += 1;
                    }
                }
                let lists = source.split("\n\n").filter(|paragraph| is_list(paragraph));
                // A description below its item may have several lines.
                for line in lists.flat_map(str::lines).filter(|line| !line.starts_with(INDENT)) {
                    assert!(help.lines().any(|l| l == line), "{name}: wrapped at {width} columns: {line}");
                }
            }
        });
        assert!(checked > 200, "only {checked} paragraphs");
    }

    #[test]
    fn hand_made_line_ends_in_a_paragraph_are_joined_and_lists_stay() {
        let text = "Input:\n  one\n  two\n\nplain\ntext\n\nExamples:\n  a    b\n  c";
        assert_eq!(joined(text), "Input:\n  one two\n\nplain text\n\nExamples:\n  a    b\n  c");
    }

    #[test]
    fn an_item_of_81_columns_puts_its_description_below() {
        let line = |n: usize| format!("  command --option   {}", "x".repeat(n - 21));
        assert_eq!(paragraph(&format!("Examples:\n{}", line(80))), format!("Examples:\n{}", line(80)));
        let wide = paragraph(&format!("Examples:\n{}", line(81)));
        assert_eq!(wide, format!("Examples:\n  command --option\n{INDENT}{}", "x".repeat(60)));
    }
}
