"""Paths in arguments: which files must not be read, and where nothing may be written."""

from __future__ import annotations

__all__ = (
    "is_endless",
    "is_ordinary_program_path",
    "is_secret",
    "is_system_place",
    "matches_secret",
    "paths_in",
)

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from posixpath import dirname, normpath
from typing import Final

from kinwire.mgp.rules.word_set import word_set

_PROGRAM_FOLDERS: Final = word_set(
    """
    /bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin
    """
)
_SECRETS: Final = re.compile(
    r"(?:file:/*)?(?:"
    r"/etc/(?:g?shadow|sudoers|master\.passwd|ssl/private|ssh/ssh_host)"
    r"|/dev/(?:tcp|udp|mem|kmem|port|kcore|[shvx]v?d[a-z]|nvme|mmcblk|disk|mapper|loop|dm-|ram|input)"
    r"|/proc/(?:[^/]+/(?:environ|mem|root|cwd|fd|maps)|kcore|sysrq)"
    r"|(?:~[^/]*|/root|/home/[^/]+|/users/[^/]+)/\.(?:ssh|aws|gnupg|kube|docker|netrc|pgpass|git-cred"
    r"|config/gcloud|npmrc|pypirc|azure|bash_history|zsh_history|mozilla)"
    r"|/var/run/secrets|/run/secrets|(?:/var)?/run/docker\.sock"
    r"|.*/?\.ssh/(?:id_|authorized_keys|config)|(?:.*/)?id_(?:rsa|dsa|ecdsa|ed25519)$"
    r")",
    re.IGNORECASE,
)
_SYSTEM: Final = re.compile(
    r"/(?:(?:etc|bin|sbin|usr|lib\w*|boot|dev|sys|proc|root|opt|system|library|windows|run|srv)(?:/|$)"
    r"|var/(?!tmp/|folders/)|$)"
    r"|~[^/]*(?:/\.|/?$)|/(?:home|users)/[^/]+/\.|[a-z]:[\\/](?:windows|program)",
    re.IGNORECASE,
)
_ENDLESS: Final = word_set(
    """
    /dev/zero /dev/urandom /dev/random /dev/full /dev/tty
    """
)
_SAMPLES: Final = (
    *("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/dev/sda", "/dev/nvme0n1", "/dev/mem"),
    *("/proc/self/environ", "/proc/1/environ", "/root/.ssh/id_rsa", "~/.ssh/id_rsa"),
    *("/etc/ssh/ssh_host_rsa_key", "/var/run/docker.sock", "~/.aws/credentials"),
)
_STREAMS: Final = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
_OPTION_PATH: Final = re.compile(r"-\w+?(?=[/~])|-{1,2}[\w-]+=|\w+=")


def paths_in(word: str) -> Iterator[str]:
    """Yield what may be a path in an argument: itself, and the value of its option, normalised."""
    yield _normal(word)
    found = _OPTION_PATH.match(word)
    if found:
        yield _normal(word[found.end() :])


def _normal(path: str) -> str:
    plain = normpath(path)
    return plain[1:] if plain.startswith("//") else plain


def is_endless(path: str) -> bool:
    """Return whether reading there never ends."""
    return path in _ENDLESS


def is_secret(path: str) -> bool:
    """Return whether reading there hands out credentials, or touches devices or other programs."""
    from_root = path.removeprefix("..").replace("/..", "") if path.startswith("../") else path
    return _SECRETS.match(from_root) is not None


def matches_secret(pattern: str) -> bool:
    """Return whether a shell may replace a pattern by such a file."""
    return any(
        sample.count("/") == pattern.count("/") and fnmatchcase(sample, pattern)
        for sample in _SAMPLES
    )


def is_system_place(path: str) -> bool:
    """Return whether writing there changes the system or the configuration of a user."""
    return path not in _STREAMS and _SYSTEM.match(path) is not None


def is_ordinary_program_path(path: str) -> bool:
    """Return whether a program's path is its name alone, or lies where systems keep programs."""
    return "/" not in path or dirname(_normal(path)) in _PROGRAM_FOLDERS
