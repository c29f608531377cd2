"""What is committed is what the documents give, byte for byte, wherever and however it is made.

Case B007: neither the hash seed nor the working directory nor the order of files shows.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from tests.generated.interpreter import PROGRAMS, ROOT


@cache
def generated() -> dict[str, bytes]:
    """Return what is committed, by file."""
    return {
        path.relative_to(ROOT / "generated").as_posix(): path.read_bytes()
        for path in sorted((ROOT / "generated").rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def started(seed: str, schema: Path, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(PROGRAMS / "digests.py"), str(schema)],
        cwd=folder,
        env=os.environ | {"PYTHONHASHSEED": seed},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """Digests by file of two builds that differ in all that must not show."""
    folder = tmp_path_factory.mktemp("elsewhere")
    copied = folder / "documents"
    copied.mkdir()
    for path in sorted((ROOT / "schema").glob("*.json"), reverse=True):
        shutil.copy(path, copied)
    running = [
        started("1", ROOT / "schema", ROOT),
        started("random", copied, folder),
    ]
    outputs = [one.communicate(timeout=60)[0] for one in running]
    assert [one.returncode for one in running] == [0, 0]
    return [json.loads(output) for output in outputs]


@pytest.mark.slow
def test_the_files_are_those_that_the_documents_give(builds: list[dict[str, str]]) -> None:
    assert set(builds[0]) == set(generated())


@pytest.mark.slow
def test_a_file_is_what_the_documents_give(builds: list[dict[str, str]]) -> None:
    present = {name: sha256(content).hexdigest() for name, content in generated().items()}
    stale = [name for name in present if present[name] != builds[0].get(name)]
    assert stale == [], "run: nox -s generate"


@pytest.mark.slow
def test_every_build_gives_the_same_bytes(builds: list[dict[str, str]]) -> None:  # B007
    assert builds[0] == builds[1]


TIME = re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d")
# Times in the examples of a document are part of it.
WRITTEN = {
    time
    for path in (ROOT / "schema").glob("*.json")
    for time in TIME.findall(path.read_text(encoding="utf-8"))
}


def test_a_file_does_not_contain_its_place_and_time_of_creation() -> None:  # B007
    places = (str(ROOT), str(Path(sys.executable).parent), "\r")
    texts = {name: content.decode() for name, content in generated().items()}
    assert [name for name, text in texts.items() if any(place in text for place in places)] == []
    assert [name for name, text in texts.items() if not set(TIME.findall(text)) <= WRITTEN] == []
