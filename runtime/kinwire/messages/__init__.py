"""JSON-RPC messages: read, judged and written. Pure."""

__all__ = ()
