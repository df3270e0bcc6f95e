"""Requests, read strictly: known query parameters, JSON and nothing else; large bodies are checked in time."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, TypeGuard

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel, JsonValue
from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response
from starlette.types import Receive, Scope

from officeplane.api.callers import admit, need_of
from officeplane.api.json_text import MalformedJsonError, parse_json
from officeplane.api.large_bodies import SMALL_MAX, UNCOUNTED_MAX, has_money, read_large, refuse_many_tasks
from officeplane.api.problems import RefusedError
from officeplane.api.state import state_of
from officeplane.domain.errors import ERRORS_SHOWN, FieldError, InvalidParameterError
from officeplane.domain.spelling import nearest_name

CHECK_SECONDS: Final = 60.0
"""How long a large body may wait for its turn and be checked."""

REPEATABLE: Final = frozenset({"state"})


class StrictRoute(APIRoute):
    """A path that refuses what it would otherwise overlook."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        answer = super().get_route_handler()
        plain, headers = self._without_parameters()
        known = _names_of_parameters(self.dependant)
        wanted = None if self.body_field is None else self.body_field.field_info.annotation
        need = need_of(self.endpoint)

        async def answer_strictly(request: Request) -> Response:
            if need is not None:
                await admit(request, need)
            scope, answer_it = request.scope, plain
            if scope["query_string"]:
                _check_names(request.query_params, known)
                answer_it = answer
            elif headers and any(name in headers for name, _ in scope["headers"]):
                answer_it = answer
            response: Response = await answer_it(JsonRequest(scope, request.receive, wanted))
            return response

        return answer_strictly

    def _without_parameters(self) -> tuple[Callable[[Request], Any], frozenset[bytes]]:
        """Return what answers requests that have no parameters, and the headers that are some.

        To look for each of them and to find its default costs a POST a tenth of its time.
        """
        whole = self.dependant
        parameters = [*whole.query_params, *whole.header_params]
        if not any(it.field_info.is_required() or _is_model(it.field_info.annotation) for it in parameters):
            self.dependant = replace(whole, query_params=[], header_params=[])
        try:
            return super().get_route_handler(), frozenset(it.alias.lower().encode() for it in whole.header_params)
        finally:
            self.dependant = whole


class JsonRequest(Request):
    """A request whose body is JSON, if it has one."""

    def __init__(self, scope: Scope, receive: Receive, wanted: object) -> None:
        super().__init__(scope, receive)
        self._wanted = wanted
        self.is_large = False

    async def body(self) -> bytes:
        if not _is_json(self.headers.get("content-type", "")) and _has_body(self.headers):
            raise RefusedError("unsupported_media_type", "The body must be JSON, with Content-Type: application/json.")
        return await super().body()

    async def json(self) -> object:
        raw = await super().body()
        self.is_large = len(raw) > SMALL_MAX
        try:
            parsed = await self._read_apart(raw) if self.is_large else _read_here(raw, self._wanted)
        except MalformedJsonError as error:
            raise RefusedError("malformed_json", str(error)) from None
        # FastAPI takes null for no body at all; anything else that is no object is refused as such.
        return False if parsed is None else parsed

    async def _read_apart(self, raw: bytes) -> object:
        try:
            async with asyncio.timeout(CHECK_SECONDS), state_of(self).large_bodies:
                return await asyncio.to_thread(read_large, raw, self._wanted)
        except TimeoutError:
            detail = f"Large bodies are checked one by one, and this one's turn did not come in {CHECK_SECONDS:g} s."
            raise RefusedError("overloaded", detail) from None


def is_large(request: Request) -> bool:
    """Tell whether a request came with so much that what is done with it is done beside the loop."""
    return isinstance(request, JsonRequest) and request.is_large


def _read_here(raw: bytes, wanted: object) -> JsonValue:
    value = parse_json(raw, spelled=has_money(wanted))
    if len(raw) > UNCOUNTED_MAX:
        refuse_many_tasks(value)
    return value


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _is_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json"))


def _names_of_parameters(dependant: Dependant) -> frozenset[str]:
    names: set[str] = set()
    for parameter in dependant.query_params:
        model = parameter.field_info.annotation
        if _is_model(model):
            names.update(field.alias or name for name, field in model.model_fields.items())
        else:
            names.add(parameter.alias)
    return frozenset(names)


def _is_model(annotation: object) -> TypeGuard[type[BaseModel]]:
    """Tell whether several parameters come as one model, which is made even if none of them is there."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _no_such_parameter(name: str, known: Iterable[str]) -> str:
    nearest = nearest_name(name, known)
    return "There is no such parameter" + ("." if nearest is None else f"; did you mean {nearest}?")


def _check_names(given: QueryParams, known: Iterable[str]) -> None:
    names = [name for name, _ in given.multi_items()]
    unknown = [name for name in dict.fromkeys(names) if name not in known]
    wrong = [FieldError(name, _no_such_parameter(name, known)) for name in unknown[:ERRORS_SHOWN]]
    wrong += [
        FieldError(name, "It may be given once.") for name in known if name not in REPEATABLE and names.count(name) > 1
    ]
    if wrong:
        raise InvalidParameterError(f"{wrong[0].field}: {wrong[0].message}", wrong[:ERRORS_SHOWN])
