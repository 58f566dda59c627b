"""``python -m jobqueue_client`` is the command line too, wherever scripts are not on PATH."""

from __future__ import annotations

from .cli import main

if __name__ == "__main__":
    main()
