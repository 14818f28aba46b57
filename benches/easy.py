"""EASY backfilling on a flat machine in plain Python, with which whole runs of ``meshwork`` are compared.

Replays the jobs of a log in the Standard Workload Format, which may be compressed. Prints the number of jobs, their
mean wait, and the end of the last one: ``python3 benches/easy.py LOG PROCESSORS``.
"""

import gzip
import heapq
import sys
from bisect import bisect_left, insort


def read(path, processors):
    """Return (arrival, run time, processors, estimate) of each job that can run, in order of arrival."""
    opener = gzip.open if path.endswith(".gz") else open
    jobs = []
    with opener(path, "rt") as lines:
        for line in lines:
            if line.startswith(";") or not line.strip():
                continue
            fields = line.split()
            arrival, runtime = float(fields[1]), float(fields[3])
            count, estimate = int(fields[7]), float(fields[8])
            if count <= 0:
                count = int(fields[4])
            if estimate <= 0:
                estimate = runtime
            if runtime >= 0 and 0 < count <= processors:
                jobs.append((arrival, runtime, count, estimate))
    jobs.sort(key=lambda job: job[0])
    return jobs


def easy(jobs, processors):
    """Replay the jobs; return the sum of waits and the end of the last job."""
    free, now, waits, coming = processors, 0.0, 0.0, 0
    queue = []  # waiting jobs in order of arrival
    ends = []  # heap of the ends of running jobs
    expected = []  # ends of running jobs by their estimates, sorted

    def start(number):
        nonlocal free, waits
        arrival, runtime, count, estimate = jobs[number]
        waits += now - arrival
        free -= count
        heapq.heappush(ends, (now + runtime, number, now + estimate))
        insort(expected, (now + estimate, number))

    while coming < len(jobs) or ends:
        now = min(ends[0][0] if ends else float("inf"), jobs[coming][0] if coming < len(jobs) else float("inf"))
        while ends and ends[0][0] == now:
            _, number, promised = heapq.heappop(ends)
            free += jobs[number][2]
            del expected[bisect_left(expected, (promised, number))]
        while coming < len(jobs) and jobs[coming][0] == now:
            queue.append(coming)
            coming += 1
        while queue and jobs[queue[0]][2] <= free:
            start(queue.pop(0))
        if not queue or not free:
            continue
        # Compute the shadow time and the extra nodes.
        wanted, left, shadow = jobs[queue[0]][2], free, None
        for promised, number in expected:
            if shadow is not None and promised > shadow:
                break
            left += jobs[number][2]
            if left >= wanted and shadow is None:
                shadow = max(promised, now)
        left -= wanted
        waiting = [queue[0]]
        for number in queue[1:]:
            _, _, count, estimate = jobs[number]
            in_time = now + estimate <= shadow
            if count <= free and (in_time or count <= left):
                if not in_time:
                    left -= count
                start(number)
            else:
                waiting.append(number)
        queue = waiting
    return waits, now


def main():
    """Replay the log that the arguments name, and print the result."""
    path, processors = sys.argv[1], int(sys.argv[2])
    jobs = read(path, processors)
    waits, end = easy(jobs, processors)
    print(f"{len(jobs)} jobs, mean wait {waits / len(jobs):.4f}, the last at {end:.0f}")


if __name__ == "__main__":
    main()
