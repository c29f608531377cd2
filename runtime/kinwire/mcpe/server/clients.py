"""Which client a session is of, and what each client has (MCPE 5.1, 11.1).

A client is its authenticated principal. Without one it is who has the recovery token: the result
of its first `events_subscribe` has it in `_meta`, and a later session that sends it is the same
client. Only a digest of the token is kept.
"""

from __future__ import annotations

__all__ = ("ClientSession", "ClientTable", "KnownClient")

import secrets
from collections.abc import Iterator

from kinwire.managers.limits import TokenBucket
from kinwire.managers.notification_sender import NotificationSender
from kinwire.mcpe.rules.subscriptions import SubscriptionCounts
from kinwire.mcpe.server.event_client import EventClient
from kinwire.mcpe.server.options import EventRates
from kinwire.mcpe.server.served import ServedSubscription
from kinwire.rpc.session import Session
from kinwire.support.json_values import short_digest
from kinwire.transports.http.guard import current_principal
from kinwire_protocols.mcpe.models import Subscription


class KnownClient:
    """A client, its open sessions and its subscriptions."""

    def __init__(self, about: EventClient, rates: EventRates) -> None:
        self.about = about
        self.sessions: dict[ClientSession, None] = {}
        """Those in which it has shown who it is, the latest one last."""
        self.served: dict[str, ServedSubscription] = {}
        """Its subscriptions by id, oldest first."""
        self.counts = SubscriptionCounts()
        """How many of those there are that have not expired."""
        self.subscribing = _bucket(rates.subscriptions)
        self.delivering = _bucket(rates.deliveries)

    @property
    def id(self) -> str:
        """The `clientId` of its subscriptions."""
        return self.about.id

    def put(self, served: ServedSubscription) -> None:
        """Add a subscription."""
        before = self.served.get(served.id)
        if before is not None:
            self.counts = self.counts.minus(before.message)
        self.served[served.id] = served
        self.counts = self.counts.plus(served.message)

    def drop(self, id: str) -> None:
        """Remove the subscription of that id, if there is one."""
        served = self.served.pop(id, None)
        if served is not None:
            self.counts = self.counts.minus(served.message)

    def note_change(self, before: Subscription, made: Subscription) -> None:
        """Note that one of the subscriptions has another message."""
        self.counts = self.counts.minus(before).plus(made)

    @property
    def home(self) -> ClientSession | None:
        """The session that its notifications go to by default; None if it is not connected."""
        return next(reversed(self.sessions), None)


class ClientSession:
    """One session with a client."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.sender = NotificationSender(session)
        self.own: KnownClient | None = None
        """The client that the session began as."""
        self.token: str | None = None
        """The recovery token of `own`, if it was made in this session."""
        self.clients: dict[KnownClient, None] = {}
        """Those that it has shown to be."""


class ClientTable:
    """The clients that are connected or have subscriptions, by id."""

    def __init__(self, rates: EventRates) -> None:
        self._rates = rates
        self._clients: dict[str, KnownClient] = {}

    def __iter__(self) -> Iterator[KnownClient]:
        return iter(list(self._clients.values()))

    def get(self, id: str) -> KnownClient | None:
        """Return the client of that id; None if nothing is known of it."""
        return self._clients.get(id)

    def restored(self, about: EventClient) -> KnownClient:
        """Return the client of a subscription that was kept."""
        return self._known(about)

    def of(self, peer: ClientSession, token: str | None) -> KnownClient:
        """Return which client a session is, and remember that the session is its latest one.

        A token that nobody has counts as none.
        """
        client = self._named(peer, token) or peer.own or self._begun(peer)
        client.sessions.pop(peer, None)
        client.sessions[peer] = None
        peer.clients[client] = None
        return client

    def id_of(self, peer: ClientSession, token: str | None) -> str | None:
        """Return the id of the client that a session is or says to be; None for a new one."""
        identity = peer.session.identity
        if not identity.transient:
            return identity.key
        if token is not None:
            return _id_of(token)
        return None if peer.own is None else peer.own.id

    def authenticated(self, peer: ClientSession) -> KnownClient | None:
        """Return the client of a session with a principal that has subscriptions."""
        identity = peer.session.identity
        found = None if identity.transient else self._clients.get(identity.key)
        return found if found is not None and found.served else None

    def keep(self, client: KnownClient) -> None:
        """Have a client be known that was forgotten."""
        self._clients.setdefault(client.id, client)

    def forget(self, client: KnownClient) -> None:
        """Forget a client that has no subscription and no session."""
        if not (client.served or client.sessions):
            self._clients.pop(client.id, None)

    def _named(self, peer: ClientSession, token: str | None) -> KnownClient | None:
        """Return the client that has a token; a principal needs none and can have none."""
        if token is None or not peer.session.identity.transient:
            return None
        return self._clients.get(_id_of(token))

    def _begun(self, peer: ClientSession) -> KnownClient:
        identity = peer.session.identity
        if identity.transient:
            peer.token = secrets.token_urlsafe(32)
            about = EventClient(_id_of(peer.token))
        else:
            about = EventClient(identity.key, current_principal())
        peer.own = self._known(about)
        return peer.own

    def _known(self, about: EventClient) -> KnownClient:
        found = self._clients.get(about.id)
        if found is None:
            found = self._clients[about.id] = KnownClient(about, self._rates)
        elif found.about.principal is None and about.principal is not None:
            found.about = about
        return found


def _id_of(token: str) -> str:
    return short_digest("mcpe recovery token", token)


def _bucket(rate: float | None) -> TokenBucket | None:
    return None if rate is None else TokenBucket(per_second=rate)
