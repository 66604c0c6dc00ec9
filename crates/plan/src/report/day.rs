//! Writes an HTML page about a day of message streams, which compares sets of connections hour by
//! hour.

use std::fmt::Write as _;

use super::axis::Axis;
use super::markup::escape;
use super::{Context, FLAT, NARROW, Size, WIDE, figure, machine_section, pair, split};
use crate::plan::{NEAR, SAME_SIZE};
use crate::units;

const LEFT: f64 = 68.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;
/// Hours of a day.
const HOURS: f64 = 24.0;
/// Number of colors of lines. If a chart has more lines, colors are used again.
const COLORS: usize = 3;

/// Figures of a group of messages: those of a set of connections, of an hour, or of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Group {
    /// Number of messages that were decoded.
    pub messages: u64,
    /// Number of messages that were not decoded.
    pub errors: u64,
    /// Bytes of compressed messages.
    pub compressed: u64,
    /// Bytes of decoded messages.
    pub payload: u64,
    /// Seconds to decode all messages, measured or estimated.
    pub seconds: f64,
    /// Decoding times, in seconds, that 50, 90, 99 and 99.9 % of the timed messages did not exceed.
    /// Not all messages are timed.
    pub quantiles: [f64; 4],
}

impl Group {
    /// Returns decoded bytes divided by compressed bytes; 0 if there are none.
    fn ratio(&self) -> f64 {
        if self.compressed == 0 { 0.0 } else { self.payload as f64 / self.compressed as f64 }
    }

    /// Returns decoded bytes per second of decoding; 0 if no time was measured.
    fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.payload as f64 / self.seconds } else { 0.0 }
    }
}

/// A set of connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set {
    /// Name of the set.
    pub name: String,
    /// All messages of the set.
    pub total: Group,
    /// Figures by hour of the day (UTC), from 0 to 23, in ascending order. Hours without messages
    /// are left out.
    pub hours: Vec<(u8, Group)>,
    /// Figures by event (the kind of message, such as `READY`). Empty if messages were not parsed.
    pub events: Vec<(String, Group)>,
    /// Number of log records that were lost.
    pub dropped: u64,
}

/// A chart over the hours of the day.
struct Chart {
    name: &'static str,
    title: &'static str,
    text: &'static str,
    value: fn(&Group) -> f64,
    unit: fn(f64) -> String,
    /// Whether the axis is logarithmic, because values of hours differ by large factors.
    logarithmic: bool,
}

const CHARTS: [Chart; 5] = [
    Chart {
        name: "median",
        title: "Time of a message: median",
        text: "Half of the messages of an hour were decoded within this time.",
        value: |group| group.quantiles[0],
        unit: units::time,
        logarithmic: false,
    },
    Chart {
        name: "tail",
        title: "Time of a message: 99 %",
        text: "99 % of the messages of an hour were decoded within this time.",
        value: |group| group.quantiles[2],
        unit: units::time,
        logarithmic: true,
    },
    Chart {
        name: "rate",
        title: "Throughput",
        text: "Bytes of payload for each second of decoding, on one core.",
        value: Group::rate,
        unit: units::rate,
        logarithmic: false,
    },
    Chart {
        name: "ratio",
        title: "Ratio",
        text: "Bytes of payload divided by compressed bytes.",
        value: Group::ratio,
        unit: units::ratio,
        logarithmic: false,
    },
    Chart {
        name: "messages",
        title: "Messages",
        text: "Messages of each hour.",
        value: |group| group.messages as f64,
        unit: count,
        logarithmic: false,
    },
];

/// Returns the page, which has no scripts and makes no requests. `Context::data` is its title.
pub fn html(sets: &[Set], context: &Context) -> String {
    let mut page = super::head(&context.data);
    page.push_str("<main>\n");
    page.push_str(&summary(sets, context));
    CHARTS.iter().for_each(|chart| page.push_str(&chart_section(chart, sets)));
    page.push_str(&table_section("Sets", "Set", &total_rows(sets)));
    page.push_str(&table_section("Hours (UTC)", "Hour", &hour_rows(sets)));
    page.push_str(&table_section("Events", "Event", &event_rows(sets)));
    page.push_str(&pair(&machine_section(context), METHOD));
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

const METHOD: &str = "<section>\n<h2>How to read this page</h2>\n<p>Times are for decoding, without parsing, of messages that were \
    decoded. Quantiles are read from a histogram with steps of 0.1 %. Throughput is payload bytes divided by decoding time; \
    the time between messages does not count. Hours are hours of arrival.</p>\n</section>\n";

fn summary(sets: &[Set], context: &Context) -> String {
    let messages: u64 = sets.iter().map(|set| set.total.messages).sum();
    let size = format!(
        "{} messages in {} set{}",
        count(messages as f64),
        sets.len(),
        if sets.len() == 1 { "" } else { "s" }
    );
    let mut html = format!(
        "<header>\n<p class=\"eyebrow\">Message streams: <b>{}</b>, {size}</p>\n<h1>{}</h1>\n\
         <dl class=\"figures\">\n",
        escape(&context.data),
        escape(verdict(sets).as_ref().unwrap_or(&size))
    );
    for set in sets.iter().take(2 * COLORS) {
        let (number, unit) = split(&units::time(set.total.quantiles[0]));
        let remark = format!(
            "median; 99 % within {}; ratio {}",
            units::time(set.total.quantiles[2]),
            units::ratio(set.total.ratio())
        );
        figure(&mut html, &escape(&set.name), &number, &unit, &remark);
    }
    html.push_str("</dl>\n");
    let dropped: u64 = sets.iter().map(|set| set.dropped).sum();
    let errors: u64 = sets.iter().map(|set| set.total.errors).sum();
    let _ = writeln!(
        html,
        "<ul class=\"notes\">\n<li>{} messages were not decoded; {} records were lost.</li>\n</ul>\n</header>",
        count(errors as f64),
        count(dropped as f64)
    );
    html
}

/// Says which sets decode fastest and which compress best. `None` if there are no two sets to
/// compare.
fn verdict(sets: &[Set]) -> Option<String> {
    let sets: Vec<&Set> = sets.iter().filter(|set| set.total.rate() > 0.0).collect();
    if sets.len() < 2 {
        return None;
    }
    let verbs = ["decodes fastest", "decode fastest", "decode equally fast"];
    let (speed, rate) = leaders(&sets, Group::rate, NEAR, verbs);
    let verbs = ["compresses best", "compress best", "compress equally well"];
    let (size, ratio) = leaders(&sets, Group::ratio, SAME_SIZE, verbs);
    Some(format!("{speed}, at {}; {size}, at {}", units::rate(rate), units::ratio(ratio)))
}

/// The sets whose value is highest or nearly so, worse by at most the part `near`, with the verb for
/// one, several or all sets; and the highest value.
fn leaders(sets: &[&Set], value: fn(&Group) -> f64, near: f64, verbs: [&str; 3]) -> (String, f64) {
    let highest = sets.iter().map(|set| value(&set.total)).fold(0.0, f64::max);
    let leading = sets.iter().filter(|set| value(&set.total) >= highest * (1.0 - near));
    let names: Vec<&str> = leading.map(|set| set.name.as_str()).collect();
    let text = match names.len() {
        1 => format!("{} {}", names[0], verbs[0]),
        n if n < sets.len() => format!("{} {}", names.join(" and "), verbs[1]),
        n => format!("{n} sets {}", verbs[2]),
    };
    (text, highest)
}

fn chart_section(chart: &Chart, sets: &[Set]) -> String {
    if sets.iter().all(|set| set.hours.len() < 2) {
        return String::new();
    }
    let flat = |size: Size| Size { height: size.height * FLAT, ..size };
    let charts = svg(chart, sets, &flat(WIDE)) + &svg(chart, sets, &flat(NARROW));
    let keys: String = sets
        .iter()
        .enumerate()
        .map(|(i, set)| format!("<span class=\"key set{}\">{}</span> ", i % COLORS, escape(&set.name)))
        .collect();
    format!(
        "<section>\n<h2>{}</h2>\n<p>{}</p>\n<figure>\n{charts}<figcaption class=\"legend\">{keys}</figcaption>\n</figure>\n\
         </section>\n",
        chart.title, chart.text
    )
}

fn svg(chart: &Chart, sets: &[Set], size: &Size) -> String {
    let values = || sets.iter().flat_map(|set| &set.hours).map(|(_, group)| (chart.value)(group));
    let high = values().fold(0.0, f64::max).max(f64::MIN_POSITIVE) * 1.08;
    // A value of zero does not lower the axis, since a logarithmic axis has no zero.
    let low = values().filter(|value| *value > 0.0).fold(high, f64::min) / 1.08;
    let low = if chart.logarithmic { low } else { 0.0 };
    let x = Axis { low: 0.0, high: HOURS, from: LEFT, to: size.width - RIGHT, logarithmic: false };
    let y = Axis { low, high, from: size.height - BOTTOM, to: TOP, logarithmic: chart.logarithmic };
    let mut svg = size.open(chart.name, chart.title, &format!("Across: hours of the day. {}", chart.text));
    for tick in y.ticks(5) {
        let at = y.at(tick);
        let _ = writeln!(svg, r#"<path class="grid" d="M{LEFT} {at:.1}H{:.1}"/>"#, x.to);
        let (left, below, text) = (LEFT - 8.0, at + 4.0, (chart.unit)(tick));
        let _ = writeln!(
            svg,
            r#"<text class="tick" x="{left}" y="{below:.1}" text-anchor="end">{}</text>"#,
            escape(&text)
        );
    }
    let step = if size.narrow { 6 } else { 3 };
    for hour in (0..=24).step_by(step) {
        let (at, below) = (x.at(f64::from(hour)), y.from + 18.0);
        let _ = writeln!(
            svg,
            r#"<text class="tick" x="{at:.1}" y="{below:.1}" text-anchor="middle">{hour}:00</text>"#
        );
    }
    for (i, set) in sets.iter().enumerate() {
        series(&mut svg, chart, set, i % COLORS, &x, &y);
    }
    svg.push_str("</svg>\n");
    svg
}

fn series(svg: &mut String, chart: &Chart, set: &Set, color: usize, x: &Axis, y: &Axis) {
    // A point is drawn in the middle of its hour.
    let points = || {
        set.hours
            .iter()
            .map(|(hour, group)| (x.at(f64::from(*hour) + 0.5), y.at((chart.value)(group)), hour, group))
    };
    let path: Vec<String> = points().map(|(x, y, ..)| format!("{x:.1} {y:.1}")).collect();
    if path.is_empty() {
        return;
    }
    let name = escape(&set.name);
    let _ = writeln!(svg, r#"<g class="series set{color}"><path d="M{}"/>"#, path.join("L"));
    for (x, y, hour, group) in points() {
        let value = escape(&(chart.unit)((chart.value)(group)));
        let _ = writeln!(
            svg,
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5"><title>{name}, {hour}:00: {value}</title></circle>"#
        );
    }
    svg.push_str("</g>\n");
}

fn total_rows(sets: &[Set]) -> Vec<(String, Group)> {
    sets.iter().map(|set| (set.name.clone(), set.total)).collect()
}

fn hour_rows(sets: &[Set]) -> Vec<(String, Group)> {
    let named = |hour: u8, set: &Set| format!("{hour:02}:00 {}", set.name);
    let of_hour = |hour: u8| {
        sets.iter().flat_map(move |set| {
            let groups = set.hours.iter().filter(move |(at, _)| *at == hour);
            groups.map(move |(_, group)| (named(hour, set), *group))
        })
    };
    (0..24).flat_map(of_hour).collect()
}

fn event_rows(sets: &[Set]) -> Vec<(String, Group)> {
    let of_set = |set: &Set| {
        let set = set.clone();
        set.events.into_iter().map(move |(event, group)| (format!("{event} {}", set.name), group))
    };
    sets.iter().flat_map(of_set).collect()
}

fn table_section(title: &str, first: &str, rows: &[(String, Group)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut html = format!(
        "<section>\n<h2>{title}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\n<table \
         class=\"all\">\n<thead><tr><th scope=\"col\">{first}</th>"
    );
    for name in
        ["Messages", "Not decoded", "Payload", "Ratio", "Throughput", "Median", "90 %", "99 %", "99.9 %"]
    {
        let _ = write!(html, "<th scope=\"col\">{name}</th>");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (name, group) in rows {
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", escape(name));
        let cells = [
            count(group.messages as f64),
            count(group.errors as f64),
            units::size(group.payload),
            units::ratio(group.ratio()),
            units::rate(group.rate()),
        ];
        for cell in cells.into_iter().chain(group.quantiles.map(units::time)) {
            let _ = write!(html, "<td>{}</td>", escape(&cell));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n</div>\n</section>\n");
    html
}

/// Formats a whole number with commas.
fn count(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_commas() {
        assert_eq!([0.0, 999.0, 1000.0, 1_234_567.4].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn headline_names_the_fastest_and_the_smallest_set() {
        let set = |name: &str, payload: u64, compressed: u64, seconds: f64| Set {
            name: name.into(),
            total: Group { messages: 1, payload, compressed, seconds, ..Group::default() },
            ..Set::default()
        };
        let headline = |sets: &[&Set]| verdict(&sets.iter().map(|set| (*set).clone()).collect::<Vec<_>>());
        let (a, b) = (set("A", 5_000_000, 1_000_000, 0.02), set("B", 5_000_000, 800_000, 0.01));
        let expected = "B decodes fastest, at 500 MB/s; B compresses best, at 6.2x";
        assert_eq!(headline(&[&a, &b]).as_deref(), Some(expected));
        let c = set("C", 5_000_000, 500_000, 0.0104);
        let expected = "B and C decode fastest, at 500 MB/s; C compresses best, at 10x";
        assert_eq!(headline(&[&a, &b, &c]).as_deref(), Some(expected));
        let expected = "2 sets decode equally fast, at 500 MB/s; C compresses best, at 10x";
        assert_eq!(headline(&[&b, &c]).as_deref(), Some(expected));
        assert_eq!([headline(&[&a]), headline(&[&a, &Set::default()])], [None, None]);
    }

    #[test]
    fn page_is_well_formed_and_escapes_names() {
        let group = Group {
            messages: 10,
            compressed: 5,
            payload: 50,
            seconds: 1e-5,
            quantiles: [1e-6; 4],
            errors: 1,
        };
        let set = Set {
            name: "A <b>".into(),
            total: group,
            hours: vec![(3, group), (4, Group::default())],
            events: vec![("READY & more".into(), group)],
            dropped: 7,
        };
        let page = html(&[set, Set::default()], &Context { data: "a day".into(), ..Context::default() });
        let mut reader = quick_xml::Reader::from_str(&page);
        while reader.read_event().expect("well-formed") != quick_xml::events::Event::Eof {}
        for part in ["A &lt;b&gt;", "READY &amp; more", "10 messages in 2 sets", "7 records were lost", "10x"]
        {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("<b>:") && !page.contains("NaN") && !page.contains("inf"));
    }
}
