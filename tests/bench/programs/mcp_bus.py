"""Publish to the subscription bus of `mcp` 2.x, and print the microseconds of CPU time of one.

usage: mcp_bus.py COUNT    (with the Python of an environment that holds mcp 2.x)
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from statistics import median

from mcp.server.subscriptions import InMemorySubscriptionBus
from mcp.shared.subscriptions import ResourceUpdated, event_matches
from mcp_types import SubscriptionFilter

ROUNDS, EVENTS = 5, 4


async def main(count: int) -> float:
    """Subscribe `count` listeners to an address each, and publish events for some of them."""
    bus, hits, empty = InMemorySubscriptionBus(), list[int](), SubscriptionFilter()

    def listener(uri: str, number: int) -> Callable[[ResourceUpdated], None]:
        wanted = frozenset([uri])
        return lambda event: hits.append(number) if event_matches(empty, wanted, event) else None

    for number in range(count):
        bus.subscribe(listener(f"event://app/{number}", number))
    costs: list[float] = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        for number in range(EVENTS):
            await bus.publish(ResourceUpdated(uri=f"event://app/{number}"))
        costs.append((time.process_time() - begun) / EVENTS * 1e6)
    assert len(hits) == ROUNDS * EVENTS
    return median(costs)


if __name__ == "__main__":
    sys.stdout.write(f"{asyncio.run(main(int(sys.argv[1])))}\n")
