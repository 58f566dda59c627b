"""Metrics reach CloudWatch whole: no value is dropped, none is told under another's name."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobqueue.metrics import Measures, Metric, count, labels
from tests.support.emf import told, total, values
from tests.support.workshop import JOB_TYPES


@pytest.mark.parametrize("number", [1, 99, 100, 101, 250])
def test_any_number_of_values_of_one_metric(capsys: pytest.CaptureFixture[str], number: int) -> None:
    measures = Measures()
    for value in range(number):
        measures.add(Metric.WAIT, value + 0.5, queue="default", type="email")
    measures.write()
    log = capsys.readouterr().out
    assert values(log, "WaitSeconds", queue="default", type="email") == [n + 0.5 for n in range(number)]


def test_counts_are_added_up(capsys: pytest.CaptureFixture[str]) -> None:
    measures = Measures()
    for _ in range(250):
        measures.add(Metric.COMPLETED, 1, queue="default", type="email")
    measures.write()
    log = capsys.readouterr().out
    assert values(log, "Completed", queue="default", type="email") == [250]


def test_two_sets_of_dimensions_in_one_invocation(capsys: pytest.CaptureFixture[str]) -> None:
    measures = Measures()
    measures.add(Metric.COMPLETED, 1, queue="default", type="email")
    measures.add(Metric.COMPLETED, 2, queue="default", type="webhook")
    measures.add(Metric.DEPTH, 3, queue="default", priority="low")
    measures.write()
    log = capsys.readouterr().out
    assert len(log.splitlines()) == 3
    assert total(log, "Completed", queue="default", type="email") == 1
    assert total(log, "Completed", queue="default", type="webhook") == 2
    assert total(log, "Depth", queue="default", priority="low") == 3
    assert total(log, "Completed") == 0


def test_what_alarms_look_at_is_there_over_all_queues(capsys: pytest.CaptureFixture[str]) -> None:
    measures = Measures()
    measures.add(Metric.FAILED, 1, queue="a", type="email")
    measures.add(Metric.FAILED, 2, queue="b", type="email")
    measures.add(Metric.COMPLETED, 5, queue="b", type="email")
    for age in range(150):
        measures.add(Metric.OLDEST_AGE, age, queue="a", priority="low")
    measures.write()
    log = capsys.readouterr().out
    assert total(log, "Failed") == 3
    assert total(log, "Failed", queue="b", type="email") == 2
    assert values(log, "OldestAgeSeconds") == [float(age) for age in range(150)]
    assert total(log, "Completed") == 0


def test_nothing_is_left_for_the_next_invocation(capsys: pytest.CaptureFixture[str]) -> None:
    measures = Measures()
    measures.add(Metric.COMPLETED, 1, queue="default", type="email")
    measures.write()
    capsys.readouterr()
    measures.write()
    assert capsys.readouterr().out == ""


def test_units_and_namespace(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "another-stack")
    measures = Measures()
    measures.add(Metric.RUN, 1.25, queue="default", type="email")
    measures.add(Metric.DEPTH, 3, queue="default", priority="low")
    measures.write()
    found = {one.metric: (one.namespace, one.unit) for one in told(capsys.readouterr().out)}
    assert found == {
        "RunSeconds": ("another-stack", "Seconds"),
        "Depth": ("another-stack", "Count"),
    }


def test_lines_of_threads_stay_whole(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor(8) as pool:
        for _ in range(200):
            pool.submit(count, Metric.REPLAYED, queue="default", type="email")
    log = capsys.readouterr().out
    assert all(json.loads(line) for line in log.splitlines())
    assert total(log, "Replayed", queue="default", type="email") == 200


@given(
    st.lists(
        st.tuples(st.sampled_from(Metric), st.integers(0, 9), st.sampled_from("abc"), st.sampled_from("xy"))
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_whatever_is_measured_is_told(
    capsys: pytest.CaptureFixture[str], measured: list[tuple[Metric, int, str, str]]
) -> None:
    capsys.readouterr()
    measures = Measures()
    for metric, value, queue, kind in measured:
        measures.add(metric, value, queue=queue, type=kind)
    measures.write()
    log = capsys.readouterr().out
    for metric in Metric:
        for queue in "abc":
            for kind in "xy":
                expected = sum(v for m, v, q, k in measured if (m, q, k) == (metric, queue, kind))
                assert total(log, metric.value, queue=queue, type=kind) == expected


def test_dimensions_are_declared_names_alone() -> None:
    assert labels(JOB_TYPES, "bulk", "note") == {"queue": "bulk", "type": "note"}
    assert labels(JOB_TYPES, "removed", "note") == {"queue": "other", "type": "note"}
    assert labels(JOB_TYPES, "bulk", "job_01ARYZ6S410123456789ABCDEF") == {"queue": "bulk", "type": "other"}
