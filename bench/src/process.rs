//! What the kernel says about a process: processor time by thread, and memory.
//!
//! Why `schedstat` first: `stat` counts in ticks of 10 ms, which is more than many of the things measured here take.

use crate::trouble::Trouble;
use rustix::io::Errno;
use rustix::param::clock_ticks_per_second;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A process that is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) id: u32,
}

/// Processor time, of user and system together, by the names of the threads. Threads that have ended are not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTime(pub(crate) BTreeMap<String, Duration>);

impl CpuTime {
    pub(crate) fn total(&self) -> Duration {
        self.0.values().sum()
    }

    /// Of one of so many things that were done with it.
    pub(crate) fn each_of(&self, count: u32) -> Self {
        let count = count.max(1);
        Self(self.0.iter().map(|(name, &time)| (name.clone(), time / count)).collect())
    }

    /// What has come since an earlier reading.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let since = |(name, &time): (&String, &Duration)| {
            (name.clone(), time.saturating_sub(earlier.0.get(name).copied().unwrap_or_default()))
        };
        Self(self.0.iter().map(since).collect())
    }
}

impl Process {
    /// Processor time until now.
    pub(crate) fn cpu(self) -> Result<CpuTime, Trouble> {
        self.read_cpu().map_err(|error| Trouble::Figures { process: self.id, error })
    }

    fn read_cpu(self) -> io::Result<CpuTime> {
        let mut cpu = CpuTime::default();
        for task in fs::read_dir(format!("/proc/{}/task", self.id))? {
            match name_and_time_of_task(&task?.path()) {
                Ok((name, time)) => *cpu.0.entry(name).or_default() += time,
                Err(error) if has_ended(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(cpu)
    }

    /// Memory that is in use now, in bytes.
    pub(crate) fn resident_bytes(self) -> Result<u64, Trouble> {
        self.status("VmRSS:", "`status` has no line `VmRSS`")
    }

    /// The most memory that was in use since [`Process::forget_peak`], in bytes.
    pub(crate) fn peak_bytes(self) -> Result<u64, Trouble> {
        self.status("VmHWM:", "`status` has no line `VmHWM`")
    }

    /// Begins to count the peak anew.
    pub(crate) fn forget_peak(self) -> Result<(), Trouble> {
        let forgotten = fs::write(format!("/proc/{}/clear_refs", self.id), "5");
        forgotten.map_err(|error| Trouble::Figures { process: self.id, error })
    }

    /// What the process has had written to the disk, in bytes.
    pub(crate) fn written_bytes(self) -> Result<u64, Trouble> {
        let figures = |error| Trouble::Figures { process: self.id, error };
        let io = fs::read_to_string(format!("/proc/{}/io", self.id)).map_err(figures)?;
        let line = io.lines().find_map(|line| line.strip_prefix("write_bytes:"));
        let bytes = line.and_then(|bytes| bytes.trim().parse().ok());
        bytes.ok_or_else(|| figures(unexpected("`io` has no line `write_bytes`")))
    }

    fn status(self, name: &str, missing: &str) -> Result<u64, Trouble> {
        let figures = |error| Trouble::Figures { process: self.id, error };
        let status = fs::read_to_string(format!("/proc/{}/status", self.id)).map_err(figures)?;
        bytes_in(&status, name).ok_or_else(|| figures(unexpected(missing)))
    }
}

fn name_and_time_of_task(task: &Path) -> io::Result<(String, Duration)> {
    let name = fs::read_to_string(task.join("comm"))?;
    Ok((name.trim_end().to_owned(), time_of_task(task)?))
}

/// A thread may end between any two steps of reading about it: its files are gone, or those opened in time say that it is.
fn has_ended(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

fn time_of_task(task: &Path) -> io::Result<Duration> {
    if let Ok(text) = fs::read_to_string(task.join("schedstat")) {
        return time_in_schedstat(&text).ok_or_else(|| unexpected("`schedstat` begins with no number"));
    }
    let text = fs::read_to_string(task.join("stat"))?;
    time_in_stat(&text, clock_ticks_per_second()).ok_or_else(|| unexpected("`stat` has too few fields"))
}

fn unexpected(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Nanoseconds on a processor are the first field.
fn time_in_schedstat(text: &str) -> Option<Duration> {
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Ticks of user and system are the 14th and 15th field. The second, the name, may hold anything but ends with the last
/// parenthesis.
fn time_in_stat(text: &str, ticks_per_second: u64) -> Option<Duration> {
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let ticks: u64 = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(Duration::from_nanos(ticks * 1_000_000_000 / ticks_per_second))
}

fn bytes_in(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_in_what_the_kernel_writes() {
        let stat = "7 (a) (b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 4 0 100 0 0";
        assert_eq!(time_in_stat(stat, 100), Some(Duration::from_secs(3)));
        assert_eq!(time_in_stat("7 (a) S 1", 100), None);
        assert_eq!(time_in_schedstat("1500 20 3\n"), Some(Duration::from_nanos(1_500)));
        assert_eq!(time_in_schedstat(""), None);
        let status = "Name:\tx\nVmHWM:\t   20 kB\nVmRSS:\t   12 kB\nVmData:\t 1 kB\n";
        assert_eq!(bytes_in(status, "VmRSS:"), Some(12 * 1_024));
        assert_eq!(bytes_in(status, "VmHWM:"), Some(20 * 1_024));
        assert_eq!(bytes_in("Name:\tx\n", "VmRSS:"), None);
    }

    #[test]
    fn this_process_takes_time_and_memory() {
        let own = Process { id: std::process::id() };
        let before = own.cpu().unwrap();
        let until = std::time::Instant::now() + Duration::from_millis(50);
        while std::time::Instant::now() < until {
            std::hint::spin_loop();
        }
        // Whoever is running is accounted when it stops.
        std::thread::sleep(Duration::from_millis(1));
        assert!(Duration::ZERO < own.cpu().unwrap().since(&before).total());
        assert!(0 < own.resident_bytes().unwrap());
    }
    #[test]
    fn threads_that_end_while_they_are_looked_at_are_no_trouble() {
        let own = Process { id: std::process::id() };
        let is_done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    std::thread::spawn(|| {}).join().unwrap();
                }
            });
            let read: Result<Vec<_>, _> = (0..2_000).map(|_| own.cpu()).collect();
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(read.is_ok(), "{read:?}");
        });
    }
}
