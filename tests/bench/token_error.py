"""How far the estimate of tokens is from what a tokenizer counts, on the tools of real servers.

    python -m tests.bench.token_error [--write]

Needs `bpe-openai`, which has the tables of its encodings with it. `--write` writes its counts to
the file that tests compare the estimate with.
"""

from __future__ import annotations

__all__ = ("COUNTS", "definitions", "error_of")

import json
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from kinwire.mgp.rules.token_counts import context_text, estimated_tokens
from tests.absent import SHARED

COUNTS = Path(__file__).parents[1] / "vectors" / "tool_catalog" / "o200k_tokens.json"
"""How many tokens each tool of the catalog takes in the encoding o200k_base, in its order."""


class EstimateDeviation(NamedTuple):
    """How far estimates are from counts, as shares of the counts."""

    in_sum: float
    """Of all estimates together; above 0 they are too high."""
    too_low: float
    """The share of the estimates that are too low."""
    worst: float
    """The lowest."""


def definitions() -> list[str]:
    """Return the tools of the catalog, as models see them."""
    path = SHARED / "corpora" / "tool-catalog" / "tools.json"
    tools: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    return [context_text(tool) for tool in tools]


def error_of(estimates: Sequence[int], counts: Sequence[int]) -> EstimateDeviation:
    """Compare estimates with counts."""
    shares = [one / count - 1 for one, count in zip(estimates, counts, strict=True)]
    low = sum(share < 0 for share in shares)
    return EstimateDeviation(sum(estimates) / sum(counts) - 1, low / len(shares), min(shares))


def main(words: Iterable[str]) -> None:
    """Print the error for two encodings."""
    texts = definitions()
    for name in ("o200k_base", "cl100k_base"):
        encoding = import_module("bpe_openai").get_encoding(name)
        counts = [len(encoding.encode(text)) for text in texts]
        found = error_of([estimated_tokens(text) for text in texts], counts)
        print(
            f"{name}: {sum(counts)} tokens; the estimate is {found.in_sum:+.1%} in sum, "
            f"too low for {found.too_low:.1%} of the tools, at worst {found.worst:+.1%}"
        )
        if name == "o200k_base" and "--write" in words:
            COUNTS.write_text(json.dumps(counts, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
