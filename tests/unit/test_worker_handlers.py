"""Handlers: how a deployer writes them, and what is said where one is missing or wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from threading import Event
from typing import Any

import pytest

from jobqueue.jobtype import JobType, JobTypes, Queue
from jobqueue.worker import Discard, Run, handles
from jobqueue.worker.handlers import Handlers, InvalidHandlers, find_handlers
from jobtypes import JOB_TYPES as DEPLOYED
from tests.support.functions import declared
from tests.support.payloads import Note
from tests.support.samples import a_job
from tests.support.template import ROOT, template

NOTE = "tests.support.payloads:Note"
TYPES = JobTypes(
    queues=[Queue(name="elsewhere")],
    types=[
        JobType(name="thumbnail", payload=NOTE),
        JobType(name="report.monthly", payload=NOTE, queue="elsewhere"),
    ],
)


def takes(count: int) -> Callable[..., Any]:
    function: Callable[..., Any]
    match count:
        case 1:
            function = handles("thumbnail")(lambda job: job)
        case 2:
            function = handles("thumbnail")(lambda job, payload: (job, payload))
        case 3:
            function = handles("thumbnail")(lambda job, payload, run: (job, payload, run))
    return function


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `made_up`, as a deployer's folder of handlers."""
    monkeypatch.syspath_prepend(tmp_path)
    made = tmp_path / "made_up"
    made.mkdir()
    yield made
    for name in [name for name in sys.modules if name.partition(".")[0] == "made_up"]:
        del sys.modules[name]


def write(path: Path, text: str) -> None:
    path.write_text(dedent(text), encoding="utf-8")


def test_a_file_with_one_decorated_function_is_a_handler(folder: Path) -> None:
    write(
        folder / "thumbnail.py",
        """
        from jobqueue.worker import Discard, handles

        @handles("thumbnail")
        def make_thumbnail(job, payload):
            raise Discard("no image")
        """,
    )
    handler = Handlers(find_handlers("made_up", folder), TYPES, {"default"}).get("thumbnail")
    assert handler is not None
    with pytest.raises(Discard):
        handler.function(None, None)


def test_a_handler_that_another_file_imports_is_there_once(folder: Path) -> None:
    write(
        folder / "one.py",
        """
        from jobqueue.worker import handles

        @handles("thumbnail")
        def one(job, payload): ...
        """,
    )
    write(folder / "two.py", "from made_up.one import one\n")
    write(folder / "_draft.py", "raise RuntimeError\n")
    assert len(list(find_handlers("made_up", folder))) == 1


def test_a_file_that_cannot_be_imported_stops_the_start(folder: Path) -> None:
    write(folder / "broken.py", "import no_such_module\n")
    with pytest.raises(ModuleNotFoundError):
        list(find_handlers("made_up", folder))


def test_a_decorated_function_is_still_the_function() -> None:
    def double(job: None, payload: int) -> int:
        return 2 * payload

    assert handles("thumbnail")(double) is double


def test_one_function_may_handle_several_types() -> None:
    both = handles("thumbnail")(handles("report.monthly")(lambda job, payload: (job, payload)))
    handlers = Handlers([both], TYPES, {"default", "elsewhere"})
    assert handlers.get("thumbnail") is not None
    assert handlers.get("report.monthly") is not None


def test_a_type_without_handler_is_told_with_what_to_write() -> None:
    with pytest.raises(InvalidHandlers) as refused:
        Handlers([], TYPES, {"default"})
    said = str(refused.value)
    assert "functions/work_jobs/handlers/thumbnail.py" in said
    assert '@handles("thumbnail")' in said
    assert "payload: Note" in said
    assert "report" not in said  # its queue is worked elsewhere


def test_what_is_to_be_written_is_a_handler(folder: Path) -> None:
    with pytest.raises(InvalidHandlers) as refused:
        Handlers([], TYPES, {"elsewhere"})
    _, _, code = str(refused.value).partition(":\n\n")
    write(folder / "report_monthly.py", code.partition("\n\nor ")[0])
    found = list(find_handlers("made_up", folder))
    assert Handlers(found, TYPES, {"elsewhere"}).get("report.monthly") is not None


@pytest.mark.parametrize(
    "functions, says",
    [
        ([handles("thumbnial")(lambda job, payload: (job, payload))], "'thumbnial'"),
        ([takes(2), takes(2)], "second handler"),
        ([takes(1)], "(job, payload)"),
    ],
    ids=["undeclared", "twice", "too-few-parameters"],
)
def test_handlers_that_do_not_fit_are_refused(functions: list[Callable[..., Any]], says: str) -> None:
    with pytest.raises(InvalidHandlers) as refused:
        Handlers(functions, TYPES, set())
    assert says in str(refused.value)


@pytest.mark.parametrize("parameters", [2, 3])
def test_the_run_is_given_to_those_who_take_it(parameters: int) -> None:
    handler = Handlers([takes(parameters)], TYPES, {"default"}).get("thumbnail")
    assert handler is not None
    run = Run(a_job(type="thumbnail", payload={"n": 1}), stopping=Event(), on_progress=lambda _: None)
    assert handler(run) == (run.job, Note.model_validate({"n": 1}), run)[:parameters]


def test_every_type_that_the_deployed_function_works_has_its_handler() -> None:
    folder = ROOT / "functions" / "work_jobs" / "handlers"
    queues = template()["Parameters"]["WorkerQueues"]["Default"].split(",")
    assert declared()["work_jobs"]["Environment"]["Variables"]["WORKER_QUEUES"] == {
        "Fn::Join": [",", {"Ref": "WorkerQueues"}]
    }
    Handlers(find_handlers("functions.work_jobs.handlers", folder), DEPLOYED, queues)


def test_the_event_for_trying_the_function_names_a_worked_queue() -> None:
    event = json.loads((ROOT / "events" / "work_jobs.json").read_text(encoding="utf-8"))
    queues = template()["Parameters"]["WorkerQueues"]["Default"].split(",")
    assert {record["dynamodb"]["NewImage"]["queue"]["S"] for record in event["Records"]} <= set(queues)
