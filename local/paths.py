"""Where things are in the repository."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "template.yaml"
LIBRARY = ROOT / "layers" / "jobqueue"
WORK = ROOT / ".local"
BUILD = WORK / "build"
STATE = WORK / "stack.json"
