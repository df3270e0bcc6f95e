"""Orders: what the clients ask for, each with tokens that nobody else has."""

from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from tests.tokens.model import BookModel, DeckModel, Model, TextModel, tokens_in

RETRIES_MAX: Final = 20
_CELLS: Final = tuple(f"{column}{row}" for column in "BCD" for row in (2, 3, 5, 8))


@dataclass(frozen=True, slots=True)
class Subject:
    """A document, and the nodes that it had before anybody edited it."""

    document_id: str
    format: str
    sections: list[str] = field(default_factory=list[str])
    slides: dict[str, str] = field(default_factory=dict[str, str])

    def model(self) -> Model:
        """Return what it said then."""
        match self.format:
            case "docx":
                return TextModel(self.sections)
            case "xlsx":
                return BookModel()
            case _:
                return DeckModel(self.slides)


@dataclass(slots=True)
class Order:
    """A request of a client, and what else it does about it."""

    number: int
    subject: Subject
    body: dict[str, Any]
    is_based_on_head: bool
    is_cancelled: bool
    hangs_up: bool

    @property
    def key(self) -> str:
        """Its idempotency key."""
        return f"token-{self.number}"


class Orders:
    """Makes orders from a seed."""

    def __init__(self, subjects: list[Subject], seed: int) -> None:
        self._subjects = subjects
        self._dice = Random(seed)
        self._tokens = 0
        self._rows = 0
        self.made: list[Order] = []

    def next(self) -> Order:
        """Return another order."""
        dice = self._dice
        subject = dice.choice(self._subjects)
        steps = self._steps(subject)
        kind = dice.random()
        body: dict[str, Any] = {"documentId": subject.document_id}
        if len(steps) == 1:
            body |= steps[0]
        elif dice.random() < 0.5:
            if dice.random() < 0.2:
                steps.append(_broken(subject))
            for step in steps:
                del step["maxRetries"]
            body |= {"children": steps, "atomic": True, "maxRetries": RETRIES_MAX}
        else:
            body |= {"children": steps, "onChildFailure": dice.choice(["abort", "continue"])}
        if kind < 0.06:
            # Nobody has edited since the file was put there: it is likely wrong.
            dice.choice([body] if len(steps) == 1 or "atomic" in body else steps).update(
                baseRevision=1, onConflict="reject"
            )
        elif kind < 0.1 and len(steps) == 1:
            body |= {"baseRevision": 1, "onConflict": dice.choice(["rebase", "force"])}
        order = Order(
            len(self.made),
            subject,
            body,
            is_based_on_head=len(steps) == 1 and 0.1 < kind < 0.15,
            is_cancelled=dice.random() < 0.08,
            hangs_up=dice.random() < 0.15,
        )
        self.made.append(order)
        return order

    def _steps(self, subject: Subject) -> list[dict[str, Any]]:
        match subject.format:
            case "docx":
                return self._in_text(subject)
            case "xlsx":
                return self._in_book()
            case _:
                return self._in_deck(subject)

    def _token(self) -> str:
        self._tokens += 1
        return f"T{self._tokens:06}"

    def _said_of(self, node: Any) -> list[dict[str, Any]]:
        """Return a remark on a node, and an answer to it or its end."""
        remark = {"commentId": {"$ref": "remark.id"}}
        add = _step("comment", add={"nodeId": node, "text": f"Is it {self._token()}?"}) | {"key": "remark"}
        if self._dice.random() < 0.5:
            return [add, _step("comment", reply=remark | {"text": f"No, {self._token()}."})]
        return [add, _step("comment", delete=remark)]

    def _row(self) -> int:
        """Return a row in which nobody else formats or remarks anything."""
        self._rows += 1
        return self._rows

    def _in_text(self, subject: Subject) -> list[dict[str, Any]]:
        place: dict[str, Any] = {}
        if self._dice.random() < 0.6:
            place["sectionId"] = self._dice.choice(subject.sections)
            if self._dice.random() < 0.4:
                place["position"] = 0
        write = _step("write_page", content=f"Here is {self._token()}.\n\n* and {self._token()}", **place)
        page = {"$ref": "page.id"}
        match self._dice.randrange(15):
            case 6 | 7:
                return [write | {"key": "page"}, *self._said_of(page)]
            case 8:
                token = tokens_in(write["payload"]["content"])[0]
                return [write | {"key": "page"}, _step("format", find=token, underline=True)]
            case 2:
                return [
                    write | {"key": "page"},
                    _step("insert_content", into=page, content=f"Below stands {self._token()}.") | {"key": "below"},
                    _step("edit_node", nodeId={"$ref": "below.id"}, text=f"Rather {self._token()}."),
                ]
            case 3:
                token = self._token()
                content = f"**{token[:3]}**{token[3:]} and {self._token()}"
                return [
                    _step("write_page", content=content, **place) | {"key": "page"},
                    _step("replace_text", find=token, replace=self._token(), under=page),
                    _step("move_node", nodeId=page, into=self._dice.choice(subject.sections)),
                ]
            case 4:
                copied = _step("duplicate_node", nodeId=page) | {"key": "copy"}
                edited = _step("edit_page", pageId={"$ref": "copy.id"}, content=f"No copy: {self._token()}.")
                return [write | {"key": "page"}, copied, edited]
            case 5:
                return [write | {"key": "page"}, _step("delete_node", nodeId=page)]
            case 0:
                return [
                    write | {"key": "page"},
                    _step("edit_page", pageId={"$ref": "page.id"}, content=f"**{self._token()}** it is now."),
                ]
            case 1:
                return [write | {"key": "page"}, _step("delete_page", pageId={"$ref": "page.id"})]
            case _:
                return [write]

    def _in_book(self) -> list[dict[str, Any]]:
        rows = [[self._token(), number] for number in range(self._dice.randint(1, 3))]
        append = _step("append_rows", sheet="Log", rows=rows)
        cells = {cell: self._token() for cell in self._dice.sample(_CELLS, 3)}
        match self._dice.randrange(11):
            case 7:
                return self._said_of(f"Log!Z{self._row()}")
            case 8:
                return [_step("format", range=f"Log!Y{self._row()}", bold=True)]
            case 9:
                look = {"kind": "column", "title": f"All of {self._token()}"}
                place = {"range": "Grid!B2:D9", "at": f"Log!AB{self._row()}"}
                if self._dice.random() < 0.5:
                    return [_step("chart", create=look | place)]
                update = {"nodeId": {"$ref": "chart.id"}, "title": self._token()}
                return [_step("chart", create=look | place) | {"key": "chart"}, _step("chart", update=update)]
            case 5:
                return [_step("edit_grid", sheet="Grid", insertRows={"at": self._dice.randrange(2, 9), "count": 2})]
            case 6:
                return [_step("edit_grid", sheet="Grid", deleteRows={"at": self._dice.randrange(2, 9)})]
            case 0:
                told: dict[str, Any] = {**cells, self._dice.choice(_CELLS): {"$ref": "log.firstRow"}}
                return [append | {"key": "log"}, _step("set_cells", sheet="Grid", cells=told)]
            case 1 | 2:
                return [_step("set_cells", sheet="Grid", cells=cells)]
            case _:
                return [append]

    def _in_deck(self, subject: Subject) -> list[dict[str, Any]]:
        token = self._token()
        add = _step("add_slide", title=token, body=f"- {token}", notes=f"Say {token}.")
        slide = {"$ref": "slide.id"}
        match self._dice.randrange(15):
            case 11:
                return [add | {"key": "slide"}, *self._said_of(slide)]
            case 12:
                return [add | {"key": "slide"}, _step("format", find=token, underline=True)]
            case 13:
                data = {"categories": ["a", "b"], "series": [{"name": "one", "values": [1, None]}]}
                chart = {"kind": "bar", "title": f"All of {self._token()}", "into": slide, "data": data}
                return [add | {"key": "slide"}, _step("chart", create=chart)]
            case 8:
                return [
                    add | {"key": "slide"},
                    _step("duplicate_node", nodeId=slide) | {"key": "copy"},
                    _step("set_notes", slideId={"$ref": "copy.id"}, notes=f"Of the copy: {self._token()}."),
                ]
            case 9:
                return [add | {"key": "slide"}, _step("delete_node", nodeId=slide)]
            case 10:
                after = self._dice.choice(list(subject.slides))
                return [add | {"key": "slide"}, _step("move_node", nodeId=slide, after=after)]
            case 0:
                return [
                    add | {"key": "slide"},
                    _step("move_slide", slideId=slide, position=self._dice.randrange(3)),
                    _step("set_notes", slideId=slide, notes=f"Rather {self._token()}."),
                ]
            case 1:
                return [add | {"key": "slide"}, _step("delete_slide", slideId=slide)]
            case 2:
                return [_step("edit_slide", slideId=self._dice.choice(list(subject.slides)), body=self._token())]
            case 3:
                return [_step("move_slide", slideId=self._dice.choice(list(subject.slides)), position=1)]
            case _:
                return [add]


def _broken(subject: Subject) -> dict[str, Any]:
    """Return an edit that cannot be done."""
    match subject.format:
        case "docx":
            return _step("delete_page", pageId="nowhere")
        case "xlsx":
            return _step("append_rows", sheet="nowhere", rows=[["never"]])
        case _:
            return _step("delete_slide", slideId="nowhere")


def _step(task_type: str, **payload: Any) -> dict[str, Any]:
    return {"taskType": task_type, "payload": payload, "maxRetries": RETRIES_MAX}
