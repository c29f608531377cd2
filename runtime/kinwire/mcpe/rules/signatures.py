"""Signatures of webhooks: an HMAC of the body, in the form of GitHub's `X-Hub-Signature-256`."""

from __future__ import annotations

__all__ = ("SIGNATURE", "is_signed", "signature_of")

import hashlib
import hmac
from collections.abc import Iterable
from typing import Final

from kinwire.support.arguments import SECRET, ArgumentCheck, instance_of

SIGNATURE: Final = "X-Hub-Signature-256"
"""The header of the signature: `sha256=` and the HMAC of the body, in hexadecimal digits."""


_SIGNATURE_OF = ArgumentCheck(
    "signature_of",
    "signature_of(body, secret)",
    {"body": instance_of(bytes, "bytes", 'b"..."'), "secret": SECRET},
)


def signature_of(body: bytes, secret: str) -> str:
    """Return the value of `X-Hub-Signature-256` for a body: an HMAC of SHA-256.

    Raises:
        TypeError: the body is not bytes, or the secret is not a string.
    """
    _SIGNATURE_OF.check(body=body, secret=secret)
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def is_signed(body: bytes, signature: str | None, secrets: Iterable[str]) -> bool:
    """Return whether `signature`, the value of the header, was made with one of the secrets.

    Takes as long whatever the signature is.
    """
    given = (signature or "").encode("utf-8", "replace")
    fits = [hmac.compare_digest(given, signature_of(body, one).encode()) for one in secrets]
    return any(fits)
