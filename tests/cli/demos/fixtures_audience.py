"""Who hears a demo, and the servers of one as they are when they start."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from kinwire import Server
from kinwire_cli.demos.narration import Line


def served_by(file: Path) -> Server:
    """Return the server of a file of a demo as it is when it starts."""
    spec = spec_from_file_location(f"fresh_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Server = module.server
    return found


class Audience:
    """Keeps what is narrated."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.lines: list[Line] = []
        self.steps: list[int] = []

    def begin(self, title: str) -> None:
        self.titles.append(title)

    def tell(self, line: Line) -> None:
        self.lines.append(line)
        self.steps.append(len(self.titles))
