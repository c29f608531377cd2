"""What a process of a cluster does when the home of a client has become another."""

from __future__ import annotations

from kinwire.mcpe.rules.homes import Home, HomeStep, next_step

OWN, OTHER, AWAY = Home("c", "one"), Home("c", "two"), Home("c", "two", away=True)


def test_a_client_is_left_moved_or_taken() -> None:
    table: list[tuple[Home | None, bool, bool, HomeStep | None]] = [
        # home, served here, connected here
        (None, False, False, None),
        (None, False, True, None),
        (None, True, False, "leave"),
        (None, True, True, "leave"),
        (OTHER, False, False, None),
        (OTHER, False, True, None),
        (OTHER, True, False, "leave"),
        (OTHER, True, True, "leave"),
        (AWAY, False, False, None),
        (AWAY, False, True, "take"),
        (AWAY, True, False, "leave"),
        (AWAY, True, True, "move"),
        *(
            (OWN, served, connected, None)
            for served in (False, True)
            for connected in (False, True)
        ),
    ]
    for home, is_served, is_connected, step in table:
        found = next_step(home, node="one", is_served=is_served, is_connected=is_connected)
        assert found == step, (home, is_served, is_connected)
