"""The life of a job as shell commands, to be pasted one after another."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

QUEUE = "external"  # one that no function of the stack works: the commands do the work themselves

# Shows an answer and takes one text out of it, with what every machine has.
SETTINGS = """\
JSON='Content-Type: application/json'
field() { sed -n "s/.*\\"$1\\": *\\"\\([^\\"]*\\)\\".*/\\1/p"; }"""


@dataclass(frozen=True, slots=True)
class Command:
    """One step of the life of a job.

    Attributes
    ----------
    comment : str
        What it does and what it answers.
    text : str
        The command, as typed.
    needs : tuple of str
        The route keys without which it makes no sense.
    """

    comment: str
    text: str
    needs: tuple[str, ...]


def call(role: str, path: str, body: str | None = None) -> str:
    """Return the curl command of a call; with a body it is a POST. `role` names a shell variable."""
    command = f'curl -sS -w "\\n" "$API{path}" -H "Authorization: Bearer ${role}"'
    return command if body is None else f"{command} \\\n  -H \"$JSON\" -d '{body}'"


def remembered(name: str, command: str) -> str:
    """Return `command` such that the shell shows its answer and keeps it in the variable `name`."""
    return f'{name}=$({command}); echo "${name}"'


def email(subject: str, extra: str = "") -> str:
    """Return the body of an enqueue of an email."""
    payload = f'{{"to": "ada@example.com", "subject": "{subject}", "body": "Hello."}}'
    return f'{{"type": "email", "queue": "{QUEUE}", "payload": {payload}{extra}}}'


ENQUEUE, GET, LIST = "POST /jobs", "GET /jobs/{id}", "GET /jobs"
CLAIM, COMPLETE, FAIL = "POST /jobs/claim", "POST /jobs/{id}/complete", "POST /jobs/{id}/fail"
HEARTBEAT, RELEASE = "POST /jobs/{id}/heartbeat", "POST /jobs/{id}/release"
CANCEL, RETRY = "POST /jobs/{id}/cancel", "POST /jobs/{id}/retry"
BATCH, BATCH_CLAIM = "POST /jobs/batch", "POST /jobs/batch/claim"
BATCH_COMPLETE = "POST /jobs/batch/complete"

TOKEN = "'$TOKEN'"  # leaves the single quotes of the body for the shell to fill it in
PICK_JOB = 'JOB=$(echo "$ANSWER" | field id); echo "JOB is $JOB"'
PICK_LEASE = 'JOB=$(echo "$ANSWER" | field id); TOKEN=$(echo "$ANSWER" | field lease_token)'
CLAIM_ONE = f'{{"queues": ["{QUEUE}"]}}'

COMMANDS = (
    Command("Enqueue a job.", remembered("ANSWER", call("PRODUCER", "/jobs", email("One"))), (ENQUEUE,)),
    Command("Keep its id.", PICK_JOB, (ENQUEUE,)),
    Command("Look at it: pending.", call("PRODUCER", "/jobs/$JOB"), (GET,)),
    Command(
        "Claim the next job, as a worker.",
        remembered("ANSWER", call("WORKER", "/jobs/claim", CLAIM_ONE)),
        (CLAIM,),
    ),
    Command("Keep its id and the token of the lease.", PICK_LEASE, (CLAIM,)),
    Command(
        "Hold it for two minutes more, and say how far it is.",
        call(
            "WORKER",
            "/jobs/$JOB/heartbeat",
            f'{{"lease_token": "{TOKEN}", "lease_seconds": 120, "progress": {{"percent": 50}}}}',
        ),
        (CLAIM, HEARTBEAT),
    ),
    Command(
        "Complete it, with a result.",
        call("WORKER", "/jobs/$JOB/complete", f'{{"lease_token": "{TOKEN}", "result": {{"sent": true}}}}'),
        (CLAIM, COMPLETE),
    ),
    Command("Look at it: completed.", call("PRODUCER", "/jobs/$JOB"), (GET,)),
    Command("An idempotency key: what the next job is for.", 'ORDER="order-$(date +%s)"', (ENQUEUE,)),
    Command(
        "Enqueue with that key. Paste it twice: it is one job.",
        call("PRODUCER", "/jobs", email("Two", ', "max_retries": 0, "idempotency_key": "\'$ORDER\'"')),
        (ENQUEUE,),
    ),
    Command("Claim it.", remembered("ANSWER", call("WORKER", "/jobs/claim", CLAIM_ONE)), (CLAIM, FAIL)),
    Command("Keep its id and the token of the lease.", PICK_LEASE, (CLAIM, FAIL)),
    Command(
        "Release it, unharmed: pending again.",
        call("WORKER", "/jobs/$JOB/release", f'{{"lease_token": "{TOKEN}"}}'),
        (CLAIM, RELEASE),
    ),
    Command(
        "Claim it again.",
        remembered("ANSWER", call("WORKER", "/jobs/claim", CLAIM_ONE)),
        (CLAIM, RELEASE),
    ),
    Command("Keep the token of the new lease.", PICK_LEASE, (CLAIM, RELEASE)),
    Command(
        "Fail it. It has no retries, so it is a dead letter now: failed.",
        call(
            "WORKER",
            "/jobs/$JOB/fail",
            f'{{"lease_token": "{TOKEN}", "error": "the mail server said no"}}',
        ),
        (CLAIM, FAIL),
    ),
    Command("List what failed, as an admin.", call("ADMIN", "/jobs?status=failed"), (LIST,)),
    Command("Give it another chance: pending.", call("ADMIN", "/jobs/$JOB/retry", "{}"), (RETRY,)),
    Command("Cancel it.", call("PRODUCER", "/jobs/$JOB/cancel", "{}"), (RETRY, CANCEL)),
    Command(
        "Enqueue two at once.",
        call("PRODUCER", "/jobs/batch", f'{{"jobs": [{email("Three")}, {email("Four")}]}}'),
        (BATCH,),
    ),
    Command(
        "Claim one of them in a batch, which takes up to 25.",
        remembered(
            "ANSWER",
            call("WORKER", "/jobs/batch/claim", f'{{"max_jobs": 1, "queues": ["{QUEUE}"]}}'),
        ),
        (BATCH, BATCH_CLAIM),
    ),
    Command("Keep its id and the token of the lease.", PICK_LEASE, (BATCH, BATCH_CLAIM)),
    Command(
        "Complete it in a batch.",
        call(
            "WORKER",
            "/jobs/batch/complete",
            f'{{"jobs": [{{"id": "\'$JOB\'", "lease_token": "{TOKEN}"}}]}}',
        ),
        (BATCH, BATCH_CLAIM, BATCH_COMPLETE),
    ),
    Command("List all jobs, in the order of their lanes.", call("PRODUCER", "/jobs"), (LIST,)),
)


def commands(routes: Collection[str]) -> Iterator[Command]:
    """Yield the commands that an API with these routes can answer, in an order that works as typed."""
    return (command for command in COMMANDS if all(route in routes for route in command.needs))
