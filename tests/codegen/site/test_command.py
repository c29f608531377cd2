"""`kinwire docs` as a user runs it: what it writes, says and refuses."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import pytest

from kinwire_cli.command import main
from kinwire_codegen.docs.site.serving import SiteServer, _handler, _Site
from kinwire_codegen.docs.site.writing import read_site, write_site
from tests.codegen.site.conftest import GOLDEN


def docs(*arguments: str | Path) -> int:
    from argparse import ArgumentParser

    from kinwire_codegen.commands.docs import DocsCommand

    parser = ArgumentParser()
    DocsCommand.configure(parser)
    return DocsCommand.run(parser.parse_args(list(map(str, arguments))))


def test_a_built_site_has_no_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "site"
    assert docs("build", "--schema", GOLDEN, "--out", out) == 0
    shown = capsys.readouterr().out
    assert f"{out}: " in shown
    assert " pages, " in shown
    assert docs("check", "--schema", GOLDEN, "--out", out) == 0
    assert "no problems found" in capsys.readouterr().out
    assert docs("check", "--schema", GOLDEN, "--out", out, "--against", "not-looked-at") == 0
    capsys.readouterr()
    (out / "errors.html").unlink()
    assert docs("check", "--schema", GOLDEN, "--out", out) == 1
    assert "leads nowhere. Fix the link" in capsys.readouterr().out


def test_a_second_build_writes_and_removes_only_what_changed(tmp_path: Path) -> None:
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
    ("arguments", "shown"),
    [
        (["check", "--out", "nowhere"], "nowhere: there is no site"),
        (["build", "--guides", "nowhere"], "nowhere: there is no such folder"),
        (["build", "--version", "2"], "a version is written as NAME=PLACE"),
        (["build", "--against", "nowhere"], "no path or commit has that name"),
        (["build", "--package", "nosuchpkg"], "There is no package 'nosuchpkg'"),
    ],
)
def test_wrong_usage_is_reported_before_anything_is_written(
    arguments: list[str], shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "site")] if "--out" not in arguments else []
    assert docs(*arguments, "--schema", str(GOLDEN), *out) == 2
    assert shown in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


def test_documents_with_findings_make_no_site(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    assert docs("build", "--schema", tmp_path, "--out", tmp_path / "site") == 1
    told = f"{tmp_path / 'bad.json'}:1:2: cannot be read as JSON"
    assert capsys.readouterr().out.startswith(told)


@pytest.mark.parametrize("path", ["README.md", "docs/a.md"])
def test_a_guide_that_is_not_text_is_named(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / path).write_bytes(b"# T\n\n\xff\n")
    out = tmp_path / "site"
    assert docs("build", "--schema", GOLDEN, "--guides", tmp_path / "docs", "--out", out) == 1
    shown = f"{tmp_path / path}#: byte 5 is not UTF-8. Save it as UTF-8.\n"
    assert capsys.readouterr().out == shown


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    identity += ["-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


def test_a_tag_has_a_page_of_changes(tmp_path: Path) -> None:
    schema, out = tmp_path / "schema", tmp_path / "site"
    schema.mkdir()
    for path in GOLDEN.glob("*.json"):
        (schema / path.name).write_bytes(path.read_bytes())
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "The first")
    git(tmp_path, "tag", "v2.1")
    content = json.loads((schema / "tiny.json").read_text(encoding="utf-8"))
    content["version"] = "2.2"
    content["methods"]["books/find"]["gate"] = "server:books"
    save(schema / "tiny.json", json.dumps(content).encode())
    assert docs("build", "--schema", schema, "--out", out, "--against", "v2.1") == 0
    page = (out / "changes" / "v2.1.html").read_text(encoding="utf-8")
    assert "tiny: 2.1-draft → 2.2" in page
    assert "books/find: gate was unset and is server:books" in page.replace("<wbr>", "")
    assert 'href="v2.1.html"' in (out / "changes" / "index.html").read_text()
    assert docs("check", "--schema", schema, "--out", out) == 0


@pytest.mark.slow
def test_a_comparison_is_loaded_only_for_pages_of_changes() -> None:
    names = "kinwire_codegen.load.sources, kinwire_codegen.docs.site.build, sys"
    script = f"import {names}; print('kinwire_codegen.compare' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "False\n"


def test_docs_is_a_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["docs", "--help"])
    assert "build,serve,check" in capsys.readouterr().out


class Served(NamedTuple):
    """A site that is served by a process."""

    process: subprocess.Popen[str]
    address: str

    def said(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def shown(self, path: str) -> str:
        with urlopen(self.address + path, timeout=60) as answer:
            return str(answer.read().decode())

    def news(self, seen: str = "") -> str:
        """Return the number of the newest build, once it is not the one that was seen."""
        return self.shown(f"-/news?{seen}")


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        (["127.0.0.1:8000"], 200),
        (["LOCALHOST"], 200),
        (["[::1]:8000"], 200),
        (["evil.example"], 421),
        (["localhost.evil.example:8000"], 421),
        (["evil.example", "localhost"], 421),
        ([], 421),
    ],
)
def test_a_site_is_served_under_the_names_of_this_machine(hosts: list[str], status: int) -> None:
    server = SiteServer(("127.0.0.1", 0), _handler(_Site({"index.html": b"page"})))
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    with server, socket.create_connection(("127.0.0.1", server.server_port), 10) as connection:
        fields = "".join(f"Host: {host}\r\n" for host in hosts)
        connection.sendall(f"GET / HTTP/1.1\r\n{fields}Connection: close\r\n\r\n".encode())
        received = b"".join(iter(lambda: connection.recv(4096), b""))
        thread.join(10)
    assert received.startswith(b"HTTP/1.1 %d" % status)
    assert (b"page" in received) == (status == 200)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """The tiny protocol with an empty folder of guides, from copies in `tmp_path`."""
    for path in GOLDEN.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "docs").mkdir()
    command = [sys.executable, "-m", "kinwire", "docs", "serve", "--schema", str(tmp_path)]
    command += ["--guides", str(tmp_path / "docs"), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield Served(process, process.stdout.readline().split()[0])
        finally:
            os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 0


def save(path: Path, content: bytes) -> None:
    """Write a file so that nobody sees a part of it."""
    path.with_suffix(".new").write_bytes(content)
    path.with_suffix(".new").replace(path)


@pytest.mark.slow
def test_an_open_page_reloads_after_a_save(served: Served, tmp_path: Path) -> None:
    first = served.news()
    assert "/-/news" in served.shown("")
    document = tmp_path / "tiny.json"
    content = json.loads(document.read_text(encoding="utf-8"))
    content["description"] = "A new word."
    save(document, json.dumps(content).encode())
    assert served.news(first) != first
    assert "A new word." in served.shown("tiny/")


@pytest.mark.slow
def test_a_file_next_to_the_guides_is_watched(served: Served, tmp_path: Path) -> None:
    readme, first = tmp_path / "README.md", served.news()
    save(readme, b"\xff")
    assert served.said().startswith(f"{readme}#: byte 0 is not UTF-8.")
    assert served.said().startswith("not built")
    save(readme, b"# Tiny\n\nAn overview.\n")
    assert served.news(first) != first
    assert "An overview." in served.shown("guides/overview.html")


@pytest.mark.parametrize(("error", "printed"), [(BrokenPipeError, False), (ValueError, True)])
def test_a_browser_that_closes_its_connection_leaves_the_output_clean(
    error: type[Exception], printed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with SiteServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        try:
            raise error("the connection")
        except error:
            server.handle_error("request", ("127.0.0.1", 1))
    assert (error.__name__ in capsys.readouterr().err) is printed
