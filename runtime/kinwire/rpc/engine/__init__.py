"""The rules of one connection, without I/O and clock. `kinwire.rpc.drivers` runs them."""

__all__ = ()
