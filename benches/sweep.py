"""Measures shards, `collect`, `status`, `report` and resuming on a sweep of a million runs on this computer.

    cargo build --release --bin meshwork
    python3 benches/sweep.py target/release/meshwork FOLDER [SCENARIOS REPLICATIONS [PARTS…]]

A line is for one process: wall-clock seconds, CPU seconds (user and system) and peak memory. FOLDER should
be on a disk with 4 GB of free space. PARTS selects some of the parts in `PARTS` below; by default all are run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

STUDY = """
replications = {replications}
machine = {{ topology = "flat", processors = 4 }}
workload = {{ name = "synthetic", load = 0.5, sizes = "uniform", runtimes = {{ name = "exponential", mean = 5.0 }} }}
measure = {{ jobs = 5, metrics = ["wait", "utilization"] }}
[sweep]
"workload.load" = [{loads}]
"""
LONGER = """
replications = 200
machine = { topology = "torus", dims = [16, 16, 16] }
scheduler = "easy"
workload = { name = "lublin", jobs = 4000 }
measure = { metrics = ["wait", "utilization"] }
"""


class Cost(NamedTuple):
    """The cost of processes: seconds, CPU seconds and peak memory."""

    clock: float
    cpu: float
    megabytes: float

    def __str__(self) -> str:
        """Format the cost for a line."""
        return f"{self.clock:7.2f} s, {self.cpu:7.2f} CPU s, {self.megabytes:5.0f} MB"


def start(words: list[str]) -> int:
    """Start a process without output."""
    null = os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_CLOSE, null)]
    return os.posix_spawnp(words[0], words, os.environ, file_actions=actions)


def cost(*processes: list[str], statuses: tuple[int, ...] = (0,)) -> Cost:
    """Run processes at the same time; return their cost."""
    began = time.monotonic()
    cpu, memory = 0.0, 0
    for process in [start(words) for words in processes]:
        _, status, used = os.wait4(process, 0)
        assert os.waitstatus_to_exitcode(status) in statuses, (processes, os.waitstatus_to_exitcode(status))
        cpu += used.ru_utime + used.ru_stime
        memory = max(memory, used.ru_maxrss)
    return Cost(time.monotonic() - began, cpu, memory / 1000)


def tell(what: str, spent: Cost) -> None:
    """Print a line with a cost."""
    print(f"{what:60} {spent}", flush=True)


class Sweep:
    """A sweep in a folder."""

    def __init__(self, program: str, folder: Path, scenarios: int, replications: int) -> None:
        self.program, self.folder, self.runs = program, folder, scenarios * replications
        self.out = folder / "shared"
        loads = ", ".join(f"{0.1 + 0.8 * at / scenarios:.6f}" for at in range(scenarios))
        self.study = folder / "tiny.toml"
        folder.mkdir(parents=True, exist_ok=True)
        self.study.write_text(STUDY.format(replications=replications, loads=loads))

    def shard(self, shard: str, study: Path | None = None, out: Path | None = None) -> list[str]:
        """Return the command that runs a shard."""
        return [
            self.program, "run", str(study or self.study), "--out", str(out or self.out), "--shard", shard,
            "--threads", "1", "--quiet",
        ]  # fmt: skip

    def fill(self) -> None:
        """Run all runs as eight shards, two at a time."""
        shutil.rmtree(self.out, ignore_errors=True)
        for first in range(0, 8, 2):
            spent = cost(self.shard(f"{first}/8"), self.shard(f"{first + 1}/8"))
            tell(f"shards {first}/8 and {first + 1}/8, side by side", spent)
        size = sum(path.stat().st_size for path in (self.out / "runs").iterdir())
        print(f"{self.runs} runs in {len(list((self.out / 'runs').iterdir()))} segments of {size / 1e6:.0f} MB in all")

    def status(self) -> None:
        """Measure `status`."""
        tell("status", cost([self.program, "status", str(self.out)]))

    def collect(self) -> None:
        """Measure `collect`, and `collect` again with nothing left to merge."""
        tell("collect: segments into runs.jsonl, summary.csv and the rest", cost([self.program, "collect", str(self.out)]))
        tell("collect, once more", cost([self.program, "collect", str(self.out)]))
        print(f"runs.jsonl: {(self.out / 'runs.jsonl').stat().st_size / 1e6:.0f} MB")

    def parquet(self) -> None:
        """Measure `collect --format parquet`."""
        tell("collect --format parquet", cost([self.program, "collect", str(self.out), "--format", "parquet"]))
        print(f"runs.parquet: {(self.out / 'runs.parquet').stat().st_size / 1e6:.0f} MB")

    def report(self) -> None:
        """Measure `report`."""
        tell("report", cost([self.program, "report", str(self.out)]))
        print(f"report.html: {(self.out / 'report.html').stat().st_size / 1e6:.1f} MB")

    def resume(self) -> None:
        """Measure the time until the first run has ended, if only the last thousand runs are missing."""
        runs = self.out / "runs.jsonl"
        with runs.open("rb+") as file:
            file.seek(-(1 << 21), os.SEEK_END)
            tail = file.read()
            cut = runs.stat().st_size - len(tail) + tail.index(b"\n") + 1
            missing = tail.count(b"\n") - 1
            file.truncate(cut)
        segments = self.out / "runs"
        words = self.shard("0/1")
        self.first_run(f"resuming one shard of all, {missing} runs missing", words, segments)
        for path in segments.iterdir():
            path.unlink()
        words = [self.program, "run", str(self.study), "--out", str(self.out), "--threads", "2", "--quiet"]
        self.first_run("resuming without shards, the same missing", words, runs)

    def first_run(self, what: str, words: list[str], grows: Path) -> None:
        """Start a process, and measure the time until its first run has ended and until it exits."""

        def ended() -> int:
            if grows.is_file():
                return grows.stat().st_size
            return sum(path.read_bytes().count(b'{"ended"') for path in grows.glob("*"))

        before, began = ended(), time.monotonic()
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        while ended() <= before:
            assert process.poll() is None, what
            time.sleep(0.005)
        first = time.monotonic() - began
        _, _, used = os.wait4(process.pid, 0)
        print(
            f"{what}: the first has ended after {first:.2f} s; all, with the runs that are there read, after "
            f"{time.monotonic() - began:.1f} s, {used.ru_utime + used.ru_stime:.1f} CPU s, {used.ru_maxrss / 1000:.0f} MB",
            flush=True,
        )

    def many(self) -> None:
        """Measure `status`, `collect` and an empty shard on the same runs in 10,000 segments."""
        out, count = self.folder / "many", 10_000
        # Split in another process: the peak memory of this one would count as that of every process
        # that it starts later.
        if (other := os.fork()) == 0:
            self.split(out, count)
            os._exit(0)
        assert os.waitpid(other, 0)[1] == 0
        tell(f"a shard of {count} that has nothing to do", cost(self.shard(f"7/{count}", out=out)))
        tell(f"status of {count} segments", cost([self.program, "status", str(out)], statuses=(0, 3)))
        tell(f"collect of {count} segments", cost([self.program, "collect", str(out)], statuses=(0, 3)))
        same = (out / "runs.jsonl").read_bytes() == (self.out / "runs.jsonl").read_bytes()
        print("the same bytes as before" if same else "OTHER BYTES")

    def split(self, out: Path, count: int) -> None:
        """Write the collected runs as segments of `count` shards."""
        shutil.rmtree(out, ignore_errors=True)
        (out / "runs").mkdir(parents=True)
        for name in ("experiment.toml", "asked.toml"):
            shutil.copy(self.out / name, out)
        parts: list[list[bytes]] = [[] for _ in range(count)]
        with (self.out / "runs.jsonl").open("rb") as runs:
            for at, line in enumerate(runs):
                ended = b'{"ended":{"key":"%s","took":0.001,"at":0.1}}\n' % line[8:40]
                parts[at % count] += [line, ended]
        for at, lines in enumerate(parts):
            first = b'{"segment":{"shard":%d,"of":%d,"host":"node","threads":1,"runs":%d}}\n' % (at, count, len(lines) // 2)
            last = b'{"over":{"at":0.1,"stopped":false}}\n'
            (out / "runs" / f"{at}of{count}.node-{at}.jsonl").write_bytes(b"".join([first, *lines, last]))

    def overhead(self) -> None:
        """Measure a study of longer runs as one shard, compared with the study without shards."""
        study = self.folder / "longer.toml"
        study.write_text(LONGER)
        local, shared = self.folder / "longer-local", self.folder / "longer-shared"
        pairs = []
        for _ in range(5):
            for folder in (local, shared):
                shutil.rmtree(folder, ignore_errors=True)
            alone = cost([self.program, "run", str(study), "--out", str(local), "--threads", "1", "--quiet"])
            part = cost(self.shard("0/1", study, shared))
            pairs.append((alone.cpu, part.cpu))
            print(f"200 runs of 4000 jobs: {alone.cpu:.2f} CPU s, as a shard {part.cpu:.2f}", flush=True)
        again = cost(self.shard("0/1", study, shared))
        print(f"start-up of a shard that has nothing to do: {again.cpu:.3f} CPU s")
        alone, part = (sorted(of)[len(of) // 2] for of in zip(*pairs, strict=True))
        print(f"median: {alone:.2f} and {part:.2f} CPU s: {100 * (part / alone - 1):+.1f} %")
        two = []
        for _ in range(3):
            shutil.rmtree(shared)
            one = cost(self.shard("0/1", study, shared)).clock
            shutil.rmtree(shared)
            both = cost(self.shard("0/2", study, shared), self.shard("1/2", study, shared)).clock
            two.append(one / both)
            print(f"one worker {one:.2f} s, two {both:.2f} s: {one / both:.2f} times as fast", flush=True)


PARTS = ("overhead", "fill", "status", "collect", "parquet", "report", "many", "resume")


def main() -> None:
    """Measure the parts that the arguments select."""
    program, folder, *rest = sys.argv[1:]
    scenarios, replications = (int(word) for word in rest[:2]) if len(rest) > 1 else (1000, 1000)
    sweep = Sweep(str(Path(program).absolute()), Path(folder), scenarios, replications)
    for part in rest[2:] or PARTS:
        getattr(sweep, part)()


if __name__ == "__main__":
    main()
