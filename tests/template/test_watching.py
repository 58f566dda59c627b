"""Alarms and the dashboard look at metrics that there are, and alarms go off when they should."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from jobqueue.metrics import Measures, Metric
from tests.support.emf import values
from tests.support.functions import declared, logical_id
from tests.support.template import Template, resources, template

ALARMS = {name: one["Properties"] for name, one in resources("AWS::CloudWatch::Alarm").items()}
OURS = {"Ref": "AWS::StackName"}
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "GreaterThanThreshold": operator.gt,
    "GreaterThanOrEqualToThreshold": operator.ge,
}
STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {"Sum": sum, "Maximum": max}


def threshold(alarm: Template) -> float:
    """Return an alarm's threshold as it is unless the deployer says otherwise."""
    told = alarm["Threshold"]
    return float(template()["Parameters"][told["Ref"]]["Default"] if isinstance(told, dict) else told)


def goes_off(alarm: Template, periods: Sequence[Sequence[float]]) -> bool:
    """Tell whether an alarm goes off over the values of some periods, the last one being the latest.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
    """
    assert alarm["TreatMissingData"] == "notBreaching"
    statistic, compare = STATISTICS[alarm["Statistic"]], COMPARISONS[alarm["ComparisonOperator"]]
    latest = periods[-alarm["EvaluationPeriods"] :]
    breaching = [bool(period) and compare(statistic(period), threshold(alarm)) for period in latest]
    return len(breaching) == alarm["EvaluationPeriods"] and all(breaching)


def dimensions(alarm: Template) -> dict[str, Any]:
    return {one["Name"]: one["Value"] for one in alarm.get("Dimensions", [])}


@pytest.mark.parametrize("name", ALARMS)
def test_an_alarm_looks_at_one_metric(name: str) -> None:
    alarm = ALARMS[name]
    assert alarm.keys() & {"Metrics", "ExtendedStatistic", "ThresholdMetricId"} == set()
    assert {"Namespace", "MetricName", "Statistic", "AlarmDescription"} <= alarm.keys()
    assert "AlarmName" not in alarm, "a fixed name stands in the way of a second stack"


@pytest.mark.parametrize("name", ALARMS)
def test_an_alarm_tells_whom_the_deployer_names(name: str) -> None:
    told = {
        "Fn::If": [
            "TellsTopic",
            [{"Ref": "AlarmTopicArn"}],
            {"Fn::If": ["TellsEmail", [{"Ref": "AlarmTopic"}], {"Ref": "AWS::NoValue"}]},
        ]
    }
    assert ALARMS[name]["AlarmActions"] == ALARMS[name]["OKActions"] == told


def test_a_topic_is_made_for_an_address_alone() -> None:
    topic = template()["Resources"]["AlarmTopic"]
    assert topic["Condition"] == "TellsEmail"
    assert topic["Properties"]["Subscription"] == [{"Protocol": "email", "Endpoint": {"Ref": "AlarmEmail"}}]


def test_ten_alarms_are_free() -> None:
    assert len(ALARMS) <= 10


def test_what_is_watched_is_written_by_service_alone_and_has_an_alarm() -> None:
    ours = {
        alarm["MetricName"]
        for alarm in ALARMS.values()
        if alarm["Namespace"] == OURS and dimensions(alarm) == {"service": "jobqueue"}
    }
    assert ours == {metric.value for metric in Metric if metric.is_watched}
    assert (
        template()["Globals"]["Function"]["Environment"]["Variables"]
        | {
            "POWERTOOLS_SERVICE_NAME": "jobqueue",
            "POWERTOOLS_METRICS_NAMESPACE": OURS,
        }
        == (template()["Globals"]["Function"]["Environment"]["Variables"])
    )


def test_requests_that_were_turned_away_come_from_the_access_log() -> None:
    (found,) = resources("AWS::Logs::MetricFilter").values()
    properties = found["Properties"]
    assert properties["LogGroupName"] == {"Ref": "ApiLogGroup"}
    (metric,) = properties["MetricTransformations"]
    alarm = ALARMS["ThrottledRequestsAlarm"]
    assert (metric["MetricNamespace"], metric["MetricName"]) == (alarm["Namespace"], alarm["MetricName"])
    assert dimensions(alarm) == {}
    line = template()["Resources"]["Api"]["Properties"]["AccessLogSettings"]["Format"]
    assert '"status":"$context.status"' in line
    assert properties["FilterPattern"] == '{ $.status = "429" }'


def test_everything_that_runs_by_itself_is_watched() -> None:
    by_itself = {
        f"{logical_id(name)}Function"
        for name, function in declared().items()
        if name != "authorize_request" and "HttpApi" not in str(function.get("Events"))
    }
    watched = {
        dimensions(alarm)["FunctionName"]["Ref"]
        for alarm in ALARMS.values()
        if alarm["Namespace"] == "AWS/Lambda"
    }
    assert watched == by_itself


def told(metric: Metric, *measured: float) -> str:
    measures = Measures()
    for value in measured:
        measures.add(metric, value, queue="default", type="email")
    measures.write()
    return metric.value


@pytest.mark.parametrize(
    "minutes, expected",
    [
        ([[1000], [1000], [1000]], True),
        ([[901, 0], [0, 901], [5, 901]], True),
        ([[1000], [1000], [900]], False),
        ([[1000], [], [1000]], False),
        ([[1000], [1000]], False),
        ([[2000], [0], [0], [0]], False),
        ([[0]] * 9, False),
        ([], False),
    ],
)
def test_a_job_that_is_ready_for_too_long(
    capsys: pytest.CaptureFixture[str], minutes: list[list[float]], expected: bool
) -> None:
    seen = []
    for ages in minutes:
        told(Metric.OLDEST_AGE, *ages)
        seen.append(values(capsys.readouterr().out, ALARMS["OldestJobAlarm"]["MetricName"]))
    assert goes_off(ALARMS["OldestJobAlarm"], seen) is expected


@pytest.mark.parametrize(
    "name, metric", [("FailedJobsAlarm", Metric.FAILED), ("RescuedJobsAlarm", Metric.RESCUED)]
)
@pytest.mark.parametrize("measured, expected", [([], False), ([1], True), ([1, 1, 1], True)])
def test_jobs_that_fail_and_leases_that_run_out(
    capsys: pytest.CaptureFixture[str], name: str, metric: Metric, *, measured: list[float], expected: bool
) -> None:
    told(metric, *measured)
    assert ALARMS[name]["MetricName"] == metric.value
    assert goes_off(ALARMS[name], [values(capsys.readouterr().out, metric.value)]) is expected


@pytest.mark.parametrize(
    "name, quiet, loud",
    [
        ("ApiErrorsAlarm", [4.0], [5.0]),
        ("ThrottledRequestsAlarm", [1.0] * 99, [1.0] * 100),
        ("WorkJobsErrorsAlarm", [0.0], [1.0]),
    ],
)
def test_other_numbers(name: str, quiet: list[float], loud: list[float]) -> None:
    assert not goes_off(ALARMS[name], [quiet])
    assert goes_off(ALARMS[name], [loud])


def test_a_follower_that_stands_still() -> None:
    alarm = ALARMS["FollowJobsLateAlarm"]
    assert not goes_off(alarm, [[299_999.0]] * 3)
    assert not goes_off(alarm, [[0.0], [400_000.0], [400_000.0]])
    assert goes_off(alarm, [[300_000.0], [360_000.0], [420_000.0]])


def dashboard() -> list[dict[str, Any]]:
    """Return the widgets, with the names of resources in the place of what they refer to."""
    text, names = template()["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"]
    for name, value in names.items():
        text = text.replace(f"${{{name}}}", value["Fn::Sub"])
    found: list[dict[str, Any]] = json.loads(text)["widgets"]
    return found


def searches(widgets: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the dimensions of every metric of ours that a widget searches for."""
    pattern = re.compile(
        r"SEARCH\('\{\"\$\{AWS::StackName\}\",service,(\w+,\w+)\} MetricName=\"(\w+)\"', '\w+', 60\)"
    )
    found = {}
    for widget in widgets:
        for metric in widget["properties"].get("metrics", []):
            if isinstance(metric[0], dict):
                match = pattern.fullmatch(metric[0]["expression"])
                assert match, metric
                found[match[2]] = match[1]
    return found


def test_the_dashboard_shows_every_metric_by_its_dimensions() -> None:
    by_priority = {Metric.DEPTH, Metric.OLDEST_AGE}
    assert searches(dashboard()) == {
        metric.value: "queue,priority" if metric in by_priority else "queue,type" for metric in Metric
    }


def test_the_dashboard_shows_what_is_asked_of_it() -> None:
    shown = {
        (metric[0], metric[1])
        for widget in dashboard()
        for metric in widget["properties"].get("metrics", [])
        if not isinstance(metric[0], dict)
    }
    assert {
        ("AWS/Lambda", "ConcurrentExecutions"),
        ("AWS/Lambda", "Throttles"),
        ("AWS/Lambda", "Duration"),
        ("AWS/ApiGateway", "5xx"),
        ("AWS/DynamoDB", "WriteThrottleEvents"),
        ("${AWS::StackName}", "ThrottledRequests"),
    } <= shown


def test_the_dashboard_shows_every_alarm() -> None:
    (widget,) = [one for one in dashboard() if one["type"] == "alarm"]
    assert set(widget["properties"]["alarms"]) == {f"${{{name}.Arn}}" for name in ALARMS}


def test_no_two_widgets_are_in_one_place() -> None:
    taken = [
        (x, y)
        for widget in dashboard()
        for x in range(widget["x"], widget["x"] + widget["width"])
        for y in range(widget["y"], widget["y"] + widget["height"])
    ]
    assert len(taken) == len(set(taken))
    assert all(x < 24 for x, _ in taken)
