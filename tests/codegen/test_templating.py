"""Templates are compiled once, and what cannot be kept or read costs only time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from jinja2 import DictLoader, Environment

from kinwire_codegen.templating import template_environment

SOURCE = "{% for one in all %}[{{ one }}]{% endfor %}"
Compile = Callable[..., object]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which Python keeps what it compiles."""
    folder = tmp_path / "kept"
    monkeypatch.setattr(sys, "pycache_prefix", str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return folder


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that have been compiled."""
    sources: list[str] = []
    compile_: Compile = Environment.compile

    def noted(self: Environment, source: str, *rest: object) -> object:
        sources.append(source)
        return compile_(self, source, *rest)

    monkeypatch.setattr(Environment, "compile", noted)
    return sources


def rendered(source: str = SOURCE) -> str:
    """Return what a process that has just begun makes of a template."""
    environment = template_environment(autoescape=False)
    environment.loader = DictLoader({"one.j2": source})
    return environment.get_template("one.j2").render(all=[1, 2])


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_template_is_compiled_again_only_if_its_source_changes(
    kept: Path, compiled: list[str]
) -> None:
    assert [rendered(), rendered()] == ["[1][2]", "[1][2]"]
    assert compiled == [SOURCE]
    assert rendered(SOURCE + "!") == "[1][2]!"
    assert compiled == [SOURCE, SOURCE + "!"]
    assert len(files(kept)) == 1


def test_a_damaged_file_is_replaced(kept: Path, compiled: list[str]) -> None:
    rendered()
    [file] = files(kept)
    whole = file.read_bytes()
    head = len(whole) // 2
    for damaged in (
        b"",
        whole[:1],
        whole[:30],
        whole[:50],
        whole[:head],
        b"\xff" * 99,
        whole[:25] + b"\xff" * 99,
    ):
        compiled.clear()
        file.write_bytes(damaged)
        assert rendered() == rendered() == "[1][2]", damaged
        assert (compiled, file.read_bytes()) == ([SOURCE], whole), damaged


def test_a_folder_that_cannot_be_used_costs_only_time(
    kept: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.write_text("no folder")
    assert rendered() == rendered() == "[1][2]"
    kept.unlink()

    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr("jinja2.bccache.tempfile.NamedTemporaryFile", refused)
    assert rendered() == "[1][2]"
    assert (len(compiled), files(kept)) == (3, [])


def test_nothing_is_written_if_python_writes_no_bytecode(
    kept: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered() == "[1][2]"
    assert not kept.exists()
    monkeypatch.setattr(sys.implementation, "cache_tag", None)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert rendered() == "[1][2]"
    assert not kept.exists()


def test_several_at_once_leave_one_whole_file(kept: Path, compiled: list[str]) -> None:
    answers: list[str] = []
    threads = [Thread(target=lambda: answers.append(rendered())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["[1][2]"] * 8
    [_] = files(kept)
    compiled.clear()
    assert rendered() == "[1][2]"
    assert compiled == []
