//! Figures for people, and for programs.

use crate::process::CpuTime;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::time::Duration;

/// How figures are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Columns, for people.
    Table,
    /// One object, for programs.
    Json,
}

/// What was measured.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) notes: Vec<String>,
}

/// A column: what programs call it, with its unit, and what people read above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column(pub(crate) &'static str, pub(crate) &'static str);

/// One figure, or what it is about.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Text(String),
    Count(u64),
    /// Something per second, or per something else.
    Rate(f64),
    /// How much of one thing for one of another.
    Ratio(f64),
    /// In microseconds.
    Micros(Option<Duration>),
    /// In milliseconds.
    Millis(Option<Duration>),
    /// The threads with the most processor time.
    Threads(CpuTime),
    /// The processor time of each thread for one of many, in microseconds.
    ThreadMicros(CpuTime),
    Unknown,
}

impl Cell {
    /// How often in a time, if there was any.
    pub(crate) fn rate(count: u32, time: Duration) -> Self {
        if time.is_zero() { Self::Unknown } else { Self::Rate(f64::from(count) / time.as_secs_f64()) }
    }

    fn for_people(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => grouped(*count),
            Self::Rate(rate) =>
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a rate is not negative, and far from the largest integer"
                )]
                grouped(rate.round() as u64)
            }
            Self::Ratio(ratio) => format!("{ratio:.2}"),
            Self::Micros(Some(time)) => format!("{:.1}", time.as_secs_f64() * 1e6),
            Self::Millis(Some(time)) => format!("{:.2}", time.as_secs_f64() * 1e3),
            Self::Threads(cpu) => threads(cpu),
            Self::ThreadMicros(cpu) => thread_micros(cpu),
            Self::Micros(None) | Self::Millis(None) | Self::Unknown => "-".into(),
        }
    }

    fn for_programs(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Count(count) => json!(count),
            Self::Rate(rate) | Self::Ratio(rate) => json!(rate),
            Self::Micros(time) => json!(time.map(|time| time.as_secs_f64() * 1e6)),
            Self::Millis(time) => json!(time.map(|time| time.as_secs_f64() * 1e3)),
            Self::Threads(CpuTime(by_name)) => {
                let seconds = by_name.iter().map(|(name, time)| (name.clone(), json!(time.as_secs_f64())));
                Value::Object(seconds.collect())
            }
            Self::ThreadMicros(CpuTime(by_name)) => {
                let micros =
                    by_name.iter().map(|(name, time)| (name.clone(), json!(time.as_secs_f64() * 1e6)));
                Value::Object(micros.collect())
            }
            Self::Unknown => Value::Null,
        }
    }

    const fn is_left_aligned(&self) -> bool {
        match self {
            Self::Text(_) | Self::Threads(_) | Self::ThreadMicros(_) => true,
            Self::Count(_)
            | Self::Rate(_)
            | Self::Ratio(_)
            | Self::Micros(_)
            | Self::Millis(_)
            | Self::Unknown => false,
        }
    }
}

impl Table {
    /// Lines, each ended.
    pub(crate) fn rendered(&self, format: Format) -> String {
        match format {
            Format::Table => self.for_people(),
            Format::Json => format!("{:#}\n", self.for_programs()),
        }
    }

    fn for_people(&self) -> String {
        let texts: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(Cell::for_people).collect()).collect();
        let width = |at: usize| {
            let cells = texts.iter().filter_map(|row| row.get(at)).map(|text| text.chars().count());
            cells.chain([self.columns[at].1.chars().count()]).max().unwrap_or_default()
        };
        let widths: Vec<_> = (0..self.columns.len()).map(width).collect();
        let is_left = |at: usize| self.rows.iter().any(|row| row[at].is_left_aligned());
        let line = |texts: &mut dyn Iterator<Item = &str>| {
            let mut line = String::new();
            for ((at, text), &width) in texts.enumerate().zip(&widths) {
                let padded =
                    if is_left(at) { format!("{text:<width$}  ") } else { format!("{text:>width$}  ") };
                line += &padded;
            }
            line.trim_end().to_owned() + "\n"
        };
        let mut page = format!("{}\n\n", self.title);
        page += &line(&mut self.columns.iter().map(|column| column.1));
        for row in &texts {
            page += &line(&mut row.iter().map(String::as_str));
        }
        for note in &self.notes {
            page += &format!("\n{note}\n");
        }
        page
    }

    fn for_programs(&self) -> Value {
        let object = |row: &Vec<Cell>| -> Map<String, Value> {
            let cells = self.columns.iter().zip(row);
            cells.map(|(column, cell)| (column.0.to_owned(), cell.for_programs())).collect()
        };
        json!({
            "title": self.title,
            "rows": self.rows.iter().map(object).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}

/// The threads that take a part worth to be named, the busiest first.
fn thread_micros(cpu: &CpuTime) -> String {
    let mut by_time: Vec<_> = cpu.0.iter().map(|(name, time)| (name, time.as_secs_f64() * 1e6)).collect();
    by_time.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named = by_time.iter().filter(|(_, micros)| 0.1 <= *micros);
    named.map(|(name, micros)| format!("{name} {micros:.1}")).collect::<Vec<_>>().join(", ")
}

/// The busiest threads with their part of the whole.
fn threads(cpu: &CpuTime) -> String {
    let total = cpu.total().as_secs_f64();
    let mut by_time: Vec<_> = cpu.0.iter().collect();
    by_time.sort_by(|a, b| b.1.cmp(a.1));
    let mut text = String::new();
    for (name, time) in by_time {
        let percent = 100.0 * time.as_secs_f64() / total;
        if 1.0 <= percent {
            let comma = if text.is_empty() { "" } else { ", " };
            write!(text, "{comma}{name} {percent:.0} %").expect("a text takes more text");
        }
    }
    text
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if 0 < at && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let cpu = [("publisher", 30), ("worker", 69), ("main", 0)];
        Table {
            title: "What".into(),
            columns: vec![Column("case", "case"), Column("per_s", "per second"), Column("by", "threads")],
            rows: vec![
                vec![
                    Cell::Text("one".into()),
                    Cell::rate(1_234_567, Duration::from_secs(1)),
                    Cell::Threads(CpuTime(
                        cpu.map(|(name, ms)| (name.into(), Duration::from_millis(ms))).into(),
                    )),
                ],
                vec![Cell::Text("three".into()), Cell::rate(1, Duration::ZERO), Cell::Unknown],
            ],
            notes: vec!["So.".into()],
        }
    }

    #[test]
    fn people_read_columns() {
        let page = "What\n\ncase   per second  threads\n\
                    one     1,234,567  worker 70 %, publisher 30 %\n\
                    three           -  -\n\nSo.\n";
        assert_eq!(table().rendered(Format::Table), page);
    }

    #[test]
    fn programs_read_an_object() {
        let read: Value = serde_json::from_str(&table().rendered(Format::Json)).unwrap();
        assert_eq!(read["rows"][0]["per_s"], json!(1_234_567.0));
        assert_eq!(read["rows"][0]["by"]["worker"], json!(0.069));
        assert_eq!(read["rows"][1]["per_s"], Value::Null);
        assert_eq!(read["notes"], json!(["So."]));
    }
}
