"""The queues and the types of job of this deployment: the file that a deployer edits."""

from jobqueue.jobtype import JobType, JobTypes, Policy, Queue

JOB_TYPES = JobTypes(
    queues=[
        Queue(name="default"),  # worked by the function work_jobs
        Queue(name="external"),  # worked by processes of your own, over HTTP
    ],
    types=[
        JobType(
            name="email",
            payload="jobtypes.payloads:EmailPayload",
            policy=Policy(max_retries=3, lease_seconds=60),
        ),
        JobType(
            name="webhook",
            payload="jobtypes.payloads:WebhookPayload",
            policy=Policy(max_retries=8, lease_seconds=60),
        ),
    ],
)
