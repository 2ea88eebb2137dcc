//! Calls of the system that fail, in a server that runs.
//!
//! Why a tracer: no disk fails when it is told to. The system does what it is asked or does not, and the server is told
//! that it has failed, which is all that it ever learns of a disk.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    /// Calls by name, with commas between; a `?` before one that not every machine has.
    pub(crate) calls: &'static str,
    /// Which of the calls, as strace says it: `1+` is all, `1` the first alone.
    pub(crate) when: &'static str,
    /// By the name of the system.
    pub(crate) error: &'static str,
}

/// Calls that fail until this is dropped.
pub(crate) struct Faults(Child);

/// Why no calls can be made to fail here; nothing, if they can.
fn obstacle() -> Option<String> {
    let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let fault = Fault { calls: "fdatasync", when: "1+", error: "EIO" };
    let begun = Faults::try_begin(other.id(), fault, &[]);
    other.kill().unwrap();
    other.wait().unwrap();
    begun.err()
}

/// Whether no calls can be made to fail here, which is said then.
pub(crate) fn is_left_out() -> bool {
    let obstacle = obstacle();
    if let Some(why) = &obstacle {
        leave_out(why);
    }
    obstacle.is_some()
}

/// Says why a test is left out.
pub(crate) fn leave_out(why: &str) {
    // With no standard error there is nobody to tell.
    drop(writeln!(std::io::stderr(), "left out: {why}"));
}

/// To be followed by a program, or by `-p` and a process.
pub(crate) fn strace(fault: Fault, paths: &[PathBuf]) -> Command {
    let Fault { calls, when, error } = fault;
    let mut strace = Command::new("strace");
    strace.args(["-f", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
    strace.args(["-e", &format!("inject={calls}:error={error}:when={when}")]);
    for path in paths {
        strace.arg("-P").arg(path);
    }
    strace
}

/// To be followed by a program, which is killed in place of the first call of these that a thread of it makes for so many
/// times; those alone that concern a path.
pub(crate) fn strace_killing(calls: &str, when: u32, path: Option<&Path>) -> Command {
    let mut strace = Command::new("strace");
    let calls: Vec<_> = calls.split(',').map(|call| format!("?{call}")).collect();
    let calls = calls.join(",");
    strace.args(["-f", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
    strace.args(["-e", &format!("inject={calls}:signal=KILL:when={when}")]);
    if let Some(path) = path {
        strace.arg("-P").arg(path.components().as_path());
    }
    strace
}

impl Faults {
    /// Returns when they fail in that process: those that concern one of these files or folders.
    pub(crate) fn begin(process: u32, fault: Fault, paths: &[PathBuf]) -> Self {
        Self::try_begin(process, fault, paths).unwrap_or_else(|why| panic!("{why}"))
    }

    fn try_begin(process: u32, fault: Fault, paths: &[PathBuf]) -> Result<Self, String> {
        let mut strace = strace(fault, paths);
        let strace = strace.args(["-p", &process.to_string()]).stderr(Stdio::piped());
        let mut child = strace.spawn().map_err(|error| format!("strace cannot be run: {error}"))?;
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let begun = Self(child);
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        if !line.contains("attached") {
            return Err(format!("strace may not trace here: {line}"));
        }
        // Whatever else it says, it must be able to say it.
        std::thread::spawn(move || drop(stderr.read_to_end(&mut Vec::new())));
        Ok(begun)
    }

    /// From now on nothing fails.
    pub(crate) fn end(mut self) {
        let kill = format!("kill -TERM {}", self.0.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        self.0.wait().unwrap();
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        // It may have ended with the server.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// All files and folders below one, and the folder itself.
pub(crate) fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    let Ok(entries) = std::fs::read_dir(folder) else { return all };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(all_below(&path)) } else { all.push(path) }
    }
    all
}
