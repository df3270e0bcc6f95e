"""`update_contents`: tables of contents list the headings that there are."""

from typing import ClassVar

from pydantic import ConfigDict, Field

from officeplane.domain.warning import EditWarning
from officeplane.edits.contract import Edit, NodeId, Occasion, Result
from officeplane.formats.opening import Document
from officeplane.formats.word.contents_table.updating import update_contents
from officeplane.formats.word.document import Word
from officeplane.formats.word.looks.formatting import id_now


class UpdateContents(Edit):
    """Entries are written anew from the headings, at the levels that each table of contents says it lists.

    Page numbers are known only to who lays pages out: entries keep those of headings that were listed, new ones have
    none, and Word is told to count anew when it opens the document.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [{}, {"nodeId": "p-1a2b3c4d"}]})

    task_type: ClassVar = "update_contents"
    title_for_people: ClassVar = "Update the table of contents"

    node_id: NodeId | None = Field(
        default=None,
        description="A table of contents, or what it begins in, by its id as reading gives it. Left out: all of them.",
    )

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        finder = document.finder()
        done = update_contents(finder, self.node_id)
        document.name(occasion.task_id)
        story = finder.stories.body.story
        ids = [id_now(finder, story, first) for first in done.firsts]
        occasion.warn(
            EditWarning(
                "stale_pages", "page numbers are those of before until Word or another program counts them", one
            )
            for one in ids
        )
        left = [(id_now(finder, story, first), what) for first, what in done.left]
        occasion.warn(
            EditWarning("stale_pages", f"a table lists {what}, and is as it was until Word updates it", one)
            for one, what in left
        )
        own = self.node_id if self.node_id is not None and finder.look(self.node_id) else None
        return {"id": own or [*ids, *(one for one, _ in left)][0], "entries": done.entries}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [] if self.node_id is None else [self.node_id]
