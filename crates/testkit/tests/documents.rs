//! Every link and anchor of every page leads somewhere, and the book has every page of `docs/`.

use std::collections::{BTreeMap, BTreeSet};

use linerate_testkit::markdown::{Page, pages};
use linerate_testkit::testdata::repository;

const SUMMARY: &str = "docs/SUMMARY.md";

/// What is wrong with a link of a page: `None` if it leads to a file of the repository and to one of its headings.
fn broken(page: &Page, link: &str, anchors: &BTreeMap<&str, &[String]>) -> Option<String> {
    let (target, anchor) = page.resolve(link)?;
    let target = target.to_string_lossy().replace('\\', "/");
    if !repository().join(&target).exists() {
        return Some(format!("{}: ({link}): there is no {target}", page.path));
    }
    let anchor = anchor?;
    let known = anchors.get(target.as_str()).is_some_and(|known| known.iter().any(|name| name == anchor));
    (!known).then(|| format!("{}: ({link}): {target} has no heading #{anchor}", page.path))
}

#[test]
fn every_link_and_anchor_of_every_page_resolves() {
    let pages = pages();
    let anchors: BTreeMap<&str, &[String]> = pages.iter().map(|page| (&*page.path, &*page.anchors)).collect();
    let links: Vec<(&Page, &String)> =
        pages.iter().flat_map(|page| page.links.iter().map(move |l| (page, l))).collect();
    assert!(links.len() > 100, "only {} links", links.len());
    let found: Vec<String> = links.iter().filter_map(|(page, link)| broken(page, link, &anchors)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_missing_file_and_a_missing_heading_are_broken_links() {
    let page = Page::read(SUMMARY);
    let anchors = BTreeMap::from([(SUMMARY, &*page.anchors)]);
    assert!(broken(&page, "no-such-page.md", &anchors).is_some());
    assert!(broken(&page, "#no-such-heading", &anchors).is_some());
    assert_eq!(broken(&page, "#summary", &anchors), None);
}

#[test]
fn the_summary_of_the_book_lists_every_page_of_docs_once() {
    let summary = Page::read(SUMMARY);
    let listed: Vec<String> = summary.links.iter().map(|link| format!("docs/{link}")).collect();
    let unique: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(unique.len(), listed.len(), "a page is listed twice");
    let pages = pages();
    let written = pages.iter().map(|page| &page.path);
    let written: BTreeSet<&String> =
        written.filter(|path| path.starts_with("docs/") && *path != SUMMARY).collect();
    assert_eq!(unique, written);
}
