"""Where things are in the repository."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "template.yaml"
LIBRARY = ROOT / "layers" / "jobqueue"
WORK = ROOT / ".local"
# Wheels for one interpreter are nothing to another.
INTERPRETER = WORK / f"{sys.implementation.cache_tag}-{platform.system()}-{platform.machine()}".lower()
BUILD = INTERPRETER / "build"
CACHE = INTERPRETER / "cache"
STATE = WORK / "stack.json"
