"""`kinwire docs` as a user runs it: what it writes, says and refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from kinwire.cli.command import main
from kinwire_codegen.site.writing import read_site, write_site
from tests.codegen.site.conftest import GOLDEN


def docs(*arguments: str | Path) -> int:
    from argparse import ArgumentParser

    from kinwire_codegen.commands.docs import Docs

    parser = ArgumentParser()
    Docs.configure(parser)
    return Docs.run(parser.parse_args(list(map(str, arguments))))


def test_a_site_is_built_and_has_nothing_to_mend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "site"
    assert docs("build", "--schema", GOLDEN, "--out", out) == 0
    told = capsys.readouterr().out
    assert f"{out}: " in told
    assert " pages, " in told
    assert docs("check", "--schema", GOLDEN, "--out", out) == 0
    assert "nothing to mend" in capsys.readouterr().out
    (out / "errors.html").unlink()
    assert docs("check", "--schema", GOLDEN, "--out", out) == 1
    assert "leads nowhere. Mend the link" in capsys.readouterr().out


def test_a_second_build_writes_what_changed_and_removes_what_is_gone(tmp_path: Path) -> None:
    out = tmp_path / "site"
    assert write_site({"a/b.html": b"1", "c.html": b"2"}, out) == 2
    assert write_site({"a/b.html": b"3"}, out) == 2
    assert read_site(out) == {"a/b.html": b"3"}


def test_a_folder_of_something_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "novel.txt").write_text("Call me", encoding="utf-8")
    assert docs("build", "--schema", GOLDEN, "--out", tmp_path) == 1
    assert "holds files that are not of a site" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["novel.txt"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["check", "--out", "nowhere"], "nowhere: there is no site"),
        (["build", "--guides", "nowhere"], "nowhere: there is no such folder"),
        (["build", "--version", "2"], "a version is written as NAME=PLACE"),
        (["build", "--against", "nowhere"], "there is neither a path nor a commit"),
    ],
)
def test_a_slip_is_told_before_anything_is_written(
    arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "site")] if "--out" not in arguments else []
    assert docs(*arguments, "--schema", str(GOLDEN), *out) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_documents_with_findings_make_no_site(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    assert docs("build", "--schema", tmp_path, "--out", tmp_path / "site") == 1
    assert "bad.json#: cannot be read as JSON" in capsys.readouterr().out


def test_the_verb_is_one_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["docs", "--help"])
    assert "build,serve,check" in capsys.readouterr().out


@pytest.mark.slow
def test_a_page_that_is_open_hears_of_a_save(tmp_path: Path) -> None:
    for path in GOLDEN.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "kinwire", "docs", "serve", "--schema", str(tmp_path)]
    with subprocess.Popen(
        [*command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as served:
        try:
            assert served.stdout is not None
            address = served.stdout.readline().split()[0]
            first = urlopen(f"{address}/-/news", timeout=30).read()
            assert b"/-/news" in urlopen(address, timeout=30).read()
            document = tmp_path / "tiny.json"
            content = json.loads(document.read_text(encoding="utf-8"))
            content["description"] = "A new word."
            document.write_text(json.dumps(content), encoding="utf-8")
            second = urlopen(f"{address}/-/news?{first.decode()}", timeout=60).read()
            assert second != first
            assert b"A new word." in urlopen(f"{address}tiny/", timeout=30).read()
        finally:
            os.kill(served.pid, signal.SIGINT)
        assert served.wait(timeout=30) == 0
