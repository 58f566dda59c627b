"""How a call reaches the API: one HTTP connection pool, repeats, and what an answer means."""

from __future__ import annotations

import ipaddress
import platform
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx

from .clock import Clock
from .errors import ClientError, FieldError, NoAnswer, ServerError, UnexpectedAnswer, error_class
from .jobs import JsonObject
from .retry import Repeat, RetryPolicy, retry_after_seconds
from .version import __version__

_PROBLEM = "urn:jobqueue:problem:"
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_CONNECT_SECONDS = 5.0
_MESSAGE_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Answer:
    """A successful answer. `body` is empty for a 204."""

    status: int
    body: JsonObject
    retry_after: float | None


class Transport:
    """Sends one call at a time, repeating it where that is safe. May be shared by threads.

    Parameters
    ----------
    http : httpx.Client
        Carries the API key in its default headers.
    base_url : str
        Without a slash at its end.
    timeout : float
        Seconds that one attempt may wait for the API.
    retry : RetryPolicy
        How often and how long a call is repeated.
    clock : Clock
        Sleeps between attempts.
    random : callable
        Gives a number from 0 up to 1.
    """

    def __init__(
        self,
        http: httpx.Client,
        base_url: str,
        *,
        timeout: float,
        retry: RetryPolicy,
        clock: Clock,
        random: Callable[[], float] = random.random,
    ) -> None:
        self.http = http
        self.base_url = base_url
        self.timeout = timeout
        self.retry = retry
        self.clock = clock
        self.random = random

    def with_options(self, *, timeout: float | None = None, retry: RetryPolicy | None = None) -> Transport:
        """Return one that shares the connections and has another patience."""
        return Transport(
            self.http,
            self.base_url,
            timeout=self.timeout if timeout is None else timeout,
            retry=retry or self.retry,
            clock=self.clock,
            random=self.random,
        )

    def send(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        query: Mapping[str, str | int] | None = None,
        repeat: Repeat = Repeat.ALWAYS,
    ) -> Answer:
        """Make one call.

        Raises
        ------
        ClientError
            The refusal or the failure that the last attempt ended in.
        """
        deadline = self.clock.monotonic() + self.retry.total_seconds
        landed = False
        attempt = 0
        while True:
            try:
                return self._attempt(method, path, body, query)
            except ClientError as error:
                landed = landed or error.may_have_landed
                error.may_have_landed = landed
                delay = self.retry.delay(attempt, self.random(), error.retry_after)
                attempt += 1
                if (
                    attempt >= self.retry.attempts
                    or not repeat.allows(error)
                    or self.clock.monotonic() + delay > deadline
                ):
                    raise
            self.clock.sleep(delay)

    def _attempt(
        self,
        method: str,
        path: str,
        body: bytes | None,
        query: Mapping[str, str | int] | None,
    ) -> Answer:
        try:
            response = self.http.request(
                method,
                self.base_url + path,
                content=body,
                params=query,
                headers={"content-type": "application/json"} if body is not None else None,
                timeout=httpx.Timeout(self.timeout, connect=min(self.timeout, _CONNECT_SECONDS)),
            )
        except httpx.RequestError as error:
            raise NoAnswer(
                f"No answer from the API: {type(error).__name__}.",
                may_have_landed=not isinstance(error, _NOT_SENT),
            ) from error
        retry_after = retry_after_seconds(
            response.headers.get("retry-after"), date=response.headers.get("date"), wall=self.clock.wall()
        )
        if response.is_success:
            return Answer(response.status_code, _body(response), retry_after)
        raise _refusal(response, retry_after)


def check_url(url: str, *, allow_http: bool) -> str:
    """Return `url` without a slash at its end.

    Raises
    ------
    ValueError
        If the key would travel in the clear, or if the URL has parts that a base URL does not have. The URL
        is not quoted, since it may hold a password.
    """
    url = url.strip()
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        raise ValueError("the URL of the job queue cannot be read") from None
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ValueError("the URL of the job queue must begin with https:// and have a host")
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise ValueError("the URL of the job queue must not have a user, a query or a fragment")
    if parsed.scheme == "http" and not allow_http and not _is_loopback(parsed.host):
        raise ValueError("the URL of the job queue must be https, or the key is there for all to read")
    return url.rstrip("/")


def headers_for(key: str) -> dict[str, str]:
    """Return the headers of every call.

    Raises
    ------
    ValueError
        If `key` cannot be a credential. It is not quoted, and httpx would quote it.
    """
    if not re.fullmatch(r"[!-~]+", key):
        raise ValueError("an API key is printable ASCII without spaces; this one is empty or is not")
    return {
        "authorization": f"Bearer {key}",
        "accept": "application/json, application/problem+json",
        "user-agent": f"jobqueue-client/{__version__} python/{platform.python_version()}",
    }


def problem_error(status: int, problem: JsonObject, *, retry_after: float | None = None) -> ClientError:
    """Return the error for a problem of the API (RFC 9457) or for a ``message`` of the gateway."""
    kind = problem.get("type")
    slug = kind.removeprefix(_PROBLEM) if isinstance(kind, str) and kind.startswith(_PROBLEM) else None
    words = (problem.get(name) for name in ("detail", "title", "message", "Message"))
    message = next((text for text in words if isinstance(text, str) and text), None)
    found = problem.get("errors")
    request_id = problem.get("request_id")
    cls = error_class(status, slug)
    return cls(
        (message or f"The API answered {status}.")[:_MESSAGE_LENGTH],
        status=status,
        problem=slug,
        errors=tuple(_field_errors(found)) if isinstance(found, list) else (),
        request_id=request_id if isinstance(request_id, str) else None,
        retry_after=retry_after,
        may_have_landed=issubclass(cls, ServerError) or status == 503,
    )


def _field_errors(found: list[object]) -> list[FieldError]:
    return [
        FieldError(*(str(one.get(name, "")) for name in ("field", "code", "message")))
        for one in found
        if isinstance(one, dict)
    ]


def _refusal(response: httpx.Response, retry_after: float | None) -> ClientError:
    try:
        problem = response.json()
    except ValueError:
        problem = None
    # a proxy's page of HTML helps nobody in a log, and may quote the request
    error = problem_error(
        response.status_code, problem if isinstance(problem, dict) else {}, retry_after=retry_after
    )
    error.request_id = error.request_id or response.headers.get("apigw-requestid")
    return error


def _body(response: httpx.Response) -> JsonObject:
    if response.status_code == 204:
        return {}
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise UnexpectedAnswer(status=response.status_code, may_have_landed=True)
    return body


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
