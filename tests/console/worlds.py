"""Deployments to look at: one where nothing happened yet, a busy one, and one with a bad night."""

from __future__ import annotations

import random

from tests.console.fake_api import FakeApi
from tests.console.jobs_in_memory import Json, ago

QUEUES = ("default", "emails", "reports", "webhooks")
TYPES = ("email", "webhook", "report", "thumbnail", "invoice")
HOMES = {"email": "emails", "webhook": "webhooks", "report": "reports"}
LEVELS = ("low",) * 14 + ("medium",) * 5 + ("high",) * 2 + ("critical",)
WORKERS = ("key:fleet-a", "key:fleet-b", "internal:work_jobs")
CAUSES = (
    "HTTP 503 from https://hooks.partner.example/orders",
    "connect timed out after 10 s: hooks.partner.example:443",
    "HTTP 500 from https://hooks.partner.example/orders: upstream connect error or disconnect/reset",
)


def empty() -> FakeApi:
    """Return a deployment where no job was added yet."""
    return FakeApi(queues=QUEUES[:3], types=TYPES)


def busy() -> FakeApi:
    """Return a deployment with thousands of jobs."""
    dice = random.Random(5)
    api = FakeApi(queues=QUEUES, types=TYPES)
    for _ in range(6200):
        add(api, dice, "pending", dice.uniform(-60, 190) if dice.random() < 0.1 else dice.uniform(1, 190))
    for _ in range(120):
        add(api, dice, "running", dice.uniform(2, 60))
    for _ in range(9400):
        add(api, dice, "completed", dice.uniform(30, 86_400))
    for _ in range(4):
        add(api, dice, "failed", dice.uniform(3_000, 50_000))
    for _ in range(31):
        add(api, dice, "cancelled", dice.uniform(3_000, 50_000))
    return api


def failing() -> FakeApi:
    """Return a deployment whose webhooks fail."""
    dice = random.Random(8)
    api = FakeApi(queues=QUEUES, types=TYPES, paused={"reports"})
    for _ in range(180):
        add(api, dice, "pending", dice.uniform(10, 1_900), queues=("emails", "reports", "webhooks"))
    for _ in range(6):
        add(api, dice, "running", dice.uniform(2, 60))
    for _ in range(3_000):
        add(api, dice, "completed", dice.uniform(2_000, 86_400))
    for _ in range(1_204):
        add(api, dice, "failed", dice.uniform(10, 2_400), queues=("webhooks",))
    told(api)
    return api


def add(api: FakeApi, dice: random.Random, status: str, age: float, queues: tuple[str, ...] = QUEUES) -> None:
    """Put in a job of any type that lives in `queues`."""
    job_type = dice.choice([one for one in TYPES if HOMES.get(one, "default") in queues])
    more: Json = {}
    if status == "failed":
        more["error"] = dice.choice(CAUSES)
        more["errors"] = [{"error": more["error"], "failed_at": ago(age / 2), "worker_id": WORKERS[0]}]
    job_id = api.add(job_type, status=status, age=age, priority=dice.choice(LEVELS), **more)
    job = api.by_id[job_id]
    job["queue"] = HOMES.get(job_type, "default")
    if status != "pending":
        job["worker_id"] = dice.choice(WORKERS)
        claimed = age / 2 + dice.uniform(0.08, 6) if job["finished_at"] else dice.uniform(0.5, 25)
        job["claimed_at"] = ago(min(age, claimed))


def told(api: FakeApi) -> str:
    """Return the newest failed job, whose every attempt is told."""
    job = api.in_order("failed")[0]
    if len(job["errors"]) == 1:
        failed_at = (184.2, 169.7, 131.4, 12.6)
        causes = (CAUSES[0], CAUSES[0], CAUSES[1], CAUSES[2])
        job["errors"] = [
            {"error": cause, "failed_at": ago(then), "worker_id": WORKERS[number % 2]}
            for number, (cause, then) in enumerate(zip(causes, failed_at, strict=True))
        ]
        job |= {
            "created_at": ago(185),
            "available_at": ago(14.1),
            "claimed_at": ago(13.9),
            "finished_at": ago(12.6),
            "updated_at": ago(12.6),
            "error": CAUSES[2],
            "type": "webhook",
            "worker_id": WORKERS[1],
            "idempotency_key": "order-20418/shipped",
            "payload": {
                "url": "https://hooks.partner.example/orders",
                "method": "POST",
                "headers": {"content-type": "application/json"},
                "body": {
                    "order": 20418,
                    "state": "shipped",
                    "items": [{"sku": "A-113", "count": 2}],
                    "gift": False,
                },
            },
        }
    return str(job["id"])


def work(api: FakeApi, dice: random.Random, share: float = 0.5) -> None:
    """Let the workers work for a moment, and complete about `share` of what they hold."""
    with api.lock:
        for job in api.in_order("running"):
            if dice.random() < share:
                api.complete(job)
        for job in dice.sample(api.in_order("pending"), dice.randint(70, 130)):
            api.claim(job)
        for _ in range(dice.randint(60, 140)):
            add(api, dice, "pending", 0.1)
