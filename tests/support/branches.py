"""Refuse a run whose tests took too few of the branches: ``python -m tests.support.branches 95``."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from coverage import Coverage


def covered_percent() -> float:
    """Return how much of the branches the recorded run took, in percent."""
    coverage = Coverage()
    coverage.load()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "coverage.json")
        coverage.json_report(outfile=str(report))
        totals = json.loads(report.read_text(encoding="utf-8"))["totals"]
    return 100.0 * float(totals["covered_branches"]) / float(totals["num_branches"])


if __name__ == "__main__":
    covered, wanted = covered_percent(), float(sys.argv[1])
    sys.stdout.write(f"{covered:.1f} % of the branches covered, {wanted:g} % wanted\n")
    sys.exit(covered < wanted)
