"""`noop`: does nothing, for demos and for measuring."""

from officeplane.handlers.context import Context
from officeplane.handlers.contract import NoPayload, handler


@handler("noop", title="Do nothing")
async def noop(_payload: NoPayload, _context: Context) -> None:
    """Return at once."""
