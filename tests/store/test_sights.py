"""What callers see: every query asks whose it is or says why it need not, and SQL and Python see alike."""

from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from officeplane.domain.principal import EVERYTHING, SYSTEM, Principal
from officeplane.domain.space import Space, qualified, space_of
from officeplane.store.connection import Connection
from officeplane.store.queries import Query, load, nouns
from officeplane.store.sights import seen_by
from tests.callers import a_caller

BY_NAME: Final = {
    "claims": "claim_lanes upcoming occupied lane_heads",
    "documents": "create show formats lock revise head revision history title_as_of stage_upload upload "
    "prune_abandoned recipes_after recipes_of_uploads waiting delete end_pause forget_revisions "
    "forget_uploads",
    "pieces": "keep fetch drop",
    "tasks": "remember_keys recall_keys pass_keys_on lane_position",
    "valves": "pause_document resume_document is_paused",
}
"""Those that find what they find by names inside, which begin with their space: of documents, or idempotency keys."""

NOT_BY_SPACE: Final = {
    "It is about one agent, of which the use case has looked whether the caller may claim as it.": {
        "agent_claims": "look book go_on beat answered take_up keep_late decline seen status of_tasks",
        "agents": "lock greet register set_status remove count_held held claimed_under keep_key",
        "offers": "demands_met look skipped previous_attempts",
        "claims": "claim_offered",
    },
    "It stores what is in the space of whoever asks for it, as the row says.": {
        "dags": "insert",
        "documents": "remember_conditions",
        "api_keys": "insert",
        "audit": "write",
        "spawns": "remember",
        "dependencies": "insert",
        "demands": "find add",
        "login_links": "insert",
        "tasks": "insert",
    },
    "The use case has looked for the task, the DAG or the letter with the caller's sight before, or holds its claim.": {
        "api_keys": "replace change",
        "claims": "poll start validate report_progress save_checkpoint results_of_siblings results_of_dependencies",
        "dags": "lock tasks nodes tally needs set_statuses request_cancel forget_cancel",
        "dead_letters": "lock_latest of_generations decisions unresolved_among resolve remark write_awaited "
        "replace_payload",
        "dependencies": "lock given_up of_tasks near far release dependents",
        "patches": "apply",
        "ranks": "urgencies behind_less_urgent ahead inherit moved rank_anew",
        "settlements": "settle settle_well settle_and_claim settle_edits suspend ask_to_stop standing lapsed",
        "spawns": "look lock extent needs_others take_turn leads_back",
        "tasks": "bound_lock_wait lock_contents contents states failures earlier_siblings",
        "trees": "take_turns lock_roots ancestors lock_nodes siblings begin start first_children finish finish_atomic "
        "edits cancel reopen",
    },
    "What stands for the content of a task stands for its space too.": {"tasks": "of_contents"},
    "A process of the installation works through all spaces; what it finds it tells to no caller.": {
        "agent_claims": "ended_among count_lapses failed_at prune",
        "offers": "demands_waiting",
        "api_keys": "hold version used",
        "chores": "anything_waits ring_times unrung waiting_lanes promote due_retries next_due prune expire_keys "
        "prune_callers",
        "claims": "claim_hinted recover renew cancelled",
        "dags": "unsettled stalled prune",
        "dead_letters": "expire",
        "deliveries": "take forget postpone give_up",
        "dependencies": "orphaned_spawns forget_spawned overdue recount",
        "documents": "abandoned forget_deleted prune_uploads hold lock_out",
        "events": "prune",
        "observations": "add totals fold",
        "pieces": "keys forget",
        "roles": "role",
        "settlements": "count_fenced",
        "task_types": "changed",
        "workers": "beat leave died alive known_types lead yield_lead forget",
    },
    "Who has the text, or a session of it, is who is asked for: whose it is only shows when it is found.": {
        "api_keys": "was_known of_digest of_id",
        "login_links": "spend",
        "sessions": "begin of_digest see end",
    },
    "Positions and times are the installation's; who asks is shown what is of its own space there.": {
        "events": "after horizon is_held",
        "tasks": "seq_at",
    },
    "The use case asks for the caller's own space, or for another if it may, by its name.": {
        "audit": "page page_of_target",
        "agents": "count",
        "pieces": "bytes_of_space bytes_of_caller",
        "spaces": "quotas lock set waiting_tasks waiting_tasks_of_caller documents documents_of_caller fullest",
        "valves": "of_space",
    },
    "It asks about the default space, which the installation is run from, or counts for its operator.": {
        "api_keys": "has_admin working",
        "doctor": "server orphaned_types leaders overdue_leases unresolved_letters undelivered_alerts held_back",
        "spaces": "all",
        "statistics": "largest_spaces",
    },
    "Task types are the installation's, and what is set for them.": {
        "settlements": "rate_limits",
        "task_types": "lock count facts unfinished declare remove",
        "valves": "set_paused fetch lock ring slow_down count_failures open_strained open_by_hand close_by_hand "
        "set_breaker survey end_slowdowns half_open probes lock_probes close_after choose_probes set_limits rooms "
        "admissible contenders lock_limits take_tokens",
    },
}


def listed(by_noun: dict[str, str]) -> set[str]:
    return {f"{noun}.{name}" for noun, names in by_noun.items() for name in names.split()}


def test_every_query_asks_what_its_caller_sees_or_says_why_it_need_not() -> None:
    queries = {query.name: query for noun in nouns() for query in load(noun).values()}
    asking = {name for name, query in queries.items() if "seen_space" in query.names}
    excused = [name for by_noun in (BY_NAME, *NOT_BY_SPACE.values()) for name in listed(by_noun)]

    assert len(excused) == len(set(excused)), "a query is excused twice"
    assert set(queries) - asking == set(excused)


def test_what_is_found_by_its_name_is_given_a_name_that_has_a_space() -> None:
    for name in listed(BY_NAME):
        noun, _, verb = name.partition(".")
        names = load(noun)[verb].names
        assert any("document_id" in one or one == "keys" for one in names), f"{name} is given no name: {names}"


# A key's entries have fewer signs than these; that a wildcard of SQL is none here must not hang on that.
NAMES = st.text("ab%_\\-. ", min_size=1, max_size=4).filter(lambda name: name != "-")
ENTRIES = st.one_of(st.sampled_from(["-", "*"]), NAMES, st.builds("{}*".format, NAMES))
LISTS = st.one_of(st.none(), st.lists(ENTRIES, min_size=1, max_size=3).map(tuple))
SPACES = st.sampled_from([Space("default"), Space("a"), Space("ab"), Space("a-b")])


_, _, _ASKED = load("tasks")["visible"].source.partition("(:seen_space")
VISIBLE: Final = f"(:seen_space{_ASKED}"
"""The part `visible`, as it was put into a query."""


@st.composite
def callers(draw: st.DrawFn) -> Principal:
    types = draw(LISTS.filter(lambda found: found is None or "-" not in found))
    return a_caller(space=draw(SPACES), documents=draw(LISTS), task_types=types)


@given(callers(), SPACES, st.one_of(st.none(), NAMES), NAMES)
@settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
async def test_sql_and_python_see_the_same_tasks(
    connection: Connection, caller: Principal, space: Space, name: str | None, task_type: str
) -> None:
    document_id = None if name is None else qualified(space, name)
    asked = Query("visible", "SELECT FROM (VALUES (:space::text, :document_id::text, :task_type::text)) "
                             f"AS t(space, document_id, task_type) WHERE {VISIBLE}")  # fmt: skip

    seen = await asked.fetch(
        connection, space=space, document_id=document_id, task_type=task_type, **seen_by(caller.sight)
    )

    assert bool(seen) == (caller.space == space and caller.sees(document_id, task_type))


async def test_a_process_of_the_installation_sees_everything() -> None:
    assert SYSTEM.sight == EVERYTHING
    assert seen_by(EVERYTHING) == {"seen_space": None, "seen_documents": None, "seen_types": None}


@pytest.mark.parametrize("space", ["default", "a", "a-b"])
def test_a_name_inside_tells_its_space(space: str) -> None:
    assert space_of(qualified(Space(space), "plan")) == space
