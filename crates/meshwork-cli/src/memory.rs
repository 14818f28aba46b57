//! The memory limit: `--max-memory`.

use meshwork_lab::run::memory::{at_once, refuse_above, refuse_at_once};

use crate::output::Stop;

/// Command-line option for the memory limit. Every command that simulates has it.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// Refuse runs that need more memory than this, such as 4G or 500M; what counts is the need for
    /// machines, networks and held jobs as far as it is known beforehand, but not the program
    /// itself, some 10M [default: three quarters of this computer's memory]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_memory: Option<u64>,
}

impl Memory {
    /// Maximum memory in bytes: the value of the option, or three quarters of the installed memory.
    ///
    /// `None` if there is no option, and the installed memory is unknown.
    pub(crate) fn limit(self) -> Option<u64> {
        self.max_memory.or_else(|| installed().map(|bytes| bytes / 4 * 3))
    }

    /// Returns an error if `bytes` is above the limit. The error's sentence begins with `what`.
    pub(crate) fn check(self, bytes: u64, what: &str) -> Result<(), Stop> {
        refuse_above(self.limit(), bytes, what).map_err(|error| Stop::Wrong(error.to_string()))
    }

    /// Checks the memory of runs that need `bytes` each. Every thread simulates one run at a time.
    ///
    /// If `threads` is 0, one thread per processor is assumed.
    pub(crate) fn check_at_once(
        self,
        bytes: u64,
        threads: usize,
        runs: u64,
        what: &str,
    ) -> Result<(), Stop> {
        let at_once = at_once(threads, runs);
        refuse_at_once(self.limit(), bytes, at_once, what)
            .map_err(|error| Stop::Wrong(error.to_string()))
    }
}

/// Memory of the computer, or the limit of the control group if that is less.
fn installed() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let all = kibibytes.saturating_mul(1024);
    let of_group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let of_group = of_group.and_then(|text| text.trim().parse().ok());
    Some(of_group.map_or(all, |limit: u64| limit.min(all)))
}

/// Size in bytes; the suffixes K, M, G and T are powers of 1024.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!("`{text}` is no size: give a number of bytes, or one with K, M, G or T, such as 4G")
    };
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let unit = unit.trim().to_ascii_uppercase();
    let bits = match unit.strip_suffix("IB").or(unit.strip_suffix('B')).unwrap_or(&unit) {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let bytes = number * (1_u64 << bits) as f64;
    if bytes >= 1.0 { Ok(bytes as u64) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, expected) in [
            ("4G", 4 << 30),
            ("4GiB", 4 << 30),
            ("1.5g", 3 << 29),
            ("500M", 500 << 20),
            ("64k", 64 << 10),
            ("2T", 2 << 40),
            ("1000", 1000),
            ("12B", 12),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for wrong in ["", "G", "4X", "-1", "0", "4 4", "1e9", "."] {
            assert!(bytes(wrong).unwrap_err().contains("such as 4G"), "{wrong}");
        }
    }
}
