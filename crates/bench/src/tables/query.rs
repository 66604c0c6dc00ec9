//! Parses queries: the lines between `<!-- table` and `-->`, and inline values. `records/README.md`
//! defines them.

/// Accepted values by key. Several values of a key are alternatives; a key without values accepts
/// any.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Filter(pub(super) Vec<(String, Vec<String>)>);

/// Rows of a table: one for each combination of values of the keys, which the query gives or which
/// are found in the record; or, if `single` is set, one row, which may have a label.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Rows {
    pub(super) label: Option<String>,
    pub(super) keys: Filter,
    pub(super) single: bool,
}

#[derive(Debug, PartialEq)]
pub(super) struct Column {
    pub(super) heading: String,
    pub(super) filter: Filter,
    pub(super) template: Vec<Part>,
}

/// A part of the template of a cell.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Text(String),
    /// Parts that are left out together if a value in them is missing.
    Optional(Vec<Part>),
    Value(Piece),
}

#[derive(Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) name: String,
    pub(super) statistic: Statistic,
    pub(super) unit: Option<String>,
    pub(super) decimals: Option<usize>,
    /// Whether to print the signed difference from 1, in percent.
    pub(super) change: bool,
    /// Whether 0 counts as a missing value.
    pub(super) nonzero: bool,
    pub(super) filter: Filter,
    /// What differs in the filter of the measurement that the value is divided by, if there is one.
    pub(super) base: Option<Filter>,
}

/// The number that a value takes from one or more figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistic {
    Median,
    Best,
    Low,
    High,
    Sum,
    Count,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Query {
    pub(super) files: Vec<String>,
    pub(super) filter: Filter,
    pub(super) rows: Vec<Rows>,
    pub(super) columns: Vec<Column>,
}

impl Query {
    /// Parses the lines of the query of a table. A line that begins with a blank continues the line
    /// before.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let joined = text.replace("\n ", " ");
        let mut query = Self::default();
        for line in joined.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "from" => query.files = words(rest)?,
                "where" => query.filter = Filter::parse(rest)?,
                "rows" => {
                    query.rows.push(Rows { label: None, keys: Filter::parse_keys(rest)?, single: false });
                }
                "row" => query.rows.push(Rows::parse(rest)?),
                "column" => query.columns.push(Column::parse(rest)?),
                _ => return Err(format!("unknown word `{word}`")),
            }
        }
        let Self { files, rows, columns, .. } = &query;
        let complete = !files.is_empty() && !rows.is_empty() && !columns.is_empty();
        if complete { Ok(query) } else { Err("a table has from, rows and columns".into()) }
    }

    /// Parses an inline value: a file, a filter, a colon and a template.
    pub(super) fn parse_value(text: &str) -> Result<(String, Filter, Vec<Part>), String> {
        let (head, template) = at_colon(text)?;
        let (file, filter) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
        Ok((file.to_owned(), Filter::parse(filter)?, parse_template(template.trim())?))
    }
}

impl Filter {
    fn parse(text: &str) -> Result<Self, String> {
        let filter = Self::parse_keys(text)?;
        match filter.0.iter().find(|(_, values)| values.is_empty()) {
            Some((key, _)) => Err(format!("`{key}` has no value")),
            None => Ok(filter),
        }
    }

    /// Parses words such as `key=value`, `key="a value"|another`, or a key alone, which has no
    /// values.
    fn parse_keys(text: &str) -> Result<Self, String> {
        let one = |word: String| {
            let Some((key, values)) = word.split_once('=') else { return Ok((word, Vec::new())) };
            let values = split(values, |c| c == '|')?.iter().map(|value| value.replace('"', "")).collect();
            Ok((key.to_owned(), values))
        };
        Ok(Self(words(text)?.into_iter().map(one).collect::<Result<_, String>>()?))
    }

    /// Merges both filters. For a key that both have, the values of `other` count.
    pub(super) fn with(&self, other: &Self) -> Self {
        let kept = self.0.iter().filter(|(key, _)| other.0.iter().all(|(name, _)| name != key));
        Self(kept.chain(&other.0).cloned().collect())
    }

    /// Keys that have several values, which are alternatives.
    pub(super) fn choices(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, values)| values.len() > 1).map(|(key, _)| &**key)
    }
}

impl Rows {
    fn parse(text: &str) -> Result<Self, String> {
        let (label, rest) = match text.strip_prefix('"') {
            Some(quoted) => {
                let (label, rest) = quoted.split_once('"').ok_or("a quote is not closed")?;
                (Some(label.to_owned()), rest)
            }
            None => (None, text),
        };
        Ok(Self { label, keys: Filter::parse(rest)?, single: true })
    }
}

impl Column {
    fn parse(text: &str) -> Result<Self, String> {
        let quoted = text.strip_prefix('"').ok_or("a column begins with its heading in quotes")?;
        let (heading, rest) = quoted.split_once('"').ok_or("a quote is not closed")?;
        let (filter, template) = at_colon(rest)?;
        let template = parse_template(template.trim())?;
        Ok(Self { heading: heading.to_owned(), filter: Filter::parse(filter)?, template })
    }
}

impl Piece {
    fn parse(text: &str) -> Result<Self, String> {
        let mut words = words(text)?.into_iter();
        let first = words.next().ok_or("nothing between { and }")?;
        let (name, statistic) = match first.split_once('.') {
            Some((name, statistic)) => (name.to_owned(), Statistic::parse(statistic)?),
            None => (first, Statistic::Median),
        };
        let (filter, base) = (Filter::default(), None);
        let mut piece =
            Self { name, statistic, unit: None, decimals: None, change: false, nonzero: false, filter, base };
        for word in words {
            let decimals = word.strip_prefix('.').and_then(|digits| digits.parse().ok());
            match word.as_str() {
                "change" => piece.change = true,
                "nonzero" => piece.nonzero = true,
                "by" => piece.base = Some(Filter::default()),
                _ if word.contains('=') => {
                    let filter = piece.base.as_mut().unwrap_or(&mut piece.filter);
                    filter.0.extend(Filter::parse(&word)?.0);
                }
                _ if decimals.is_some() => piece.decimals = decimals,
                _ => piece.unit = Some(word),
            }
        }
        Ok(piece)
    }
}

impl Statistic {
    fn parse(name: &str) -> Result<Self, String> {
        match name {
            "best" => Ok(Self::Best),
            "low" => Ok(Self::Low),
            "high" => Ok(Self::High),
            "sum" => Ok(Self::Sum),
            "count" => Ok(Self::Count),
            _ => Err(format!("no statistic is named `{name}`")),
        }
    }
}

/// Parses a template, which has text, `{values}` and `[optional parts]`.
fn parse_template(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[']) {
        let (before, after) = rest.split_at(at);
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        let (close, after) = (if after.starts_with('{') { '}' } else { ']' }, &after[1..]);
        let (inner, following) = after.split_once(close).ok_or_else(|| format!("no {close} in `{text}`"))?;
        parts.push(match close {
            '}' => Part::Value(Piece::parse(inner)?),
            _ => Part::Optional(parse_template(inner)?),
        });
        rest = following;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

/// Splits text at the first colon outside of quotes. Without a colon it is an error.
fn at_colon(text: &str) -> Result<(&str, &str), String> {
    let before = *split(text, |c| c == ':')?.first().unwrap_or(&"");
    let after = text.get(before.len() + 1..).ok_or_else(|| format!("no colon in `{text}`"))?;
    Ok((before, after))
}

/// Splits text into words at blanks and commas outside of quotes.
fn words(text: &str) -> Result<Vec<String>, String> {
    let words = split(text, |c| c == ' ' || c == ',')?;
    Ok(words.into_iter().filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

/// Splits text at separators outside of quotes, and keeps the quotes. A quote that is not closed is
/// an error.
fn split(text: &str, separates: impl Fn(char) -> bool) -> Result<Vec<&str>, String> {
    let mut quoted = false;
    let parts = text.split(|c| {
        quoted ^= c == '"';
        !quoted && separates(c)
    });
    let parts = parts.collect();
    if quoted { Err(format!("a quote is not closed in `{text}`")) } else { Ok(parts) }
}
