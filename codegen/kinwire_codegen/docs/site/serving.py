"""Serves a site on this machine, and builds it again on each save."""

from __future__ import annotations

__all__ = ("SiteServer", "serve")

import mimetypes
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from kinwire_codegen.load.finding_lines import finding_lines
from kinwire_codegen.load.findings import DocumentError
from kinwire_codegen.load.stamps import Stamps, stamps

PAUSE = 0.3  # seconds between two looks at the files
HELD = 20.0  # seconds that a page waits for news before it asks again
NEWS = "/-/news"
_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_STRANGE = b"Host: this server goes by the names 127.0.0.1 and localhost only."
_SCRIPT = b"""<script>
(async function () {
  let seen = null;
  for (;;) {
    try {
      const now = await (await fetch("/-/news?" + (seen === null ? "" : seen))).text();
      if (seen !== null && now !== seen) return location.reload();
      seen = now;
    } catch (_) { await new Promise((done) => setTimeout(done, 1000)); }
  }
})();
</script></body>"""

Make = Callable[[], Mapping[str, bytes]]
Watched = Callable[[], Iterable[Path]]


class _Site:
    """The files of the last build, and its number."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.number = 1
        self._changed = threading.Condition()

    def replace(self, files: Mapping[str, bytes]) -> None:
        with self._changed:
            self.files = files
            self.number += 1
            self._changed.notify_all()

    def news(self, seen: str) -> int:
        """Return the number of the newest build; wait for one that the page has not seen."""
        with self._changed:
            if seen:
                self._changed.wait_for(lambda: str(self.number) != seen, timeout=HELD)
            return self.number


class SiteServer(ThreadingHTTPServer):
    """Serves a site; each request has a thread."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Print the traceback of an error, unless a browser closed its connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def serve(make: Make, watched: Watched, port: int) -> None:
    """Serve what `make` builds on loopback, until interrupted.

    It is built again after each save of a file that is watched.
    """
    seen = stamps(watched())
    site = _Site(make())
    server = SiteServer(("127.0.0.1", port), _handler(site))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    print(f"http://127.0.0.1:{server.server_port}/  (ends with Ctrl-C)", flush=True)
    try:
        _follow(site, make, watched, seen)
    finally:
        server.shutdown()
        server.server_close()


def _follow(site: _Site, make: Make, watched: Watched, seen: Stamps) -> None:
    while True:
        time.sleep(PAUSE)
        now = stamps(watched())
        if now == seen:
            continue
        seen = now
        begun = time.perf_counter()
        try:
            site.replace(make())
        except (DocumentError, OSError) as error:
            lines = finding_lines(error) if isinstance(error, DocumentError) else [str(error)]
            print(*lines, "not built; waiting for the next save", sep="\n", flush=True)
        else:
            print(f"built again ({time.perf_counter() - begun:.1f} s)", flush=True)


def _names_this_machine(hosts: list[str]) -> bool:
    """Return whether the header is there once and names this machine.

    The page of another site could else read this one, by a name that leads here.
    """
    found = [re.fullmatch(r"(.+?)\.?(?::\d*)?", host.strip().lower()) for host in hosts]
    return len(found) == 1 and found[0] is not None and found[0][1] in _HOSTS


def _handler(site: _Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if not _names_this_machine(self.headers.get_all("Host", [])):
                self._answer(421, _STRANGE, "text/plain")
                return
            address = urlsplit(self.path)
            if address.path == NEWS:
                self._answer(200, str(site.news(address.query)).encode(), "text/plain")
                return
            path = unquote(address.path).lstrip("/")
            path = f"{path}index.html" if not path or path.endswith("/") else path
            body = site.files.get(path)
            if body is None:
                self._answer(404, site.files["404.html"], "text/html; charset=utf-8")
                return
            kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
            if kind == "text/html":
                body = body.replace(b"</body>", _SCRIPT)
            text = kind.startswith("text/") or kind.endswith(("javascript", "json"))
            self._answer(200, body, f"{kind}; charset=utf-8" if text else kind)

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing for a request."""

    return Handler
