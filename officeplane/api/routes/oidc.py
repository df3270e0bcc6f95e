"""`/login/oidc`: to a provider of OpenID Connect, and back."""

from typing import Final

import structlog
from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from officeplane.api.callers import address_of, count_guess, refuse_guessing
from officeplane.api.local_paths import HOME, local_path
from officeplane.api.login_page import refused_page
from officeplane.api.problems import RefusedError
from officeplane.api.routes.login import led_on, provider_of
from officeplane.api.session_cookie import is_to_be_secure
from officeplane.api.state import runtime_of, state_of
from officeplane.domain.oidc import ATTEMPT_SECONDS, NotAdmittedError, ProviderError
from officeplane.domain.session import Login
from officeplane.services.access.oidc import Oidc

PATH: Final = "/login/oidc"
BACK: Final = f"{PATH}/callback"
COOKIE: Final = "officeplane_login"
_NO_PROVIDER: Final = "This server knows no provider with which one logs in: OFFICEPLANE_OIDC_ISSUER names one."
_NO_ANSWER: Final = "The provider does not answer as it should; the log of this server says more."
_log = structlog.stdlib.get_logger(__name__)

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def begin(request: Request) -> Response:
    """Lead somebody to the provider."""
    oidc, next_path = _oidc(request), local_path(request.query_params.get("next"))
    try:
        begun = await oidc.begin(_address_of_ours(request), next_path)
    except ProviderError as error:
        return _unanswered(request, error, next_path)
    answer = RedirectResponse(begun.url, 303)
    answer.set_cookie(
        COOKIE,
        begun.record,
        max_age=int(ATTEMPT_SECONDS),
        path=PATH,
        httponly=True,
        samesite="lax",
        secure=is_to_be_secure(request),
    )
    return answer


@router.get(BACK)
async def end(request: Request) -> Response:
    """Begin the session of somebody whom the provider knows, and who is let in."""
    oidc, record = _oidc(request), request.cookies.get(COOKIE, "")
    try:
        refuse_guessing(request)
        admitted = await oidc.end(_address_of_ours(request), record, request.query_params)
    except RefusedError as refusal:
        return refused_page(refusal.status_code, refusal.detail, HOME, provider_of(request), refusal.headers)
    except NotAdmittedError as error:
        count_guess(request)
        return refused_page(403, str(error), HOME, provider_of(request))
    except ProviderError as error:
        count_guess(request)
        return _unanswered(request, error, HOME)
    token = await runtime_of(request).sessions.begin(
        admitted.subject, Login.OIDC, admitted.scopes, address=address_of(request)
    )
    answer = await led_on(request, token, local_path(admitted.next_path))
    answer.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="lax", secure=is_to_be_secure(request))
    return answer


def _oidc(request: Request) -> Oidc:
    oidc = state_of(request).oidc
    if oidc is None:
        raise RefusedError("not_found", _NO_PROVIDER)
    return oidc


def _address_of_ours(request: Request) -> str:
    # `Host` is a name of ours, or the request would not have come so far; the provider compares it with what it knows.
    scheme = "https" if is_to_be_secure(request) else "http"
    return f"{scheme}://{request.headers['host']}{BACK}"


def _unanswered(request: Request, error: ProviderError, next_path: str) -> Response:
    _log.warning("oidc.provider_failed", error=str(error))
    return refused_page(502, _NO_ANSWER, next_path, provider_of(request))
