//! Comma-separated values as RFC 4180 has them, for fields without line breaks.

/// Joins fields into one line, quoting where needed. Line breaks become spaces.
pub fn line<S: AsRef<str>>(fields: &[S]) -> String {
    let one = |f: &S| {
        let f = f.as_ref().replace(['\r', '\n'], " ");
        if f.contains([',', '"']) { format!("\"{}\"", f.replace('"', "\"\"")) } else { f }
    };
    fields.iter().map(one).collect::<Vec<_>>().join(",")
}

/// Splits one line into its fields.
///
/// # Errors
/// A sentence, if a quote is not closed or stands in the middle of a field.
pub fn fields(line: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut rest = line;
    loop {
        let (field, after) = first(rest).ok_or_else(|| format!("stray quote in `{line}`"))?;
        found.push(field);
        match after {
            None => return Ok(found),
            Some(after) => rest = after,
        }
    }
}

/// The first field, and what follows its comma if there is one.
fn first(line: &str) -> Option<(String, Option<&str>)> {
    let Some(quoted) = line.strip_prefix('"') else {
        let (field, after) = match line.split_once(',') {
            Some((field, after)) => (field, Some(after)),
            None => (line, None),
        };
        return (!field.contains('"')).then(|| (field.into(), after));
    };
    let mut field = String::new();
    let mut rest = quoted;
    loop {
        let (part, after) = rest.split_once('"')?;
        field.push_str(part);
        match after.as_bytes().first() {
            None => return Some((field, None)),
            Some(b',') => return Some((field, Some(&after[1..]))),
            Some(b'"') => field.push('"'),
            Some(_) => return None,
        }
        rest = &after[1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_round_trip() {
        for row in [
            vec!["a", "b"],
            vec![""],
            vec!["", "", ""],
            vec!["a,b", "\"", "c \"d\", e", ",", "\"\""],
            vec!["ends with a quote\"", "x"],
        ] {
            assert_eq!(fields(&line(&row)).unwrap(), row, "{}", line(&row));
        }
        assert_eq!(fields(&line(&["a\nb"])).unwrap(), ["a b"]);
    }

    #[test]
    fn stray_quotes_are_errors() {
        for bad in ["a\"b", "\"a", "\"a\"b,c", "x,\"", "\"\"\""] {
            assert!(fields(bad).is_err(), "{bad}");
        }
    }
}
