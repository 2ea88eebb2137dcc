//! Writes what fuzzing begins with: the recorded cases and the rules of the example, one file each.
//!
//! They are made from the tables and not kept, so that there is one copy to care for.

use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository is above");
    let cases = |name: &str| -> io::Result<Vec<Value>> {
        let text = fs::read_to_string(top.join("tests/cases").join(name))?;
        Ok(serde_json::from_str(&text)?)
    };
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let mut documents: Vec<String> =
        cases("rules-format.json")?.iter().map(|row| text(row, "source")).collect();
    let operations = cases("rules-conformance.json")?;
    documents.extend(operations.iter().map(|row| row["rules"].to_string()));
    documents.push(fs::read_to_string(top.join("examples/chat/rules.json"))?);
    // A byte before the text chooses what kind of rule it is.
    let expressions = cases("rules-compile.json")?;
    let expressions = expressions.iter().enumerate().map(|(number, row)| {
        let kind = char::from(b'0' + u8::try_from(number % 3).unwrap_or_default());
        format!("{kind}{}", text(row, "expr"))
    });
    keep(top, "document", documents)?;
    keep(top, "expression", expressions)
}

fn keep(top: &Path, target: &str, texts: impl IntoIterator<Item = String>) -> io::Result<()> {
    let folder: PathBuf = top.join("fuzz/corpus").join(target);
    fs::create_dir_all(&folder)?;
    for (number, text) in texts.into_iter().enumerate() {
        fs::write(folder.join(format!("seed-{number:03}")), text)?;
    }
    Ok(())
}
