"""Exceptions, each with the message that the command would print.

Examples
--------
>>> import meshwork as mw
>>> mw.Pool(mw.mesh(4, 4), allocator="first_fitt")
Traceback (most recent call last):
    ...
meshwork.InputError: unknown allocator `first_fitt` (did you mean `first_fit`? known: ...
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._study import Results


class MeshworkError(Exception):
    """The base class of all exceptions of Meshwork.

    Its text is one sentence: what was given, what would have been right, and where.

    Examples
    --------
    >>> import meshwork as mw
    >>> issubclass(mw.InputError, mw.MeshworkError), issubclass(mw.RunError, mw.MeshworkError)
    (True, True)
    """


class InputError(MeshworkError, ValueError):
    """The input is wrong: a name, a key, a value, a file, or a table.

    Examples
    --------
    >>> import meshwork as mw
    >>> mw.Pool(mw.mesh(4, 4)).allocate("many")
    Traceback (most recent call last):
        ...
    meshwork.InputError: the request is 'many', but must be a number of processors such as 7, ...
    """


class RunError(MeshworkError, RuntimeError):
    """A run or another operation failed.

    Attributes
    ----------
    results : Results or None
        The results of the runs that did not fail, if some failed.

    Examples
    --------
    >>> import meshwork as mw
    >>> jobs = {"submit": [0, 1], "runtime": [1, -1], "nodes": [1, 1]}
    >>> try:
    ...     mw.Study(machine=mw.flat(8), workload=jobs, sweep={"seed": [1, 2]}).run()
    ... except mw.MeshworkError as error:
    ...     "runtime is -1, but must be" in str(error)
    True
    """

    results: Results | None = None


class StrategyError(RunError):
    """A strategy in Python raised an exception, or returned an invalid answer.

    The cause is the exception that the strategy raised, with its traceback; the message names the strategy, the call,
    and the run.

    Examples
    --------
    >>> import meshwork as mw
    >>> @mw.register
    ... class Raises:
    ...     "It raises."
    ...     def choose(self, ask):
    ...         return 1 // 0
    >>> try:
    ...     mw.Pool(mw.mesh(4, 4), "raises").allocate(3)
    ... except mw.StrategyError as error:
    ...     type(error.__cause__).__name__
    'ZeroDivisionError'
    """


# Tracebacks then show the public names, `meshwork.InputError` and so on.
for _error in (MeshworkError, InputError, RunError, StrategyError):
    _error.__module__ = "meshwork"
