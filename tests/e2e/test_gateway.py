from __future__ import annotations

import pytest

from tests.e2e.running import Stack


@pytest.mark.parametrize("path", ["/jobs", "/jobs/job_x"])
def test_a_call_without_a_credential_is_401(stack: Stack, path: str) -> None:
    answer = stack.http.get(stack.state.url + path)

    assert answer.status_code == 401
    assert list(answer.json()) == ["message"]


@pytest.mark.parametrize("key", ["nonsense", "jq_" + "A" * 43, "jq_"])
def test_a_bad_credential_is_403(stack: Stack, key: str) -> None:
    answer = stack.call_as(key, "GET", "/jobs")

    assert answer.status_code == 403
    assert list(answer.json()) == ["message"]


def test_a_credential_of_another_scheme_is_403(stack: Stack) -> None:
    key = stack.state.keys["admin"]

    answer = stack.http.get(stack.state.url + "/jobs", headers={"Authorization": f"Basic {key}"})

    assert answer.status_code == 403


@pytest.mark.parametrize(
    "method, path",
    [("GET", "/nothing"), ("DELETE", "/jobs"), ("POST", "/jobs/job_x"), ("GET", "/jobs/job_x/complete")],
)
def test_an_unknown_route_is_404(stack: Stack, method: str, path: str) -> None:
    answer = stack.call("admin", method, path)

    assert answer.status_code == 404
    assert list(answer.json()) == ["message"]
