"""What any protocol over gRPC needs: messages without a compiler, values of JSON in a Struct, the
details of a status, and calls that can be cancelled. It needs the extra `grpc`.
"""

from __future__ import annotations

__all__ = ()
