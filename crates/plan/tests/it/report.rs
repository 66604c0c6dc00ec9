//! The report is well-formed, makes no requests and escapes all text.

use linerate_plan::report::{self, Context};
use linerate_plan::{Budget, Direction, Goal, Measurement, Pipe, Plan, Read, Scaling, Speed, plan};
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::common::{budget, candidate, pipe, speed};

const HOSTILE: &str = "<script src='http://x.example/a.js'>&amp;\"]]>\u{1b}\0\u{202e}";

/// Returns plans of every kind: limited by the pipe, by cores and by memory, stored plainly, tied,
/// with no usable candidate, without measurements, and with names that contain markup.
fn plans() -> Vec<Plan> {
    let many: Vec<Measurement> = (1..30)
        .map(|i| candidate(&format!("zstd {i}"), 1.5 + f64::from(i) * 0.01, 1e9 - f64::from(i) * 1e6))
        .collect();
    let mut hungry = candidate("zstd 19", 4.0, 2e9);
    hungry.memory.per_stream = 1 << 30;
    let mut scaled = candidate("zstd 3", 110.0, 1e9);
    scaled.decode_scaling.push(Scaling { threads: 64, speed: speed(4e10) });
    scaled.read = Some(Read { seconds: 1e-5, fetched: 2048.0 });
    let memory = Budget { memory_per_stream: Some(64 << 20), ..budget(2) };
    let strict = Budget { min_ratio: Some(50.0), ..budget(2) };
    let hostile = Pipe { name: HOSTILE.into(), ..pipe(5e8) };
    vec![
        plan(&many, &pipe(500e6), &budget(2)),
        plan(&many, &pipe(9e9), &budget(64)),
        plan(&[hungry, candidate("zstd 3", 2.0, 2e9)], &pipe(500e6), &memory),
        plan(&[scaled, candidate("zstd 1", 0.9, 3e9)], &pipe(500e6), &budget(8)),
        plan(&many, &pipe(500e6), &strict),
        plan(&[candidate(HOSTILE, 2.0, 1e9)], &hostile, &budget(2)),
        plan(&[], &pipe(500e6), &budget(2)),
    ]
}

fn context() -> Context {
    let text = || HOSTILE.to_owned();
    Context {
        data: text(),
        data_bytes: 12345,
        cpu: text(),
        cores: 2,
        os: text(),
        versions: vec![(text(), text())],
        date: text(),
        command: text(),
    }
}

/// Returns the elements of a page with their attributes, in order. Panics if the page is not
/// well-formed.
fn elements(page: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut reader = Reader::from_str(page);
    let mut found = Vec::new();
    let mut depth = 0;
    loop {
        match reader.read_event().expect("well-formed") {
            event @ (Event::Start(_) | Event::Empty(_)) => {
                let (Event::Start(element) | Event::Empty(element)) = &event else { unreachable!() };
                depth += usize::from(matches!(event, Event::Start(_)));
                let name = String::from_utf8_lossy(element.name().as_ref()).into_owned();
                let attributes = element.attributes().map(|attribute| {
                    let attribute = attribute.expect("a quoted attribute that stands once");
                    let value = String::from_utf8_lossy(&attribute.value).into_owned();
                    (String::from_utf8_lossy(attribute.key.as_ref()).into_owned(), value)
                });
                found.push((name, attributes.collect()));
            }
            Event::End(_) => depth -= 1,
            Event::Text(text) => drop(text.xml10_content().expect("text without stray entities")),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "every element is closed");
    found
}

#[test]
fn every_page_is_well_formed_and_makes_no_requests() {
    for plan in plans() {
        let page = report::html(&plan, &context());
        assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
        for (element, attributes) in elements(&page) {
            let refers =
                ["script", "link", "img", "image", "iframe", "object", "embed", "base", "use", "a", "form"];
            assert!(!refers.contains(&element.as_str()), "<{element}>");
            for (name, value) in attributes {
                assert!(
                    !["src", "href", "srcset", "xlink:href", "action"].contains(&name.as_str()),
                    "{name}={value}"
                );
                assert!(!name.starts_with("on") && !value.contains("url("), "{name}={value}");
            }
        }
        let style =
            page.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next()).expect("a style");
        assert!(!style.contains("url(") && !style.contains("@import"));
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn text_of_the_user_is_escaped() {
    for plan in plans() {
        let page = report::html(&plan, &context());
        assert!(!page.contains("<script") && !page.contains('\u{1b}') && !page.contains('\u{202e}'));
        assert!(page.contains("&lt;script src=&#39;http://x.example/a.js&#39;&gt;"));
    }
}

#[test]
fn charts_have_titles_and_ids_are_unique() {
    for plan in plans() {
        let elements = elements(&report::html(&plan, &context()));
        let ids: Vec<&String> =
            elements.iter().flat_map(|e| &e.1).filter(|a| a.0 == "id").map(|a| &a.1).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        for (_, attributes) in elements.iter().filter(|element| element.0 == "svg") {
            let labels = attributes.iter().find(|a| a.0 == "aria-labelledby").expect("a chart is labelled");
            assert!(labels.1.split(' ').all(|id| ids.iter().any(|found| *found == id)), "{labels:?}");
        }
    }
}

#[test]
fn page_has_the_sentence_the_command_and_every_candidate() {
    let mut plan =
        plan(&[candidate("zstd 3", 2.0, 9e8), candidate("zstd 9", 2.5, 4e8)], &pipe(500e6), &budget(2));
    plan.rows[1].decode_command = Some(["linerate", "nx", "extract", "a.nx"].map(String::from).into());
    let page = report::html(&plan, &Context::default());
    assert!(page.contains(&format!("<h1>{}</h1>", plan.sentence())));
    for command in ["linerate nx pack &#39;zstd 3&#39;", "linerate nx extract a.nx"] {
        assert!(page.contains(&format!("<pre><code>{command}</code></pre>")), "{:?}", plan.command());
    }
    assert_eq!(page.matches("<th scope=\"row\">nx: zstd").count(), 2);
    assert_eq!(page.matches("<svg ").count(), 4, "two charts in two sizes");
    assert!(page.contains("Cores that saturate the pipe") && page.contains("Machine and versions"));
}

#[test]
fn product_is_a_column_if_the_goal_compares_it() {
    let page = |goal| {
        let budget = Budget { goal, ..budget(2) };
        report::html(&plan(&[candidate("zstd 3", 2.0, 9e8)], &pipe(500e6), &budget), &Context::default())
    };
    // The pipe delivers 1 GB/s of content, at a ratio of 2.
    let product = "<th scope=\"row\">nx: zstd 3</th><td>2 GB/s</td>";
    assert!(page(Goal::Balance).contains(product) && page(Goal::Balance).contains("Delivers times ratio"));
    assert!(!page(Goal::Speed).contains(product) && !page(Goal::Speed).contains("Delivers times ratio"));
}

#[test]
fn both_directions_have_charts_of_their_own() {
    let both = Pipe { direction: Direction::Both, ..pipe(500e6) };
    let page = report::html(&plan(&[candidate("zstd 3", 2.0, 9e8)], &both, &budget(2)), &Context::default());
    assert_eq!(page.matches("<svg ").count(), 8, "two charts in two sizes and two directions");
    for heading in ["Ratio and speed, read", "Ratio and speed, write", "Threads, read", "Threads, write"] {
        assert!(page.contains(&format!("<h2>{heading}</h2>")), "{heading}");
    }
    elements(&page);
}

/// The value of an attribute in a line of markup, as a number.
fn number(line: &str, before: &str) -> f64 {
    let rest = line.split(before).nth(1).expect(before);
    let digits = rest.split(|c: char| !c.is_ascii_digit() && c != '.').next().expect("a number");
    digits.parse().expect("a number")
}

#[test]
fn labels_do_not_cross_error_bars() {
    let varied = |i: u32| {
        let mut found = candidate(&format!("zstd {i}"), 2.0 + f64::from(i) * 0.02, 1e9);
        let speed = Speed { low: 3e8, median: 1e9 + f64::from(i % 3) * 2e8, high: 3e9 };
        (found.decode, found.decode_scaling) = (Some(speed), vec![Scaling { threads: 1, speed }]);
        found
    };
    let measured: Vec<Measurement> = (1..12).map(varied).collect();
    let page = report::html(&plan(&measured, &pipe(500e6), &budget(1)), &Context::default());
    let chart = page.split("class=\"chart wide\"").nth(1).expect("a chart");
    let chart = chart.split("</svg>").next().expect("its end");
    let bars: Vec<[f64; 3]> = chart
        .lines()
        .filter(|line| line.contains("class=\"whisker\""))
        .map(|line| {
            [
                number(line, "d=\"M"),
                number(line, "V"),
                number(line.split("d=\"M").nth(1).expect("a path"), " "),
            ]
        })
        .collect();
    assert_eq!(bars.len(), measured.len());
    let labels = chart.lines().filter(|line| line.starts_with("<text class=\"label"));
    let mut found = 0;
    for label in labels {
        let text = label.split('>').nth(1).expect("a text").trim_end_matches("</text");
        let (x, y, width) = (number(label, " x=\""), number(label, " y=\""), text.len() as f64 * 6.0);
        let left = match label {
            _ if label.contains("\"start\"") => x,
            _ if label.contains("\"end\"") => x - width,
            _ => x - width / 2.0,
        };
        found += 1;
        let crosses = |bar: &&[f64; 3]| {
            let [at, top, bottom] = **bar;
            left < at && at < left + width && top < y && y - 9.0 < bottom
        };
        assert_eq!(bars.iter().find(crosses), None, "{label}");
    }
    assert!(found >= 3, "{found} labels");
}

#[test]
fn coordinates_are_numbers() {
    for plan in plans() {
        let page = report::html(&plan, &context());
        assert!(!page.contains("NaN") && !page.contains("inf\"") && !page.contains("Minf"));
    }
}
