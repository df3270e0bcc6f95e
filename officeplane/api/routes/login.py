"""`/login` and `/logout`: people log in on a page without scripts, and are known by a cookie from then on."""

from typing import Final
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from officeplane.api.authority import origin_of
from officeplane.api.callers import address_of, count_guess, person_in, refuse_guessing, refuse_other_pages, with_key
from officeplane.api.local_paths import local_path
from officeplane.api.login_page import link_page, login_page, refused_page
from officeplane.api.problems import RefusedError
from officeplane.api.session_cookie import give_session, is_to_be_secure, session_in, take_session
from officeplane.api.state import runtime_of, state_of
from officeplane.domain.session import is_token

_FORM: Final = "application/x-www-form-urlencoded"
_FIELDS_MAX: Final = 10
_WRONG_LINK: Final = "This link does not work: each logs in once, within 15 minutes of being made. Ask for another."
_NOTHING: Final = "Type a key."
_NOT_OVER_TLS: Final = (
    "This page was opened with http, and beyond this machine a browser keeps nobody logged in that way: "
    "open it with https."
)

router = APIRouter(include_in_schema=False)


@router.get("/login")
async def show_login(request: Request) -> Response:
    """Ask who it is. Nothing changes, whatever the address has: programs look at links before people do."""
    next_path, token = local_path(request.query_params.get("next")), request.query_params.get("token")
    if token is not None:
        return (
            link_page(token, next_path)
            if is_token(token)
            else refused_page(400, _WRONG_LINK, next_path, provider_of(request))
        )
    return login_page(next_path, await person_in(request), provider_of(request))


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Begin a session with a key or with the token of a link."""
    refuse_other_pages(request)
    fields = await _form_of(request)
    next_path = local_path(fields.get("next"))
    try:
        _refuse_plain_http(request)
        token = await _begun(request, fields)
    except RefusedError as refusal:
        return refused_page(refusal.status_code, refusal.detail, next_path, provider_of(request), refusal.headers)
    return await led_on(request, token, next_path)


@router.post("/logout")
async def log_out(request: Request) -> Response:
    """End the session of this browser."""
    refuse_other_pages(request)
    await _end_session(request)
    answer = RedirectResponse("/login", 303)
    take_session(request, answer)
    return answer


def provider_of(request: Request) -> str | None:
    """Return what people know the provider by with which they can log in, if there is one."""
    oidc = state_of(request).oidc
    return None if oidc is None else oidc.name


async def led_on(request: Request, token: str, next_path: str) -> Response:
    """Give a browser its new session in the place of any other, and lead it to where it wanted."""
    await _end_session(request)
    answer = RedirectResponse(next_path, 303)
    give_session(request, answer, token)
    return answer


async def _begun(request: Request, fields: dict[str, str]) -> str:
    runtime = runtime_of(request)
    if "token" in fields:
        refuse_guessing(request)
        token = await runtime.login_links.spend(fields["token"], address=address_of(request))
        why = _WRONG_LINK
    elif text := fields.get("key", "").strip():
        await with_key(request, text)
        token = await runtime.sessions.begin_with_key(text, address=address_of(request))
        why = "This key was revoked just now."
    else:
        raise RefusedError("invalid_request", _NOTHING)
    if token is None:
        count_guess(request)
        raise RefusedError("unauthenticated", why)
    return token


async def _end_session(request: Request) -> None:
    token = session_in(request)
    if token is not None:
        await runtime_of(request).sessions.end(token, address=address_of(request))


async def _form_of(request: Request) -> dict[str, str]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise RefusedError("unsupported_media_type", f"The body must be a form, with Content-Type: {_FORM}.")
    try:
        text = (await request.body()).decode()
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_FIELDS_MAX))
    except ValueError:
        raise RefusedError("invalid_request", "The form cannot be read.") from None


def _refuse_plain_http(request: Request) -> None:
    """Refuse to begin what the browser would forget at once, before a link is spent for it."""
    origins = [origin_of(value.encode("latin-1")) for value in request.headers.getlist("origin")]
    if is_to_be_secure(request) and any(origin is not None and origin.scheme == "http" for origin in origins):
        raise RefusedError("invalid_request", _NOT_OVER_TLS)
