"""Facts about functions of users."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from kinwire.support.functions import accepts
from tests.each import each


def two(a: Any, b: Any = None) -> None: ...
def many(*a: Any) -> None: ...
def named(a: Any, *, b: Any) -> None: ...
def optional(a: Any, /, *, b: Any = None, **c: Any) -> None: ...
async def later(a: Any, b: Any, c: Any) -> None: ...


@wraps(two)
def wrapping(*a: Any) -> None: ...


class Things:
    def method(self, a: Any, b: Any = 1) -> None: ...
    @staticmethod
    def alone(a: Any) -> None: ...
    @classmethod
    def of_class(cls, a: Any) -> None: ...
    def __call__(self, a: Any, b: Any) -> None: ...


@each(
    "function",
    [
        *(two, many, named, optional, later, wrapping, partial(two, 1), lambda a: a),
        *(Things().method, Things.method, Things.alone, Things().of_class, Things(), Things),
    ],
)
def test_a_function_accepts_as_many_arguments_as_its_signature(
    function: Callable[..., Any],
) -> None:
    for count in range(5):
        try:
            inspect.signature(function).bind(*range(count))
        except TypeError:
            assert not accepts(function, count)
        else:
            assert accepts(function, count)
