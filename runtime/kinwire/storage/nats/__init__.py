"""The store for several machines: NATS JetStream, its key-value buckets and its streams.

Needs the extra [nats], nats-server 2.11 or newer, and asyncio. Records are a bucket that
`nats kv` reads as well, a log is a stream; `keys.py` says how the names are made.

Every write carries an id of its own, so a write that got no answer is sent again without being
done twice, and the caller learns what has become of it.
"""

from __future__ import annotations

__all__ = ()
