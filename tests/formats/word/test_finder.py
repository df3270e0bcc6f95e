"""The finder: every node that reading names is found, as what reading says that it is."""

from collections.abc import Callable

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.write_page import WritePage
from officeplane.formats.word.details import ParagraphSource
from officeplane.formats.word.document import Word
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.insets import Inset
from officeplane.formats.xml import Element
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import applied, opened, written


def read(word: Word) -> dict[str, tuple[str, Element | None]]:
    """Return the kind of every node, and the element that it is if it is one."""
    found: dict[str, tuple[str, Element | None]] = {}
    for one in word.reader().tree.by_id.values():
        source = one.source.element if isinstance(one.source, ParagraphSource | Inset) else one.source
        found[one.id] = one.kind, source if hasattr(source, "tag") else None
    return found


@pytest.mark.parametrize("make", documents.HARD.values(), ids=documents.HARD.keys())
def test_every_node_that_is_read_is_found_where_it_is(make: Callable[[], bytes]) -> None:
    word = opened(make())
    before = written(word)

    for node_id, (kind, element) in read(word).items():
        found = word.finder().find(node_id)

        assert found.kind == kind, node_id
        assert found.id == node_id
        if element is not None:
            assert found.element is element, node_id
        tops = [block.element for block in found.story.blocks[found.begin : found.end]]
        assert all(any(top is one or top in one.iterancestors() for top in tops) for one in found.elements)
        assert word.fingerprint(node_id) is not None, node_id

    assert written(word) == before


def test_paragraphs_rows_cells_and_tables_are_found_without_the_tree_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    word = opened(documents.merged_cells())
    wanted = [
        node_id for node_id, (kind, _) in read(word).items() if kind in {"paragraph", "table", "row", "cell", "chapter"}
    ]
    monkeypatch.setattr(Finder, "_of_detail", None)

    assert {word.finder().find(node_id).id for node_id in wanted} == set(wanted)
    assert {node_id[0] for node_id in wanted} >= {"p", "t", "r"}


@pytest.mark.parametrize("wrong", ["p-00000001", "r-00000001.c1", "page-0", "p-1", "", "picture-99", "t-00000001.c1"])
def test_an_unknown_id_is_refused_with_the_call_that_finds_it(wrong: str) -> None:
    word = opened(documents.chapters())

    with pytest.raises(InvalidEditError, match="`find\\?text=`"):
        word.finder().find(wrong)
    assert word.fingerprint(wrong) is None


def test_of_an_unknown_id_the_nearest_is_named() -> None:
    word = opened(documents.chapters())
    known = next(node_id for node_id in read(word) if node_id.startswith("p-"))
    wrong = f"{known[:-1]}{'1' if known[-1] == '0' else '0'}"

    with pytest.raises(InvalidEditError, match=f"did you mean '{known}'") as refused:
        word.finder().find(wrong)
    assert refused.value.facts == {"nodeId": wrong, "nearest": known}


@pytest.mark.parametrize("make", documents.HARD.values(), ids=documents.HARD.keys())
def test_what_happens_elsewhere_leaves_the_fingerprints_of_all_nodes(make: Callable[[], bytes]) -> None:
    was, now = opened(make()), opened(make())
    applied(now, WritePage(content="Somewhere else"))

    for node_id in read(was):
        assert was.fingerprint(node_id) == now.fingerprint(node_id), node_id


def test_a_note_that_somebody_changed_has_another_fingerprint_and_its_neighbour_has_not() -> None:
    word = opened(documents.footnotes())
    before = {node_id: word.fingerprint(node_id) for node_id in read(word)}
    note = next(one for one in word.reader().tree.by_id.values() if one.kind == "footnote" and one.children)

    applied(word, ReplaceText(find=note.children[0].text.strip(), replace="Said otherwise"))

    changed = {node_id for node_id, known in before.items() if word.fingerprint(node_id) != known}
    assert note.id in changed
    assert note.children[0].id in changed
    assert not [node_id for node_id in changed if node_id.startswith(("endnote", "page"))]
