"""Which occurrences of a text are replaced: by pattern, by the node they are under, by their number."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.edits.replace_text import ReplaceText
from officeplane.formats.reading.finding import FindWanted, find
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import applied, assert_sound, opened, parts, written

LINES = ("Clause 1: pay within 30 days", "Clause 2: pay 20", "See Clause 1, Clause 2")


def contract() -> bytes:
    return documents.document(
        documents.heading(1, "Clause 0", "11111111")
        + documents.text(LINES[0], paragraph_id="22222222")
        + documents.table(documents.cell(documents.text("Clause 3")) + documents.cell(documents.text("Clause 4")))
        + documents.heading(1, "More", "33333333")
        + documents.text(LINES[2], paragraph_id="44444444")
    )


def test_what_a_pattern_fits_is_replaced_with_its_groups() -> None:
    word = opened(contract())

    told = applied(word, ReplaceText(find=r"Clause (\d+)", replace=r"§ \1", regex=True, expected_count=6))

    assert "§ 1: pay within 30 days" in word.text()
    assert "See § 1, § 2" in word.text()
    assert "§ 3\t§ 4" in word.text()
    assert told["replaced"] == 6
    assert_sound(word)


def test_anchors_are_where_a_paragraph_begins_and_ends() -> None:
    word = opened(contract())

    told = applied(word, ReplaceText(find=r"^Clause|\d$", replace="X", regex=True))

    assert told["replaced"] == 8
    assert word.text().splitlines() == ["X X", "X 1: pay within 30 days", "X X\tX X", "More", "See Clause 1, Clause X"]


def test_case_whole_words_and_patterns_go_together() -> None:
    word = opened(documents.document(documents.text("über Über überall Übermut ÜBER")))

    told = applied(word, ReplaceText(find="ü[a-z]{3}", replace="x", regex=True, whole_word=True, match_case=False))

    assert (word.text(), told["replaced"]) == ("x x überall Übermut x", 3)


@pytest.mark.parametrize(
    ("under", "count"),
    [("p-22222222", 1), ("p-44444444", 2), ("TABLE", 2), ("CELL", 1), ("CHAPTER", 4), ("PAGE", 3)],
)
def test_only_what_is_under_a_node_is_replaced_and_counted(under: str, count: int) -> None:
    word = opened(contract())
    tree = word.reader().tree
    kinds = {"TABLE": "table", "CELL": "cell", "CHAPTER": "chapter", "PAGE": "page"}
    node_id = next((each.id for each in tree.by_id.values() if each.kind == kinds.get(under)), under)
    before = len(find(word.reader(), FindWanted("Clause", under=node_id)).items)

    edit = ReplaceText(find="Clause", replace="Part", under=node_id, expected_count=count)
    targets = edit.targets(word)
    told = applied(word, edit)

    assert before == told["replaced"] == len(targets) == count
    assert word.text().count("Part") == count
    assert len(find(word.reader(), FindWanted("Part", under=node_id)).items) == count


def test_only_the_occurrence_of_a_number_is_replaced() -> None:
    word = opened(contract())
    edit = ReplaceText(find="Clause", replace="Part", nth=6, expected_count=6)
    aimed_at = edit.targets(word)

    told = applied(word, edit)

    assert "See Clause 1, Part 2" in word.text()
    assert word.text().count("Part") == 1
    assert (told["replaced"], told["ids"]) == (1, aimed_at)


def test_the_number_counts_under_the_node() -> None:
    word = opened(contract())

    applied(word, ReplaceText(find=r"Clause (\d)", replace=r"\1th", regex=True, nth=2, under="p-44444444"))

    assert "See Clause 1, 2th" in word.text()


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"nth": 3, "under": "p-44444444"}, "stands 2 times in 'p-44444444'; there is no number 3"),
        ({"under": "p-44444445"}, "no node 'p-44444445'; did you mean 'p-44444444'"),
        ({"under": "p-44444444", "expected_count": 6}, "2 times in 'p-44444444', not 6"),
        ({"find": "More", "under": "p-44444444"}, "'More' does not stand in 'p-44444444'"),
        ({"find": "x+", "regex": True}, "the pattern 'x\\+' does not fit in it"),
        ({"find": "(", "regex": True}, "missing \\), at letter 2"),
        ({"find": "x*", "regex": True}, "nothing stands"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_changes_nothing(wanted: dict[str, object], told: str) -> None:
    word = opened(contract())
    before = written(word)

    with pytest.raises(InvalidEditError, match=told):
        applied(word, ReplaceText.model_validate({"find": "Clause", "replace": "Part", **wanted}, by_name=True))

    word.package.rollback()
    assert written(word) == before


def test_a_text_box_is_changed_for_old_programs_too_and_nothing_else_is() -> None:
    word = opened(documents.text_boxes())
    tree = word.reader().tree
    inside = next(each for each in tree.by_id.values() if each.kind == "text box").children[0]
    found = inside.text.split()[0]

    applied(word, ReplaceText(find=found, replace="Token", under=inside.id, nth=1))

    xml = parts(written(word))["word/document.xml"].decode()
    assert word.text().count("Token") == 1
    assert xml.count("Token") == xml.count("<mc:Fallback") + 1


@pytest.mark.parametrize(
    ("make", "kind"), [(documents.footnotes, "footnote"), (documents.headers_and_footers, "header")]
)
def test_notes_and_headers_are_nodes_to_replace_under(make: Callable[[], bytes], kind: str) -> None:
    word = opened(make())
    node = next(each for each in word.reader().tree.by_id.values() if each.kind == kind and each.children)
    text = word.reader().said(node).split()[0]

    told = applied(word, ReplaceText(find=text, replace="Token", under=node.id))

    assert word.text().count("Token") == told["replaced"] > 0
    assert "Token" in word.reader().said(word.reader().tree.by_id[node.id])


def test_a_node_without_paragraphs_is_refused() -> None:
    word = opened(documents.tracked_changes())
    change = next(each for each in word.reader().tree.by_id.values() if each.kind == "change")

    with pytest.raises(InvalidEditError, match="is a change, which holds no paragraphs; give the paragraph"):
        applied(word, ReplaceText(find="a", replace="b", under=change.id))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.text(alphabet="abä 1", min_size=1, max_size=4), min_size=1, max_size=5),
    st.sampled_from([r"\w+", r"a+b?", r"[^a]", r"\bä", r"(a|ä)(.)", r"^.", r".$", r"\d\s?"]),
    st.sampled_from(["", "x", r"<\0>"]),
)
def test_however_runs_are_split_a_pattern_replaces_what_that_of_python_does(
    runs: list[str], pattern: str, replace: str
) -> None:
    whole = "".join(runs)
    word = opened(documents.document(documents.paragraph("".join(documents.run(one) for one in runs))))
    count = len(re.findall(pattern, whole))

    applied(word, ReplaceText(find=pattern, replace=replace, regex=True, expected_count=count))

    said = re.sub(pattern, replace.replace(r"\0", r"\g<0>"), whole)
    assert word.text() == said
