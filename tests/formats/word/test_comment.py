"""Comments of Word: where they stand, what they are about, their answers, and what is left when they go."""

import re
from copy import deepcopy

import pytest

from officeplane.domain.document import InvalidEditError
from officeplane.edits.comment import Comment, CommentReply, CommentState, GoneComment, NewComment
from officeplane.edits.delete_node import DeleteNode
from officeplane.formats.reading.listing import ListWanted, listed
from officeplane.formats.relationships import Relationships, content_type, declare
from officeplane.formats.word.document import Word
from tests.fixtures.documents import word as documents
from tests.formats.word.texts import MAIN, applied, assert_sound, differing, occasion, opened, reopened, written, xml

EXTENDED = "word/commentsExtended.xml"
W15 = "http://schemas.microsoft.com/office/word/2012/wordml"
CID = "http://schemas.microsoft.com/office/word/2016/wordml/cid"
CEX = "http://schemas.microsoft.com/office/word/2018/wordml/cex"
TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def first(word: Word, kind: str, text: str = "") -> str:
    """Return the id of the first node of a kind that says something."""
    return next(one.id for one in word.reader().tree.by_id.values() if one.kind == kind and text in one.text)


def add(node_id: str, text: str, find: str | None = None, nth: int | None = None) -> Comment:
    return Comment(add=NewComment(node_id=node_id, text=text, find=find, nth=nth))


def reply(comment_id: str, text: str) -> Comment:
    return Comment(reply=CommentReply(comment_id=comment_id, text=text))


def resolve(comment_id: str, *, resolved: bool = True) -> Comment:
    return Comment(resolve=CommentState(comment_id=comment_id, resolved=resolved))


def delete(comment_id: str) -> Comment:
    return Comment(delete=GoneComment(comment_id=comment_id))


def comments_of(word: Word) -> dict[str, dict[str, str]]:
    return {item["id"]: item for item in listed(word.reader(), ListWanted("comments")).items}


def between(word: Word, comment_id: str) -> str:
    """Return the text between the marks of a comment."""
    number = comment_id.removeprefix("comment-")
    text = xml(word).partition(f'<w:commentRangeStart w:id="{number}"/>')[2]
    said = text.partition(f'<w:commentRangeEnd w:id="{number}"/>')[0]
    return text_in(said)


def text_in(said: str) -> str:
    return "".join(re.findall(r"<w:t(?: [^>]*)?>([^<]*)</w:t>", said))


def modern(word: Word) -> Word:
    """Give a document the parts in which newer versions of Word keep comments besides."""
    package, arrows = word.package, Relationships(word.package, MAIN)
    for name, root, space, relation in (
        ("commentsIds", "commentsIds", CID, "http://schemas.microsoft.com/office/2016/09/relationships/commentsIds"),
        ("commentsExtensible", "commentsExtensible", CEX, "http://schemas.microsoft.com/office/2018/08/relationships/commentsExtensible"),
        ("people", "people", W15, "http://schemas.microsoft.com/office/2011/relationships/people"),
    ):  # fmt: skip
        package.put(f"word/{name}.xml", f'<x:{root} xmlns:x="{space}"/>'.encode())
        declare(package, f"word/{name}.xml", f"{TYPE}.{name}+xml")
        arrows.add(relation, f"word/{name}.xml")
    return opened(written(word))


def test_a_comment_on_words_marks_just_these() -> None:
    word = opened(documents.chapters())
    page = first(word, "page")
    text = next(one.text for one in word.reader().tree.by_id.values() if one.kind == "paragraph")
    words = text.split()[1]

    told = applied(word, add(page, "why?\nreally", words))

    comment = comments_of(word)[told["id"]]
    assert (comment["about"], comment["text"], comment["author"]) == (words, "why?\nreally", "Ada Lovelace")
    assert (comment["state"], comment["at"]) == ("open", "2024-05-01T12:00:00Z")
    assert between(word, told["id"]) == words
    (seen,) = reopened(word).comments
    assert (seen.author, seen.initials, seen.text) == ("Ada Lovelace", "AL", "why?\nreally")
    assert_sound(word)


def test_occurrences_are_counted_in_the_node() -> None:
    word = opened(documents.chapters())
    chapter = next(one for one in word.outline() if one.kind == "chapter")

    told = applied(word, add(chapter.id, "which?", "l", 3))

    assert between(word, told["id"]) == "l"
    before = xml(word).partition("<w:commentRangeStart")[0]
    assert text_in(before).count("l") == 2
    with pytest.raises(InvalidEditError, match=r"'l' stands \d+ times in '.*': give a smaller `nth`"):
        applied(word, add(chapter.id, "x", "l", 1000))
    with pytest.raises(InvalidEditError, match=r"'nowhere' does not stand in '.*': give words as the node says them"):
        applied(word, add(chapter.id, "x", "nowhere"))


@pytest.mark.parametrize("kind", ["table", "row", "cell"])
def test_a_comment_on_a_part_of_a_table_is_about_all_of_its_cells(kind: str) -> None:
    word = opened(documents.nested_tables())
    node_id = first(word, kind)
    said = word.reader().said(word.reader().tree.by_id[node_id])

    told = applied(word, add(node_id, "look"))

    assert "".join(between(word, told["id"]).split()) == "".join(said.split())
    assert_sound(word)


def test_a_comment_on_a_picture_stands_around_it_alone() -> None:
    word = opened(documents.pictures())
    picture = first(word, "picture")

    told = applied(word, add(picture, "blurred"))

    number = told["id"].removeprefix("comment-")
    inside = xml(word).partition(f'<w:commentRangeStart w:id="{number}"/>')[2].partition("<w:commentRangeEnd")[0]
    assert inside.count("<w:drawing>") == 1
    assert inside.count("<w:r>") == inside.count("</w:r>") == 1
    assert_sound(word)


def test_what_stands_in_a_text_box_is_commented_on_around_the_box() -> None:
    word = opened(documents.text_boxes())
    box = next(one for one in word.reader().tree.by_id.values() if one.kind == "text box")

    told = applied(word, add(box.children[0].id, "which?"))
    other = applied(word, add(box.id, "this"))

    boxes = [piece.partition("</w:txbxContent>")[0] for piece in xml(word).split("<w:txbxContent>")[1:]]
    assert not any("comment" in piece for piece in boxes)
    assert {told["id"], other["id"]} <= comments_of(word).keys()
    assert_sound(word)


def test_where_word_has_no_comments_they_are_refused_by_name() -> None:
    beside = opened(documents.headers_and_footers())
    notes = opened(documents.footnotes())
    remarked = opened(documents.comments())

    for word, node_id, where in (
        (beside, first(beside, "header"), "a header"),
        (beside, first(beside, "footer"), "a footer"),
        (notes, "footnotes", "a note"),
        (notes, "endnote-1", "a note"),
    ):
        with pytest.raises(InvalidEditError, match=f"stands beside the text, in {where}, where Word has no comments"):
            applied(word, add(node_id, "x"))
    inside = notes.reader().tree.by_id["footnote-1"].children[0]
    with pytest.raises(InvalidEditError, match="comment on a node of the text that refers to it"):
        applied(notes, add(inside.id, "x", inside.text.split()[0]))
    with pytest.raises(InvalidEditError, match="'comment-0' is a comment, on which there are no others"):
        applied(remarked, add("comment-0", "x"))


def test_the_mark_of_a_note_in_the_text_is_commented_on() -> None:
    word = opened(documents.footnotes())

    told = applied(word, add(first(word, "footnote"), "source?"))

    number = told["id"].removeprefix("comment-")
    inside = xml(word).partition(f'<w:commentRangeStart w:id="{number}"/>')[2].partition("<w:commentRangeEnd")[0]
    assert inside.count("footnoteReference ") == 1
    assert_sound(word)


def test_an_answer_is_about_what_the_comment_is_about() -> None:
    word = opened(documents.comments())
    base = written(word)

    told = applied(word, reply("comment-4", "no\nnever"))

    comments = comments_of(word)
    answer = comments[told["id"]]
    assert (answer["inReplyTo"], answer["text"]) == ("comment-4", "no\nnever")
    assert answer["about"] == comments["comment-4"]["about"] == "begins here\nSecond\nends here"
    assert [*comments] == ["comment-0", "comment-4", told["id"]]
    changed = differing(base, written(word))
    assert changed == {MAIN, "word/comments.xml", EXTENDED, "[Content_Types].xml", "word/_rels/document.xml.rels"}
    assert content_type(word.package, EXTENDED) == f"{TYPE}.commentsExtended+xml"
    assert_sound(word)


def test_an_answer_to_an_answer_is_one_to_the_first_comment() -> None:
    word = opened(documents.comments())
    one = applied(word, reply("comment-0", "one"))["id"]

    two = reply(one, "two").apply(word, occasion(7))["id"]

    assert [comment.get("inReplyTo") for comment in comments_of(word).values()][:3] == [None, "comment-0", "comment-0"]
    assert [*comments_of(word)][:3] == ["comment-0", one, two]


def test_a_thread_is_resolved_and_opened_again_as_a_whole() -> None:
    word = opened(documents.comments())
    answer = applied(word, reply("comment-0", "one"))["id"]

    told = applied(word, resolve(answer))

    assert told == {"id": "comment-0", "resolved": True}
    states = {name: comment["state"] for name, comment in comments_of(word).items()}
    assert states == {"comment-0": "resolved", answer: "resolved", "comment-4": "open"}
    assert xml(word, EXTENDED).count('w15:done="1"') == 2
    later = reply("comment-0", "still").apply(word, occasion(8))["id"]
    assert comments_of(word)[later]["state"] == "resolved"
    applied(word, resolve("comment-0", resolved=False))
    assert {comment["state"] for comment in comments_of(word).values()} == {"open"}


def test_with_the_first_comment_of_a_thread_its_answers_go_and_the_result_says_so() -> None:
    word = opened(documents.comments())
    answer = applied(word, reply("comment-4", "no"))["id"]

    told = applied(word, delete("comment-4"))

    assert told["warnings"] == [{"code": "lost", "nodeId": answer, "detail": "reply 'no'"}]
    assert [*comments_of(word)] == ["comment-0"]
    assert_sound(word)


def test_a_deleted_comment_leaves_no_mark_and_the_text_as_it_was() -> None:
    word = opened(documents.split_runs())
    text = word.text()
    told = applied(word, add(first(word, "paragraph"), "x", word.text().split()[0]))

    gone = applied(word, delete(told["id"]))

    assert gone == {"id": told["id"]}
    assert "comment" not in xml(word)
    assert (word.text(), comments_of(word)) == (text, {})
    assert "commentEx " not in xml(word, EXTENDED)
    assert_sound(word)


def test_what_newer_versions_keep_besides_is_kept_up() -> None:
    word = modern(opened(documents.comments()))

    answer = applied(word, reply("comment-0", "one"))["id"]

    ids, extensible, people = (
        xml(word, f"word/{name}.xml") for name in ("commentsIds", "commentsExtensible", "people")
    )
    assert ids.count("<ns0:commentId ") + ids.count("<x:commentId ") == 1
    assert 'dateUtc="2024-05-01T12:00:00Z"' in extensible
    assert 'author="Ada Lovelace"' in people
    reply("comment-0", "two").apply(word, occasion(9))
    assert xml(word, "word/people.xml").count("presenceInfo") == 1
    applied(word, delete(answer))
    assert xml(word, "word/commentsIds.xml").count("durableId=") == 1
    assert xml(word, "word/commentsExtensible.xml").count("durableId=") == 1


def test_a_comment_that_nothing_refers_to_is_deleted_and_not_answered() -> None:
    word = opened(documents.comments())
    root = word.package.tree(MAIN)
    for run in [*root.iter("{*}r")]:
        for mark in run.findall("{*}commentReference"):
            run.remove(mark)
    word.package.changed(MAIN)
    word = opened(written(word))

    with pytest.raises(InvalidEditError, match="nothing in the text refers to 'comment-0'"):
        applied(word, reply("comment-0", "x"))
    applied(word, delete("comment-0"))

    assert 'w:id="0"' not in xml(word, "word/comments.xml")


def test_who_deletes_a_comment_as_a_node_is_told_how_to() -> None:
    word = opened(documents.comments())

    with pytest.raises(InvalidEditError, match="'comment-0' is a comment: `comment` deletes it"):
        applied(word, DeleteNode(node_id="comment-0"))


def test_comments_that_a_file_holds_wrongly_are_told_and_deleted_all_the_same() -> None:
    word = opened(documents.comments())
    answer = applied(word, reply("comment-0", "one"))["id"]
    states = word.package.tree(EXTENDED)
    first, second = states
    # Each answers the other, and one is said twice.
    first.set(f"{{{W15}}}paraIdParent", second.get(f"{{{W15}}}paraId") or "")
    second.set(f"{{{W15}}}paraIdParent", first.get(f"{{{W15}}}paraId") or "")
    states.append(deepcopy(first))
    word.package.changed(EXTENDED)
    word.package.put(
        "word/commentsIds.xml", f'<x:commentsIds xmlns:x="{CID}"><x:commentId x:paraId="?"/></x:commentsIds>'.encode()
    )
    declare(word.package, "word/commentsIds.xml", f"{TYPE}.commentsIds+xml")
    Relationships(word.package, MAIN).add(
        "http://schemas.microsoft.com/office/2016/09/relationships/commentsIds", "word/commentsIds.xml"
    )
    word = opened(written(word))

    reply(answer, "two").apply(word, occasion(5))
    for name in ("comment-0", answer, "comment-4"):
        if name in comments_of(word):
            applied(word, resolve(name), delete(name))

    assert len(comments_of(word)) <= 1
    assert_sound(word)
