"""When a process that gives no sign of life is believed to be gone."""

from __future__ import annotations

from kinwire.mcplite.rules.silence import WorkerSilence
from tests.each import each

# The looks of another process: the time and the revision of the sign. A lease lasts 15 seconds.
LOOKS = [
    ([(0, 1)], False),
    ([(0, 1), (14, 1)], False),
    ([(0, 1), (3600, 1)], False),  # the store may have been away in between
    ([(0, 1), (15, 1), (24, 1)], False),
    ([(0, 1), (15, 1), (25, 1)], True),
    ([(0, 1), (30, 1), (60, 1)], True),
    ([(0, 1), (30, 1), (31, 2), (60, 2)], False),
    ([(0, 1), (30, 1), (60, 2), (90, 2), (120, 2)], True),
    ([*((time, 1) for time in range(25))], False),
    ([*((time, 1) for time in range(26))], True),
]


@each(("looks", "is_proof"), LOOKS)
def test_silence_is_proof_after_a_lease_and_a_margin(
    looks: list[tuple[float, int]], is_proof: bool
) -> None:
    silence = WorkerSilence(15.0)
    found = [silence.is_proof(revision, float(time)) for time, revision in looks]
    assert found[-1] is is_proof
    assert not any(found[:-1])
