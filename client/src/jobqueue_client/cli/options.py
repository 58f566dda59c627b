"""What the arguments and options of the commands may be."""

from __future__ import annotations

import re
from datetime import datetime

import click

from jobqueue_client.leases import path_of
from jobqueue_client.queues import queue_path
from jobqueue_client.timestamps import in_utc

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


class JobId(click.ParamType):
    """The id of a job. What cannot be one is not sent."""

    name = "job"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return `value`."""
        try:
            path_of(value)
        except ValueError as error:
            self.fail(f"{value!r} is not the id of a job: {error}.", param, ctx)
        return value


class QueueName(click.ParamType):
    """The name of a queue. What cannot be one is not sent."""

    name = "queue"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return `value`."""
        try:
            queue_path(value)
        except ValueError as error:
            self.fail(f"{value!r} is not the name of a queue: {error}.", param, ctx)
        return value


class Word(click.Choice):
    """One of the words that the API knows. A newer one may know more, so it is the API that refuses."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return `value` in small letters."""
        if not value:
            self.fail(f"this needs a word, such as {self.choices[0]}.", param, ctx)
        return value.lower()


class Duration(click.ParamType):
    """Seconds, or a number with one of the units s, m, h and d."""

    name = "duration"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return seconds."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"([0-9]{1,9})([smhd]?)", value)
        if match is None:
            self.fail(f"{value!r} is not a duration, such as 90, 90s, 15m, 2h or 1d.", param, ctx)
        return int(match[1]) * _UNITS[match[2]]


class Moment(click.ParamType):
    """A time with its offset from UTC."""

    name = "time"

    def convert(
        self, value: str | datetime, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return an aware datetime in UTC."""
        if isinstance(value, datetime):
            return value
        try:
            when = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a time, such as 2026-11-30T08:00:00+01:00.", param, ctx)
        if when.utcoffset() is None:
            self.fail(f"{value!r} does not say in which time zone: add Z or +01:00.", param, ctx)
        try:
            return in_utc(when)
        except ValueError:
            self.fail(f"{value!r} is beyond the calendar.", param, ctx)


STATUS = Word(("pending", "running", "completed", "failed", "cancelled"))
PRIORITY = Word(("low", "medium", "high", "critical"))
