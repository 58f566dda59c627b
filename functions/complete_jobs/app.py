"""POST /jobs/batch/complete: finish several held jobs."""

from __future__ import annotations

from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response

from jobqueue.api.app import http_function
from jobqueue.api.batch import answer_each
from jobqueue.api.held import CompleteJobs, CompleteOneOfJobs
from jobqueue.api.request import MAX_BATCH_BODY_BYTES
from jobqueue.job import Job, JsonObject
from jobqueue.principal import Role

app = http_function("complete_jobs", Role.WORKER, max_body_bytes=MAX_BATCH_BODY_BYTES)


@app.post("/jobs/batch/complete")
def complete_jobs(body: CompleteJobs) -> Response[JsonObject]:
    """Answer each job as POST /jobs/{id}/complete would."""

    def complete(item: CompleteOneOfJobs) -> tuple[HTTPStatus, Job]:
        job = app.queue.complete(app.caller, item.id, lease_token=item.lease_token, result=item.result)
        return HTTPStatus.OK, job

    return answer_each(app, CompleteOneOfJobs, body.jobs, complete)


lambda_handler = app.lambda_handler
