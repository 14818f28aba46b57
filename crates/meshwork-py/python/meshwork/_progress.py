"""Progress of a study: a bar in a terminal, a line in a notebook, or a function of the caller."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Progress(NamedTuple):
    """Progress of a study.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.Progress(done=2, total=8, reused=0, failed=0, begun=2.0, jobs=500).share
    0.5
    """

    done: int
    """Runs that have ended, including those taken from the store."""
    total: int
    """Number of runs required; with `precision` it grows."""
    reused: int
    """Runs taken from the store."""
    failed: int
    """Runs that failed."""
    begun: float
    """Progress of the unfinished runs, in units of runs."""
    jobs: int
    """Jobs that have finished in all runs so far."""

    @property
    def share(self) -> float:
        """The completed share of the study, from 0 to 1."""
        return min(1.0, (self.done + self.begun) / self.total) if self.total else 0.0


class Bar:
    """A progress bar of one line: on standard error if that is a terminal, and in the output of a notebook."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._began = time.monotonic()
        self._handle: Any = _notebook()
        self._terminal = self._handle is None and sys.stderr.isatty()

    def __call__(self, progress: Progress) -> None:
        """Draw the bar."""
        if self._handle is not None:
            self._handle.update({"text/plain": self.line(progress)}, raw=True)
        elif self._terminal:
            sys.stderr.write("\r\x1b[K" + self.line(progress))
            sys.stderr.flush()

    def line(self, progress: Progress) -> str:
        """Return the text of the bar."""
        width = 30
        full = int(progress.share * width)
        spent = time.monotonic() - self._began
        left = spent / progress.share - spent if progress.share > 0.0 else 0.0
        failed = f", {progress.failed} failed" if progress.failed else ""
        return (
            f"{self._name} |{'█' * full}{' ' * (width - full)}| {progress.done}/{progress.total} runs{failed} "
            f"[{spent:.0f} s<{left:.0f} s]"
        )

    def end(self) -> None:
        """End the line of the bar."""
        if self._terminal:
            sys.stderr.write("\n")
            sys.stderr.flush()


def _notebook() -> Any:
    """Return the updatable output of a notebook, or `None` outside of one."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    if running is None or type(running).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

    return display({"text/plain": ""}, raw=True, display_id=True)


def teller(
    progress: bool | Callable[[Progress], object], name: str
) -> tuple[Callable[..., None] | None, Callable[[], None]]:
    """Return the function that receives the progress of a study, and a function to call at its end."""
    if progress is False:
        return None, lambda: None
    bar = Bar(name) if progress is True else None
    draw = bar if bar is not None else progress
    if not callable(draw):
        raise TypeError(f"`progress` is {progress!r}, but must be True, False or a function of a Progress")

    def tell(*numbers: Any) -> None:
        draw(Progress(*numbers))

    return tell, bar.end if bar is not None else lambda: None
