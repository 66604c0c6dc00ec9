//! Comma-separated values (RFC 4180), for fields without line breaks.

/// Splits one line into its fields.
///
/// # Errors
/// A sentence, if a quote is not closed or is in the middle of a field.
pub(crate) fn fields(line: &str) -> Result<Vec<String>, String> {
    let (mut found, mut rest) = (Vec::new(), Some(line));
    while let Some(text) = rest {
        let (field, after) = first(text).ok_or_else(|| format!("stray quote in `{line}`"))?;
        found.push(field);
        rest = after;
    }
    Ok(found)
}

/// The first field of a line, and the text after its comma if there is one. `None` if a quote is
/// not closed or is in the middle of the field.
fn first(line: &str) -> Option<(String, Option<&str>)> {
    let Some(mut rest) = line.strip_prefix('"') else {
        let (field, after) = line.split_once(',').map_or((line, None), |(field, after)| (field, Some(after)));
        return (!field.contains('"')).then(|| (field.into(), after));
    };
    let mut field = String::new();
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
    fn quoted_fields_may_have_commas_and_quotes() {
        assert_eq!(fields("a,\"b,c\",\"d \"\"e\"\"\",").unwrap(), ["a", "b,c", "d \"e\"", ""]);
    }

    #[test]
    fn stray_quotes_are_errors() {
        for bad in ["a\"b", "\"a", "\"a\"b,c", "x,\"", "\"\"\""] {
            assert!(fields(bad).is_err(), "{bad}");
        }
    }
}
