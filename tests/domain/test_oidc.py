"""What logging in with a provider is decided by."""

import re

import pytest

from officeplane.domain.oidc import admission_of, attempt_of, new_attempt
from officeplane.domain.principal import Scope

NOW = 1_900_000_000.0


@pytest.mark.parametrize(
    ("subject", "groups"),
    [
        ("2482890", ["editors-in-chief"]),
        ("24828", ["editor"]),
        ("248289 ", ["Editors", "editors ", " editors"]),
        ("editors", ["248289"]),
        ("group:editors", ["subject:248289", "group:editors"]),
        ("*", ["*", "", "ｅditors"]),
    ],
)
def test_nobody_is_let_in_whose_name_is_only_like_one_that_is(subject: str, groups: list[str]) -> None:
    admission = admission_of(["group:editors", "subject:248289"], ["group:editors=edit", "subject:248289=admin"])

    assert admission.scopes_of(subject, groups) is None


def test_whoever_is_let_in_reads_and_does_what_its_names_are_granted_besides() -> None:
    admission = admission_of(
        ["group:staff", "subject:ann"],
        ["group:ops=edit+control", "group:staff=edit", "subject:ann=admin", "group:strangers=admin"],
    )

    assert admission.scopes_of("bob", ["staff"]) == frozenset({Scope.READ, Scope.EDIT})
    assert admission.scopes_of("bob", ["staff", "ops"]) == frozenset({Scope.READ, Scope.EDIT, Scope.CONTROL})
    assert admission.scopes_of("ann", []) == frozenset({Scope.READ, Scope.ADMIN})
    assert admission.scopes_of("eve", ["ops", "strangers"]) is None


def test_a_name_may_have_spaces_and_signs() -> None:
    admission = admission_of(["group:Domain Admins=all"], ["group:Domain Admins=all=control"])

    assert admission.scopes_of("ann", ["Domain Admins=all"]) == frozenset({Scope.READ, Scope.CONTROL})


@pytest.mark.parametrize(
    ("allow", "grants", "said"),
    [
        (["editors"], [], "'editors' is neither group:NAME nor subject:NAME"),
        (["group:"], [], "neither"),
        (["group: editors"], [], "neither"),
        (["OU=Groups"], [], "neither"),
        ([], ["group:editors"], "is not like group:NAME=read"),
        ([], ["editors=read"], "is not like"),
        ([], ["group:editors=read,edit"], "is not like"),
        ([], ["group:editors=read+all"], "has 'all', which is none of read, edit, control, agent, admin"),
    ],
)
def test_what_makes_no_sense_is_said_to_make_none(allow: list[str], grants: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        admission_of(allow, grants)


def test_all_that_a_login_is_made_of_is_in_the_record_that_its_browser_keeps() -> None:
    begun = new_attempt("chance", "/docs?a=b;c", NOW)

    found = attempt_of(begun.record, NOW + 599)

    assert found is not None
    assert (found.state, found.nonce, found.verifier) == (begun.state, begun.nonce, begun.verifier)
    assert found.next_path == "/docs?a=b;c"
    assert len({found.state, found.nonce, found.verifier}) == 3
    # As a cookie, and as a verifier of PKCE (RFC 7636, 4.1).
    assert not set(begun.record) & set(' ",;\\')
    assert 43 <= len(begun.verifier) <= 128


@pytest.mark.parametrize("other", [("other", "/docs", NOW), ("chance", "/else", NOW), ("chance", "/docs", NOW + 1)])
def test_no_other_record_makes_the_same(other: tuple[str, str, float]) -> None:
    mine, others = new_attempt("chance", "/docs", NOW), new_attempt(*other)

    assert not {mine.state, mine.nonce, mine.verifier} & {others.state, others.nonce, others.verifier}


@pytest.mark.parametrize(
    ("record", "now"),
    [
        (new_attempt("chance", "/", NOW).record, NOW + 601),
        (new_attempt("chance", "/", NOW).record, NOW - 61),
        ("", NOW),
        ("a.b.c", NOW),
        (f"{NOW:.0f}.b", NOW),
        (f"{NOW:.0f}.b._w", NOW),
        (f"{NOW:.0f}.b.Lw.d", NOW),
    ],
)
def test_a_record_that_is_late_or_none_is_no_login(record: str, now: float) -> None:
    assert attempt_of(record, now) is None
