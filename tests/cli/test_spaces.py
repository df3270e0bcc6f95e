"""`officeplane spaces` on the database."""

from officeplane.store.migrate import migrate
from tests.cli.conftest import Officeplane
from tests.conftest import NewDatabase


async def test_quotas_are_set_and_shown(officeplane: Officeplane, new_database: NewDatabase) -> None:
    url = await new_database()
    await migrate(url)
    env = {"OFFICEPLANE_DATABASE_URL": url}

    done = await officeplane("spaces", "set", "default", "maxDocuments=5", "maxWaits=9", env=env)
    changed = await officeplane("spaces", "set", "default", "maxDocuments=none", "--json", env=env)

    assert done.code == 0, done.err
    assert "5; 0 used" in done.out
    assert (changed.object["maxDocuments"], changed.object["maxWaits"]) == (None, 9)
    assert changed.object["usage"] == {"waitingTasks": 0, "documents": 0, "bytes": 0}
    (listed,) = (await officeplane("spaces", "list", "--json", env=env)).objects
    assert listed["maxWaits"] == 9
    assert "default" in (await officeplane("spaces", "list", env=env)).out
    assert "maxWaits" in (await officeplane("spaces", "show", "default", env=env)).out
    assert (await officeplane("spaces", "show", "nobody", env=env)).code == 1
    for wrong in ("maxTea=1", "maxWaits", "maxWaits=-1", "maxWaits=²"):
        assert (await officeplane("spaces", "set", "default", wrong, env=env)).code == 2
