"""Where on slides a text is replaced: by pattern, under a node, by its number."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.domain.document import InvalidEditError
from officeplane.edits.replace_text import ReplaceText
from officeplane.formats.powerpoint.paragraphs import replace, searchable, text_of
from officeplane.formats.reading.finding import FindWanted, find
from officeplane.formats.search import Wanted
from officeplane.formats.xml import parse
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import A, applied, assert_sound, opened, written


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.text(alphabet="abä1", min_size=1, max_size=4) | st.just("|"), min_size=1, max_size=5),
    st.sampled_from([r"\w+", r"a+b?", r"[^a]", r"\bä", r"(a|ä)(.)", r"^.", r".$", r"\d\s?", r"(?s).+"]),
    st.sampled_from(["", "x", r"<\0>"]),
)
def test_however_runs_are_split_a_pattern_replaces_what_that_of_python_does(
    runs: list[str], pattern: str, by: str
) -> None:
    inner = "".join("<a:br/>" if one == "|" else f"<a:r><a:t>{one}</a:t></a:r>" for one in runs)
    paragraph = parse(f'<a:p xmlns:a="{A[1:-1]}">{inner}</a:p>'.encode())
    whole = text_of(paragraph)
    wanted = Wanted(pattern, regex=True)
    found = wanted.finder()(searchable(paragraph))

    replace(paragraph, found, wanted.replacing(by)(found))

    # `$` of Python is before a last line's end, too.
    said = re.sub(pattern.replace("$", r"\Z"), by.replace(r"\0", r"\g<0>"), whole)
    assert text_of(paragraph) == said


def test_no_pattern_fits_across_a_field() -> None:
    said = "<a:r><a:t>a b</a:t></a:r><a:fld><a:t>7</a:t></a:fld><a:r><a:t>b</a:t></a:r>"
    paragraph = parse(f'<a:p xmlns:a="{A[1:-1]}">{said}</a:p>'.encode())

    for pattern in ("a.*b", r"a[\s\S]*", "a[^x]*b", r"a(?s:.)+b"):
        assert [match.span for match in Wanted(pattern, regex=True).finder()(searchable(paragraph))] == [(0, 3)]


def test_only_what_is_under_a_node_is_replaced_and_counted() -> None:
    data = powerpoint.with_notes()
    tree = opened(data).reader().tree
    seen: set[str] = set()
    for node in tree.by_id.values():
        words = opened(data).reader().said(node).split()
        if not words or node.kind in {"comment", "row"}:
            continue
        deck = opened(data)
        inside = deck.places_of(Wanted(words[0], under=node.id))
        everywhere = deck.places_of(Wanted(words[0]))

        told = applied(deck, ReplaceText(find=words[0], replace="Token", under=node.id, expected_count=len(inside)))

        assert 0 < len(inside) == told["replaced"] <= len(everywhere)
        assert len(deck.places_of(Wanted("Token"))) == len(deck.places_of(Wanted("Token", under=node.id)))
        assert find(deck.reader(), FindWanted("Token", under=node.id)).items
        assert_sound(written(deck))
        seen.add(node.kind)
    assert {"slide", "title", "notes"} <= seen


def test_cells_of_tables_are_nodes_to_replace_under() -> None:
    deck = opened(powerpoint.tables())
    cell = next(each for each in deck.reader().tree.by_id.values() if each.kind == "cell" and each.text)

    told = applied(deck, ReplaceText(find=r"(\w)", replace=r"\1\1", regex=True, under=cell.id, nth=1))

    assert told["replaced"] == 1
    assert deck.reader().tree.by_id[cell.id].text == cell.text[0] + cell.text


def test_only_the_occurrence_of_a_number_is_replaced() -> None:
    deck = opened(powerpoint.plain())
    places = deck.places_of(Wanted("e"))
    edit = ReplaceText(find="e", replace="&", nth=len(places))

    assert edit.targets(deck) == [places[-1]]
    applied(deck, edit)

    assert deck.text().count("&") == 1
    assert len(deck.places_of(Wanted("e"))) == len(places) - 1
    with pytest.raises(InvalidEditError, match=f"stands {len(places) - 1} times in it; there is no number 99999"):
        applied(deck, ReplaceText(find="e", replace="&", nth=99_999))


def test_a_node_that_says_nothing_is_refused() -> None:
    deck = opened(powerpoint.commented())
    comment = next(each for each in deck.reader().tree.by_id.values() if each.kind == "comment")

    with pytest.raises(InvalidEditError, match="is a comment, which has no paragraphs"):
        applied(deck, ReplaceText(find="a", replace="b", under=comment.id))
    with pytest.raises(InvalidEditError, match="no node 'slide-999'"):
        applied(deck, ReplaceText(find="a", replace="b", under="slide-999"))


def test_a_find_knows_where_paragraphs_of_a_shape_begin_and_end() -> None:
    deck = opened(powerpoint.plain())
    shape = next(each for each in deck.reader().tree.by_id.values() if each.kind == "text" and "\n" in each.text)
    lines = shape.text.split("\n")

    begins = find(deck.reader(), FindWanted("^.", under=shape.id, regex=True)).items
    ends = find(deck.reader(), FindWanted(".$", under=shape.id, regex=True)).items

    assert len(begins) == len(ends) == len(lines)
    assert [shape.text[item["position"]] for item in begins] == [line[0] for line in lines]
    assert [shape.text[item["position"]] for item in ends] == [line[-1] for line in lines]
    assert not find(deck.reader(), FindWanted(r"\n", under=shape.id, regex=True)).items
