"""One server behind the kernel, whether it speaks MGP or only MCP (MGP 0.2.0 section 8.2)."""

from __future__ import annotations

__all__ = ("UNNAMED", "GuardedServer")

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kinwire.mgp.kernel.open_calls import OpenCalls
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.tools import KnownTool
from kinwire.mgp.rules.trust import DEFAULTS, TrustDefaults, effective_trust
from kinwire.rpc.session import Session
from kinwire_protocols.mgp.models import ServerOffer, TrustLevel

if TYPE_CHECKING:
    from kinwire.mgp.kernel.tool_list import ToolList

UNNAMED: Final = "unnamed-"
"""What the name of a server without `server_id` begins with."""
_SHOWN = 12  # characters of the key of a server without a name


class GuardedServer:
    """One connection to a server. Get it from `MgpKernel.of(connection)`."""

    def __init__(
        self,
        session: Session,
        offer: ServerOffer | None,
        extensions: frozenset[str],
        policy: ServerPolicy,
    ) -> None:
        self.session = session
        self.id: Final = session.identity.server_id or f"{UNNAMED}{session.identity.key[-_SHOWN:]}"
        """Its name in the kernel: the `server_id` that the host gave, never one of its own."""
        self.offer: Final = offer
        """What it offers of MGP; None for a server that speaks only MCP."""
        self.extensions: Final = extensions
        """The extensions that both sides have."""
        self.policy: Final = policy
        self.trust: Final[TrustLevel] = effective_trust(
            policy.trust, None if offer is None else offer.trust_level
        )
        """The lower of what is configured and what the server declares."""
        self.defaults: Final[TrustDefaults] = DEFAULTS[self.trust]
        """What the trust decides where `policy` says nothing."""
        self.open_calls: Final = OpenCalls()
        """The calls that were sent and are not answered."""
        self.tool_list: ToolList | None = None
        """What the kernel knows of its tools; the kernel sets it."""

    @property
    def tools(self) -> Mapping[str, KnownTool]:
        """The tools of the last list, by name."""
        return {} if self.tool_list is None else self.tool_list.tools

    @property
    def prefix(self) -> str:
        """What the keys of all that is stored of it begin with."""
        return f"{self.session.identity.key}/"

    @property
    def transient(self) -> bool:
        """Whether nothing names the server beyond this connection: then nothing is stored of it."""
        return self.session.identity.transient
