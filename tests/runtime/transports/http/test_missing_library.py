"""`run` without the libraries that it needs."""

from __future__ import annotations

import sys

import pytest

from kinwire import Server


@pytest.mark.parametrize("library", ["uvicorn", "httptools"])
def test_the_error_names_the_extra(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules]:
        if name.startswith("kinwire.transports.http.") and name.rpartition(".")[2] in (
            *("running", "connections", "sockets"),
        ):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"{library}.*kinwire\[http\]") as caught:
        Server("s", "1").asgi().run(port=0)
    assert caught.value.name == library
