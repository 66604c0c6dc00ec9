//! Parses the Markdown pages of the repository for tests of the documentation: links, anchors,
//! tables, and code in blocks and in text.

use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::testdata::repository;

/// Words that may precede the name of a called program in a command, apart from `NAME=VALUE`.
const BEFORE: [&str; 5] = ["$", "exec", "nice", "time", "xargs"];
/// Languages of code blocks that may have commands. Indented blocks have the empty one.
const SHELLS: [&str; 4] = ["", "bash", "console", "sh"];
/// Folders with build outputs or inputs of tests, whose Markdown files are no pages.
const SKIPPED_FOLDERS: &[&str] = &["target", "node_modules", "corpus", "seeds", "artifacts", "venv"];

/// One Markdown file.
#[derive(Debug, Default)]
pub struct Page {
    /// Path from the repository's root, with `/`.
    pub path: String,
    /// Destinations of links and images, as written.
    pub links: Vec<String>,
    /// Anchors of the headings, as GitHub and mdBook make them.
    pub anchors: Vec<String>,
    pub code_blocks: Vec<CodeBlock>,
    /// Code in running text, without its backticks. Text between `<!-- table` and `<!-- end -->` is
    /// left out, since records there quote old commands.
    pub code_spans: Vec<String>,
    pub tables: Vec<Table>,
}

/// A fenced or indented block of code.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CodeBlock {
    /// The text after the opening fence (`rust,no_run`); empty for an indented block.
    pub language: String,
    pub text: String,
}

/// Rows of cells, the head first.
pub type Table = Vec<Vec<Cell>>;

/// A cell of a table.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    pub links: Vec<String>,
}

/// The arguments of each call of `program` in lines of shell. Calls by `cargo run` count if they
/// have `--`, and the arguments are the words after it.
pub fn calls(program: &str, script: &str) -> Vec<Vec<String>> {
    let script = script.replace("\\\n", " ");
    let mut calls = Vec::new();
    for line in script.lines() {
        let line = line.split(" #").next().unwrap_or_default().replace("||", "|").replace("&&", "|");
        for piece in line.split(['|', ';', '>', '<', '(', ')', '&']) {
            let words = piece.split_whitespace();
            let words: Vec<&str> =
                words.map(|word| word.trim_matches(['\'', '"', '`', '[', ']', ','])).collect();
            let is_it = |word: &&str| word.rsplit('/').next() == Some(program);
            let Some(at) = words.iter().position(is_it) else { continue };
            let begin = match words.contains(&"cargo") {
                true if words.contains(&"run") => words.iter().position(|word| *word == "--"),
                true => None,
                false if at == 0 || BEFORE.contains(&words[0]) || words[0].contains('=') => Some(at),
                false => None,
            };
            calls.extend(begin.map(|at| words[at + 1..].iter().map(|word| (*word).to_owned()).collect()));
        }
    }
    calls
}

impl Page {
    /// The arguments of each call of a program in blocks of commands and in code within text.
    pub fn calls(&self, program: &str) -> Vec<Vec<String>> {
        let blocks = self.code_blocks.iter().filter(|block| SHELLS.contains(&&*block.language));
        let scripts = blocks.map(|block| &block.text).chain(&self.code_spans);
        scripts.flat_map(|script| calls(program, script)).collect()
    }

    /// Reads a page, named by its path from the repository's root.
    ///
    /// # Panics
    /// If the file cannot be read.
    pub fn read(path: &str) -> Self {
        let text = fs::read_to_string(repository().join(path));
        Self::parse(path, &text.unwrap_or_else(|error| panic!("{path}: {error}")))
    }

    /// Parses `text`, the content of the page at `path`.
    pub fn parse(path: &str, text: &str) -> Self {
        let mut page = Self { path: path.to_owned(), ..Self::default() };
        let mut heading: Option<String> = None;
        let mut code: Option<CodeBlock> = None;
        let mut cell: Option<Cell> = None;
        let mut of_records = false;
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            if let Event::Code(text) = &event
                && !of_records
            {
                page.code_spans.push(text.to_string());
            }
            match event {
                Event::Html(text) if text.starts_with("<!-- table") => of_records = true,
                Event::Html(text) if text.starts_with("<!-- end -->") => of_records = false,
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => page.add_anchor(&heading.take().unwrap_or_default()),
                Event::Start(Tag::CodeBlock(kind)) => code = Some(CodeBlock::new(&kind)),
                Event::End(TagEnd::CodeBlock) => page.code_blocks.extend(code.take()),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.to_string());
                    if let Some(cell) = &mut cell {
                        cell.links.push(dest_url.to_string());
                    }
                }
                Event::Start(Tag::Table(_)) => page.tables.push(Table::new()),
                Event::Start(Tag::TableHead | Tag::TableRow) => page.last_table().push(Vec::new()),
                Event::Start(Tag::TableCell) => cell = Some(Cell::default()),
                Event::End(TagEnd::TableCell) => {
                    let row = page.last_table().last_mut().expect("a cell is in a row");
                    row.extend(cell.take());
                }
                Event::Text(text) | Event::Code(text) => {
                    let cell = cell.as_mut().map(|cell| &mut cell.text);
                    let code = code.as_mut().map(|code| &mut code.text);
                    for target in [cell, code, heading.as_mut()].into_iter().flatten() {
                        target.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        page
    }

    /// The path, from the repository's root, of the file that a relative link leads to, and the
    /// anchor in the link. `None` for a URL or mail address.
    pub fn resolve<'l>(&self, link: &'l str) -> Option<(PathBuf, Option<&'l str>)> {
        if link.contains("://") || link.starts_with("mailto:") {
            return None;
        }
        let (path, anchor) = match link.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (link, None),
        };
        let folder = Path::new(&self.path).parent().unwrap_or(Path::new(""));
        let target = if path.is_empty() { PathBuf::from(&self.path) } else { folder.join(path) };
        Some((normalized(&target), anchor))
    }

    fn last_table(&mut self) -> &mut Table {
        self.tables.last_mut().expect("rows are in a table")
    }

    /// Adds the anchor of a heading: lower case, hyphens for spaces, no punctuation, and a number
    /// if an earlier heading has the same anchor.
    fn add_anchor(&mut self, heading: &str) {
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String =
            kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
        let numbered = (1..).map(|n| format!("{anchor}-{n}"));
        let free = std::iter::once(anchor.clone()).chain(numbered).find(|name| !self.anchors.contains(name));
        self.anchors.extend(free);
    }
}

impl CodeBlock {
    fn new(kind: &CodeBlockKind<'_>) -> Self {
        let language = match kind {
            CodeBlockKind::Fenced(language) => language.to_string(),
            CodeBlockKind::Indented => String::new(),
        };
        Self { language, text: String::new() }
    }
}

/// Every Markdown file of the repository, sorted by path, apart from those in hidden folders and in
/// folders of build outputs and test inputs, such as `target`.
pub fn pages() -> Vec<Page> {
    fn visit(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if path.is_dir() {
                if !SKIPPED_FOLDERS.contains(&&*name) && !name.starts_with('.') {
                    visit(&path, found);
                }
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    let root = repository();
    let mut found = Vec::new();
    visit(&root, &mut found);
    found.sort();
    let names = found.iter().map(|path| path.strip_prefix(&root).expect("below the root").to_owned());
    names.map(|path| Page::read(&path.to_string_lossy().replace('\\', "/"))).collect()
}

/// A path without `.` and `a/..`.
fn normalized(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir if parts.file_name().is_some() => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A `b`, c!\n\n[x](../y.md#z) and ![i](i.svg)\n\n| h | k |\n|---|---|\n| `m` [n](o.md) | |\n\n\
        ```rust,no_run\nlet [a](b);\n```\n\n    make x\n\n## Same\n## Same\n";

    #[test]
    fn links_anchors_tables_and_code_are_found() {
        let page = Page::parse("docs/a/b.md", TEXT);
        assert_eq!(page.links, ["../y.md#z", "i.svg", "o.md"]);
        assert_eq!(page.anchors, ["a-b-c", "same", "same-1"]);
        let cells: Vec<&str> = page.tables[0].iter().flatten().map(|cell| cell.text.as_str()).collect();
        assert_eq!(cells, ["h", "k", "m n", ""]);
        let code: Vec<(&str, &str)> =
            page.code_blocks.iter().map(|code| (&*code.language, &*code.text)).collect();
        assert_eq!(code, [("rust,no_run", "let [a](b);\n"), ("", "make x\n")]);
    }

    #[test]
    fn code_in_text_is_found_but_not_that_of_tables_of_records() {
        let text = "`a`\n\n<!-- table\nfrom x.jsonl\nrow \"`b`\"\n-->\n\n| `c` |\n|---|\n| `d` |\n\n[x](y), `e f`\n\n\
            <!-- end -->\n\n`g`\n";
        assert_eq!(Page::parse("a.md", text).code_spans, ["a", "g"]);
    }

    #[test]
    fn relative_links_resolve_from_the_folder_of_the_page() {
        let page = Page::parse("docs/a/b.md", "");
        assert_eq!(page.resolve("../y.md#z"), Some((PathBuf::from("docs/y.md"), Some("z"))));
        assert_eq!(page.resolve("#q"), Some((PathBuf::from("docs/a/b.md"), Some("q"))));
        assert_eq!(page.resolve("https://example.org/x"), None);
    }
}
