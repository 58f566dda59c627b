"""Faults between the SDK and DynamoDB: lost requests and replies, throttling, errors, a stale index.

They are put where a request leaves the SDK, so that everything above is real: its retries, its errors, and
what the queue makes of them. Works on moto and on DynamoDB Local alike.
"""

from __future__ import annotations

import json
import math
import random
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, cast
from unittest.mock import patch
from weakref import WeakKeyDictionary

from botocore.awsrequest import AWSResponse
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError
from botocore.retries.standard import ExponentialBackoff
from moto.core.models import botocore_stubber

from tests.support.indexhistory import IndexHistory

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem"})
_PREFIX = "com.amazonaws.dynamodb.v20120810#"


class Fault(Enum):
    """What happens to one request.

    Attributes
    ----------
    lands : bool
        Whether DynamoDB carries it out.
    """

    lands: bool

    THROTTLED = "throttled", False
    BROKEN = "broken", False
    UNREACHED = "unreached", False
    LOST_REQUEST = "lost request", False
    LOST_REPLY = "lost reply", True
    BROKEN_REPLY = "broken reply", True

    def __new__(cls, label: str, lands: bool) -> Fault:
        """Make a member of its name."""
        member = object.__new__(cls)
        member._value_ = label
        member.lands = lands
        return member


Choose = Callable[[int, str], Fault | None]
"""Says what happens to a request, by its number within the block and its operation."""

Watch = Callable[[str, Callable[[], dict[str, Any]]], object]
"""Hears of a request before it is sent: of its operation, and how to read what it asks for."""


@dataclass(slots=True)
class _Block:
    choose: Choose
    requests: int = 0
    injected: Counter[Fault] = field(default_factory=Counter)

    def meets(self, operation: str) -> Fault | None:
        fault = self.choose(self.requests, operation)
        self.requests += 1
        return fault


class Faults:
    """Stands between one client and DynamoDB. `Faults.of` gives the only one of a client."""

    _all: ClassVar[WeakKeyDictionary[Any, Faults]] = WeakKeyDictionary()

    def __init__(self, client: DynamoDBClient) -> None:
        self._http: Any = weakref.proxy(client)
        self._lock = threading.Lock()
        self._blocks: list[_Block] = []
        self._watches: list[Watch] = []
        self._history: IndexHistory | None = None
        self._lag: Callable[[], int | None] = lambda: None
        events: Any = client.meta.events
        # every handler of an event is called, so moto would carry out what is refused here
        events.unregister("before-send", botocore_stubber)
        events.register_first("before-send.dynamodb", self._send)

    @classmethod
    def of(cls, client: DynamoDBClient) -> Faults:
        """Return what can go wrong between a client and DynamoDB."""
        if client not in cls._all:
            cls._all[client] = cls(client)
        return cls._all[client]

    @contextmanager
    def on_request(self, number: int, fault: Fault, *, times: int | None = 1) -> Iterator[Counter[Fault]]:
        """Let a fault meet the request `number` of the block, counted from 0, and those that follow it.

        Parameters
        ----------
        number : int
            The SDK's repetitions count as requests of their own.
        fault : Fault
            What happens.
        times : int or None
            To how many requests; None to all of the rest.
        """
        last = math.inf if times is None else number + times

        def choose(at: int, _: str) -> Fault | None:
            return fault if number <= at < last else None

        with self._block(choose) as block:
            yield block.injected

    @contextmanager
    def on(
        self, operation: str, fault: Fault, *, times: int | None = 1, after: int = 0
    ) -> Iterator[Counter[Fault]]:
        """Let a fault meet some requests of an operation; None for `times` means all that come `after`."""
        numbers = count()
        last = math.inf if times is None else after + times

        def choose(_: int, wanted: str) -> Fault | None:
            return fault if wanted == operation and after <= next(numbers) < last else None

        with self._block(choose) as block:
            yield block.injected

    @contextmanager
    def at_random(
        self, share: float, rng: random.Random, faults: Sequence[Fault] = tuple(Fault)
    ) -> Iterator[Counter[Fault]]:
        """Let one of `faults` meet a request with the probability `share`."""

        def choose(_: int, __: str) -> Fault | None:
            return rng.choice(faults) if rng.random() < share else None

        with self._block(choose) as block:
            yield block.injected

    @contextmanager
    def stale_index(self, lag: Callable[[], int | None]) -> Iterator[None]:
        """Answer queries of the index with the state of `lag()` writes ago; None asks DynamoDB.

        Only what is written inside the block is known, so the index must be empty when it begins.
        """
        self._history, self._lag = IndexHistory(), lag
        try:
            yield
        finally:
            self._history = None

    @contextmanager
    def watched(self, watch: Watch) -> Iterator[None]:
        """Let `watch` hear of every request of a block, and do what it likes, before the request is sent."""
        self._watches.append(watch)
        try:
            yield
        finally:
            self._watches.remove(watch)

    @contextmanager
    def counted(self) -> Iterator[Callable[[], int]]:
        """Count the requests of a block."""
        with self._block(lambda _, __: None) as block:
            yield lambda: block.requests

    @contextmanager
    def _block(self, choose: Choose) -> Iterator[_Block]:
        block = _Block(choose)
        self._blocks.append(block)
        # the SDK decides as ever whether to try again; only the wait is left out
        with patch.object(ExponentialBackoff, "delay_amount", return_value=0):
            try:
                yield block
            finally:
                self._blocks.remove(block)

    def _send(self, request: Any, event_name: str, **_: Any) -> AWSResponse | None:
        operation = event_name.rpartition(".")[2]
        for watch in tuple(self._watches):
            watch(operation, lambda: json.loads(request.body))
        fault = self._fault(operation)
        if fault is None:
            return self._deliver(request, operation, event_name)
        if fault.lands:
            self._deliver(request, operation, event_name)
        return _outcome(fault, request)

    def _fault(self, operation: str) -> Fault | None:
        """Ask all blocks; the innermost that has a fault decides."""
        with self._lock:
            met = [(block, fault) for block in self._blocks if (fault := block.meets(operation))]
            if not met:
                return None
            block, fault = met[-1]
            block.injected[fault] += 1
            return fault

    def _deliver(self, request: Any, operation: str, event_name: str) -> AWSResponse:
        """Let DynamoDB carry the request out, or answer it from the past of the index."""
        history = self._history
        if history is not None and operation == "Query" and (lag := self._lag()) is not None:
            return _response(request, 200, history.query(json.loads(request.body), lag))
        reply = botocore_stubber(request=request, event_name=event_name)
        if reply is None:
            reply = self._http._endpoint.http_session.send(request)
        if history is not None and operation in WRITES and reply.status_code == 200:
            history.record(json.loads(request.body), json.loads(reply.content))
        return cast(AWSResponse, reply)


def _outcome(fault: Fault, request: Any) -> AWSResponse:
    match fault:
        case Fault.THROTTLED:
            return _refusal(request, 400, "ThrottlingException")
        case Fault.BROKEN | Fault.BROKEN_REPLY:
            return _refusal(request, 500, "InternalServerError")
        case Fault.UNREACHED:
            raise ConnectTimeoutError(endpoint_url=request.url)
        case _:
            raise ReadTimeoutError(endpoint_url=request.url)


def _refusal(request: Any, status: int, code: str) -> AWSResponse:
    return _response(request, status, {"__type": _PREFIX + code, "message": "injected"})


def _response(request: Any, status: int, answer: Any) -> AWSResponse:
    headers: Any = {"content-type": "application/x-amz-json-1.0"}
    response: Any = AWSResponse(request.url, status, headers, None)
    response._content = json.dumps(answer).encode()
    return cast(AWSResponse, response)
