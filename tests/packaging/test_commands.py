"""README, CONTRIBUTING and CI give the same commands."""

from __future__ import annotations

import re

from tests.packaging.distribution import ROOT

SET_UP = "python3 -m venv .venv && .venv/bin/pip install -e '.[all]' && .venv/bin/kinwire demo"
TESTS = ".venv/bin/pip install -e '.[all,dev]' && .venv/bin/nox"


def code_lines(document: str) -> list[str]:
    """Return the lines of the shell blocks of a document in the root folder."""
    text = (ROOT / document).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:sh|console|bash)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line]


def test_the_readme_sets_up_and_shows_the_product_in_one_line() -> None:
    assert SET_UP in code_lines("README.md")


def test_the_readme_and_contributing_run_the_tests_with_the_same_line() -> None:
    assert TESTS in code_lines("README.md")
    assert code_lines("CONTRIBUTING.md")[0] == TESTS


def test_ci_runs_every_command_of_contributing_after_the_first() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    later = code_lines("CONTRIBUTING.md")[1:]
    assert len(later) == 5
    assert [line for line in later if line not in script] == []
