"""GET /openapi.json: the description of this API. It holds no data, so everybody may see it."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

# made by `make openapi`, laid out so that people can read what changes in it
DOCUMENT = json.loads(Path(__file__).with_name("openapi.json").read_bytes())
TEXT = json.dumps(DOCUMENT, ensure_ascii=False, separators=(",", ":"))
PACKED = base64.b64encode(gzip.compress(TEXT.encode(), mtime=0)).decode()
HEADERS = {
    "Content-Type": "application/json",
    "Cache-Control": "max-age=300",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}


def lambda_handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Answer with the document, packed for a client that takes it so."""
    headers = {name.lower(): value for name, value in event.get("headers", {}).items()}
    if "gzip" in headers.get("accept-encoding", ""):
        packed = {**HEADERS, "Content-Encoding": "gzip"}
        return {"statusCode": 200, "headers": packed, "body": PACKED, "isBase64Encoded": True}
    return {"statusCode": 200, "headers": HEADERS, "body": TEXT, "isBase64Encoded": False}
