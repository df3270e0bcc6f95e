"""Requests, read strictly: known query parameters, JSON and nothing else, and that in time."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Any, Final

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import BaseModel, JsonValue
from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response

from officeplane.api.json_text import MalformedJsonError, parse_json
from officeplane.api.plane import plane_of
from officeplane.api.problems import RefusedError
from officeplane.domain.errors import FieldError, InvalidParameterError

BODY_SECONDS: Final = 60.0
"""How long a body may take to arrive."""

PARSED_ON_THE_LOOP_MAX: Final = 256 * 1024
REPEATABLE: Final = frozenset({"state"})


class StrictRoute(APIRoute):
    """A path that refuses what it would otherwise overlook."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        answer = super().get_route_handler()
        known = _names_of_parameters(self.dependant)

        async def answer_strictly(request: Request) -> Response:
            if request.scope["query_string"]:
                _check_names(request.query_params, known)
            response: Response = await answer(JsonRequest(request.scope, request.receive))
            return response

        return answer_strictly


class JsonRequest(Request):
    """A request whose body is JSON, if it has one."""

    async def body(self) -> bytes:
        if _has_body(self.headers) and not _is_json(self.headers.get("content-type", "")):
            raise RefusedError("unsupported_media_type", "The body must be JSON, with Content-Type: application/json.")
        return await _in_time(super().body())

    async def json(self) -> JsonValue:
        raw = await super().body()
        try:
            if len(raw) <= PARSED_ON_THE_LOOP_MAX:
                parsed = parse_json(raw)
            else:
                async with plane_of(self).large_bodies:
                    parsed = await asyncio.to_thread(parse_json, raw)
        except MalformedJsonError as error:
            raise RefusedError("malformed_json", str(error)) from None
        # FastAPI takes null for no body at all; anything else that is no object is refused as such.
        return False if parsed is None else parsed


async def blocks_of(request: Request) -> AsyncGenerator[bytes, None]:
    """Yield a body that is a file, as it comes; who stops sending is not waited for."""
    blocks = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                block = await anext(blocks)
        except StopAsyncIteration:
            return
        except TimeoutError:
            detail = f"Nothing came for {BODY_SECONDS:g} s."
            raise RefusedError("request_timeout", detail, {"Connection": "close"}) from None
        yield block


async def _in_time(body: Awaitable[bytes]) -> bytes:
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await body
    except TimeoutError:
        detail = f"The body did not arrive within {BODY_SECONDS:g} s."
        raise RefusedError("request_timeout", detail, {"Connection": "close"}) from None


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _is_json(content_type: str) -> bool:
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json"))


def _names_of_parameters(dependant: Dependant) -> frozenset[str]:
    names: set[str] = set()
    for parameter in dependant.query_params:
        model = parameter.field_info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            names.update(field.alias or name for name, field in model.model_fields.items())
        else:
            names.add(parameter.alias)
    return frozenset(names)


def _check_names(given: QueryParams, known: Iterable[str]) -> None:
    names = [name for name, _ in given.multi_items()]
    wrong = [FieldError(name, "There is no such parameter.") for name in dict.fromkeys(names) if name not in known]
    wrong += [
        FieldError(name, "It may be given once.") for name in known if name not in REPEATABLE and names.count(name) > 1
    ]
    if wrong:
        raise InvalidParameterError(f"{wrong[0].field}: {wrong[0].message}", wrong)
