//! Selects the files of an archive or folder by globs over their paths.
//!
//! A glob without a slash matches a name at any depth. A glob with a slash matches the whole path;
//! its `*` does not cross slashes, but its `**` does. A glob that matches a folder also matches
//! everything below it.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// The paragraph about globs in the help.
pub(crate) const GLOBS: &str = "\
Globs:
  * and ? match inside a component of a path, ** across components, {a,b} either a or b, [x-z] one
  character. A glob without a slash matches names at any depth; a glob with a slash matches whole
  paths. A glob that matches a folder also matches everything below it.";

/// A glob as it was given, and how to find out what it matches.
#[derive(Debug)]
pub(crate) struct Glob {
    text: String,
    matcher: Matcher,
}

#[derive(Debug)]
enum Matcher {
    /// Matches this name at any depth, and everything below.
    Name(String),
    /// Matches this path from the top, and everything below.
    Path(String),
    /// Matches what this pattern matches. Made from a glob that has special characters or ignores
    /// case.
    Pattern(GlobSet),
}

impl Glob {
    /// Parses a glob.
    ///
    /// # Errors
    /// A sentence if `text` is not a glob.
    pub(crate) fn new(text: &str, ignore_case: bool) -> Result<Glob, String> {
        // Shells on Windows complete names with backslashes; no path in an archive has one.
        let slashes = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
        let bare = &*normalized(&slashes);
        let base = match bare.strip_prefix('/') {
            Some(rest) => rest.to_owned(),
            None if bare.contains('/') => bare.to_owned(),
            None => format!("**/{bare}"),
        };
        let mut set = GlobSetBuilder::new();
        for pattern in [format!("{base}/**"), base] {
            let glob = GlobBuilder::new(&pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .case_insensitive(ignore_case)
                .build();
            set.add(glob.map_err(|e| bad(text, e.kind()))?);
        }
        let set = set.build().map_err(|e| bad(text, e.kind()))?;
        // Globs without special characters are compared directly, since an archive may have a
        // million paths.
        let matcher = match bare.strip_prefix('/') {
            _ if ignore_case || bare.contains(SPECIAL) => Matcher::Pattern(set),
            Some(rest) => Matcher::Path(rest.to_owned()),
            None if bare.contains('/') => Matcher::Path(bare.to_owned()),
            None => Matcher::Name(bare.to_owned()),
        };
        Ok(Glob { text: text.to_owned(), matcher })
    }

    /// Whether the glob matches a path, or a folder above it.
    pub(crate) fn matches(&self, path: &str) -> bool {
        match &self.matcher {
            Matcher::Name(name) => path.split('/').any(|part| part == name),
            Matcher::Path(wanted) => path
                .strip_prefix(wanted.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
            Matcher::Pattern(set) => set.is_match(path),
        }
    }
}

/// Removes empty components, `.` and the last slash from a glob. A glob that began with `/` or `./`
/// begins with `/` then, since it matches whole paths.
fn normalized(glob: &str) -> String {
    let parts: Vec<&str> = glob.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let top = if glob.starts_with('/') || glob.starts_with("./") { "/" } else { "" };
    format!("{top}{}", parts.join("/"))
}

/// Characters with a special meaning in globs.
const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

fn bad(text: &str, why: &globset::ErrorKind) -> String {
    format!("`{text}` is not a glob: {why}")
}

/// The globs of files to include and to exclude. Without globs to include, everything is included.
#[derive(Debug, Default)]
pub(crate) struct Select {
    include: Vec<Glob>,
    exclude: Vec<Glob>,
}

impl Select {
    pub(crate) fn new(include: &[String], exclude: &[String], ignore_case: bool) -> Result<Select, String> {
        let globs = |texts: &[String]| -> Result<Vec<Glob>, String> {
            texts.iter().map(|text| Glob::new(text, ignore_case)).collect()
        };
        Ok(Select { include: globs(include)?, exclude: globs(exclude)? })
    }

    /// Whether a path is included and not excluded.
    pub(crate) fn takes(&self, path: &str) -> bool {
        let included = self.include.is_empty() || self.include.iter().any(|glob| glob.matches(path));
        included && !self.excludes(path)
    }

    /// Whether a path is excluded, by itself or with a folder above it.
    pub(crate) fn excludes(&self, path: &str) -> bool {
        self.exclude.iter().any(|glob| glob.matches(path))
    }

    /// Returns the first glob to include that matches none of the paths.
    pub(crate) fn unmatched<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Option<&str> {
        let mut unmatched: Vec<&Glob> = self.include.iter().collect();
        for path in paths {
            if unmatched.is_empty() {
                break;
            }
            unmatched.retain(|glob| !glob.matches(path));
        }
        unmatched.first().map(|glob| glob.text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(include: &[&str], exclude: &[&str], path: &str) -> bool {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Select::new(&texts(include), &texts(exclude), false).unwrap().takes(path)
    }

    #[test]
    fn globs_match_names_paths_and_folders() {
        for (glob, path, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "deep/er/a.txt", true),
            ("*.txt", "a.txt.gz", false),
            ("/a.txt", "a.txt", true),
            ("/a.txt", "b/a.txt", false),
            ("b/*.txt", "b/a.txt", true),
            ("b/*.txt", "b/c/a.txt", false),
            ("b/**/*.txt", "b/c/d/a.txt", true),
            ("b", "b/c/d", true),
            ("b/", "a/b/c", true),
            ("/b", "a/b/c", false),
            ("a/b", "a/b/c", true),
            ("{a,b}.dds", "x/b.dds", true),
            ("[a-c].dds", "d.dds", false),
            ("A", "a", false),
            ("a.txt", "b/a.txt", true),
            ("a.txt", "b/xa.txt", false),
            ("a/b", "x/a/b", false),
            ("a/b", "a/bc", false),
            ("./a/b", "a/b/c", true),
            ("./a/./b/", "a/b", true),
            (".//a/*.txt", "a/b.txt", true),
            ("a//b", "a/b", true),
            ("./a", "a", true),
            ("./a", "b/a", false),
            (".hidden", ".hidden", true),
            (".", "a", false),
            ("./", "a", false),
            ("/", "a", false),
            // On Windows a back-slash separates folders.
            ("a\\*", "a*", !cfg!(windows)),
            ("a\\*", "ab", false),
        ] {
            assert_eq!(takes(&[glob], &[], path), expected, "{glob} {path}");
        }
    }

    #[test]
    fn excluded_paths_are_not_taken_even_if_included() {
        assert!(takes(&[], &[], "a"));
        assert!(!takes(&[], &["*.bak"], "x/a.bak"));
        assert!(!takes(&["*"], &["x"], "x/a.bak"));
        assert!(takes(&["*.bak"], &["y"], "x/a.bak"));
    }

    #[test]
    fn unmatched_returns_the_first_glob_without_a_match() {
        let select = Select::new(&["*.a".into(), "*.b".into()], &[], false).unwrap();
        assert_eq!(select.unmatched(["x.a", "x.c"].into_iter()), Some("*.b"));
        assert_eq!(select.unmatched(["x.a", "x.b"].into_iter()), None);
    }

    #[test]
    fn invalid_glob_is_an_error_that_names_it() {
        let error = Select::new(&["a[".into()], &[], false).unwrap_err();
        assert!(error.starts_with("`a[` is not a glob: "), "{error}");
    }
}
