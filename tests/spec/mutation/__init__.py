"""Wrong programs, one at a time: the tests that claim rows of a specification must miss each.

`switched.py` switches a manager of the runtime off, `conditions.py` changes a single condition.
"""

from __future__ import annotations
