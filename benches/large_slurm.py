"""Writes three Slurm machines with requests for `meshwork place --slurm` into the current folder.

`tree`: three levels, 685 switches, 11,520 nodes, 40,000 requests with about half of the nodes held;
`chain`: 800 switches, each above the previous one; `partitions`: 5,000 partitions of all 10,000 nodes.
Each machine is a topology NAME.yaml, a slurm.conf NAME.conf and requests NAME.jsonl.
"""

import json
import random


def write(name, switches, nodes, partitions, questions, most):
    """Write one machine with a tree of switches, and its requests."""
    lines = "".join(f"      - {{switch: {s}, {k}: '{v}'}}\n" for s, k, v in switches)
    with open(f"{name}.yaml", "w") as topology:
        topology.write("- topology: t\n  tree:\n    switches:\n" + lines)
    parts = "".join(
        f"PartitionName=p{i} Nodes=ALL Default={'NO' if i else 'YES'}\n" for i in range(partitions)
    )
    with open(f"{name}.conf", "w") as conf:
        conf.write(f"NodeName=n[0-{nodes - 1}] CPUs=2\n" + parts)
    pick, held, used = random.Random(1), {}, 0
    with open(f"{name}.jsonl", "w") as asked:
        for i in range(questions):
            if held and used > nodes // 2 * pick.uniform(0.9, 1.1):
                gone = pick.choice(list(held))
                used -= held.pop(gone)
                asked.write(json.dumps({"op": "release", "id": gone}) + "\n")
            else:
                held[i] = pick.randint(1, most)
                used += held[i]
                asked.write(json.dumps({"op": "allocate", "id": i, "nodes": held[i]}) + "\n")


cuts = [i * 640 // 44 for i in range(45)]
tree = [(f"l{i}", "nodes", f"n[{18 * i}-{18 * i + 17}]") for i in range(640)]
tree += [(f"s{i}", "children", f"l[{cuts[i]}-{cuts[i + 1] - 1}]") for i in range(44)]
write("tree", [*tree, ("top", "children", "s[0-43]")], 11520, 1, 40000, 64)
chain = [("c0", "nodes", "n[0-63]")]
chain += [(f"c{i}", "children", f"c{i - 1}") for i in range(1, 800)]
write("chain", chain, 64, 1, 100, 8)
write("partitions", [("l", "nodes", "n[0-9999]")], 10000, 5000, 20, 64)
