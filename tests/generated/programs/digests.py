"""Build all files from a folder of documents and print their digests as JSON.

Argument: the folder. Folders are listed in reverse, as another file system might.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from kinwire_codegen.build import build
from kinwire_codegen.load.loading import load_documents

listed = Path.glob


def reverse(self: Path, pattern: str) -> Iterator[Path]:
    """List a folder from its end."""
    return iter(sorted(listed(self, pattern), reverse=True))


Path.glob = reverse  # type: ignore[method-assign, assignment]
files = build(load_documents(Path(sys.argv[1])), "kinwire_protocols")
print(json.dumps({name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}))
