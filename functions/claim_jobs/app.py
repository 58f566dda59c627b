"""POST /jobs/batch/claim: take several jobs at once."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from jobqueue.api import views
from jobqueue.api.app import http_function
from jobqueue.api.models import ClaimJobs
from jobqueue.job import JsonObject
from jobqueue.principal import Role

app = http_function("claim_jobs", Role.WORKER)


@app.post("/jobs/batch/claim")
def claim_jobs(body: ClaimJobs) -> Response[JsonObject]:
    """Answer with the jobs and their lease tokens: as many as there are, up to `max_jobs`."""
    jobs = app.queue.claim_batch(
        app.caller, body.max_jobs, queues=body.queues, lease_seconds=body.lease_seconds
    )
    # 25 payloads of 64 KiB stay well below the 6 MB that a function may answer
    return app.jobs(jobs, view=views.claimed_view)


lambda_handler = app.lambda_handler
