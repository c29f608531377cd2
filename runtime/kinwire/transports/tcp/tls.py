"""TLS as a client speaks it: with what the system trusts."""

from __future__ import annotations

__all__ = ("client_context",)

import ssl
from functools import cache


@cache
def client_context() -> ssl.SSLContext:
    """Return the context of all connections of clients: certificates and names are checked.

    The variables SSL_CERT_FILE and SSL_CERT_DIR name other certificates to trust.
    """
    return ssl.create_default_context()
