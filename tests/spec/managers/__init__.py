"""The parts of the runtime that keep the rules, and the rows that nobody keeps without them.

To switch a manager off is to let its methods refuse. A row whose tests then still pass is claimed
by tests that do not prove it.
"""

from __future__ import annotations

__all__ = ("MANAGERS",)

from tests.spec.managers.mcp import MCP
from tests.spec.managers.mcpe import MCPE
from tests.spec.managers.mcpl import MCPL
from tests.spec.managers.mcplite import MCPLITE
from tests.spec.managers.mcplite_grpc import MCPLITE_GRPC
from tests.spec.managers.mgp import MGP

MANAGERS = {**MCP, **MCPE, **MCPL, **MCPLITE, **MCPLITE_GRPC, **MGP}
