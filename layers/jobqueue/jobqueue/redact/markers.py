"""What stands in the place of what was taken out."""

from __future__ import annotations

HIDDEN = "[redacted]"
PATH = "[path]"
FRAME = "[frame]"
EMAIL = "[email]"

MARKERS = frozenset({HIDDEN, PATH, FRAME, EMAIL})
