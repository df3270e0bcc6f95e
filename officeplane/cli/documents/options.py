"""What the commands of `officeplane documents` share: where they belong, and arguments that several have."""

from typing import Annotated

import typer

app = typer.Typer(help="Put documents in, get them out, read and edit them, see their history.", no_args_is_help=True)

DocumentId = Annotated[str, typer.Argument(metavar="DOCUMENT_ID", help="The id of a document.")]
Under = Annotated[str | None, typer.Option(help="Only in this node.", metavar="NODE")]
Limit = Annotated[int, typer.Option(min=1, help="How many at most.")]
