"""Random campaigns: `python -m tests.campaigns NAME [--minutes M] [--seed N]`.

Each prints its seed, what it has counted, and the first finding; it ends with 1 if there is one.
`nox -s campaigns` runs all.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable

from tests.campaigns.bytes import bytes_over_http, bytes_over_stdio
from tests.campaigns.kills import killed_servers, killed_writers
from tests.campaigns.orders import orders_in_memory, orders_over_http
from tests.campaigns.patches import patches

Campaign = Callable[[random.Random, "Callable[[], bool]", "Counter[str]"], None]

CAMPAIGNS: dict[str, Campaign] = {
    "bytes-http": bytes_over_http,
    "bytes-stdio": bytes_over_stdio,
    "kills-servers": killed_servers,
    "kills-writers": killed_writers,
    "orders-http": orders_over_http,
    "orders-memory": orders_in_memory,
    "patches": patches,
}
"""Each takes its own source of chance, whether to go on, and where it counts what it has done."""


def main(words: list[str]) -> int:
    """Run a campaign; return 1 if it has found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns")
    parser.add_argument("name", choices=CAMPAIGNS)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args(words)
    seed = random.SystemRandom().getrandbits(32) if given.seed is None else given.seed
    print(f"{given.name}: seed {seed}, {given.minutes:g} minutes", flush=True)
    until, counted = time.monotonic() + 60 * given.minutes, Counter[str]()
    try:
        CAMPAIGNS[given.name](random.Random(seed), lambda: time.monotonic() < until, counted)
    except Exception as error:
        print(f"{given.name}: seed {seed}, {dict(counted)}: {error!r}", flush=True)
        raise
    print(f"{given.name}: seed {seed}, no finding in {dict(counted)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
