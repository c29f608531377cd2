"""Where the socket of a kernel is, and who can get there."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("fcntl", reason="needs sockets with a path")

from kinwire_cli.control import place
from kinwire_cli.control.place import bound_socket, connected_socket, place_of, places_of
from kinwire_cli.failure import UnreachableError, UsageError

KILLED = """
import os, sys
from pathlib import Path
from kinwire_cli.control.place import bound_socket
with bound_socket(Path(sys.argv[1])):
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def path(short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the kernel of a config file listens, in folders of this test."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    return place_of(tmp_path / "mgp.toml")


def test_a_file_has_one_place_whatever_leads_to_it(path: Path, tmp_path: Path) -> None:
    (tmp_path / "mgp.toml").touch()
    (tmp_path / "link.toml").symlink_to("mgp.toml")
    assert (
        place_of(tmp_path / "link.toml")
        == path
        == place_of(tmp_path / "../" / tmp_path.name / "mgp.toml")
    )
    assert place_of(tmp_path / "other.toml") != path


def test_the_socket_and_its_folder_are_their_owners_alone(path: Path) -> None:
    with bound_socket(path):
        modes = [stat.S_IMODE(os.stat(one).st_mode) for one in (path.parent, path)]
        assert modes == [0o700, 0o600]
    assert not path.exists()


def test_a_second_kernel_over_the_same_file_is_refused(path: Path) -> None:
    with bound_socket(path):
        with pytest.raises(UsageError, match="runs already"), bound_socket(path):
            pass
        Path(f"{path}.lock").unlink()  # somebody cleans up
        with pytest.raises(UsageError, match="runs already"), bound_socket(path):
            pass
        connected_socket(path).close()


def test_the_socket_of_a_killed_kernel_is_recognised_and_replaced(path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert path.exists()
    with pytest.raises(UnreachableError, match="ended without a goodbye"):
        connected_socket(path)
    with bound_socket(path):
        connected_socket(path).close()
    with pytest.raises(UnreachableError, match="nobody listens"):
        connected_socket(path)


@pytest.mark.parametrize("kind", ["file", "folder", "link", "pipe"])
def test_what_is_no_socket_is_left_in_its_place(short: Path, kind: str) -> None:
    """A mistake in --socket costs no file."""
    path = short / "a.sock"
    (short / "notes.txt").write_text("important", "utf-8")
    make: dict[str, Callable[[], object]] = {
        "file": lambda: path.write_text("important", "utf-8"),
        "folder": path.mkdir,
        "link": lambda: path.symlink_to("notes.txt"),
        "pipe": lambda: os.mkfifo(path),
    }
    make[kind]()
    with pytest.raises(UsageError, match="not a socket"), bound_socket(path):
        pass
    assert path.exists()
    assert (short / "notes.txt").read_text("utf-8") == "important"


@pytest.mark.parametrize("mode", [0o710, 0o701, 0o720, 0o755, 0o777])
def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(UsageError, match="yours alone"), bound_socket(folder / "a.sock"):
        pass


def test_a_link_to_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("mine")
    with pytest.raises(UsageError, match="yours alone"), bound_socket(tmp_path / "link/a.sock"):
        pass


def test_a_folder_that_cannot_be_made_and_a_long_path_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "a/b/c.sock", tmp_path / ("x" * 100)):
        with pytest.raises(UsageError) as raised, bound_socket(path):
            pass
        assert "--socket PATH" in raised.value.hint


def test_the_other_place_is_used_where_the_runtime_folder_is_not_ours_alone(
    path: Path, short: Path, tmp_path: Path
) -> None:
    assert places_of(tmp_path / "mgp.toml")[0] == path
    short.chmod(0o755)
    (only,) = places_of(tmp_path / "mgp.toml")
    assert only.parent == tmp_path / f"kinwire-{os.geteuid()}"


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="no credentials of peers here")
def test_a_peer_of_another_user_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with bound_socket(path) as listener:
        connection = connected_socket(path)
        accepted, _ = listener.accept()
        with connection, accepted:
            assert place.is_mine(accepted)
            monkeypatch.setattr(os, "geteuid", lambda: 12345)
            assert not place.is_mine(accepted)
            with pytest.raises(UsageError, match="another user"):
                connected_socket(path)


def test_a_system_without_sockets_with_a_path_says_so(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")
    for doing in (place_of, connected_socket, lambda path: bound_socket(path).__enter__()):
        with pytest.raises(UsageError, match="sockets with a path"):
            doing(short / "a")
