"""What lies in a `rules` folder is pure: no I/O, no clock, no chance, no event loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import kinwire
from tests.each import each

HOME = Path(kinwire.__file__).parent
NOT_PURE = {"background", "callbacks", "signals", "watchdog"}  # of support/
RULES = sorted(
    [*HOME.glob("*/rules/**/*.py")]
    + [one for one in HOME.glob("support/**/*.py") if one.stem not in NOT_PURE]
)

IMPURE = {
    "anyio",
    "asyncio",
    "io",
    "kinwire.rpc.session",
    "kinwire.storage",
    "kinwire.transports",
    "os",
    "pathlib",
    "random",
    "secrets",
    "socket",
    "subprocess",
    "threading",
    "time",
    "trio",
}


TEXT_ALONE = {
    "os.PathLike",
    "os.fspath",
    "os.path.commonpath",
    "os.path.isabs",
    "os.path.join",
    "os.path.normpath",
}
"""Names of modules that are not pure, which look at nothing but their arguments."""


def impurities(source: str) -> Iterator[str]:
    """Yield what makes a module impure."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                found = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), names=names):
                named = [f"{module}.{alias.name}" for alias in names]
                found = [module, *named] if not TEXT_ALONE.issuperset(named) else []
            case ast.AsyncFunctionDef() | ast.Await():
                yield f"line {node.lineno} is asynchronous"
                continue
            case _:
                continue
        bad = (name for name in found if {name, name.partition(".")[0]} & IMPURE)
        yield from (f"line {node.lineno} imports {name}" for name in bad)


@each("path", RULES, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_rules_are_pure(path: Path) -> None:
    assert list(impurities(path.read_text(encoding="utf-8"))) == []


@each(
    "source",
    [
        "import time",
        "from kinwire.rpc.session import Session",
        "from kinwire.rpc import session",
        "from os import fspath, stat",
        "import anyio.lowlevel",
        "async def rule(): ...",
        "def late():\n    from random import random",
    ],
)
def test_what_is_impure_is_seen(source: str) -> None:
    assert list(impurities(source))
