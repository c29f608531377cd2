"""The server of `everywhere.py`, which also says how much it has under way."""

from __future__ import annotations

import anyio

from tests.runtime.programs.everywhere import server
from tests.runtime.transports.fixtures_resources import let_go


@server.tool
async def under_way() -> list[int]:
    """Return how many tasks there are, and how many sessions; free memory is given back."""
    let_go()
    return [len(anyio.get_running_tasks()), len(server._sessions)]


if __name__ == "__main__":
    server.run()
