"""A recording is written while the session runs, and never over another one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kinwire_cli.failure import UsageError
from kinwire_cli.recording.recorder import Recorder, open_new

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def test_a_recording_overwrites_none(tmp_path: Path) -> None:
    made: list[str] = []
    for _ in range(3):
        fd, path = open_new(tmp_path / "a.jsonl")
        os.close(fd)
        made.append(path.name)
    assert made == ["a.jsonl", "a-2.jsonl", "a-3.jsonl"]


def test_a_device_is_opened_as_it_is() -> None:
    fd, path = open_new(Path(os.devnull))
    os.close(fd)
    assert path == Path(os.devnull)


def test_a_file_that_cannot_be_made_is_a_slip(tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "a.jsonl", tmp_path):
        with pytest.raises(UsageError) as caught:
            open_new(path)
        assert caught.value.hint.endswith("--out FILE.jsonl")


def test_frames_are_cut_from_what_each_side_sends(tmp_path: Path) -> None:
    recorder = Recorder(*open_new(tmp_path / "a.jsonl"))
    recorder.take("client", PING[:10])
    recorder.take("server", b"noise\n\n")
    recorder.take("client", PING[10:] + b"\n" + PING)
    recorder.take("client", b"")
    recorder.close()
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [line["from"] for line in lines] == ["server", "client", "client"]
    assert [line.get("message") for line in lines] == [None, json.loads(PING), json.loads(PING)]
    assert (recorder.frames, recorder.complete) == (3, True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_ends_the_recording_aloud(capfd: pytest.CaptureFixture[str]) -> None:
    recorder = Recorder(*open_new(Path("/dev/full")))
    for _ in range(2):
        recorder.take("client", PING + b"\n")
    recorder.close()
    assert (recorder.frames, recorder.complete) == (0, False)
    assert capfd.readouterr().err == (
        "warning: /dev/full: No space left on device; the session goes on unrecorded\n"
    )
