"""Certificates that are made when a test runs, by the program `openssl`."""

from __future__ import annotations

__all__ = ("both_sides", "made_certificate", "needs_openssl")

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

OPENSSL = shutil.which("openssl")

needs_openssl = pytest.mark.skipif(
    OPENSSL is None, reason="openssl, which makes the certificate, is missing"
)


def made_certificate(folder: Path) -> Path:
    """Return a file with a key and a certificate for `localhost`."""
    key, file = folder / "key.pem", folder / "both.pem"
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
    command = [str(OPENSSL), "req", *kind, *names, "-keyout", str(key), "-out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + key.read_bytes())
    return file


def both_sides(certificate: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the contexts of a server that wants a certificate, and of a client that has one."""
    mutual = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(certificate))
    mutual.load_cert_chain(certificate)
    mutual.verify_mode = ssl.CERT_REQUIRED
    ours = ssl.create_default_context(cafile=str(certificate))
    ours.load_cert_chain(certificate)
    return mutual, ours
