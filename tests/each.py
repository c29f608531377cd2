"""Tables of cases as one test: thousands of small tests cost more than what they check."""

from __future__ import annotations

__all__ = ("each",)

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import pytest
from _pytest.mark.structures import ParameterSet

F = TypeVar("F", bound=Callable[..., Any])


def each(
    names: str | Iterable[str], cases: Iterable[Any], *, ids: Callable[[Any], object] = repr
) -> Callable[[F], F]:
    """Run a test for each case, as `pytest.mark.parametrize` does, but as one test.

    The test fails if one case fails, and its error names all that do. It is for functions that
    change nothing which another case sees. `ids` returns the name of a value. A case may be a
    `pytest.param` with an id, but not with marks.
    """
    fields = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    is_alone = isinstance(names, str) and len(fields) == 1
    cases = list(cases)
    if any(isinstance(case, ParameterSet) and case.marks for case in cases):
        raise TypeError("each: expected cases without marks. Use parametrize for marks.")
    table = [
        (name, dict(zip(fields, row, strict=True)))
        for name, row in (_named(case, ids, is_alone=is_alone) for case in cases)
    ]

    def decorate(function: F) -> F:
        run: Any = _run_async if inspect.iscoroutinefunction(function) else _run_plain
        wrapped: Any = wraps(function)(run(function, table))
        signature = inspect.signature(function)
        left = [one for name, one in signature.parameters.items() if name not in fields]
        wrapped.__signature__ = signature.replace(parameters=left)
        typed: F = wrapped
        return typed

    return decorate


def _named(
    case: Any, ids: Callable[[Any], object], *, is_alone: bool
) -> tuple[str, tuple[Any, ...]]:
    """Return the name of a case and its values; a `pytest.param` may have a name of its own."""
    if isinstance(case, ParameterSet):
        row, name = tuple(case.values), case.id
    else:
        row, name = (case,) if is_alone else tuple(case), None
    return str(name) if name else ", ".join(str(ids(value))[:200] for value in row), row


_Table = list[tuple[str, dict[str, Any]]]


def _run_plain(function: Callable[..., Any], table: _Table) -> Callable[..., Any]:
    def run(**fixtures: Any) -> None:
        with _failures(table) as taking:
            for name, values in table:
                with taking(name):
                    function(**fixtures, **values)

    return run


def _run_async(function: Callable[..., Any], table: _Table) -> Callable[..., Any]:
    async def run(**fixtures: Any) -> None:
        with _failures(table) as taking:
            for name, values in table:
                with taking(name):
                    await function(**fixtures, **values)

    return run


@contextmanager
def _failures(table: _Table) -> Iterator[Any]:
    """Yield a context for each case, which keeps its failure; raise what was kept at the end."""
    if not table:
        pytest.skip("there are no cases")
    failures: list[BaseException] = []

    @contextmanager
    def taking(name: str) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"case: {name}")
            failures.append(error)

    yield taking
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {len(table)} cases", failures[:20])
