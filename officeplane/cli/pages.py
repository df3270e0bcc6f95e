"""Lists of the API, read over as many pages as it takes."""

import httpx
from pydantic import JsonValue

from officeplane.cli.answers import ITEMS
from officeplane.cli.client import Client, Query

PAGE = 500


async def read_pages(url: str, path: str, filters: Query, limit: int) -> tuple[list[JsonValue], bool]:
    """Return up to `limit` items of a list, and whether there are more."""
    items: list[JsonValue] = []
    following: httpx.QueryParams | None = httpx.QueryParams({**filters, "limit": min(limit, PAGE)})
    async with Client(url) as client:
        while following is not None and len(items) < limit:
            page = await client.get(path, following)
            items += ITEMS.validate_json(page.content)
            following = page.next_page
    return items[:limit], following is not None or len(items) > limit
