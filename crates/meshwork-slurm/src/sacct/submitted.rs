//! Parses the placement constraints in a command line of `sbatch`, `srun` or `salloc`.

use crate::history::Beyond;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Submitted {
    pub(super) require: Option<String>,
    pub(super) exclude: Option<String>,
    pub(super) segment: Option<u32>,
    pub(super) switches: Option<u32>,
    pub(super) nodes: Option<u32>,
    pub(super) is_range: bool,
    /// Names of the requested partitions, separated by commas.
    pub(super) partitions: String,
    pub(super) nice: i64,
    pub(super) reservation: String,
    /// Maximum number of tasks of a job array that may run at once.
    pub(super) throttle: Option<u32>,
    pub(super) is_exclusive: bool,
    pub(super) whole_blocks: bool,
    pub(super) contiguous: bool,
    pub(super) spread: bool,
    pub(super) consolidate: bool,
    pub(super) beyond: Vec<Beyond>,
    /// Options for cores, memory and GPUs, in the order of the command line.
    pub(super) options: String,
}

/// Options for parts of nodes (cores, memory, GPUs).
const PARTS: &str = "\
    n ntasks N nodes c cpus-per-task ntasks-per-node mem mem-per-cpu mem-per-gpu gres G gpus \
    gpus-per-node gpus-per-task cpus-per-gpu exclusive C constraint x exclude m distribution \
    gres-flags ntasks-per-core ntasks-per-socket ntasks-per-gpu gpus-per-socket threads-per-core \
    cores-per-socket sockets-per-node B extra-node-info mincpus S core-spec";

const SHORT_FLAGS: &str = "hHIkOQsvVWX";

/// Long options without a separate value; an optional value follows `=`.
const LONG_FLAGS: &str = "\
    parsable exclusive contiguous hold requeue no-requeue overcommit oversubscribe quiet reboot \
    spread-job spread-segments consolidate-segments test-only use-min-nodes verbose wait \
    ignore-pbs nice propagate get-user-env no-shell pty no-kill";

impl Submitted {
    /// Parses a line up to the script or program, because later options are not Slurm's.
    pub(super) fn read(line: &str) -> Submitted {
        let mut found = Submitted::default();
        let mut words = words(line).skip(1);
        while let Some(word) = words.next() {
            let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else {
                break;
            };
            let (name, value) = match option.strip_prefix('-') {
                Some(long) => match long.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None if is_in(LONG_FLAGS, long) => (long, None),
                    None => (long, words.next()),
                },
                None => {
                    let (name, value) =
                        option.split_at(option.chars().next().map_or(0, char::len_utf8));
                    if SHORT_FLAGS.contains(name) {
                        continue;
                    }
                    let value = if value.is_empty() { words.next() } else { Some(value) };
                    (name, value)
                }
            };
            let value = value.unwrap_or_default();
            // Without quotes, the end of a wrapped command is unknown.
            if name == "wrap" && !value.starts_with(['"', '\'']) {
                break;
            }
            found.take(name, value);
        }
        found
    }

    fn take(&mut self, name: &str, value: &str) {
        let value = value.trim_matches(['"', '\'']);
        if is_in(PARTS, name) && !value.contains(char::is_whitespace) {
            let (dashes, equals) = if name.len() > 1 { ("--", "=") } else { ("-", "") };
            let equals = if value.is_empty() { "" } else { equals };
            let space = if self.options.is_empty() { "" } else { " " };
            self.options.extend([space, dashes, name, equals, value]);
        }
        let first_number = || {
            let digits = value.bytes().take_while(u8::is_ascii_digit).count();
            value[..digits].parse::<u32>().ok().filter(|&number| number > 0)
        };
        // A list with a slash is the name of a file, which is not available here.
        let list = || Some(value.to_owned()).filter(|list| !list.is_empty() && !list.contains('/'));
        match name {
            "w" | "nodelist" => self.require = list(),
            "x" | "exclude" => self.exclude = list(),
            "N" | "nodes" => {
                self.nodes = first_number();
                self.is_range = value.contains('-');
            }
            "segment" => self.segment = first_number(),
            "switches" => self.switches = first_number(),
            "exclusive" => {
                let word = value.to_lowercase();
                self.whole_blocks = word == "topo";
                self.is_exclusive = word.is_empty() || word == "topo" || word == "node";
            }
            "contiguous" => self.contiguous = true,
            "spread-segments" => self.spread = true,
            "consolidate-segments" => self.consolidate = true,
            "G" | "gres" | "gpus" | "gpus-per-node" | "gpus-per-task" | "gpus-per-socket" => {
                self.beyond.push(Beyond::Gres);
            }
            "C" | "constraint" => self.beyond.push(Beyond::Features),
            "L" | "licenses" => self.beyond.push(Beyond::Licences),
            "p" | "partition" if value.contains(',') => {
                self.partitions = value.to_owned();
                self.beyond.push(Beyond::Partitions);
            }
            "nice" => self.nice = if value.is_empty() { 100 } else { value.parse().unwrap_or(0) },
            "a" | "array" => {
                self.throttle = value.split_once('%').and_then(|(_, most)| most.parse().ok());
            }
            "reservation" => {
                self.reservation = value.to_owned();
                self.beyond.push(Beyond::Reservation);
            }
            _ => {}
        }
    }
}

fn is_in(words: &str, name: &str) -> bool {
    words.split(' ').any(|own| own == name)
}

/// Words of a line. A quoted part belongs to one word.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    let is_between = move |c: char| {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
        quote.is_none() && c.is_whitespace()
    };
    line.split(is_between).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_end_where_the_program_begins() {
        let line = "sbatch --parsable -o /dev/null --exclusive -J wx -N4 -w n[0,63] -x n7 --segment=2 -t 1 job.sh -N 9 -w x";
        let found = Submitted::read(line);
        assert_eq!(found.nodes, Some(4));
        assert_eq!(found.require.as_deref(), Some("n[0,63]"));
        assert_eq!(found.exclude.as_deref(), Some("n7"));
        assert_eq!(found.segment, Some(2));
        assert!(found.is_exclusive && !found.whole_blocks);
        let found = Submitted::read(
            "srun --exclusive=topo --switches 2@10:00 -N 3-5 --contiguous --wrap \"sleep -x 3\"",
        );
        assert!(found.whole_blocks && found.contiguous);
        assert_eq!((found.switches, found.nodes, found.exclude), (Some(2), Some(3), None));
        assert!(found.is_range && !Submitted::read("sbatch -N4 a.sh").is_range);
        assert_eq!(Submitted::read("sbatch --wrap='srun -x a' -N 2").nodes, Some(2));
        assert_eq!(Submitted::read("sbatch -N 2 --wrap=srun -x a").exclude, None);
        assert_eq!(Submitted::read("sbatch -w /tmp/hosts").require, None);
        let found = Submitted::read("sbatch -pa,b -G 2 -C 'ib&ssd' job.sh -L x");
        assert_eq!(found.beyond, [Beyond::Partitions, Beyond::Gres, Beyond::Features]);
        assert_eq!(Submitted::read("sbatch -pa -N2 job.sh").beyond, []);
        assert_eq!(Submitted::read(""), Submitted::default());
        let line = "sbatch -t 2 -n 2 --gpus-per-task=a100:1 --mem 4G -N1-3 --exclusive job.sh -n 9";
        let options = "-n2 --gpus-per-task=a100:1 --mem=4G -N1-3 --exclusive";
        assert_eq!(Submitted::read(line).options, options);
    }
}
