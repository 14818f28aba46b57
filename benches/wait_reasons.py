"""Compares the reasons of `meshwork ops explain --all` with those that Slurm gave.

`python3 benches/wait_reasons.py MESHWORK FOLDER [EVERY]`: each folder in FOLDER is a history as for
`start_times.py`, with `snapshots/squeue.txt.gz` (outputs of `squeue -a -r -h -o "%i|…|%T|%r|…"` whose
columns a comment names, each after a line `@ BEFORE AFTER`). At every EVERYth snapshot (default 6), each
pending job's reason is compared. A snapshot late in a second is compared with the state after it. Prints,
for each of Slurm's reasons, the number of jobs and the share of agreement, then the most frequent
differences.
"""

import collections
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from start_times import import_site


def snapshots(folder):
    """Yield the time of each snapshot with Slurm's reasons by job."""
    at, told, columns = None, {}, []
    with gzip.open(folder / "snapshots" / "squeue.txt.gz", "rt") as lines:
        for line in lines:
            if line.startswith("# JobID|"):
                columns = line[2:].rstrip("\n").split("|")
            elif line.startswith("@"):
                if at is not None:
                    yield at, told
                at, told = round(float(line.split()[1])), {}
            elif at is not None and line.count("|") >= 8:
                cells = dict(zip(columns, line.rstrip("\n").split("|"), strict=False))
                if cells["State"] == "PENDING":
                    told[cells["JobID"]] = cells["Reason"]
    if at is not None:
        yield at, told


def main():
    """Print the tables."""
    meshwork, folders = sys.argv[1], Path(sys.argv[2])
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    count, agreed = collections.Counter(), collections.Counter()
    differences = collections.Counter()
    for folder in sorted(folders.iterdir()):
        if not (folder / "snapshots" / "squeue.txt.gz").is_file() or not folder.name.isalpha():
            continue
        with tempfile.TemporaryDirectory() as site:
            import_site(meshwork, folder, site + "/site")
            for at, told in list(snapshots(folder))[::every]:
                command = [meshwork, "ops", "explain", site + "/site", "--all", "--at", str(at), "--json"]
                said = subprocess.run(command, capture_output=True, text=True, check=False)
                if said.returncode != 0:
                    continue
                answers = {own["job"]: own["slurm"] for own in json.loads(said.stdout)["jobs"]}
                for job, reason in told.items():
                    if job not in answers:
                        continue
                    ours = answers[job]
                    count[reason] += 1
                    agreed[reason] += ours == reason
                    if ours != reason:
                        differences[folder.name, reason, ours] += 1
    for reason, number in count.most_common():
        print(f"{reason:60} {number:6} {100 * agreed[reason] / number:6.1f} %")
    print(f"{'all':60} {count.total():6} {100 * agreed.total() / count.total():6.1f} %")
    for (name, reason, ours), number in differences.most_common(25):
        print(f"{number:4} {name}: Slurm says {reason}, the model {ours}")


if __name__ == "__main__":
    main()
