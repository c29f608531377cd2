"""The pattern languages: one file each, pure, and linear in the text that is matched.

| file | patterns of |
|---|---|
| `glob.py` | scopes and channels of MCPL, channels and policies of MGP |
| `server_channels.py` | channels with their server, in policies of MCPL hosts |
| `dotted.py` | types of MCPE events |
| `subjects.py` | subjects of logs |

URI templates are MCP's own, in `mcp/rules/uri_template.py`.
"""

from __future__ import annotations

__all__ = ()
