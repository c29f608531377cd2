"""Where the socket of a kernel is, and that nobody but its owner can get there.

The name of a socket is a digest of the config file's path, so each file has at most one kernel. A
lock next to it is held while the kernel lives: the system lets go of it however the kernel ends, so
a socket that was left behind differs from one that is listened on.
"""

from __future__ import annotations

__all__ = ("bound_socket", "connected_socket", "is_mine", "place_of", "places_of")

import errno
import hashlib
import os
import socket
import stat
import struct
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kinwire_cli.failure import UnreachableError, UsageError

_FOLDER, _SOCKET = 0o700, 0o600
_LONGEST = 100  # bytes of a path that every system takes for a socket
_BACKLOG = 16
_PATIENCE = 5.0  # seconds for the kernel's side to take a connection
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid
_OTHER_PLACE = "--socket PATH chooses another place."


def places_of(config: Path) -> list[Path]:
    """Return where the socket of a kernel that runs `config` may be, the preferred place first.

    There is a second one because a service may lack the variable XDG_RUNTIME_DIR of a login.
    """
    digest = hashlib.sha256(os.fsencode(os.path.realpath(config))).hexdigest()[:16]
    return [folder / f"{digest}.sock" for folder in _folders()]


def place_of(config: Path) -> Path:
    """Return where a kernel that runs `config` listens."""
    return places_of(config)[0]


def _folders() -> Iterator[Path]:
    _must_have_sockets()
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isabs(runtime) and _is_ours(runtime):
        yield Path(runtime, "kinwire")
    yield Path(tempfile.gettempdir(), f"kinwire-{os.geteuid()}")


def _is_ours(path: str | Path) -> bool:
    """Return whether `path` is a folder that only this user can look into."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return mine and not stat.S_IMODE(found.st_mode) & ~_FOLDER


@contextmanager
def bound_socket(path: Path) -> Generator[socket.socket]:
    """Yield a socket that listens at `path`; it is gone when the block ends.

    Raises:
        UsageError: another kernel listens there, or the folder is not this user's alone.
    """
    _must_be_short(path)
    _must_be_private(path.parent)
    with _locked(path), socket.socket(socket.AF_UNIX) as listener:
        _remove_left(path)
        listener.bind(str(path))
        os.chmod(path, _SOCKET)  # nobody else can connect before `listen`, or get into the folder
        listener.setblocking(False)
        listener.listen(_BACKLOG)
        try:
            yield listener
        finally:
            with suppress(OSError):
                os.unlink(path)


def connected_socket(path: Path) -> socket.socket:
    """Return a connection to the kernel that listens at `path`.

    Raises:
        UnreachableError: none does; one that was killed may have left its socket.
        UsageError: what is there belongs to another user.
    """
    _must_be_short(path)
    found = socket.socket(socket.AF_UNIX)
    try:
        found.settimeout(_PATIENCE)
        found.connect(str(path))
        if not is_mine(found):
            raise UsageError(f"{path} belongs to another user.", "Run this as that user.")
    except OSError as error:
        found.close()
        if error.errno == errno.EACCES:
            hint = "Run this as the user who runs the kernel."
            raise UsageError(f"{path} belongs to another user.", hint) from None
        left = error.errno == errno.ECONNREFUSED
        why = "the one that was there has ended without a goodbye" if left else "nobody listens"
        raise UnreachableError(f"No kernel at {path}: {why}.") from None
    except BaseException:
        found.close()
        raise
    found.setblocking(False)
    return found


def is_mine(connection: socket.socket) -> bool:
    """Return whether the process at the other end is of this user, where the system says so."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True  # then the modes of the folder and the socket are what protects
    packed = connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(packed)[1] == os.geteuid())


def _must_have_sockets() -> None:
    if not hasattr(socket, "AF_UNIX"):
        text = "A kernel needs sockets with a path, which Python does not have on this system."
        raise UsageError(text, "Linux and macOS have them.")


def _must_be_short(path: Path) -> None:
    _must_have_sockets()
    if len(os.fsencode(path)) > _LONGEST:
        text = f"{path}: a path of a socket has at most {_LONGEST} bytes."
        raise UsageError(text, _OTHER_PLACE)


def _must_be_private(folder: Path) -> None:
    """Make the folder of a socket, or make sure that it is this user's alone."""
    try:
        os.mkdir(folder, _FOLDER)
    except FileExistsError:
        pass
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}.", _OTHER_PLACE) from None
    if not _is_ours(folder):
        hint = "--socket PATH names a place in another one; mkdir -m 700 makes such a folder."
        raise UsageError(f"{folder}: expected a folder that is yours alone.", hint)


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Hold the lock of the socket, which the system lets go of when this process ends."""
    import fcntl

    number = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _SOCKET)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise _taken(path) from None
        with suppress(UnreachableError):  # also where somebody has removed the lock
            connected_socket(path).close()
            raise _taken(path)
        yield
    finally:
        os.close(number)


def _remove_left(path: Path) -> None:
    """Remove the socket of a kernel that was killed, and nothing else."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise UsageError(f"{path} is there already, and it is not a socket.", _OTHER_PLACE)
        os.unlink(path)


def _taken(path: Path) -> UsageError:
    hint = "kinwire ps shows its servers; it ends after Ctrl-C or SIGTERM."
    return UsageError(f"A kernel runs already with this configuration ({path}).", hint)
