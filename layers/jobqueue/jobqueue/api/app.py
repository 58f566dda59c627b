"""How a Lambda function behind one route is made.

Everything that all routes share happens here, in this order: who is calling, is it too often, is the role
allowed, is the body JSON, is it acceptable. Then the function's own lines ask the queue, and the answer is
written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from pydantic import BaseModel

from jobqueue import telemetry
from jobqueue.api import dependencies, problems, strict_json, views
from jobqueue.api.caller import read_caller
from jobqueue.api.errors import InvalidJson, MethodNotAllowed, RouteNotFound
from jobqueue.api.reading import all_errors
from jobqueue.api.request import (
    MAX_BODY_BYTES,
    Request,
    plain_event,
    read_body,
    read_request,
    unquoted,
)
from jobqueue.errors import FieldError, InvalidRequest, JobQueueError, Unauthenticated
from jobqueue.fielderrors import field_errors
from jobqueue.job import Job, JsonObject
from jobqueue.principal import Principal, Role
from jobqueue.queue import JobQueue

if TYPE_CHECKING:
    from jobqueue.operating import Operator

JSON = "application/json"


class HttpFunction(APIGatewayHttpResolver):
    """The resolver of one function, with the checks and the answers that all functions share.

    Parameters
    ----------
    action : str
        The operation's name in the log.
    roles : roles
        Who may call it.
    max_body_bytes : int
        The largest body it takes.
    member_headers : mapping
        Headers that mean the same as a member of the body: ``{header: member}``, in lower case.
    """

    def __init__(
        self,
        action: str,
        *roles: Role,
        max_body_bytes: int = MAX_BODY_BYTES,
        member_headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(
            enable_validation=True,
            json_body_deserializer=lambda _: self._body,
            debug=False,
        )
        self.action = action
        self.roles = roles
        self.max_body_bytes = max_body_bytes
        self.member_headers = dict(member_headers or {})
        self._caller: Principal | None = None
        self._begin(read_request({}))
        self.use(middlewares=[self._check_the_rest])
        self.exception_handler(Exception)(self.refuse)
        self.exception_handler(RequestValidationError)(self._refuse_fields)
        self.exception_handler(NotFoundError)(self._refuse_route)

    @property
    def queue(self) -> JobQueue:
        """The queue to ask."""
        return dependencies.queue()

    @property
    def operator(self) -> Operator:
        """Who operates whole queues."""
        return dependencies.operator()

    @property
    def caller(self) -> Principal:
        """Who is calling."""
        if self._caller is None:
            raise Unauthenticated
        return self._caller

    def lambda_handler(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Answer one request: the handler of the function."""
        self._begin(read_request(event))
        try:
            self._caller = read_caller(event)
            telemetry.identify(self._caller.id)
            if (throttle := dependencies.throttle()) is not None:
                throttle.admit(self._caller.id)
            self._caller.require_role(*self.roles)
            if self.received.method != "GET":
                self._read_body(event)
        except JobQueueError as error:
            return _written(self.refuse(error))
        return self.resolve(plain_event(event, self.received), context)

    def job(
        self,
        job: Job,
        *,
        status: HTTPStatus = HTTPStatus.OK,
        view: Callable[[Job, Principal], JsonObject] = views.job_view,
        headers: Mapping[str, str] | None = None,
    ) -> Response[JsonObject]:
        """Answer with a job, as the caller may see it."""
        telemetry.decision(self.action, job.status.value, job, status=int(status))
        return Response(int(status), JSON, view(job, self.caller), headers)

    def jobs(
        self, jobs: Sequence[Job], *, view: Callable[[Job, Principal], JsonObject]
    ) -> Response[JsonObject]:
        """Answer with several jobs, as the caller may see them."""
        for job in jobs:
            telemetry.decision(self.action, job.status.value, job, status=int(HTTPStatus.OK))
        return self.ok({"jobs": [view(job, self.caller) for job in jobs]}, items=len(jobs))

    def ok(
        self, body: JsonObject, *, items: int | None = None, queue: str | None = None
    ) -> Response[JsonObject]:
        """Answer with anything else; the log tells how many `items` it has, or about which `queue` it is."""
        status = HTTPStatus.OK
        telemetry.decision(
            self.action, "ok", status=int(status), items=items, queue=queue, job_id=self.received.job_id
        )
        return Response(int(status), JSON, body)

    def nothing(self, retry_after: int) -> Response[JsonObject]:
        """Answer that there is nothing now, and after how many seconds asking again makes sense."""
        status = HTTPStatus.NO_CONTENT
        telemetry.decision(self.action, "nothing", status=int(status))
        return Response(int(status), headers={"Retry-After": str(retry_after)})

    def refuse(self, error: Exception) -> Response[Any]:
        """Answer that something is wrong."""
        if isinstance(error, InvalidRequest) and self.received.method == "GET":
            error = InvalidRequest(*map(_in_query, error.errors))
        problems.log(self.action, error, job_id=self.received.job_id)
        return problems.answer(error, instance=self.received.path, request_id=self.received.id)

    def _begin(self, request: Request) -> None:
        # nothing of one request may be left for the next one of this process
        self.received = request
        self._caller = None
        self._body: JsonObject = {}
        self._body_is_missing = False
        self._header_errors: list[FieldError] = []
        telemetry.begin(request_id=request.id)

    def _read_body(self, event: Mapping[str, Any]) -> None:
        body = read_body(event, self.received, self.max_body_bytes)
        self._body_is_missing = body is None
        self._body = body or {}
        for header, member in self.member_headers.items():
            if header in self.received.headers:
                self._take_member(member, unquoted(self.received.headers[header]))

    def _take_member(self, member: str, value: str) -> None:
        if self._body.setdefault(member, value) is None:
            self._body[member] = value
        if self._body[member] != value:
            self._header_errors.append(
                FieldError(member, "conflict", f"{member}: the header says something else")
            )

    def _check_the_rest(self, app: APIGatewayHttpResolver, next_middleware: NextMiddleware) -> Response[Any]:
        """Run around the function, once the shape of the request is right."""
        if self._header_errors or self._query_errors():
            raise self._invalid(())
        response: Response[Any] = next_middleware(app)
        # written here and not by the resolver, so that what cannot be written is a 500 with a request id
        if not isinstance(response.body, str):
            response.body = "" if response.body is None else strict_json.dumps(response.body)
        return response

    def _refuse_fields(self, error: RequestValidationError) -> Response[Any]:
        if self._body_is_missing and any(one["type"] == "missing" for one in error.errors()):
            return self.refuse(InvalidJson("This route needs a JSON object as its body."))
        return self.refuse(self._invalid(field_errors(map(_placed, error.errors()))))

    def _invalid(self, shape: tuple[FieldError, ...]) -> InvalidRequest:
        model = self._body_model()
        errors = shape if model is None else all_errors(model, self._body, shape)
        return InvalidRequest(*errors, *self._header_errors, *self._query_errors())

    def _query_errors(self) -> tuple[FieldError, ...]:
        known = self._query_names()
        unknown = [
            FieldError(f"query.{name[:100]}", "unknown_field", f"query.{name[:100]}: is not known here")
            for name in self.received.query
            if name not in known
        ]
        return (*self.received.repeated, *unknown)

    def _refuse_route(self, _: NotFoundError) -> Response[Any]:
        routes, path = (*self._static_routes, *self._dynamic_routes), self.received.routable_path
        allowed = sorted({route.method for route in routes if route.rule.match(path)})
        return self.refuse(MethodNotAllowed(allowed) if allowed else RouteNotFound())

    def _body_model(self) -> type[BaseModel] | None:
        for parameter in self.context["_route"].dependant.body_params:
            model: type[BaseModel] = parameter.field_info.annotation
            return model
        return None

    def _query_names(self) -> set[str]:
        models = [
            parameter.field_info.annotation for parameter in self.context["_route"].dependant.query_params
        ]
        return {name for model in models for name in model.model_fields}


def http_function(
    action: str,
    *roles: Role,
    max_body_bytes: int = MAX_BODY_BYTES,
    member_headers: Mapping[str, str] | None = None,
    opens: Callable[[], object] = dependencies.queue,
) -> HttpFunction:
    """Make the function of one route (see `HttpFunction`), and open what it asks where Lambda starts it."""
    dependencies.open_early(opens)
    return HttpFunction(action, *roles, max_body_bytes=max_body_bytes, member_headers=member_headers)


def _placed(error: Mapping[str, Any]) -> Mapping[str, Any]:
    """Name the place of an error by the field alone: the caller knows no parameters of functions."""
    source, *path = error["loc"]
    return {**error, "loc": path[1:] if source == "query" else path}


def _in_query(error: FieldError) -> FieldError:
    """Name a field as a parameter of the query, which is all that a GET has."""
    if error.field.startswith("query."):
        return error
    return FieldError(f"query.{error.field}", error.code, f"query.{error.message}")


def _written(response: Response[Any]) -> dict[str, Any]:
    """Write a response as API Gateway takes it, where the resolver was not asked."""
    return {
        "statusCode": response.status_code,
        "headers": response.headers,
        "body": response.body,
        "isBase64Encoded": False,
    }
