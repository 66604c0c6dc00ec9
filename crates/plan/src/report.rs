//! Writes a plan as a self-contained HTML page, without scripts and without requests.
//!
//! The page is well-formed XML, so that tests can parse it. Each chart in SVG has two sizes, for
//! wide and narrow screens. Colors follow the reader's light or dark scheme.

mod axis;
mod bars;
pub mod chart;
pub mod day;
mod labels;
mod markup;
mod pareto;
mod scaling;
mod table;

use std::fmt::Write as _;

use crate::pipe::Direction;
use crate::plan::{Bound, NEAR, Plan, Row, SAME_SIZE};
use crate::units;
use markup::escape;

const STYLE: &str = include_str!("report/style.css");

/// Facts about the data and the machine that a report displays. Empty texts are left out of its
/// list about the machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// Name of the data, such as a file or folder.
    pub data: String,
    /// Bytes of all of the data; 0 if unknown, which is not displayed.
    pub data_bytes: u64,
    /// Name of the processor.
    pub cpu: String,
    /// Number of cores of the machine.
    pub cores: usize,
    /// Operating system.
    pub os: String,
    /// Names and versions of the program and of libraries.
    pub versions: Vec<(String, String)>,
    /// Date of the measurements.
    pub date: String,
    /// The command that made the report.
    pub command: String,
}

/// Size of a chart.
struct Size {
    /// Width in pixels.
    width: f64,
    /// Height in pixels.
    height: f64,
    /// Whether the chart is the one for narrow screens.
    narrow: bool,
    /// Largest number of characters of a label.
    label_chars: usize,
}

const WIDE: Size = Size { width: 940.0, height: 460.0, narrow: false, label_chars: 34 };
const NARROW: Size = Size { width: 350.0, height: 380.0, narrow: true, label_chars: 16 };
/// Height of the charts of speed by threads, and of the charts over the hours of the day, relative
/// to that of the chart of ratio and speed.
const FLAT: f64 = 0.68;

impl Size {
    /// Returns the start tag of a chart's SVG element, with the title and the description.
    fn open(&self, name: &str, title: &str, description: &str) -> String {
        let (class, suffix) = if self.narrow { ("narrow", "-narrow") } else { ("wide", "") };
        format!(
            "<svg class=\"chart {class}\" role=\"img\" viewBox=\"0 0 {w} {h}\" aria-labelledby=\"{name}-title{suffix} \
             {name}-desc{suffix}\">\n<title id=\"{name}-title{suffix}\">{}</title>\n<desc \
             id=\"{name}-desc{suffix}\">{}</desc>\n",
            escape(title),
            escape(description),
            w = self.width,
            h = self.height
        )
    }
}

/// Returns the report as one HTML page.
pub fn html(plan: &Plan, context: &Context) -> String {
    let mut page = head(&format!("Plan for {}", context.data));
    page.push_str("<main>\n");
    page.push_str(&summary(plan, context));
    let views = views(plan);
    views.iter().for_each(|view| page.push_str(&pareto_section(view)));
    page.push_str(&pair(&cores_section(plan), &memory_section(plan)));
    views.iter().for_each(|view| page.push_str(&scaling_section(view)));
    page.push_str(&table_section(plan));
    page.push_str(&pair(&machine_section(context), &method_section(plan)));
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

/// The plan as the charts of one direction, reading or writing, show it.
struct View {
    /// The plan with the figures of that direction.
    plan: Plan,
    /// Text that is appended to headings.
    heading: String,
    /// Text that is appended to the IDs of elements.
    suffix: String,
}

fn views(plan: &Plan) -> Vec<View> {
    let has_both = plan.rows.iter().any(|row| row.flows.len() > 1);
    if !has_both {
        return vec![View { plan: plan.clone(), heading: String::new(), suffix: String::new() }];
    }
    let view = |direction: Direction| View {
        plan: plan.in_direction(direction),
        heading: format!(", {}", direction.name()),
        suffix: format!("-{}", direction.name()),
    };
    [Direction::Read, Direction::Write].map(view).into()
}

/// Puts two sections side by side on wide screens. Either may be empty.
fn pair(left: &str, right: &str) -> String {
    format!("<div class=\"pair\">\n{left}{right}</div>\n")
}

fn head(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escape(title)
    )
}

fn summary(plan: &Plan, context: &Context) -> String {
    let size =
        if context.data_bytes > 0 { format!(", {}", units::size(context.data_bytes)) } else { String::new() };
    let mut html = format!(
        "<header>\n<p class=\"eyebrow\">Compression plan for <b>{}</b>{size}</p>\n<h1>{}</h1>\n",
        escape(&context.data),
        escape(&plan.sentence())
    );
    html.push_str(&figures(plan));
    if let Some(command) = plan.command() {
        let _ = writeln!(html, "<h2>Command</h2>\n<pre><code>{}</code></pre>", escape(&command));
    }
    if let Some(command) = plan.decode_command() {
        let _ = writeln!(
            html,
            "<p>To decode, where the files are not:</p>\n<pre><code>{}</code></pre>",
            escape(&command)
        );
    }
    let notes = plan.notes();
    if !notes.is_empty() {
        let items: String = notes.iter().map(|note| format!("<li>{}</li>\n", escape(note))).collect();
        let _ = writeln!(html, "<ul class=\"notes\">\n{items}</ul>");
    }
    html.push_str("</header>\n");
    html
}

/// Returns the winner's most important numbers in HTML, for large type. Empty if there is no
/// winner.
fn figures(plan: &Plan) -> String {
    let Some(row) = plan.winner() else { return String::new() };
    let carried = match plan.pipe.direction {
        Direction::Read => ["delivered"; 2],
        Direction::Write => ["taken"; 2],
        Direction::Both if row.plain => ["carried"; 2],
        Direction::Both => ["delivered", "taken"],
    };
    let mut html = String::from("<dl class=\"figures\">\n");
    for (row, carried) in row.by_direction().iter().zip(carried) {
        let (number, unit) = split(&units::rate(row.delivered.median));
        figure(&mut html, &format!("Content {carried}"), &number, &unit, &bound_text(plan, row));
    }
    let saved = (1.0 - 1.0 / row.ratio) * 100.0;
    let ratio = units::ratio(row.ratio);
    figure(&mut html, "Ratio", ratio.trim_end_matches('x'), "x", &format!("{saved:.0} % of the bytes saved"));
    let available = format!("of {}", units::cores(plan.budget.cores));
    figure(&mut html, "Cores busy", &row.cores.to_string(), &available, &saturation_text(row));
    if !row.plain {
        let (number, unit) = split(&units::size(row.memory));
        let per_stream = units::size(row.measurement.memory.per_stream);
        figure(&mut html, "Memory", &number, &unit, &format!("{per_stream} for each stream"));
    }
    html.push_str("</dl>\n");
    html
}

fn figure(html: &mut String, name: &str, number: &str, unit: &str, remark: &str) {
    let _ = writeln!(
        html,
        "<div><dt>{name}</dt><dd><b>{number}</b> {unit}<small>{}</small></dd></div>",
        escape(remark)
    );
}

/// Splits `3.4 GB/s` into its number and its unit.
fn split(text: &str) -> (String, String) {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    (number.into(), unit.into())
}

fn bound_text(plan: &Plan, row: &Row) -> String {
    let plain = units::rate(plan.pipe.rate);
    match (row.plain, row.bound) {
        (true, _) => "the rate of the pipe".into(),
        (_, Bound::Pipe) => format!("pipe saturated; {plain} stored plainly"),
        (_, Bound::Cores | Bound::Memory) => format!("bound by cores; {plain} stored plainly"),
    }
}

fn saturation_text(row: &Row) -> String {
    match row.saturation {
        _ if row.plain => "nothing to compute".into(),
        Some(found) => {
            format!("{} saturate{} the pipe", found.text(), if found.cores == 1 { "s" } else { "" })
        }
        None => "no number saturates the pipe".into(),
    }
}

fn pareto_section(View { plan, heading, suffix }: &View) -> String {
    let name = format!("pareto{suffix}");
    let charts = pareto::svg(plan, &name, &WIDE) + &pareto::svg(plan, &name, &NARROW);
    if charts.is_empty() {
        return String::new();
    }
    format!(
        "<section>\n<h2>Ratio and speed{heading}</h2>\n<p>The dashed line is the speed that a decoder or \
         encoder needs: the rate of the pipe times the ratio. Above it the pipe is the limit, below it the \
         cores are.</p>\n<figure>\n{charts}\
         <figcaption class=\"legend\"><span class=\"key winner\">chosen</span> <span class=\"key tie\">tie</span> \
         <span class=\"key on-front\">Pareto front</span> <span class=\"key other\">other</span> \
         <span class=\"key excluded\">excluded</span> <span class=\"key dash\">required speed</span></figcaption>\n\
         </figure>\n</section>\n"
    )
}

fn cores_section(plan: &Plan) -> String {
    let has_bars = plan.rows.iter().any(|row| row.excluded.is_none() && row.speed.is_some());
    if !has_bars {
        return String::new();
    }
    format!(
        "<section>\n<h2>Cores that saturate the pipe</h2>\n<p>The mark is your budget: {}.</p>\n{}</section>\n",
        units::cores(plan.budget.cores),
        bars::cores(plan)
    )
}

fn scaling_section(View { plan, heading, suffix }: &View) -> String {
    let name = format!("scaling{suffix}");
    let flat = |size: Size| Size { height: size.height * FLAT, ..size };
    let charts = scaling::svg(plan, &name, &flat(WIDE)) + &scaling::svg(plan, &name, &flat(NARROW));
    if charts.is_empty() {
        return String::new();
    }
    format!(
        "<section>\n<h2>Threads{heading}</h2>\n<p>Measured speed of several threads together.</p>\n<figure>\n{charts}</figure>\n\
         </section>\n"
    )
}

fn memory_section(plan: &Plan) -> String {
    let bars = bars::memory(plan);
    if bars.is_empty() {
        return String::new();
    }
    let limit = plan.budget.memory_per_stream.map_or_else(String::new, |limit| {
        format!(" The mark is your limit for each stream: {}.", units::size(limit))
    });
    format!(
        "<section>\n<h2>Memory</h2>\n<p><span class=\"key stream\">one stream</span> \
         <span class=\"key thread\">busy threads</span>{limit}</p>\n{bars}</section>\n"
    )
}

fn table_section(plan: &Plan) -> String {
    format!(
        "<section>\n<h2>All candidates</h2>\n<p>Speeds are bytes of content per second on {}.</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All candidates\">\n{}</div>\n</section>\n",
        units::cores(plan.budget.cores),
        table::html(plan)
    )
}

fn machine_section(context: &Context) -> String {
    let mut rows = vec![
        ("Processor".to_owned(), context.cpu.clone()),
        ("Cores".to_owned(), context.cores.to_string()),
        ("System".to_owned(), context.os.clone()),
        ("Date".to_owned(), context.date.clone()),
    ];
    rows.extend(context.versions.iter().cloned());
    rows.push(("Made with".to_owned(), context.command.clone()));
    let rows = rows.iter().filter(|row| !row.1.is_empty());
    let rows: String = rows
        .map(|(name, value)| format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value)))
        .collect();
    format!("<section>\n<h2>Machine and versions</h2>\n<dl class=\"machine\">\n{rows}</dl>\n</section>\n")
}

fn method_section(plan: &Plan) -> String {
    let percent = |part: f64| part * 100.0;
    format!(
        "<section>\n<h2>How the plan is made</h2>\n<p>A candidate delivers the lower of two rates: {} times its \
         ratio, and its measured speed on {}. The candidate that is best by the goal is chosen. If both directions \
         are used, the slower one counts. Of the candidates within {:.0} % of the best, the smallest wins, where sizes within {:.0} % \
         count as equal, then the one with fewer busy cores, then the first.</p>\n<p>Speeds between measured numbers of \
         threads are interpolated. Speeds beyond them are estimates, and marked as such.</p>\n</section>\n",
        units::rate(plan.pipe.rate),
        units::cores(plan.budget.cores),
        percent(NEAR),
        percent(SAME_SIZE)
    )
}

fn is_winner(plan: &Plan, i: usize) -> bool {
    plan.winner == Some(i)
}

fn is_tie(plan: &Plan, i: usize) -> bool {
    plan.ties.contains(&i)
}

/// Returns the name of a row for charts: its settings, without the engine.
fn short_name(row: &Row) -> &str {
    &row.measurement.settings
}
