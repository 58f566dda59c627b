"""What writes of jobs expect to find: one name for each condition, and the values that it compares with."""

from __future__ import annotations

from typing import Any

from jobqueue.item import StoredJob
from jobqueue.job import JobStatus, format_timestamp

# Each also implies that the item exists, but for the first.
IS_NEW = "attribute_not_exists(#id)"
# a finished job past its retention counts as absent, and TTL deletes late
IS_PAST_RETENTION = "(#status IN (:completed, :failed, :cancelled) AND #expires_at < :epoch)"
# the state, the place and the count of changes that were seen: nothing happened to the job since
IS_PENDING_AS_SEEN = "#status = :pending AND #lane_order = :seen_order AND #rev = :seen_rev"
IS_RUNNING = "#status = :running"
# `rev` begins anew where a keyed job takes the place of one past its retention; the time tells which it is
IS_UNCHANGED = "#status = :seen_status AND #rev = :seen_rev AND #created_at = :seen_created_at"
# the caller, and the very lease: the same worker may have lost the job and claimed it again
IS_HELD = "#status = :running AND #worker_id = :holder AND #lease_token = :token"
# a heartbeat does not touch `rev`, so the time itself is looked at
LEASE_IS_OVER = "#lease_expires_at <= :over"
LEASE_GROWS = "#lease_expires_at <= :lease_expires_at"
RETRIES_ARE_LEFT = "#retry_count < #max_retries"
CANCEL_IS_NOT_ASKED = "attribute_not_exists(#cancel_requested)"
STANDS_AS_SEEN = "#lane_order = :seen_order AND #lease_expires_at = :seen_expiry"


def as_seen(stored: StoredJob) -> dict[str, Any]:
    """Return the values that `IS_UNCHANGED` compares with."""
    return {
        "seen_status": stored.job.status.value,
        "seen_rev": stored.rev,
        "seen_created_at": format_timestamp(stored.job.created_at),
    }


def held_by(holder: str, token: str) -> dict[str, Any]:
    """Return the values that `IS_HELD` compares with."""
    return {"running": JobStatus.RUNNING.value, "holder": holder, "token": token}
