"""The suites: everything that can be measured, in the order in which it is shown."""

from collections.abc import Mapping
from typing import Final

from officeplane.bench.comparisons import claims, files, hand_over, inserts, locks, pairs
from officeplane.bench.scenario import Comparison, Scenario, Suite
from officeplane.bench.scenarios import (
    backlog,
    dags,
    drain,
    drain_mixed,
    edit_latency,
    grid,
    history,
    hot_document,
    hot_file,
    idle,
    keys,
    lanes,
    latency,
    long_text,
    many_files,
    post,
    revision_storage,
    spaces,
    submit,
    submit_many,
    wide_sheet,
)

COMPARISONS: Final[tuple[Comparison, ...]] = (
    inserts.SINGLY,
    inserts.IN_GROUPS,
    claims.IN_GROUPS,
    claims.SINGLY,
    pairs.COMPARISON,
    locks.COMPARISON,
    hand_over.COMPARISON,
)

CLAIM_AND_COMPLETE: Final = "claim_and_complete"
LOCK_CLAIM_AND_COMPLETE: Final = "lock_claim_and_complete"

SUMS: Final[Mapping[str, tuple[str, ...]]] = {
    CLAIM_AND_COMPLETE: (claims.CLAIMS.name, claims.COMPLETIONS.name),
    LOCK_CLAIM_AND_COMPLETE: (locks.CYCLES.name, claims.CLAIMS.name, claims.COMPLETIONS.name),
}
"""Rates of doing several things one after the other, made of the rates of each."""

SCENARIOS: Final[tuple[Scenario, ...]] = (
    drain.PLAIN,
    drain.DOCUMENTS,
    drain.TWO_WORKERS,
    drain.DOCUMENTS_TWO_WORKERS,
    drain_mixed.DRAIN_MIXED,
    submit.SUBMIT,
    submit_many.SUBMIT_MANY,
    post.POST,
    keys.KEYS,
    latency.LATENCY,
    lanes.LANES,
    hot_document.HOT_DOCUMENT,
    idle.IDLE,
    backlog.BACKLOG,
    spaces.SPACES,
    history.HISTORY,
    dags.DAGS,
)

DOCUMENTS: Final[tuple[Scenario, ...]] = (
    many_files.MANY_FILES,
    hot_file.HOT_FILE,
    wide_sheet.WIDE_SHEET,
    edit_latency.EDIT_LATENCY,
    long_text.LONG_TEXT,
    grid.GRID,
    revision_storage.REVISION_STORAGE,
)

BY_HAND: Final[tuple[Comparison, ...]] = (files.MANY_FILES, files.HOT_FILE, files.WIDE_SHEET)

SUITES: Final[Mapping[str, Suite]] = {"tasks": Suite(SCENARIOS, COMPARISONS), "documents": Suite(DOCUMENTS, BY_HAND)}
