"""Payloads of a given size: ordinary JSON as services send it, and text that nothing can compress."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

_CITIES = ("Amsterdam", "Lisbon", "Porto Alegre", "Nagoya", "Accra", "Wellington", "Tallinn", "Quito")
_WORDS = ("blue", "cotton", "shirt", "large", "walnut", "desk", "lamp", "steel", "kettle", "wool", "scarf")


def ordinary(size: int, seed: int = 0) -> dict[str, Any]:
    """Return an order with as many lines as make about `size` bytes of compact JSON."""
    rng = random.Random(seed)
    order: dict[str, Any] = {"order": f"{rng.randrange(10**8):08}", "customer": _address(rng), "lines": []}
    while _size(order) < size - 60:
        order["lines"].append(
            {
                "sku": f"{rng.choice('ABCDEF')}-{rng.randrange(10**5):05}",
                "name": " ".join(rng.sample(_WORDS, 3)),
                "quantity": rng.randrange(1, 9),
                "price": {"amount": f"{rng.randrange(100, 20000) / 100:.2f}", "currency": "EUR"},
            }
        )
    order["note"] = "x" * max(0, size - _size(order) - 10)
    return order


def incompressible(size: int, seed: int = 0) -> dict[str, Any]:
    """Return a payload of about `size` bytes of compact JSON that is random text."""
    rng = random.Random(seed)
    return {"data": base64.b85encode(rng.randbytes(size)).decode().translate(_PLAIN)[: size - 11]}


_PLAIN = str.maketrans({"`": "/", "\\": "/", '"': "/"})


def _address(rng: random.Random) -> dict[str, str]:
    return {
        "name": f"{rng.choice('ABCDEFGH')}. {rng.choice(_WORDS).title()}",
        "street": f"{rng.randrange(1, 300)} {rng.choice(_WORDS).title()} Street",
        "city": rng.choice(_CITIES),
    }


def _size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":")).encode())
