"""The rules of one connection, without I/O and clock; `kinwire.drivers` has those that run them."""

__all__ = ()
