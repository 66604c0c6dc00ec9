//! What changed against an earlier record, case by case and contender by contender.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::record::rounded;
use crate::report::aligned;
use crate::sheet::{Line, MEMORY, Sheet, Speed};

/// Sizes that differ by less are the same: records round to four decimals.
const SAME_SIZE: f64 = 0.0002;
/// Memory that differs by less is the same: allocators round.
const SAME_MEMORY: f64 = 0.01;

/// A row of this run beside the same one of the record.
#[derive(Clone, Debug)]
struct Change<'s> {
    then: Line<'s>,
    now: Line<'s>,
}

/// How the speed of a row changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Faster,
    Slower,
    WithinNoise,
    /// Too few rounds to tell.
    Unknown,
}

/// This run beside an earlier record.
pub struct Comparison<'s> {
    /// Columns that name a case, in both.
    case: Vec<&'s str>,
    changes: Vec<Change<'s>>,
    /// Rows of this run that the record has not.
    new: Vec<Line<'s>>,
    /// Rows of the record whose case was measured, but without that contender.
    missing: Vec<Line<'s>>,
    /// Rows of the record whose case was not measured.
    not_measured: usize,
}

impl<'s> Comparison<'s> {
    /// Compares the rows of a run with the newest of a record that have the same case and contender;
    /// those of the same CPU first.
    ///
    /// # Errors
    /// A sentence, if the record is of another shape: neither list of columns begins with the other.
    pub fn new(earlier: &'s Sheet, now: &'s Sheet) -> Result<Comparison<'s>, String> {
        if !earlier.columns().iter().zip(now.columns()).all(|(a, b)| a == b) {
            return Err("its columns are those of another shape".into());
        }
        let shared = if earlier.columns().len() < now.columns().len() { earlier } else { now };
        let case = shared.case_columns();
        let key = |line: &Line<'s>| (line.cells(&case), line.contender());
        let mut comparison =
            Comparison { case: case.clone(), changes: vec![], new: vec![], missing: vec![], not_measured: 0 };
        let mut seen = BTreeSet::new();
        for line in now.rows().filter(|line| seen.insert(key(line))) {
            let same = earlier.rows().filter(|then| key(then) == key(&line));
            match same.max_by_key(|then| then.get("cpu") == line.get("cpu")) {
                Some(then) => comparison.changes.push(Change { then, now: line }),
                None => comparison.new.push(line),
            }
        }
        let cases: BTreeSet<_> = now.rows().map(|line| line.cells(&case)).collect();
        for then in earlier.rows().filter(|then| seen.insert(key(then))) {
            match cases.contains(&then.cells(&case)) {
                true => comparison.missing.push(then),
                false => comparison.not_measured += 1,
            }
        }
        Ok(comparison)
    }

    /// The columns that tell rows apart, and those that are the same in all of them.
    fn varying(&self) -> (Vec<&'s str>, Vec<(&'s str, &'s str)>) {
        let mut lines = self.changes.iter().map(|change| change.now).chain(self.new.iter().copied());
        let Some(first) = lines.next() else { return (vec![], vec![]) };
        let rest: Vec<Line<'s>> = lines.collect();
        let is_same = |column: &&&str| rest.iter().all(|line| line.get(column) == first.get(column));
        let (same, varying): (Vec<&&str>, Vec<&&str>) = self.case.iter().partition(is_same);
        let same = same.into_iter().map(|column| (*column, first.get(column)));
        (varying.into_iter().copied().collect(), same.filter(|(_, cell)| !cell.is_empty()).collect())
    }

    /// The CPUs of the record's rows that were compared, and those of this run.
    fn cpus(&self) -> [BTreeSet<&'s str>; 2] {
        let of = |line: fn(&Change<'s>) -> Line<'s>| {
            self.changes.iter().map(|change| line(change).get("cpu")).collect()
        };
        [of(|change| change.then), of(|change| change.now)]
    }

    /// Contenders whose version, or Linerate's commit, is another one: name, then, now.
    fn versions(&self) -> BTreeSet<[&'s str; 3]> {
        let mut found = BTreeSet::new();
        for Change { then, now } in &self.changes {
            found.insert(["linerate", then.get("linerate"), now.get("linerate")]);
            found.insert(["rustc", then.get("rustc"), now.get("rustc")]);
            let contender = now.get("contender");
            found.insert([contender, then.get("contender_version"), now.get("contender_version")]);
        }
        found.retain(|[_, then, now]| then != now);
        found
    }

    fn name(&self, line: &Line<'s>, columns: &[&str]) -> String {
        let mut cells = line.cells(columns);
        cells.retain(|cell| !cell.is_empty());
        let contender = line.contender();
        cells.push(&contender);
        cells.join(" ")
    }

    /// Tables and sentences for a terminal.
    pub fn text(&self, record: &str) -> String {
        let (varying, same) = self.varying();
        let mut text = format!("Against {record}");
        for (column, cell) in same {
            text += &format!(", {column} {cell}");
        }
        text += "\n";
        let [then, now] = self.cpus().map(|cpus| cpus.into_iter().collect::<Vec<_>>().join(" and "));
        if then != now {
            text += &format!("warning: another CPU, whose speeds do not compare: then {then}, now {now}\n");
        }
        for [name, then, now] in self.versions() {
            text += &format!("{name}: then {then}, now {now}\n");
        }
        if !self.changes.is_empty() {
            text += &format!("\n{}\n", self.table(&varying));
        }
        text += &self.counts();
        text += &self.memory(&varying);
        for (what, lines) in [("missing", &self.missing), ("new", &self.new)] {
            for line in lines {
                text += &format!("{what}: {}\n", self.name(line, &varying));
            }
        }
        if self.not_measured > 0 {
            text +=
                &format!("{} rows of the record are of cases that were not measured\n", self.not_measured);
        }
        text
    }

    fn table(&self, varying: &[&str]) -> String {
        let heads = ["contender", "then", "now", "x speed", "x size", ""].map(String::from);
        let mut cells =
            vec![varying.iter().map(|&column| column.to_owned()).chain(heads).collect::<Vec<_>>()];
        cells.extend(self.changes.iter().map(|change| {
            let case = change.now.cells(varying).into_iter().map(String::from);
            case.chain(change.cells()).collect()
        }));
        aligned(&cells, varying.len() + 1)
    }

    fn counts(&self) -> String {
        let count = |verdict| self.changes.iter().filter(|change| change.verdict() == Some(verdict)).count();
        let sizes = |sign: f64| {
            self.changes.iter().filter_map(Change::size).filter(|x| sign * (x - 1.0) > SAME_SIZE).count()
        };
        let unknown = match count(Verdict::Unknown) {
            0 => String::new(),
            n => format!(", {n} of fewer than three rounds"),
        };
        format!(
            "speeds by middle rounds: {} faster, {} slower, {} within noise{unknown}; sizes: {} smaller, {} larger\n",
            count(Verdict::Faster),
            count(Verdict::Slower),
            count(Verdict::WithinNoise),
            sizes(-1.0),
            sizes(1.0),
        )
    }

    fn memory(&self, varying: &[&str]) -> String {
        let line = |change: &Change<'s>| {
            let name = self.name(&change.now, varying);
            let one =
                |(column, then, now): (&str, f64, f64)| format!("{name}: {column} then {then}, now {now}\n");
            change.memory().into_iter().map(one).collect::<String>()
        };
        self.changes.iter().map(line).collect()
    }

    /// The same as JSON.
    pub fn json(&self, record: &str) -> Value {
        let [then, now] = self.cpus();
        let named = |line: &Line<'s>| {
            let case = self.case.iter().map(|&column| (column.to_owned(), json!(line.get(column))));
            json!({ "case": Value::Object(case.collect()), "contender": line.contender() })
        };
        let change = |change: &Change<'s>| {
            let mut object = named(&change.now);
            let [then, now] = [change.then, change.now].map(|line| line.speed().map(|speed| speed.median));
            object["then"] = json!(then);
            object["now"] = json!(now);
            object["speed"] = json!(change.times().map(|x| rounded(x, 4)));
            object["verdict"] = json!(change.verdict().map(Verdict::name));
            object["size"] = json!(change.size().map(|x| rounded(x, 4)));
            let memory = change.memory().into_iter();
            let memory = memory.map(|(column, then, now)| (column.to_owned(), json!([then, now])));
            object["memory"] = Value::Object(memory.collect());
            object
        };
        let versions = self.versions().into_iter();
        let version = |[name, then, now]: [&str; 3]| json!({ "contender": name, "then": then, "now": now });
        json!({
            "record": record,
            "cpu": { "then": then, "now": now, "same": then == now },
            "versions": versions.map(version).collect::<Vec<_>>(),
            "changes": self.changes.iter().map(change).collect::<Vec<_>>(),
            "missing": self.missing.iter().map(named).collect::<Vec<_>>(),
            "new": self.new.iter().map(named).collect::<Vec<_>>(),
            "not_measured": self.not_measured,
        })
    }
}

impl Change<'_> {
    fn speeds(&self) -> Option<(Speed, Speed)> {
        self.then.speed().zip(self.now.speed()).filter(|(then, now)| then.is_time == now.is_time)
    }

    /// How many times as fast it is.
    fn times(&self) -> Option<f64> {
        self.speeds().map(|(then, now)| now.times(&then))
    }

    /// How many times as large the output is.
    fn size(&self) -> Option<f64> {
        self.then.size().zip(self.now.size()).map(|(then, now)| now / then)
    }

    fn verdict(&self) -> Option<Verdict> {
        let (then, now) = self.speeds()?;
        Some(match now.is_within_noise(&then) {
            None => Verdict::Unknown,
            Some(true) => Verdict::WithinNoise,
            Some(false) if now.times(&then) > 1.0 => Verdict::Faster,
            Some(false) => Verdict::Slower,
        })
    }

    /// Columns of memory that changed: column, then, now.
    fn memory(&self) -> Vec<(&'static str, f64, f64)> {
        let both = |column: &'static str| Some((column, self.then.number(column)?, self.now.number(column)?));
        let changed = |(_, then, now): &(&str, f64, f64)| (then - now).abs() > SAME_MEMORY * then.max(*now);
        MEMORY.iter().filter_map(|column| both(column)).filter(changed).collect()
    }

    fn cells(&self) -> [String; 6] {
        let median =
            |line: Line<'_>| line.speed().map_or_else(String::new, |speed| format!("{:.1}", speed.median));
        [
            self.now.contender(),
            median(self.then),
            median(self.now),
            self.times().map_or_else(String::new, |x| format!("{x:.3}")),
            self.size().map_or_else(String::new, |x| format!("{x:.4}")),
            self.verdict().map_or("", Verdict::name).into(),
        ]
    }
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::WithinNoise => "within noise",
            Verdict::Unknown => "too few rounds",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "shape,cpu,linerate,corpus,chunk,contender,contender_version,ratio,best_mb_s,median_mb_s,\
                          scratch_bytes,rounds\n";

    fn sheet(rows: &[&str]) -> Sheet {
        Sheet::parse(&format!("{HEADER}{}\n", rows.join("\n"))).unwrap()
    }

    fn then() -> Sheet {
        sheet(&[
            "bytes,X,0.1 a,web,16K,ours,1,3.0,110.0,100.0,64,5",
            "bytes,X,0.1 a,web,16K,theirs,1.2,2.5,101.0,100.0,10,5",
            "bytes,X,0.1 a,web,16K,gone,1,2.0,50.0,50.0,,5",
            "bytes,X,0.1 a,web,4K,ours,1,2.0,90.0,80.0,64,5",
        ])
    }

    #[test]
    fn changes_beyond_the_spread_of_rounds_are_told_from_noise() {
        let (then, now) = (
            then(),
            sheet(&[
                "bytes,X,0.1 b,web,16K,ours,1,3.3,205.0,200.0,32,5",
                "bytes,X,0.1 b,web,16K,theirs,1.3,2.5,103.0,101.0,10,5",
                "bytes,X,0.1 b,web,16K,added,1,2.5,103.0,101.0,10,5",
            ]),
        );
        let comparison = Comparison::new(&then, &now).unwrap();
        let text = comparison.text("r.csv");
        assert!(text.starts_with("Against r.csv, shape bytes, corpus web, chunk 16K\n"), "{text}");
        assert!(text.contains("ours       100.0  200.0    2.000  0.9091        faster\n"), "{text}");
        assert!(text.contains("1.010  1.0000  within noise\n"), "{text}");
        assert!(text.contains("1 faster, 0 slower, 1 within noise; sizes: 1 smaller, 0 larger"), "{text}");
        assert!(text.contains("ours: scratch_bytes then 64, now 32\n"), "{text}");
        assert!(text.contains("linerate: then 0.1 a, now 0.1 b\n"), "{text}");
        assert!(text.contains("theirs: then 1.2, now 1.3\n") && !text.contains("ours: then"), "{text}");
        assert!(text.contains("missing: gone\nnew: added\n1 rows of the record are of cases"), "{text}");
        assert!(!text.contains("warning"), "{text}");

        let json = comparison.json("r.csv");
        assert_eq!(
            (&json["changes"][0]["speed"], &json["changes"][0]["verdict"]),
            (&json!(2.0), &json!("faster"))
        );
        assert_eq!(json["changes"][0]["memory"], json!({ "scratch_bytes": [64.0, 32.0] }));
        assert_eq!((&json["cpu"]["same"], &json["not_measured"]), (&json!(true), &json!(1)));
        assert_eq!(json["missing"][0]["contender"], "gone");
        assert_eq!(json["new"][0]["case"]["chunk"], "16K");
    }

    #[test]
    fn another_cpu_is_a_warning() {
        let (then, now) = (then(), sheet(&["bytes,Y,0.1 a,web,16K,ours,1,3.0,50.0,50.0,64,5"]));
        let comparison = Comparison::new(&then, &now).unwrap();
        let text = comparison.text("r.csv");
        assert!(text.contains("warning: another CPU") && text.contains("then X, now Y"), "{text}");
        assert_eq!(comparison.json("r.csv")["cpu"]["same"], false);
    }

    #[test]
    fn the_newest_row_of_the_same_cpu_is_compared() {
        let then = sheet(&[
            "bytes,X,0.1 a,web,16K,ours,1,3.0,10.0,10.0,64,5",
            "bytes,X,0.1 b,web,16K,ours,1,3.0,20.0,20.0,64,5",
            "bytes,Y,0.1 c,web,16K,ours,1,3.0,90.0,90.0,64,5",
        ]);
        let now = sheet(&["bytes,X,0.1 d,web,16K,ours,1,3.0,40.0,40.0,64,5"]);
        let json = Comparison::new(&then, &now).unwrap().json("r.csv");
        assert_eq!((&json["changes"][0]["then"], &json["changes"][0]["speed"]), (&json!(20.0), &json!(2.0)));
        assert_eq!((&json["missing"], &json["not_measured"]), (&json!([]), &json!(0)));
    }

    #[test]
    fn few_rounds_have_no_verdict() {
        let (then, now) = (then(), sheet(&["bytes,X,0.1 a,web,16K,ours,1,3.0,500.0,500.0,64,1"]));
        let text = Comparison::new(&then, &now).unwrap().text("r.csv");
        assert!(text.contains("too few rounds") && text.contains("1 of fewer than three rounds"), "{text}");
    }

    #[test]
    fn columns_added_at_the_end_are_compatible_and_others_an_error() {
        let now = Sheet::parse(&format!(
            "{},added\nbytes,X,0.1 a,web,16K,ours,1,3.0,100.0,100.0,64,5,x\n",
            HEADER.trim_end()
        ));
        let (then, now) = (then(), now.unwrap());
        let json = Comparison::new(&then, &now).unwrap().json("r.csv");
        assert_eq!((&json["changes"][0]["verdict"], &json["new"]), (&json!("within noise"), &json!([])));
        let other = Sheet::parse("measure,date\n").unwrap();
        assert!(Comparison::new(&other, &now).is_err_and(|e| e.contains("another shape")));
    }
}
