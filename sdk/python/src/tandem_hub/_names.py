"""When two names are the same, and how a name of another agent is shown."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left

from ._tables import INVISIBLE

LASTS = [last for _, last in INVISIBLE]


def is_invisible(c: str) -> bool:
    at = bisect_left(LASTS, ord(c))
    return at < len(INVISIBLE) and INVISIBLE[at][0] <= ord(c)


def line(name: str) -> str:
    """A name in one line without invisible characters."""
    blank = (" " if unicodedata.category(c) == "Cc" or c.isspace() else c for c in name[:100])
    return " ".join("".join(c for c in blank if not is_invisible(c)).split())


def folded(name: str) -> str:
    """A name as it is compared: names that cannot be told apart by eye are the same."""
    visible = "".join(c for c in name if not is_invisible(c))
    small = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).lower())
    return " ".join(small.split())
