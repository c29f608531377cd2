"""Which files `load_policy` reads, and which it refuses because others could have written them."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any, cast

import pytest

from kinwire.mgp import ConfigError, load_policy

TEXT = '[servers.files]\ndenied_tools = ["delete"]\n'
BELONGS_TO_ROOT = hasattr(os, "getuid") and os.getuid() == 0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ConfigError) as refused:
        load_policy(path)
    place, _, text = str(refused.value).partition(": ")
    assert place.startswith(f"{path}:")
    return f"{place.removeprefix(f'{path}:')} {text}"


def test_a_file_is_read(file: Path) -> None:
    policy = load_policy(file)
    assert policy.file == str(file)
    assert [*policy.servers] == ["files"]
    assert load_policy(str(file)).rules["files"].denied.names.keys() == {"delete"}
    link = file.parent / "link.toml"
    link.symlink_to(file)
    assert load_policy(link).file == str(link)


def test_contents_that_are_not_a_policy_are_refused_with_their_place(file: Path) -> None:
    refused = {
        b"\xef\xbb\xbf" + TEXT.encode(): "1:1 expected UTF-8 without a byte order mark",
        TEXT.encode("utf-16"): "1:1 expected UTF-8",
        b"[servers.files]\n# caf\xe9": "2:6 expected UTF-8",
        b"\n" * (10 * 1024 * 1024): "1:1 expected at most 262144 bytes, got more",
        TEXT.encode() + b"denied_tools = []": "3:18 not TOML: Cannot overwrite",
        TEXT.encode()[:-4]: "2:23 not TOML",  # written by half
        b"": "1:1 expected a table",
        TEXT.encode() + b"trust = 'truste'": "3:9 trust: expected one of",
    }
    for content, problem in refused.items():
        file.write_bytes(content)
        assert refusal(file).startswith(problem)
    file.write_bytes(TEXT.encode() + b"#" * (262_144 - len(TEXT)))
    load_policy(file)


def test_what_is_not_a_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "expected a file" in refusal(tmp_path / "pipe")
    assert "expected a file" in refusal(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        with pytest.raises(OSError, match="socket"):
            load_policy(tmp_path / "socket")
    with pytest.raises(OSError, match="absent"):
        load_policy(tmp_path / "absent")
    with pytest.raises(TypeError, match=r'Write load_policy\("policy.toml"\)'):
        load_policy(cast(Any, 5))


def test_a_file_that_others_can_write_is_refused(file: Path) -> None:
    file.chmod(0o646)
    assert "other users can write the file" in refusal(file)
    file.chmod(0o600)
    file.parent.chmod(0o777)
    assert "other users can replace files in" in refusal(file)
    file.parent.chmod(0o1777)  # there nobody replaces the files of others
    load_policy(file)
    file.parent.chmod(0o700)


def test_a_link_is_followed_only_where_others_cannot_change_it(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    link = folder / "link.toml"
    link.symlink_to(file)
    folder.chmod(0o777)
    assert "other users can replace files in" in refusal(link)
    folder.chmod(0o1777)
    load_policy(link)
    if BELONGS_TO_ROOT:
        os.chown(link, 12345, 12345, follow_symlinks=False)
        assert "another user owns the link" in refusal(link)
        os.chown(file, 12345, 12345)
        assert "other users can write the file" in refusal(file)
