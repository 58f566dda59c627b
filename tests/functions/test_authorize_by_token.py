"""The authorizer, where JSON Web Tokens are taken."""

from __future__ import annotations

import json

import pytest

from jobqueue.api.caller import read_caller
from jobqueue.authorizer import open_authorizer
from jobqueue.errors import InvalidSettings, Unavailable
from tests.support.authorizing import REFUSED, Function, event, function
from tests.support.issuer import ENVIRONMENT, ISSUER, OTHER_RSA_KEY, Issuer, claims, signed
from tests.support.keys import KeysBench, bench, keys_table
from tests.support.log import captured_log

__all__ = ["bench", "function", "keys_table"]


def test_a_token_of_the_issuer_says_who_is_calling(bench: KeysBench, function: Function) -> None:
    function.take_tokens_of(Issuer())
    context = function(event(f"Bearer {signed(claims())}"))["context"]
    assert context == {
        "principal": f"jwt:{ISSUER}#user-1",
        "role": "producer",
        "queues": "mail,web",
        "max_priority": "high",
    }
    assert read_caller({"requestContext": {"authorizer": {"lambda": context}}}).id == context["principal"]
    key = bench.keyring.create("shop", role="producer")
    assert function(event(f"Bearer {key}"))["isAuthorized"] is True


@pytest.mark.parametrize(
    ("token", "outcome"),
    [
        (signed(claims(exp=1)), "expired-jwt"),
        (signed(claims(role=..., queues=...)), "ungranted-jwt"),
        (signed(claims(), key=OTHER_RSA_KEY), "invalid-jwt"),
        (signed(claims(), {"alg": "none", "kid": "rsa"}), "malformed-jwt"),
        (signed(claims(), {"alg": "RS256", "kid": "../../dev/null"}), "unknown-jwt-key"),
        ("CANARY", "malformed-jwt"),
    ],
)
def test_other_tokens_are_refused_and_not_logged(function: Function, token: str, outcome: str) -> None:
    function.take_tokens_of(Issuer())
    assert function(event(f"Bearer {token}")) == REFUSED
    assert [line["outcome"] for line in function.lines()] == [outcome]
    assert not any(part in function.log for part in token.split("."))


def test_an_issuer_that_does_not_answer_is_no_refusal(function: Function) -> None:
    issuer = Issuer()
    issuer.down = True
    function.take_tokens_of(issuer)
    with pytest.raises(Unavailable):
        function(event(f"Bearer {signed(claims())}"))


def test_tokens_are_off_unless_the_environment_names_an_issuer(
    bench: KeysBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEYS_TABLE", bench.table)
    asked = event("Bearer a.b.c")
    assert open_authorizer().answer(asked) == REFUSED
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with captured_log() as logged:
        assert open_authorizer().answer(asked) == REFUSED
    assert json.loads(logged())["outcome"] == "invalid-jwt"
    monkeypatch.delenv("JWT_AUDIENCE")
    with pytest.raises(InvalidSettings, match="JWT_AUDIENCE"):
        open_authorizer()
