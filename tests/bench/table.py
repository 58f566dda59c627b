"""Plain tables for people, the same in a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table; numbers are rounded to two digits behind the point and aligned to the right."""
    cells = [[_text(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in [list(columns), *cells]) for at in range(len(columns))]
    lines = [_line(columns, widths), _rule(widths), *(_line(row, widths) for row in cells)]
    return "\n".join([f"{title}\n", *lines, ""])


def _text(cell: object) -> str:
    return f"{cell:.2f}".rstrip("0").rstrip(".") if isinstance(cell, float) else str(cell)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = [*zip(cells, widths, strict=True)]
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return f"| {' | '.join(padded)} |"


def _rule(widths: Sequence[int]) -> str:
    first, *others = widths
    return f"|{'-' * (first + 2)}|{'|'.join('-' * (width + 1) + ':' for width in others)}|"
