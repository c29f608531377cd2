"""What MCP asks of both roles beyond messages: `rules/` decides, the files beside it act.

`Server`, `Host` and `Connection` bring all of it; nothing here has to be imported by users.
"""

from __future__ import annotations

__all__ = ()
