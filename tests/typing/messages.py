"""What mypy and pyright say of files, and those messages as comments below the lines they name.

`python -m tests.typing.messages && ruff format tests/typing` writes the comments in `mistakes/`
again. Read what it changed: users see these messages.
"""

from __future__ import annotations

__all__ = ("MISTAKES", "ROOT", "Finding", "annotated", "expected", "findings")

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
MISTAKES = sorted((ROOT / "tests" / "typing" / "mistakes").glob("*.py"))

# What only follows from another reported error, or from the place of the files.
_NO_MATTER = re.compile(
    "reportUnknown|reportUntypedFunctionDecorator|untyped-decorator|reportMissingTypeStubs"
)
_COMMENT = re.compile(r"\s*# (mypy|pyright) says: ")  # "# mypy: " would be an option
_PATIENCE = 300  # seconds


class Finding(NamedTuple):
    """One message of one checker; of a long one the first line."""

    line: int
    checker: str
    text: str


def findings(files: Sequence[Path], search: Path | None = None) -> dict[Path, list[Finding]]:
    """Return what each strict checker says of `files`; modules in `search` are found as well.

    No two files may have one name: mypy remembers messages by module, and the folder of then.
    """
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    if search is not None:
        environment["MYPYPATH"] = environment["PYTHONPATH"] = str(search)
    names = [str(file) for file in files]
    commands = [
        (sys.executable, "-m", "mypy", "--output", "json", *names),
        (sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, *names),
    ]
    running = [
        subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for command in commands
    ]
    said = [process.communicate(timeout=_PATIENCE) for process in running]
    for process, (_, errors) in zip(running, said, strict=True):
        assert process.returncode in (0, 1), errors.decode()
    found: dict[str, set[Finding]] = {file.name: set() for file in files}
    for name, finding in [*_of_mypy(said[0][0]), *_of_pyright(said[1][0])]:
        found[name].add(finding)
    return {file: sorted(found[file.name]) for file in files}


def annotated(text: str, found: Iterable[Finding]) -> str:
    """Return `text` with each message as a comment below its line."""
    lines = text.splitlines()
    for finding in sorted(found, reverse=True):
        line = lines[finding.line - 1]
        indent = line[: len(line) - len(line.lstrip())]
        lines.insert(finding.line, f"{indent}# {finding.checker} says: {finding.text}")
    return "".join(f"{line}\n" for line in lines)


def expected(text: str) -> list[Finding]:
    """Return what the comments in `text` say."""
    found: list[Finding] = []
    above = 0
    for number, line in enumerate(text.splitlines(), start=1):
        comment = _COMMENT.match(line)
        if comment is None:
            above = number
        else:
            found.append(Finding(above, comment[1], line[comment.end() :]))
    return sorted(found)


def _of_mypy(output: bytes) -> Iterable[tuple[str, Finding]]:
    for line in output.splitlines():
        one: dict[str, Any] = json.loads(line)
        text = f"{one['message']}  [{one['code']}]"
        if one["severity"] == "error" and not _NO_MATTER.search(text):
            yield Path(one["file"]).name, Finding(one["line"], "mypy", text)


def _of_pyright(output: bytes) -> Iterable[tuple[str, Finding]]:
    for one in json.loads(output)["generalDiagnostics"]:
        text = f"{one['message'].splitlines()[0]} ({one.get('rule', 'syntax')})"
        if not _NO_MATTER.search(text):
            line = one["range"]["start"]["line"] + 1
            yield Path(one["file"]).name, Finding(line, "pyright", text)


def _write_anew() -> None:
    for file in MISTAKES:
        lines = file.read_text("utf-8").splitlines(keepends=True)
        file.write_text("".join(line for line in lines if not _COMMENT.match(line)), "utf-8")
    for file, found in findings(MISTAKES).items():
        file.write_text(annotated(file.read_text("utf-8"), found), "utf-8")


if __name__ == "__main__":
    _write_anew()
