"""Measures the intervals of `meshwork ops when` against recorded starts.

`python3 benches/start_times.py MESHWORK FOLDER [EVERY [FUTURES]]`: each folder in FOLDER is a history with
`sacct-duplicates-epoch.txt.gz`, `topology.yaml`, `slurm.conf`, tables of `sacctmgr` if the site has any
(`TABLES`), and `snapshots/squeue-start.txt.gz` (outputs of
`squeue --start -h -o "%i|%u|%P|%S"`, each after a line `@ BEFORE AFTER`). At
every EVERYth snapshot (default 5), the start of each waiting job is estimated with FUTURES futures (default 200). The
table has, for each history, the number of estimates for jobs that started, the shares of starts within, before
and after the 90 % interval, the median absolute error of the median, that of `squeue --start` over the
jobs for which it has an estimate, and that of `ops when` over the same jobs.
"""

import gzip
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TABLES = {
    "--qos": "sacctmgr-qos.txt",
    "--assoc": "sacctmgr-assoc.txt",
    "--events": "sacctmgr-events-epoch.txt",
    "--reservations": "sacctmgr-reservations-epoch.txt",
}


def snapshots(folder):
    """Yield the time of each snapshot with Slurm's estimates of starts by job."""
    at, told = None, {}
    with gzip.open(folder / "snapshots" / "squeue-start.txt.gz", "rt") as lines:
        for line in lines:
            if line.startswith("@"):
                if at is not None:
                    yield at, told
                at, told = int(float(line.split()[1])), {}
            elif at is not None and line.count("|") >= 3:
                job, _, _, start = line.rstrip("\n").split("|")[:4]
                if start.isdigit():
                    told[job] = int(start)
    if at is not None:
        yield at, told


def import_site(meshwork, folder, site):
    """Import the history in a folder as a site."""
    files = ["--sacct", folder / "sacct-duplicates-epoch.txt.gz", "--conf", folder / "slurm.conf"]
    files += ["--topology", folder / "topology.yaml", "-o", site]
    for option, name in TABLES.items():
        files += [option, folder / name] if (folder / name).is_file() else []
    subprocess.run([meshwork, "ops", "import", *files], check=True, capture_output=True)


def starts(folder):
    """Return the starts of each job in ascending order."""
    found = {}
    with gzip.open(folder / "sacct-duplicates-epoch.txt.gz", "rt") as lines:
        header = next(lines).rstrip("\n").split("|")
        job, start = header.index("JobID"), header.index("Start")
        for line in lines:
            cells = line.split("|")
            if len(cells) > start and cells[start].isdigit():
                found.setdefault(cells[job], []).append(int(cells[start]))
    return {job: sorted(times) for job, times in found.items()}


def measure(meshwork, folder, every, futures, site):
    """Return the number of estimates, their positions, and errors: of the median, of Slurm, of the median there."""
    import_site(meshwork, folder, site)
    real, place = starts(folder), [0, 0, 0]
    errors, slurm, beside, asked = [], [], [], 0
    for at, told in list(snapshots(folder))[::every]:
        command = [meshwork, "ops", "when", site, "--all", "--at", str(at), "--json"]
        command += ["--futures", futures]
        said = subprocess.run(command, capture_output=True, text=True)
        if said.returncode != 0:
            continue
        answers = json.loads(said.stdout)["jobs"]
        for own in answers:
            start = next((time for time in real.get(own["job"], []) if time >= at), None)
            if start is None or own["reason"] is not None:
                continue
            asked += 1
            if own["earliest"] is None or start < own["earliest"]:
                place[1] += 1
            elif own["latest"] is not None and start > own["latest"]:
                place[2] += 1
            else:
                place[0] += 1
            if own["median"] is None:
                errors.append(10**9)
                continue
            errors.append(abs(own["median"] - start))
            if own["job"] in told:
                slurm.append(abs(told[own["job"]] - start))
                beside.append(errors[-1])
    return asked, place, errors, slurm, beside


def main():
    """Print a line for each history, and one for all histories."""
    meshwork, root = sys.argv[1], Path(sys.argv[2])
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    futures = sys.argv[4] if len(sys.argv) > 4 else "200"
    print("history  starts  inside  before  after  error  squeue --start  error there")

    def line(name, asked, place, errors, slurm, beside):
        share = [f"{100 * own / max(asked, 1):5.1f}%" for own in place]
        middle = [statistics.median(own) if own else 0 for own in (errors, slurm, beside)]
        print(f"{name:7}  {asked:6}  {'  '.join(share)}  " + "  ".join(f"{m:7.1f}" for m in middle))

    whole = [0, [0, 0, 0], [], [], []]
    for folder in sorted(path for path in root.iterdir() if (path / "snapshots").is_dir()):
        with tempfile.TemporaryDirectory() as out:
            found = measure(meshwork, folder, every, futures, str(Path(out) / "site"))
        line(folder.name, *found)
        whole[0] += found[0]
        whole[1] = [a + b for a, b in zip(whole[1], found[1], strict=True)]
        for all_of, own in zip(whole[2:], found[2:], strict=True):
            all_of.extend(own)
    line("all", *whole)


if __name__ == "__main__":
    main()
