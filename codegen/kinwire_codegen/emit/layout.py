"""One formatting of everything that is generated, at the end."""

from __future__ import annotations

__all__ = ("formatted",)

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory


def formatted(files: dict[str, str], package: str) -> dict[str, str]:
    """Return `files` with the Python ones sorted and laid out by ruff, in one run over all."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        python = [path for path in files if path.endswith(".py")]
        for path in python:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(files[path], encoding="utf-8")
        settings = ["--isolated", "--no-cache", "--quiet"]
        for setting in ("line-length=100", "target-version='py311'"):
            settings += ["--config", setting]
        isort = ["--config", "lint.isort.combine-as-imports=true"]
        isort += ["--config", f"lint.isort.known-first-party=['{package}']"]
        _ruff("check", "--fix-only", "--select", "I,F401", *settings, *isort, folder)
        _ruff("format", *settings, folder)
        return files | {path: (root / path).read_text(encoding="utf-8") for path in python}


def _ruff(*arguments: str) -> None:
    from ruff import find_ruff_bin  # type: ignore[import-untyped]

    command = [find_ruff_bin(), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr or done.stdout or f"it ended with {done.returncode}"
        raise RuntimeError(f"ruff {arguments[0]} failed on the generated code:\n{said}")
