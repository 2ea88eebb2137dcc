//! Cases in the shape of the recorded ones: rules, identity, time, data and one operation.

use hearth_rules::{Budget, Claim, Denial, OrderedBy, QueryValues, ReadVerdict, Ruleset, Situation};
use hearth_tree::{
    Assignment, Part, Path, ReadOptions, Scalar, Snapshot, Target, Text, Window, Write, read_node,
    read_priority, read_update, read_value,
};
use serde_json::Value;

pub(crate) struct Case {
    pub(crate) rules: Ruleset,
    pub(crate) auth: Claim,
    pub(crate) now_ms: i64,
    pub(crate) before: Snapshot,
    pub(crate) operation: Operation,
    pub(crate) budget: Budget,
}

pub(crate) enum Operation {
    Read(Path, QueryValues),
    Write { after: Snapshot, targets: Vec<Target> },
}

pub(crate) enum Step {
    Read(ReadVerdict),
    Write(Result<(), Denial>),
}

pub(crate) fn snapshot(data: &Value) -> Snapshot {
    Snapshot::new(read_node(data.to_string().as_bytes(), &ReadOptions::default()).expect("data is a value"))
}

impl Case {
    pub(crate) fn of(row: &Value) -> Self {
        let rules = Ruleset::compile(&row["rules"].to_string());
        let rules = rules.unwrap_or_else(|rejected| panic!("{}: {rejected}", row["rules"]));
        let now_ms = row["now"].as_i64().expect("a time");
        let before = snapshot(&row["data"]);
        let operation = Operation::of(&row["op"], now_ms, &before);
        let auth = serde_json::from_value(row["auth"].clone()).expect("claims are JSON");
        Self { rules, auth, now_ms, before, operation, budget: Budget::DEFAULT }
    }

    pub(crate) fn step(&self) -> Step {
        let Self { auth, now_ms, before, budget, .. } = self;
        let situation = Situation { auth, now_ms: *now_ms, before, budget: *budget };
        match &self.operation {
            Operation::Read(at, query) => Step::Read(self.rules.read(&situation, at, query)),
            Operation::Write { after, targets } => Step::Write(self.rules.write(&situation, after, targets)),
        }
    }

    pub(crate) fn is_allowed(&self) -> bool {
        match self.step() {
            Step::Read(verdict) => verdict.outcome.is_ok(),
            Step::Write(outcome) => outcome.is_ok(),
        }
    }
}

impl Operation {
    fn of(op: &Value, now_ms: i64, before: &Snapshot) -> Self {
        let target = Target::<Path>::parse(op["path"].as_str().expect("a path")).expect("a path");
        let value = op["value"].to_string();
        let (value, options) = (value.as_bytes(), ReadOptions::default());
        let write = match op["kind"].as_str() {
            Some("read") => return Self::Read(target.path, query(&op["query"])),
            Some("update") => Write::Update(read_update(value, &target.path, &options).expect("an update")),
            _ if target.part == Part::Priority => Write::Set(Assignment::priority(
                target.path,
                read_priority(value, &options).expect("a priority"),
            )),
            _ => {
                let value = read_value(value, &options).expect("a value");
                Write::Set(Assignment::value(target.path, value).expect("not too deep"))
            }
        };
        let assignments = match &write {
            Write::Set(assignment) => std::slice::from_ref(assignment),
            Write::Update(update) => update.assignments(),
        };
        let targets =
            assignments.iter().map(|each| Target { path: each.at().clone(), part: each.part() }).collect();
        let change = write.resolve(now_ms, before).expect("it can be resolved");
        Self::Write { after: before.apply(&change), targets }
    }
}

fn query(query: &Value) -> QueryValues {
    let scalar = |name: &str| match &query[name] {
        Value::Bool(value) => Some(Scalar::Bool(*value)),
        Value::Number(number) => number.as_i64().map(|number| Scalar::Number(number.into())),
        Value::String(text) => Some(Scalar::Text(Text::new(text).expect("short"))),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let limit = |name: &str| query[name].as_u64().map(|limit| u32::try_from(limit).expect("small"));
    let order = if let Value::String(path) = &query["orderByChild"] {
        OrderedBy::Child(path.clone())
    } else if query["orderByKey"] == true {
        OrderedBy::Key
    } else if query["orderByValue"] == true {
        OrderedBy::Value
    } else if query["orderByPriority"] == true {
        OrderedBy::Priority
    } else {
        OrderedBy::Unasked
    };
    let window = match (limit("limitToFirst"), limit("limitToLast")) {
        (Some(first), _) => Window::first(first).expect("not zero"),
        (None, Some(last)) => Window::last(last).expect("not zero"),
        (None, None) => Window::All,
    };
    QueryValues {
        order,
        start_at: scalar("startAt"),
        end_at: scalar("endAt"),
        equal_to: scalar("equalTo"),
        window,
    }
}
