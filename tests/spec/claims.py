"""Which tests claim which rows, as pytest collects them."""

from __future__ import annotations

__all__ = ("Claims", "collect")

import contextlib
import io
from collections import defaultdict

import pytest

from tests.spec.ledger import claims_of

# Row id to the tests that claim it: files and functions, without parameters.
Claims = dict[str, set[str]]


class _Collector:
    def __init__(self) -> None:
        self.claims: Claims = defaultdict(set)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            for claimed in claims_of(item):
                self.claims[claimed].add(item.nodeid.partition("[")[0])


def collect() -> Claims:
    """Return the claims of all tests, those of the slow rooms too.

    Raises:
        RuntimeError: The tests cannot be collected; the message is what pytest says.
    """
    collector = _Collector()
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = pytest.main(["--collect-only", "-qqq", "-m", ""], plugins=[collector])
    if status != pytest.ExitCode.OK:
        raise RuntimeError(said.getvalue())
    return dict(collector.claims)
