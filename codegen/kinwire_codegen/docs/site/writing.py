"""Writes a site to a folder, without the files of an earlier build, and reads it back."""

from __future__ import annotations

__all__ = ("read_site", "write_site")

from collections.abc import Mapping
from pathlib import Path

from kinwire_codegen.load.findings import DocumentError, Finding

LISTED = ".kinwire-site"
"""The file with the names of all files that the last build wrote."""


def write_site(files: Mapping[str, bytes], out: Path) -> int:
    """Make a folder hold these files; return how many were written or removed.

    Raises:
        DocumentError: the folder holds files that no build has written.
        OSError: a file cannot be written.
    """
    listed = out / LISTED
    before = set(listed.read_text(encoding="utf-8").splitlines()) if listed.is_file() else set()
    if not listed.is_file() and out.is_dir() and any(out.iterdir()):
        what, hint = "it holds files that are not of a site", "Choose another folder with --out."
        raise DocumentError([Finding(str(out), "", what, hint)])
    changed = 0
    for name, text in files.items():
        path = out / name
        if path.is_file() and path.read_bytes() == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        changed += 1
    for name in before - files.keys():
        (out / name).unlink(missing_ok=True)
        changed += 1
    listed.write_text("".join(f"{name}\n" for name in files), encoding="utf-8")
    return changed


def read_site(out: Path) -> dict[str, bytes]:
    """Return the files of a folder by their paths there."""
    paths = (path for path in sorted(out.rglob("*")) if path.is_file() and path.name != LISTED)
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in paths}
