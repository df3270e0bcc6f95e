"""The page on which people log in: forms and links, and nothing that runs."""

from collections.abc import Mapping
from datetime import UTC
from html import escape
from importlib.resources import files
from string import Template
from typing import Final
from urllib.parse import quote

from starlette.responses import HTMLResponse

from officeplane.api.answer_headers import OURS_ALONE
from officeplane.services.access.sessions import Person

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    # The address may have a token. Without any referrer browsers would say `Origin: null` of our own forms.
    "Referrer-Policy": "strict-origin",
    **OURS_ALONE,
}
_PAGE: Final = Template((files("officeplane.api") / "pages" / "login.html").read_text(encoding="utf-8"))


def login_page(next_path: str, person: Person | None = None, provider: str | None = None) -> HTMLResponse:
    """Return the page that asks for a key, or leads to a provider."""
    parts = [] if person is None else [_logged_in(person)]
    return _page([*parts, *_ways_in(next_path, provider)])


def refused_page(
    status: int, why: str, next_path: str, provider: str | None = None, headers: Mapping[str, str] | None = None
) -> HTMLResponse:
    """Return the same page, with the reason why it did not do."""
    return _page([f'<p class="wrong" role="alert">{escape(why)}</p>', *_ways_in(next_path, provider)], status, headers)


def link_page(token: str, next_path: str) -> HTMLResponse:
    """Return the page of a link: its button spends it, which whoever only looks at the address does not."""
    return _page(
        [
            "<p>This link logs you in once.</p>",
            _form("/login", "Log in", _hidden("token", token) + _hidden("next", next_path)),
        ]
    )


def _page(parts: list[str], status: int = 200, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    return HTMLResponse(_PAGE.substitute(parts="\n".join(parts)), status, {**_HEADERS, **(headers or {})})


def _logged_in(person: Person) -> str:
    who, until = escape(person.principal.id), person.ends_at.astimezone(UTC).strftime("%Y-%m-%d %H:%M")
    return (
        f"<p>You are logged in as <code>{who}</code>. Unless that is used, it ends on {until} UTC.</p>\n"
        f"{_form('/logout', 'Log out', '')}\n<p>Or log in as somebody else:</p>"
    )


def _ways_in(next_path: str, provider: str | None) -> list[str]:
    asked = (
        '<label for="key">Key</label>\n'
        '<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>\n'
    )
    parts = [
        _form("/login", "Log in", asked + _hidden("next", next_path)),
        "<p>A key looks like <code>opk_…</code>; whoever runs this server makes it.</p>",
    ]
    if provider is not None:
        # A link and no form: the policy of this page lets forms lead to this server alone, redirections too.
        there = f"/login/oidc?next={quote(next_path, safe='/')}"
        parts.insert(0, f'<p><a href="{escape(there)}">Log in with {escape(provider)}</a></p>')
    return parts


def _form(action: str, does: str, fields: str) -> str:
    return f'<form method="post" action="{action}">\n{fields}<button>{does}</button>\n</form>'


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{name}" value="{escape(value)}">\n'
