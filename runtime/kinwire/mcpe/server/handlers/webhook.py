"""Webhooks: the events of a delivery are posted to an address that a client has named (MCPE 9.2).

Requests go to public addresses by HTTPS alone unless the program allows more, and redirects are not
followed, since the headers may have keys. With a secret each request is signed, as GitHub does it.
"""

from __future__ import annotations

__all__ = ("WebhookHandlers",)

from collections.abc import Collection, Iterator

from kinwire.mcpe.rules.signatures import SIGNATURE, signature_of
from kinwire.mcpe.server.handlers.work import (
    HandlerFailedError,
    HandlerWork,
    RetryHandlerError,
    seconds_for,
)
from kinwire.rpc.codec import encode
from kinwire.support.arguments import (
    FLAG,
    SECONDS,
    SECRET,
    TEXTS,
    ArgumentCheck,
    having,
)
from kinwire.transports.guarded_fetch.fetch import GuardedClient, Network, SystemNetwork
from kinwire.transports.guarded_fetch.rules import NotFetchedError, web_address
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.fields import checked_headers
from kinwire_protocols.mcpe.models import WebhookEventHandler
from kinwire_protocols.problems import Problem, shown

_MOST_HEADERS = 20
_HEADERS_SIZE = 8 * 1024  # characters of names and values in all
_RESERVED = frozenset({"idempotency-key", "x-mcpe-attempt", SIGNATURE.lower()})
_MAY_PASS = frozenset({408, 425, 429, *range(500, 600)})

_WEBHOOK_HANDLERS = ArgumentCheck(
    "WebhookHandlers",
    'WebhookHandlers(secret="...")',
    {"secret": SECRET.or_none},
    hosts=TEXTS.or_none,
    private_hosts=TEXTS,
    insecure=FLAG,
    timeout=SECONDS,
    network=having(("resolve", "connect"), "a network", "network").or_none,
)


class WebhookHandlers:
    """Posts events to addresses: `EventHandlers(webhook=WebhookHandlers(secret="..."))`.

    The body is the params of `events/event`, or of `events/batch` if there are several events. The
    header `Idempotency-Key` has the id of the delivery, the same for every attempt, and
    `X-MCPE-Attempt` the number of the attempt. With a `secret`, `X-Hub-Signature-256` signs the
    body. A status from 200 to 299 ends the work, whatever the body; 408, 425, 429, 5xx and lost
    connections are tried again, another status is not.

    `hosts` are those that may be posted to; None for all on the public internet. `private_hosts`,
    as `localhost:9000`, may also be private and have any port. `insecure` allows `http`. `timeout`
    is the most seconds for a request; a handler may ask for less.
    """

    def __init__(
        self,
        *,
        secret: str | None = None,
        hosts: Collection[str] | None = None,
        private_hosts: Collection[str] = (),
        insecure: bool = False,
        timeout: float = 30.0,
        network: Network | None = None,
    ) -> None:
        """Prepare to post.

        Raises:
            ValueError: a number is out of range, or the secret is empty.
            TypeError: an argument is not of its type.
            ImportError: the extra `http` is not installed.
        """
        _WEBHOOK_HANDLERS.check(
            secret=secret,
            hosts=hosts,
            private_hosts=private_hosts,
            insecure=insecure,
            timeout=timeout,
            network=network,
        )
        if secret == "":
            raise ValueError(
                "WebhookHandlers: secret: expected a string that is not empty, or None"
            )
        self._secret = secret
        self._hosts = None if hosts is None else {one.lower() for one in hosts}
        self._private_hosts = tuple(private_hosts)
        self._insecure = insecure
        self._timeout = timeout
        self._network = network or SystemNetwork()
        self._client(timeout)

    def problems(self, handler: WebhookEventHandler, at: str) -> Iterator[Problem]:
        """Yield why a handler is not taken, with pointers that begin with `at`."""
        try:
            address = web_address(handler.url, self._private_hosts)
        except NotFetchedError as error:
            yield Problem(f"{at}/url", "an address that may be posted to", error.reason)
        else:
            yield from self._address_problems(address, f"{at}/url")
        if not handler.timeout > 0:
            yield Problem(f"{at}/timeout", "milliseconds above 0", shown(handler.timeout))
        yield from _header_problems(handler.headers or {}, f"{at}/headers")

    async def work(self, work: HandlerWork, handler: WebhookEventHandler) -> None:
        """Post the events once.

        Raises:
            RetryHandlerError: it may succeed later.
            HandlerFailedError: it will not.
        """
        body = encode(work.params())
        headers = [
            *checked_headers(handler.headers or {}, _RESERVED),
            ("Idempotency-Key", work.delivery_id),
            ("X-MCPE-Attempt", str(work.attempt)),
        ]
        if self._secret is not None:
            headers.append((SIGNATURE, signature_of(body, self._secret)))
        client = self._client(seconds_for(handler.timeout, self._timeout))
        try:
            await client.post(
                *(handler.url, body, "application/json"),
                headers=headers,
                follows=False,
                reads=False,  # the server has the events, whatever it says of them
            )
        except NotFetchedError as error:
            may_pass = error.status is None or error.status in _MAY_PASS
            failure = RetryHandlerError if may_pass else HandlerFailedError
            raise failure(error.reason) from None

    def _client(self, seconds: float) -> GuardedClient:
        return GuardedClient(
            self._is_allowed,
            insecure=self._insecure,
            size=0,
            timeout=seconds,
            network=self._network,
            private_hosts=self._private_hosts,
        )

    def _is_allowed(self, address: ServerAddress) -> bool:
        return self._hosts is None or address.host in self._hosts

    def _address_problems(self, address: ServerAddress, at: str) -> Iterator[Problem]:
        if not address.secure and not self._insecure:
            yield Problem(at, "an address that begins with https://", "one without TLS")
        if not self._is_allowed(address):
            yield Problem(at, "a host that this server allows", f'"{address.host:.60}"')


def _header_problems(headers: dict[str, str], at: str) -> Iterator[Problem]:
    size = sum(len(name) + len(value) for name, value in headers.items())
    if len(headers) > _MOST_HEADERS or size > _HEADERS_SIZE:
        expected = f"at most {_MOST_HEADERS} headers of {_HEADERS_SIZE} characters in all"
        yield Problem(at, expected, f"{len(headers)} of {size}")
        return
    for name, value in headers.items():
        try:
            checked_headers({name: value}, _RESERVED)
        except ValueError:
            place = name.replace("~", "~0").replace("/", "~1")
            expected = "the name of a header that is not written here, and a value of one line"
            yield Problem(f"{at}/{place:.60}", expected, "another one")
