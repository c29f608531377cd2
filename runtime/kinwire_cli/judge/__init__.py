"""Whether recorded messages are valid in their protocol. Pure."""

__all__ = ()
