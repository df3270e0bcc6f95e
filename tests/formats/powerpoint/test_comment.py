"""Comments of presentations, in the older form and in the newer one."""

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.comment import Comment, CommentReply, CommentState, GoneComment, NewComment
from officeplane.edits.contract import Result
from officeplane.edits.delete_slide import DeleteSlide
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.reading.listing import ListWanted, listed
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import applied, differing, occasion, opened, parts, written

OLD = "slide-256.comment-0-1"
NEW = "slide-256.comment-000000000010"
NEW_ANSWER = "slide-256.comment-000000000011"
RESOLVED = "slide-257.comment-000000000020"


def add(node_id: str, text: str) -> Comment:
    return Comment(add=NewComment(node_id=node_id, text=text))


def reply(comment_id: str, text: str) -> Comment:
    return Comment(reply=CommentReply(comment_id=comment_id, text=text))


def resolve(comment_id: str, *, resolved: bool = True) -> Comment:
    return Comment(resolve=CommentState(comment_id=comment_id, resolved=resolved))


def delete(comment_id: str) -> Comment:
    return Comment(delete=GoneComment(comment_id=comment_id))


def later(deck: Presentation, edit: Comment) -> Result:
    return edit.apply(deck, occasion(77))


def comments(deck: Presentation) -> dict[str, dict[str, object]]:
    return {item["id"]: item for item in listed(deck.reader(), ListWanted("comments")).items}


def test_the_first_comment_of_a_deck_brings_its_author_and_is_pinned_to_the_slide() -> None:
    data = powerpoint.plain()
    deck = opened(data)

    told = applied(deck, add("slide-257", "Why <7> &\nhow?"))

    assert told == {"id": "slide-257.comment-0-1"}
    comment = comments(deck)[told["id"]]
    assert (comment["text"], comment["author"], comment["parent"]) == ("Why <7> &\nhow?", "ada", "slide-257")
    assert (comment["at"], comment["x"], comment["y"]) == ("2024-05-01T12:00:00.000", 1.25, 1.25)
    assert differing(data, written(deck)) == {
        "[Content_Types].xml", "ppt/_rels/presentation.xml.rels", "ppt/commentAuthors.xml", "ppt/comments/comment1.xml",
        "ppt/slides/_rels/slide2.xml.rels",
    }  # fmt: skip


def test_a_comment_on_a_shape_is_pinned_to_its_corner() -> None:
    deck = opened(powerpoint.plain())
    shape = deck.reader().tree.by_id["slide-256"].children[1]
    form = deck.reader().form(shape)

    told = applied(deck, add(shape.id, "this"))

    comment = comments(deck)[told["id"]]
    assert (comment["x"], comment["y"]) == (
        pytest.approx(form["x"], abs=0.13),
        pytest.approx(form["y"], abs=0.13),
    )


def test_answers_of_older_comments_name_what_they_answer() -> None:
    deck = opened(powerpoint.commented())

    one = applied(deck, reply(OLD, "One"))["id"]
    two = later(deck, reply(one, "Two"))["id"]

    told = comments(deck)
    assert [*told] == [OLD, one, two]
    assert [told[name].get("inReplyTo") for name in (OLD, one, two)] == [None, OLD, OLD]
    part = parts(written(deck))["ppt/comments/comment1.xml"].decode()
    assert part.count('<p15:parentCm authorId="0" idx="1"/>') == 2
    authors = parts(written(deck))["ppt/commentAuthors.xml"].decode()
    assert 'name="ada" initials="A" lastIdx="2" clrIdx="1"' in authors


def test_older_comments_have_no_state() -> None:
    deck = opened(powerpoint.commented())

    assert "state" not in comments(deck)[OLD]
    with pytest.raises(InvalidEditError, match=f"'{OLD}' is a comment of PowerPoint's older form, which has no state"):
        applied(deck, resolve(OLD))


def test_the_last_comment_of_a_slide_takes_its_part_along() -> None:
    deck = opened(powerpoint.commented())
    answer = applied(deck, reply(OLD, "One"))["id"]

    told = applied(deck, delete(OLD))

    assert told["warnings"] == [{"code": "lost", "nodeId": answer, "detail": "reply 'One'"}]
    assert comments(deck) == {}
    assert "ppt/comments/comment1.xml" not in parts(written(deck))
    # Whoever comments next gives no number that there was.
    assert later(deck, add("slide-256", "x"))["id"] == "slide-256.comment-1-2"


def test_one_answer_goes_alone() -> None:
    deck = opened(powerpoint.commented())
    one = applied(deck, reply(OLD, "One"))["id"]
    two = later(deck, reply(OLD, "Two"))["id"]

    assert applied(deck, delete(one)) == {"id": one}

    assert [*comments(deck)] == [OLD, two]


def test_newer_comments_are_told_with_answers_states_and_what_they_are_about() -> None:
    told = comments(opened(powerpoint.commented_anew()))

    assert [*told] == [NEW, NEW_ANSWER, RESOLVED]
    assert told[NEW] == {
        "id": NEW, "kind": "comment", "text": "Really?", "author": "Ada", "at": "2024-01-01T00:00:00.000",
        "state": "open", "shape": "slide-256.3", "about": "ody", "parent": "slide-256",
    }  # fmt: skip
    assert (told[NEW_ANSWER]["text"], told[NEW_ANSWER]["inReplyTo"]) == ("Yes", NEW)
    assert (told[RESOLVED]["state"], "shape" in told[RESOLVED]) == ("resolved", False)


def test_newer_comments_are_answered_resolved_and_deleted_in_their_own_form() -> None:
    deck = opened(powerpoint.commented_anew())

    one = applied(deck, reply(NEW_ANSWER, "One\n\nmore"))["id"]
    two = later(deck, reply(RESOLVED, "Two"))["id"]
    resolved = applied(deck, resolve(one))
    opened_again = applied(deck, resolve(RESOLVED, resolved=False))

    told = comments(deck)
    assert [*told] == [NEW, NEW_ANSWER, one, RESOLVED, two]
    assert (told[one]["text"], told[one]["inReplyTo"], told[one]["state"]) == ("One\n\nmore", NEW, "resolved")
    assert (resolved, opened_again) == ({"id": NEW, "resolved": True}, {"id": RESOLVED, "resolved": False})
    assert told[two]["state"] == "open"
    part = parts(written(deck))["ppt/comments/modernComment_100_0.xml"].decode()
    assert part.index("</p188:replyLst>") < part.rindex("<p188:txBody>")
    assert applied(deck, delete(two)) == {"id": two}
    assert "replyLst" not in parts(written(deck))["ppt/comments/modernComment_101_0.xml"].decode()


def test_where_there_are_newer_comments_new_ones_are_of_that_form() -> None:
    deck = opened(powerpoint.commented_anew())

    tied = applied(deck, add("slide-258.2", "this"))["id"]
    other = later(deck, add("slide-258", "all"))["id"]

    told = comments(deck)
    assert (told[tied]["shape"], told[tied]["state"], "shape" in told[other]) == ("slide-258.2", "open", False)
    slide = parts(written(deck))["ppt/slides/slide3.xml"].decode()
    assert slide.count("commentRel ") == 1
    assert "ppt/commentAuthors.xml" not in parts(written(deck))
    applied(deck, delete(tied))
    applied(deck, delete(other))
    data = written(deck)
    assert "commentRel" not in parts(data)["ppt/slides/slide3.xml"].decode()
    assert differing(powerpoint.commented_anew(), data) >= {"ppt/authors.xml"}
    assert "ppt/comments/modernComment1.xml" not in parts(data)


def test_what_has_no_comments_is_refused_by_name() -> None:
    deck = opened(powerpoint.with_notes())
    tables = opened(powerpoint.tables())
    cell = next(one.id for one in tables.reader().tree.by_id.values() if one.kind == "cell")

    with pytest.raises(InvalidEditError, match="is the notes of a slide, which have no comments: comment on the slide"):
        applied(deck, add(next(one.id for one in deck.reader().tree.by_id.values() if one.kind == "notes"), "x"))
    with pytest.raises(InvalidEditError, match="is a cell: comment on its table"):
        applied(tables, add(cell, "x"))
    with pytest.raises(InvalidEditError, match="is a comment, on which there are no others: give it to `reply`"):
        applied(opened(powerpoint.commented()), add(OLD, "x"))


def test_a_slide_takes_its_comments_along() -> None:
    deck = opened(powerpoint.commented_anew())

    told = applied(deck, DeleteSlide(slide_id="slide-256"))

    assert [one["detail"] for one in told["warnings"]] == ["comment 'Really?'", "comment 'Yes'"]
    assert [*comments(deck)] == [RESOLVED]
