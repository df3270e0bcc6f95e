"""The contract of an edit: a payload that knows how to change a document.

An edit is a model of what is asked for and a method for each format that can do
it. The methods are pure: the same document, payload and occasion give the same
bytes. They raise `InvalidEditError` when the document has no place for the
edit; what they changed by then is rolled back by the caller.
"""

import hashlib
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from officeplane.domain.document import Format, InvalidEditError
from officeplane.domain.reference import PAYLOAD_BYTES_MAX
from officeplane.domain.warning import EditWarning, Loss, as_json, as_warnings, refusal
from officeplane.formats.blocks import Block
from officeplane.formats.data_uris import length_without_pictures
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.markdown import Holds, read
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.signature import Signature
from officeplane.formats.word.document import Word
from officeplane.formats.xml import is_storable

Result = dict[str, Any]
"""What an edit tells of what it did: JSON, with the `id` of the node it made or touched, and perhaps `warnings`."""


@dataclass(slots=True)
class Occasion:
    """On whose behalf, when, and for which task an edit is applied; the same in every attempt."""

    task_id: str
    author: str
    at: datetime
    source: bytes | None = None
    """The file that the edit takes something from, if it does."""
    given: list[str] = field(default_factory=list[str], init=False)
    """The ids that were given out."""
    is_tracked: bool = field(default=False, init=False)
    """Whether what goes is still there, as a tracked change."""
    _warnings: list[EditWarning] = field(default_factory=list[EditWarning], init=False)

    def fresh_id(self, prefix: str) -> str:
        """Return an id that no other node has, the same one whenever the edit is applied."""
        chosen = f"{self.task_id}/{len(self.given) + 1}"
        self.given.append(f"{prefix}-{hashlib.sha256(chosen.encode()).hexdigest()[:12]}")
        return self.given[-1]

    def fresh_number(self, prefix: str, taken: Container[int]) -> int:
        """Return a number that nothing else has, for nodes whose ids are this and a number."""
        turn = 0
        while True:
            turn += 1
            number = 1 + int(hashlib.sha256(f"{self.task_id}/{len(self.given) + turn}".encode()).hexdigest()[:7], 16)
            if number not in taken:
                self.given.append(f"{prefix}-{number}")
                return number

    def signature(self) -> Signature:
        """Return in whose name this edit says something, and when."""
        return Signature(self.author, self.at, f"{self.task_id}/{len(self.given) + 1}")

    def warn(self, warnings: Iterable[EditWarning], *, but: Iterable[EditWarning] = ()) -> None:
        """Have the result tell of something that nobody would see in what was asked for, `but` what was so before."""
        known = frozenset(but)
        self._warnings += (warning for warning in warnings if warning not in known)

    def picture_number(self, taken: Container[int]) -> int:
        """Return a number for a picture that content brings, which nothing else has."""
        return self.fresh_number("picture", taken)

    def blocks(self, content: str | None, holds: Holds) -> list[Block]:
        """Return what a text in Markdown says, and warn of what it says that cannot be kept."""
        found = read(content, holds)
        self.warn(found.warnings)
        return found.blocks

    def give_up(self, losses: Iterable[Loss], *, discard: bool) -> None:
        """Refuse an edit that would destroy what it does not name; where that is meant, warn of it."""
        if self.is_tracked:
            return
        lost = list(losses)
        if lost and not discard:
            raise refusal(lost)
        self.warn(as_warnings(lost))

    def warned(self, result: Result) -> Result:
        """Return a result with the warnings there are."""
        return {**result, "warnings": as_json(self._warnings)} if self._warnings else result


class Part(BaseModel):
    """What is asked for, or a part of it."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        serialize_by_alias=True,
    )


class Edit(Part):
    """One change of one document."""

    task_type: ClassVar[str]
    title_for_people: ClassVar[str]
    payload_bytes_max: ClassVar[int] = PAYLOAD_BYTES_MAX
    """How large a payload may be, with all that is put in for its references."""
    takes_from: ClassVar[str | None] = None
    """The field that names the document, the revision and the slide of which it takes something, if it does."""

    def in_word(self, document: Word, occasion: Occasion) -> Result:  # noqa: ARG002
        """Change a Word document."""
        raise self._unknown(Format.DOCX)

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:  # noqa: ARG002
        """Change an Excel workbook."""
        raise self._unknown(Format.XLSX)

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:  # noqa: ARG002
        """Change a PowerPoint presentation."""
        raise self._unknown(Format.PPTX)

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002 - most name theirs in the payload
        """Return the nodes whose later changes by others are in conflict with this edit."""
        return []

    def _unknown(self, format: Format) -> InvalidEditError:
        return InvalidEditError(f"{self.task_type} knows {', '.join(self.formats())}; the document is a {format}")

    @classmethod
    def formats(cls) -> tuple[Format, ...]:
        """Return the formats that can do it."""
        return tuple(f for f, method in _METHODS.items() if getattr(cls, method) is not getattr(Edit, method))

    def apply(self, document: Document, occasion: Occasion) -> Result:
        """Change the document; the result is JSON."""
        if document.package.is_strict:
            raise InvalidEditError(
                "the document is Strict Open XML, which can be read here and not edited: save it in Office as an "
                f"ordinary .{document.format} (not Strict) and upload that"
            )
        return occasion.warned(self._change(document, occasion))

    def _change(self, document: Document, occasion: Occasion) -> Result:
        match document:
            case Word():
                result = self.in_word(document, occasion)
                document.name(occasion.task_id)
                return result
            case Workbook():
                document.charts.begin()
                result = self.in_excel(document, occasion)
                document.recalculate()
                document.charts.follow()
                return result
            case Presentation():
                return self.in_powerpoint(document, occasion)


_METHODS: Final[Mapping[Format, str]] = {
    Format.DOCX: "in_word",
    Format.XLSX: "in_excel",
    Format.PPTX: "in_powerpoint",
}


def _storable(value: str) -> str:
    if not is_storable(value):
        message = "control characters, lone surrogates, U+FFFE and U+FFFF cannot be kept in a document"
        raise ValueError(message)
    return value


_WORDS_MAX: Final = 1_000_000

BASE64_MAX: Final = 16 * 1024 * 1024
"""How many characters a picture may have in base64; its body, with all else that is in it, has no more either."""


def _few_words(value: str) -> str:
    if length_without_pictures(value) > _WORDS_MAX:
        message = f"it has more than {_WORDS_MAX:,} characters besides its pictures: give it in parts"
        raise ValueError(message)
    return value


Words = Annotated[str, AfterValidator(_storable), Field(max_length=_WORDS_MAX)]
"""Text that goes into a document."""

Content = Annotated[str, AfterValidator(_storable), AfterValidator(_few_words), Field(max_length=BASE64_MAX)]
"""Text in Markdown, with pictures in it."""

Line = Annotated[str, AfterValidator(_storable), Field(min_length=1, max_length=10_000, pattern=r"^[^\r\n]*$")]
"""Text of one line, such as a heading."""

IDS_TOLD: Final = 1_000
"""How many of the nodes that it touched a result names; the counts are of all."""

_BESIDE_WORDS: Final = (
    "`- [ ]` and `- [x]` are tasks, shown as ☐ and ☑. A picture is `![what it shows](node:picture-4)`, one of the "
    "document by its id, or `![what it shows](data:image/png;base64,...)`, a PNG, JPEG or GIF. In a Word document "
    "`[^1]` is the mark of a footnote, and a line `[^1]: text` what it says; a mark without such a line is that of a "
    "note which stands there already. HTML and other footnotes stay text, images from elsewhere become their alt text, "
    "links to anything but http, https and mailto text; warnings tell."
)

CONTENT: Final = (
    "CommonMark with tables and ~~strikethrough~~. Its headings stand below the chapters (Heading 1) and sections "
    f"(Heading 2) of a Word document: `#` becomes Heading 3, `##` Heading 4. {_BESIDE_WORDS}"
)
"""What to tell of a field that holds content."""

CONTENT_OF_NODES: Final = (
    f"CommonMark with tables and ~~strikethrough~~; a level of a heading means that level. {_BESIDE_WORDS} On slides a "
    "heading is a paragraph in bold, and only what is put on a slide as a whole has pictures."
)
"""What to tell of a field that holds content for a node that exists or is beside one."""

NodeId = Annotated[str, AfterValidator(_storable), Field(min_length=1, max_length=200)]


def the_one_place(
    before: str | None, after: str | None, into: str | None
) -> tuple[Literal["before", "after", "into"], str]:
    """Return the one of three fields that says where something goes; `ValueError` if that is not one."""
    match before, after, into:
        case str(), None, None:
            return "before", before
        case None, str(), None:
            return "after", after
        case None, None, str():
            return "into", into
        case _:
            message = "give exactly one of before, after and into"
            raise ValueError(message)


Discard = Annotated[
    bool,
    Field(
        description="Destroy, too, what is replaced and cannot be seen in its text: pictures, fields, links, notes, "
        "controls. Without it such an edit is refused and names them.",
    ),
]
"""Whether an edit may destroy what it does not name."""

Position = Annotated[int, Field(ge=0, le=1_000_000)]
"""A place among siblings, from 0; what is beyond the last means the end."""
