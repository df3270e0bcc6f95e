"""Presentations against lists of lists: any edits in any order leave the slides where they belong."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from officeplane.edits.add_chapter import AddChapter
from officeplane.edits.add_slide import AddSlide
from officeplane.edits.contract import Edit
from officeplane.edits.delete_slide import DeleteSlide
from officeplane.edits.edit_slide import EditSlide
from officeplane.edits.insert_table import InsertTable
from officeplane.edits.move_slide import MoveSlide
from officeplane.edits.replace_text import ReplaceText
from officeplane.edits.set_notes import SetNotes
from officeplane.edits.write_page import WritePage
from officeplane.formats.search import Wanted
from tests.fixtures.documents import powerpoint
from tests.formats.powerpoint.decks import assert_consistent, occasion, opened, slides_of

_PLAIN = powerpoint.plain()
_ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ("chapter", "slide", "page", "table", "edit", "notes", "move", "delete", "replace", "rollback")
        ),
        st.integers(0, 9),
        st.none() | st.integers(0, 9),
    ),
    max_size=25,
)


@dataclass
class Model:
    """What the presentation should hold: the slides of each chapter, and the token at each place of each slide."""

    chapters: list[tuple[str | None, list[str]]] = field(
        default_factory=lambda: [(None, ["slide-256", "slide-257", "slide-258"])]
    )
    tokens: dict[str, dict[str, str]] = field(
        default_factory=lambda: {f"slide-{number}": dict[str, str]() for number in (256, 257, 258)}
    )

    @property
    def slides(self) -> list[str]:
        return [slide for _, slides in self.chapters for slide in slides]

    def chapter_of(self, slide: str) -> int:
        return next(place for place, (_, slides) in enumerate(self.chapters) if slide in slides)

    def move(self, slide: str, position: int) -> None:
        own = self.chapter_of(slide)
        others = [other for other in self.slides if other != slide]
        at = min(position, len(others))
        before, after = others[:at][-1:], others[at : at + 1]
        begin = self.chapter_of(before[0]) if before else 0
        end = self.chapter_of(after[0]) if after else len(self.chapters)
        stays = begin <= own <= end
        to = own if stays else begin if before else end
        self.chapters[own][1].remove(slide)
        target = self.chapters[to][1]
        target.insert(target.index(before[0]) + 1 if before and before[0] in target else 0, slide)


@settings(max_examples=60, deadline=None)
@given(_ACTIONS)
def test_slides_chapters_and_tokens_are_where_the_model_has_them(actions: list[tuple[str, int, int | None]]) -> None:
    deck = opened(_PLAIN)
    model = Model()

    for number, (action, which, position) in enumerate(actions):
        token = f"token{number}x"
        if action == "rollback":
            deck.package.write()
            deck.replace_text(Wanted("e"), "lost")
            deck.package.rollback()
            continue
        edit = _edit(model, action, which, position, token)
        if edit is not None:
            made = str(edit.apply(deck, occasion(number))["id"])
            if action == "chapter" and model.chapters[:1] == [(None, model.slides)]:
                first = [chapter.id for chapter in deck.outline() if chapter.id != made]
                model.chapters = [(name, model.slides) for name in first]
            _follow(model, action, which, position, made, token)

    data = deck.package.write().content()
    assert_consistent(data)
    again = opened(data)
    if model.chapters and model.chapters[0][0] is not None:
        assert [[slide.id for slide in chapter.children] for chapter in again.outline()] == [
            s for _, s in model.chapters
        ]
    assert [slide.id for slide in slides_of(again)] == model.slides
    for slide in slides_of(again):
        said = " ".join([slide.text, *(child.text for child in slide.children)])
        assert {each for each in said.split() if each.startswith("token")} == {*model.tokens[slide.id].values()}


def _edit(model: Model, action: str, which: int, position: int | None, token: str) -> Edit | None:
    chapter = model.chapters[which % len(model.chapters)][0]
    slide = model.slides[which % len(model.slides)] if model.slides else None
    match action:
        case "chapter":
            return AddChapter(title="Chapter", position=position)
        case "slide":
            return AddSlide(title=token)
        case "page":
            return WritePage(content=f"# {token}", section_id=chapter, position=position)
        case "table":
            return InsertTable(rows=[[token]], section_id=chapter)
        case _ if slide is None:
            return None
        case "edit":
            return EditSlide(slide_id=slide, body=token)
        case "notes":
            return SetNotes(slide_id=slide, notes=token)
        case "move":
            return MoveSlide(slide_id=slide, position=position or 0)
        case "delete":
            return DeleteSlide(slide_id=slide)
        case _:
            known = sorted(model.tokens[slide].values())
            return ReplaceText(find=known[0], replace=token) if known else None


def _follow(model: Model, action: str, which: int, position: int | None, made: str, token: str) -> None:
    inside = model.chapters[which % len(model.chapters)][1]
    match action:
        case "chapter":
            at = len(model.chapters) if position is None else min(position, len(model.chapters))
            model.chapters.insert(at, (made, []))
        case "slide":
            model.chapters[-1][1].append(made)
            model.tokens[made] = {"title": token}
        case "page":
            inside.insert(len(inside) if position is None else position, made)
            model.tokens[made] = {"title": token}
        case "table":
            inside.append(made)
            model.tokens[made] = {"table": token}
        case "edit":
            model.tokens[made].pop("table", None)
            model.tokens[made]["body"] = token
        case "notes":
            model.tokens[made]["notes"] = token
        case "move":
            model.move(made, position or 0)
        case "delete":
            model.chapters[model.chapter_of(made)][1].remove(made)
        case _:
            held = model.tokens[made]
            held[min(held, key=lambda place: held[place])] = token
