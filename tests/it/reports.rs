//! Every report of `tests/cases/user-reports.md` is a row somewhere, or there is a reason why it cannot be one yet.
//!
//! Why the whole repository is searched: a row stands where its behaviour is tested, in whatever language that is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Reports that have no row, and why.
const WITHOUT_ROW: &[(&str, &str)] = &[(
    "R109",
    "it is about a second server that goes on; a database is on one server, whose own restarts are R089",
)];

const CASES: &str = "tests/cases/user-reports.md";
/// What tests are written in.
const ENDINGS: [&str; 4] = ["rs", "js", "mjs", "py"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of tests, and the texts in them.
fn tests(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(folder).expect("the repository can be read") {
        let path = entry.expect("the repository can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "node_modules" && name != "target" {
                tests(&path, found);
            }
        } else if ENDINGS.contains(&ending.as_str()) && path.file_name() != Path::new(file!()).file_name() {
            let text = fs::read_to_string(&path).expect("tests are text");
            found.insert(path, text);
        }
    }
}

/// The ids in a text: a quote, `R`, three digits. So an id that a comment mentions is no row.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    text.split(['"', '\'', '`']).skip(1).filter_map(|after| {
        let id = after.get(..4)?;
        let digits = id.strip_prefix('R')?;
        let ends = after[4..].chars().next().is_none_or(|next| !next.is_ascii_alphanumeric());
        (digits.bytes().all(|digit| digit.is_ascii_digit()) && ends).then_some(id)
    })
}

#[test]
fn every_report_is_a_row_or_says_why_not() {
    let cases = fs::read_to_string(root().join(CASES)).expect("the reports can be read");
    let reports: BTreeSet<&str> =
        cases.lines().filter_map(|line| line.strip_prefix("### ")?.get(..4)).collect();
    assert!(50 < reports.len(), "{} reports", reports.len());
    let mut files = BTreeMap::new();
    tests(&root(), &mut files);
    let rows: BTreeSet<&str> = files.values().flat_map(|text| ids(text)).collect();
    let excused: BTreeSet<&str> = WITHOUT_ROW.iter().map(|(id, _)| *id).collect();
    let missing: Vec<_> = reports.iter().filter(|id| !rows.contains(*id) && !excused.contains(*id)).collect();
    assert!(missing.is_empty(), "no row and no reason for {missing:?}");
    let stale: Vec<_> = excused.iter().filter(|id| rows.contains(*id) || !reports.contains(*id)).collect();
    assert!(stale.is_empty(), "a reason too many for {stale:?}");
    let unknown: Vec<_> = rows.iter().filter(|id| !reports.contains(*id)).collect();
    assert!(unknown.is_empty(), "{CASES} does not have {unknown:?}");
}
