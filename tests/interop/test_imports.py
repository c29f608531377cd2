"""Descriptions of other projects become documents and bindings without a method left out.

Packages of npm and PyPI have those of ACP, DAP and Chrome DevTools. LSP and A2A publish theirs in
repositories only: put `metaModel.json` and `a2a.json` into a folder, and name it in
KINWIRE_IMPORT_SOURCES. Without it, an excerpt stands for the metaModel.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kinwire_cli import main
from tests.interop import peers
from tests.interop.conftest import required
from tests.interop.lsp_excerpt import META_MODEL
from tests.test_readme import FILES, blocks_of, steps_of

pytestmark = pytest.mark.interop

PAGE = "docs/language-server.md"
COUNTS = re.compile(r" *\d+ (methods|types)")


MYPY = ("-m", "mypy", "--strict")


class Source(NamedTuple):
    kind: str
    options: tuple[str, ...]
    files: Callable[[], tuple[Path, ...]]
    counted: Callable[[Any], int]
    """Counts the methods in the content of one file."""
    expected: int | None = None
    """Of the version that is pinned."""


def npm(*paths: str) -> Callable[[], tuple[Path, ...]]:
    return lambda: tuple(required(peers.npm_packages) / path for path in paths)


def fetched(name: str) -> Callable[[], tuple[Path, ...]]:
    def files() -> tuple[Path, ...]:
        folder = os.environ.get("KINWIRE_IMPORT_SOURCES")
        if folder is None:
            pytest.skip("KINWIRE_IMPORT_SOURCES names no folder")
        return (Path(folder, name),)

    return files


def debug_protocol() -> tuple[Path, ...]:
    home = required(peers.lsp_python).parents[1]
    return tuple(home.glob("lib/*/site-packages/**/_debug_adapter/debugProtocol.json"))


def marked(content: Any) -> int:
    return len({one["x-method"] for one in content["$defs"].values() if "x-method" in one})


def domains(content: Any) -> int:
    found = content["domains"]
    return sum(len(one.get(kind, ())) for one in found for kind in ("commands", "events"))


def meta_model(content: Any) -> int:
    return len(content["requests"]) + len(content["notifications"])


def with_constant(content: Any) -> int:
    methods = (
        one.get("properties", {}).get("method", {}) for one in content["definitions"].values()
    )
    return sum("const" in method for method in methods)


def named(content: Any) -> int:
    names = content["definitions"].keys() - {"Request", "Event"}
    return sum(name.endswith(("Request", "Event")) for name in names)


SOURCES = {
    "acp": Source(
        "json-schema",
        ("--methods", "acp"),
        npm("@zed-industries/agent-client-protocol/schema/schema.json"),
        marked,
        17,
    ),
    "dap": Source("json-schema", ("--methods", "dap"), debug_protocol, named, 61),
    "cdp": Source(
        "cdp",
        (),
        npm(*(f"devtools-protocol/json/{name}_protocol.json" for name in ("browser", "js"))),
        domains,
        909,
    ),
    "lsp": Source("lsp", (), fetched("metaModel.json"), meta_model),
    "a2a": Source("json-schema", ("--methods", "a2a"), fetched("a2a.json"), with_constant),
}


@pytest.fixture(scope="module")
def mypy_cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which mypy reads pydantic once for all tests."""
    return {**os.environ, "MYPY_CACHE_DIR": str(tmp_path_factory.mktemp("mypy"))}


@pytest.mark.parametrize("name", SOURCES)
def test_no_method_is_left_out(name: str, tmp_path: Path, mypy_cache: dict[str, str]) -> None:
    source = SOURCES[name]
    files = source.files()
    options = (*source.options, "--as-version", "1", "--partial", "--out", str(tmp_path))
    assert main(["import", source.kind, *map(str, files), *options]) == 0
    document = json.loads((tmp_path / "1" / f"{name}.json").read_text())
    contents = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    assert len(document["methods"]) == sum(map(source.counted, contents))
    assert source.expected in (None, len(document["methods"]))
    if name != "cdp" or "KINWIRE_IMPORT_SOURCES" in os.environ:  # it takes longer than all others
        check_bindings(name, tmp_path, mypy_cache)


def check_bindings(name: str, folder: Path, env: dict[str, str]) -> None:
    package = f"{name}_bindings"
    schema = ("--schema", str(folder / "1"), "--out", str(folder))
    assert main(["generate", *schema, "--package", package]) == 0
    for command in (["-c", f"import {package}.{name}"], [*MYPY, "-p", package]):
        subprocess.run([sys.executable, *command], cwd=folder, env=env, check=True, timeout=120)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the page, and a metaModel."""
    folder = tmp_path_factory.mktemp("page")
    for block in blocks_of(PAGE):
        if block.kind in FILES:
            (folder / block.name).write_text(block.text, encoding="utf-8")
    whole = os.environ.get("KINWIRE_IMPORT_SOURCES")
    text = Path(whole, "metaModel.json").read_text() if whole else json.dumps(META_MODEL)
    (folder / "metaModel.json").write_text(text)
    # The environment was moved when it was complete, so its own scripts have a wrong first line.
    script = folder / "bin" / "pylsp"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {required(peers.lsp_python)} -m pylsp "$@"\n')
    script.chmod(0o755)
    return folder


def steps() -> Iterator[tuple[str, str]]:
    for block in blocks_of(PAGE):
        if block.kind == "console":
            yield from steps_of(block.text)


def test_the_page_of_the_language_server_shows_what_happens(
    page: Path, mypy_cache: dict[str, str]
) -> None:
    homes = (str(Path(sys.executable).parent), str(page / "bin"), os.environ["PATH"])
    path = os.pathsep.join(homes)
    for command, output in steps():
        done = subprocess.run(
            command,
            shell=True,
            cwd=page,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=60,
        )
        if "KINWIRE_IMPORT_SOURCES" not in os.environ:
            if command.startswith("grep"):
                continue  # the excerpt loses nothing
            output, done.stdout = COUNTS.sub("", output), COUNTS.sub("", done.stdout)
        assert done.stdout == output, (command, done.stderr)
    for checker in (MYPY, ["-m", "pyright", "--pythonpath", sys.executable]):
        check = [sys.executable, *checker, "hover.py", "content_length.py"]
        subprocess.run(check, cwd=page, env=mypy_cache, check=True, timeout=120)
