from dataclasses import dataclass, field
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.document import Node
from officeplane.formats.diff import LINES_MAX, TEXT_MAX, difference


@dataclass
class Written:
    """A document that says what it is given."""

    lines: list[str] = field(default_factory=list[str])
    nodes: list[Node] = field(default_factory=list[Node])

    def text(self) -> str:
        return "\n".join(self.lines)

    def outline(self) -> list[Node]:
        return self.nodes


def node(id: str, text: str = "", *children: Node) -> Node:
    return Node(id, "paragraph", text or id, list(children))


def ids(before: list[Node], after: list[Node]) -> dict[str, list[str]]:
    told = difference(Written(nodes=before), Written(nodes=after))["nodes"]
    return {change: [one["id"] for one in nodes] for change, nodes in told.items() if nodes}


def text(before: list[str], after: list[str]) -> list[str]:
    told: list[str] = difference(Written(before), Written(after))["text"]
    return told


def patched(before: list[str], hunks: list[str]) -> list[str]:
    """Return a text with a unified diff applied to it."""
    after: list[str] = []
    at = 0
    for line in hunks:
        if line.startswith("@@"):
            begin, _, length = line.split()[1][1:].partition(",")
            until = int(begin) - (length != "0")
            after += before[at:until]
            at = until
        elif line.startswith("+"):
            after.append(line[1:])
        else:
            assert before[at] == line[1:]
            at += 1
            if line.startswith(" "):
                after.append(line[1:])
    return after + before[at:]


def test_what_is_the_same_has_no_differences() -> None:
    same = Written(["a", "b"], [node("x")])

    assert difference(same, same) == {
        "text": [],
        "nodes": {"added": [], "removed": [], "changed": [], "moved": []},
    }


def test_changed_lines_stand_among_their_neighbours() -> None:
    before = list("abcdefghij")

    assert text(before, [*before[:4], "X", *before[5:]]) == [
        "@@ -2,7 +2,7 @@", " b", " c", " d", "-e", "+X", " f", " g", " h",
    ]  # fmt: skip


def test_changes_far_from_each_other_stand_apart() -> None:
    before = [str(number) for number in range(100)]

    told = text(before, ["new", *before[:50], *before[51:]])

    assert told[0] == "@@ -1,3 +1,4 @@"
    assert [line for line in told if line[0] in "+-"] == ["+new", "-50"]
    assert len(told) == 13


def test_nodes_are_added_removed_and_changed() -> None:
    before = [node("a"), node("b", "old"), node("c")]
    after = [node("a"), node("b", "new"), node("d", "", node("e"))]

    assert ids(before, after) == {"added": ["d", "e"], "removed": ["c"], "changed": ["b"]}
    assert difference(Written(nodes=before), Written(nodes=after))["nodes"]["changed"] == [
        {"id": "b", "kind": "paragraph", "text": "new"}
    ]


def test_only_what_was_moved_is_said_to_have_moved() -> None:
    letters = [node(letter) for letter in "abcdef"]

    assert ids(letters, [letters[4], *letters[:4], letters[5]]) == {"moved": ["e"]}
    assert ids(letters, [*letters[:2], node("x"), *letters[2:]]) == {"added": ["x"]}


def test_a_node_under_another_parent_has_moved() -> None:
    before = [node("a", "", node("x"), node("y")), node("b")]
    after = [node("a", "", node("y")), node("b", "", node("x"))]

    assert ids(before, after) == {"moved": ["x"]}


def test_long_differences_are_cut() -> None:
    told = text([], ["x" * 2 * TEXT_MAX] * 10_000)

    assert len(told) == LINES_MAX + 1
    assert max(map(len, told)) <= TEXT_MAX


def test_two_hundred_pages_are_compared_quickly() -> None:
    lines = [f"paragraph {number % 700} of a long document" for number in range(4_000)]
    nodes = [node(str(number), line) for number, line in enumerate(lines)]
    changed = [f"{line}!" if number % 3 == 0 else line for number, line in enumerate(lines)]
    begun = process_time()

    difference(Written(lines, nodes), Written(changed, nodes[::-1]))

    assert process_time() - begun < 2


_LINES = st.lists(st.sampled_from("abc"), max_size=30)


@given(_LINES, _LINES)
def test_the_differences_make_one_text_of_the_other(before: list[str], after: list[str]) -> None:
    # A text has at least one line.
    before, after = before or [""], after or [""]

    assert patched(before, text(before, after)) == after


@given(st.permutations(list("abcdefg")))
def test_what_did_not_move_is_still_in_order(after: list[str]) -> None:
    moved = ids([node(one) for one in "abcdefg"], [node(one) for one in after]).get("moved", [])

    stayed = [one for one in after if one not in moved]
    assert stayed == sorted(stayed)
