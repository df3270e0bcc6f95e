from hypothesis import given
from hypothesis import strategies as st

from officeplane.dispatch.commands import packed
from tests.dispatch.fixtures import Ask


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1))
def test_lengths_count_bytes(arguments: list[str]) -> None:
    wire = packed(*arguments)

    count, _, rest = wire.partition(b"\r\n")
    assert count == b"*%d" % len(arguments)
    for argument in arguments:
        length, _, rest = rest.partition(b"\r\n")
        size = int(length.removeprefix(b"$"))
        assert rest[:size].decode() == argument
        assert rest[size : size + 2] == b"\r\n"
        rest = rest[size + 2 :]
    assert rest == b""


async def test_the_server_reads_what_was_packed(ask: Ask) -> None:
    for text in ("", "plain", "line\r\nbreak", "żółć €", "x" * 100_000):
        assert await ask("ECHO", text) == text
