"""POST /jobs/claim: take the most urgent, oldest job."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response

from jobqueue.api import views
from jobqueue.api.app import http_function
from jobqueue.api.models import ClaimJob
from jobqueue.principal import Role

RETRY_AFTER_SECONDS = 2
"""How soon an idle worker should ask again. A job waits a second on average; asking costs 2 $ a month."""

app = http_function("claim_job", Role.WORKER)


@app.post("/jobs/claim")
def claim_job(body: ClaimJob) -> Response[Any]:  # a dict or, with 204, nothing; Powertools checks
    """Answer with the job and its lease token, or 204 if there is none."""
    job = app.queue.claim(app.caller, queues=body.queues, lease_seconds=body.lease_seconds)
    return app.nothing(RETRY_AFTER_SECONDS) if job is None else app.job(job, view=views.claimed_view)


lambda_handler = app.lambda_handler
