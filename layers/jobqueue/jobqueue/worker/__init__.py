"""Runs the handlers of jobs inside a Lambda function's time. What handlers need of it is here."""

from jobqueue.worker.handlers import handles
from jobqueue.worker.outcomes import Cancelled, Discard, LeaseLost, RetryLater, Snooze
from jobqueue.worker.run import Run

__all__ = ["Cancelled", "Discard", "LeaseLost", "RetryLater", "Run", "Snooze", "handles"]
