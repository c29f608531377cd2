"""What is advised for a server that does not start or does not answer."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kinwire.transports.memory import memory_pair
from kinwire_cli.diagnosis.remedies import why_ended, why_not_started, why_silent
from kinwire_cli.listening import Listening
from tests.each import each


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (["python server.py"], "words of their own: -- python server.py"),
        (["./server"], "is executable (chmod +x)."),
        (["my-servr"], "Install 'my-servr', or name it with its whole path. Did you mean 'my-serv"),
        (["zzz"], "Install 'zzz', or name it with its whole path."),
    ],
)
def test_a_program_that_is_not_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: list[str], remedy: str
) -> None:
    (tmp_path / "my-server").touch()
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), str(tmp_path / "nowhere")]))
    assert remedy in why_not_started(command)


@each(
    ("code", "stderr", "remedy"),
    [
        (1, ["Traceback", "ModuleNotFoundError: No module named 'a.b'"], "Install 'a.b' where "),
        (1, ["no database"], "Fix what it reports on stderr"),
        (-9, [], "It crashed or was killed"),
        (None, [], "keeps stdin and stdout open"),
        (0, [" "], "does the file call its run()?"),
    ],
)
def test_a_server_that_ended(code: int | None, stderr: list[str], remedy: str) -> None:
    assert remedy in why_ended(sys.executable, code, stderr)


@each(
    ("ids", "strays", "stderr", "remedy"),
    [
        (["1"], ["x"], [], "Copy the id of the request as it is, of the same type"),
        ([], ["x"], ["Running on http://127.0.0.1:8000"], "It seems to serve over HTTP."),
        ([], ["x"], [], "Its output on stdout is not JSON-RPC"),
        ([], [], ["started"], "flush after every message?"),
    ],
)
def test_a_server_that_is_silent(
    ids: list[object], strays: list[str], stderr: list[str], remedy: str
) -> None:
    heard = Listening(memory_pair()[0])
    heard.foreign_ids, heard.strays = ids, strays
    assert remedy in why_silent(heard, stderr)
