"""A race: players in threads of several processes, who share the jobs and the time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from multiprocessing.context import BaseContext
from typing import TYPE_CHECKING

from jobqueue.item import read_job
from jobqueue.job import Job
from tests.dynamodb.history import Call
from tests.dynamodb.players import Common, Player
from tests.support import dynamodb_local
from tests.support.botofaults import Faults
from tests.support.clock import START

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ROUND_SECONDS = 2
"""How much time passes while each player takes a turn, beside what `Player.come_back` lets pass."""

DATABASE = "race"


class RaceClock:
    """A time that passes as calls are made, and is the same in all processes.

    So leases run out however fast the machine is. No two readings are the same.
    """

    def __init__(self, context: BaseContext) -> None:
        self._microseconds = context.Value("q")

    def __call__(self) -> datetime:
        """Tell the time."""
        return START + timedelta(microseconds=self._add(1))

    def advance(self, seconds: float) -> None:
        self._add(int(seconds * 1_000_000))

    def _add(self, microseconds: int) -> int:
        with self._microseconds.get_lock():
            self._microseconds.value += microseconds
            now: int = self._microseconds.value
            return now


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """What the processes of a race have in common.

    Attributes
    ----------
    processes : int
        How many there are.
    players : int
        In each of them.
    jobs : int
        How many each player enqueues.
    turns : int
        How many each player takes.
    away : int
        In so many of them it lets a lease run out for certain (see `Player.come_back`).
    """

    processes: int
    players: int
    jobs: int
    turns: int
    away: int

    @property
    def everybody(self) -> int:
        """How many players there are."""
        return self.processes * self.players


def play(race: Race, number: int, common: Common, clock: RaceClock) -> list[Call]:
    """Let the players of one process play, and return what was called.

    Each of them works off what is left when its turns are over. What others hold is left to their leases.
    """

    def play_all(player: Player) -> None:
        for turn in range(race.turns):
            clock.advance(ROUND_SECONDS / race.everybody)
            if turn % race.away == 0:
                player.come_back(clock.advance)
            else:
                player.play()
        player.enqueue(race.jobs)
        while player.claim(5):
            clock.advance(ROUND_SECONDS / race.everybody)
            player.complete_all()

    players = [Player(f"{number}.{at}", common, race.jobs) for at in range(race.players)]
    with ThreadPoolExecutor(max_workers=race.players) as pool:
        list(pool.map(play_all, players))
    return common.history


def play_and_meddle(race: Race, number: int, client: DynamoDBClient, clock: RaceClock) -> list[Call]:
    """Play, with holders that move in between what others read and write."""
    common = Common(client, clock)
    with Faults.of(client).watched(Player(f"{number}.meddler", common).meddle):
        return play(race, number, common, clock)


_shared: list[RaceClock] = []
"""The clock of a process of the race, which is given to it once: it cannot be sent along with a task."""


def join(clock: RaceClock) -> None:
    """Begin a process of the race."""
    _shared.append(clock)


def play_in_a_process(race: Race, number: int, url: str) -> list[Call]:
    """Play in a process that has joined."""
    return play_and_meddle(race, number, dynamodb_local.connect(url, DATABASE), _shared[-1])


def work_all(common: Common, clock: RaceClock) -> list[Call]:
    """Complete all that can still be claimed, when all leases are over."""
    clock.advance(3600)
    last = Player("last", common)
    last.rescue()
    while last.claim(10):
        last.complete_all()
    return common.history


def all_jobs(client: DynamoDBClient) -> dict[str, Job]:
    """Read every job, past the queue."""
    pages = client.get_paginator("scan").paginate(TableName="jobs")
    jobs = [read_job(item).job for page in pages for item in page["Items"]]
    return {job.id: job for job in jobs}
