"""Every request of the corpus gets the answer that it must get, and no bad one changes anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.support.contract import document
from tests.support.corpus import Case, Site, read_corpus
from tests.support.http import ENVIRONMENT, deployed_tables, running_stack

CORPUS = read_corpus()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """One deployment for all requests: what a good one changes is undone after it."""
    with pytest.MonkeyPatch.context() as patch, deployed_tables() as client:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        with running_stack(client) as stack:
            site = Site(stack)
            yield site
            site.close()


@pytest.mark.parametrize("case", CORPUS, ids=str)
def test_a_request_gets_its_answer(
    case: Case, site: Site, record_property: Callable[[str, object], None]
) -> None:
    answer = site.send(case)
    changed = site.changes()
    is_good = case.status < 300
    record_property("counted: requests of the corpus", 1)
    record_property("counted: 5xx among their answers", int(answer.status >= 500))
    record_property("counted: items changed by bad ones", 0 if is_good else changed)
    assert (answer.status, answer.problem) == (case.status, case.problem), answer.text
    if case.problem == "invalid-request":
        assert answer.fields == case.fields
    assert answer.status < 500
    assert is_good or changed == 0


def test_the_corpus_is_large_and_has_every_kind() -> None:
    kinds = Counter(case.kind for case in CORPUS)
    assert len(CORPUS) >= 300
    assert len(kinds) >= 10
    assert all(count >= 10 for count in kinds.values()), kinds
    assert len({str(case) for case in CORPUS}) == len(CORPUS)


def test_the_corpus_reaches_every_route() -> None:
    routes = {
        f"{method.upper()} {path}" for path, methods in document()["paths"].items() for method in methods
    }
    reached = {
        pattern
        for pattern in routes
        for case in CORPUS
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), case.request.partition("?")[0])
    }
    assert reached == routes


def test_a_change_is_seen_and_undone(site: Site) -> None:
    for _ in range(2):
        assert site.call("producer", "POST", "/jobs", {"type": "note"}).status == 201
        assert site.call("admin", "POST", f"/jobs/{site.names['pending']}/cancel").status == 200
        assert site.changes() == 2
        assert site.changes() == 0
