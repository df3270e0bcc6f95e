from officeplane.domain.lifecycle import TRANSITIONS, TaskState
from tests.architecture.lifecycle_page import PAGE, render


def test_the_page_is_drawn_from_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""

    assert page == render(), f"{PAGE.name} is not what the table says: run python -m tests.architecture.lifecycle_page"


def test_the_page_tells_of_every_state_and_every_way() -> None:
    page = render()

    assert all(f"| `{state}` | " in page for state in TaskState)
    assert all(f"| `{way.signal}` | " in page for way in TRANSITIONS)
    for way in TRANSITIONS:
        assert all(f"    {source} --> {way.target}: " in page for source in way.sources)
