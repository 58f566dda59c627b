"""GET /console: the operator's page, whole in one answer. It holds no data: it asks the API, with a key."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("page")
PARTS = {  # the last script starts the page
    "style": "base.css frame.css pages.css job.css",
    "script": "dom.js words.js api.js store.js parts.js dialogs.js bulk.js queues.js jobs.js timeline.js"
    " job.js frame.js",
}
PAGE, HEADERS = ((FOLDER / name).read_text(encoding="utf-8") for name in ("page.html", "headers.json"))
for part, names in PARTS.items():
    text = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in names.split())
    # nothing inline runs but what has this digest
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    PAGE = PAGE.replace(f"@@{part}@@", text)
    HEADERS = HEADERS.replace(f"@@{part}@@", f"'sha256-{digest}'")
PACKED = base64.b64encode(gzip.compress(PAGE.encode(), mtime=0)).decode()


def lambda_handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Answer with the page, packed for a browser that takes it so."""
    answer = {"statusCode": 200, "headers": json.loads(HEADERS), "body": PAGE, "isBase64Encoded": False}
    if "gzip" in event.get("headers", {}).get("accept-encoding", ""):
        answer |= {"body": PACKED, "isBase64Encoded": True}
        answer["headers"]["Content-Encoding"] = "gzip"
    return answer
