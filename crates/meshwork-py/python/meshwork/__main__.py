"""The command `meshwork`."""

from __future__ import annotations

import signal
import sys

from . import _meshwork as _native


def main() -> int:
    """Run the command for the command line of this process; return its exit status."""
    # Ctrl-C and a closed pipe end the process at once, as for any command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["meshwork", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
