#!/bin/sh
# Repeats docs/which-allocator.md: all races, and the plots of their reports. From the root of the project:
#
#   examples/which-allocator/repeat.sh FOLDER
#
# MESHWORK is the program, `meshwork` unless it says another. The races on logs need those of the Parallel Workloads
# Archive in examples/which-allocator/logs, and are left out without them. A killed run goes on where it was.
set -eu
here=$(dirname "$0")
out=${1:?say into which folder}
meshwork=${MESHWORK:-meshwork}
set -- "$here"/models/*.toml
if ls "$here"/logs/*.swf.gz >/dev/null 2>&1; then
    set -- "$@" "$here"/logs/*.toml
else
    echo "no logs in $here/logs: the races on logs are left out" >&2
fi
"$meshwork" choose "$@" --within 10% --out "$out"
"$meshwork" report "$out" --figures "$out/plots"
