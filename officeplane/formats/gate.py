"""The gate: what a file must be before anything opens it.

It looks at the archive, at what the parts say they are, at where they lead and at
their XML, and lets through what is plainly a Word, Excel or PowerPoint document.
Refusals are `UnsupportedDocumentError` with one of these reasons:

- `not_a_package`, `not_an_office_document`, `legacy_format`, `template`: another
  kind of file; `strict_format`: two kinds at once; `encrypted`: one that only a
  password opens
- `damaged`, `malformed_xml`, `missing_part`: a broken one
- `unsafe_package`, `unsafe_name`: an archive that two readers would see differently
- `zip_bomb`, `too_complex`: one that grows beyond measure when it is read
- `dtd`, `encoding`: XML that is more than it seems
- `macros`, `embedded_object`: programs, and what belongs to them
- `external_reference`: content that would be loaded from elsewhere

The policy `standard` lets in links to pictures and workbooks, and whole documents that pass
this gate themselves (`kept_links`). Embedded workbooks of charts, fonts and media pass as
they are and are never opened.
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Final

from officeplane.domain.document import Format, Policy, UnsupportedDocumentError
from officeplane.formats.archive import Entry, entries
from officeplane.formats.content_checks import as_utf_8, check_content
from officeplane.formats.inflation import check_size, inflate, peek, skim
from officeplane.formats.kinds import CONTENT_TYPES_PART, Kinds, check_head, check_kind, check_root, format_of, is_xml
from officeplane.formats.link_checks import check_links, is_links, main_target, source
from officeplane.formats.link_uses import Use, check_uses
from officeplane.formats.package import Package
from officeplane.formats.strict import LINKS_PART, says_strict
from officeplane.formats.xml import parse
from officeplane.formats.xml_checks import TREE_BYTES_MAX, TREE_BYTES_PER_BYTE_MAX, check_xml, tree_bytes

TOTAL_BYTES_MAX: Final = 200 * 1000 * 1000
LINKS_BYTES_MAX: Final = 4 * 1000 * 1000
"""Relationships and content types are parsed here; no honest ones are larger."""

EMBEDDED_DEPTH_MAX: Final = 2
"""How deep documents may be in documents."""

COUNTED_BYTES: Final = 20 * 1000 * 1000
"""Parts that edits made larger than this have their elements counted; smaller ones, as edits write them, have few."""

_HEAD: Final = 512
_COMPOUND: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")


def admit(data: bytes, policy: Policy = Policy.STRICT) -> Format:
    """Return the format of a file that may be opened; any other is refused."""
    return _admitted(data, _Bounds(policy))


class _Bounds:
    """What a file and the documents in it may come to, all together."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.depth = 0
        self._left = TOTAL_BYTES_MAX

    def take(self, size: int) -> None:
        """Count what is unpacked; more than is allowed is refused."""
        self._left -= size
        if self._left < 0:
            raise UnsupportedDocumentError(
                "zip_bomb", f"the file unpacks to more than the {TOTAL_BYTES_MAX} bytes allowed"
            )

    @contextmanager
    def within(self) -> Generator[None]:
        """Look at a document in a document."""
        self.depth += 1
        if self.depth > EMBEDDED_DEPTH_MAX:
            raise UnsupportedDocumentError(
                "too_complex", f"documents are embedded in each other more than {EMBEDDED_DEPTH_MAX} deep"
            )
        yield
        self.depth -= 1


def _admitted(data: bytes, bounds: _Bounds) -> Format:
    if data.startswith(_COMPOUND):
        raise _compound(data)
    found = {entry.name: entry for entry in entries(data)}
    check_sizes((entry.name, entry.size, entry.compressed_size) for entry in found.values())
    bounds.take(sum(entry.size for entry in found.values()))
    if CONTENT_TYPES_PART not in found:
        raise UnsupportedDocumentError("not_an_office_document", "the file is a zip archive but no Office document")
    kinds = Kinds(_small_xml(data, found[CONTENT_TYPES_PART]))
    for name in found:
        check_kind(name, kinds.of(name))
    if LINKS_PART not in found:
        raise UnsupportedDocumentError("missing_part", "the file does not say which of its parts is the document")
    main = main_target(LINKS_PART, parse(_small_xml(data, found[LINKS_PART])))
    found_format = format_of(kinds.of(main))
    if main not in found:
        raise UnsupportedDocumentError("missing_part", f"the file's document is not there: {main!r}")
    _check_parts(data, found, kinds, main, found_format, bounds)
    return found_format


def check_parts(package: Package, names: Iterable[str], policy: Policy = Policy.STRICT) -> None:
    """Check parts that were changed, after they are written: an admitted package stays one if these pass.

    Their XML is not parsed again, since it comes from trees; what an edit can bring
    in are parts that are too large and relationships that lead outside.
    """
    check_sizes((name, *package.sizes(name)) for name in package.names)
    known = set(package.names)
    for name in known.intersection(names):
        if name == CONTENT_TYPES_PART:
            kinds = Kinds(package.content(name))
            for part in known:
                check_kind(part, kinds.of(part))
        elif is_links(name):
            check_links(name, package.tree(name), known, policy)
        elif package.sizes(name)[0] > COUNTED_BYTES:
            _check_trees(name, tree_bytes(package.content(name)))


def check_sizes(parts: Iterable[tuple[str, int, int]]) -> None:
    """Refuse parts, each with its name, size and compressed size, that are too large alone or together."""
    total = 0
    for name, size, compressed_size in parts:
        check_size(name, size, compressed_size)
        total += size
    if total > TOTAL_BYTES_MAX:
        raise UnsupportedDocumentError("zip_bomb", f"the file holds {total} bytes; {TOTAL_BYTES_MAX} are allowed")


def _check_parts(
    data: bytes, found: dict[str, Entry], kinds: Kinds, main: str, format: Format, bounds: _Bounds
) -> None:
    trees = 0
    may_be_many = sum(entry.size for entry in found.values()) * TREE_BYTES_PER_BYTE_MAX > TREE_BYTES_MAX
    uses: dict[str, dict[str, Use]] = {}
    documents: set[str] = set()
    # Relationships come first: what a part may be used for depends on what it leads to.
    for name in sorted(found, key=is_links, reverse=True):
        entry = found[name]
        head = peek(data, entry, _HEAD)
        check_head(name, head)
        if not is_xml(name, kinds.of(name), head):
            if name in documents:
                _check_embedded(name, bytes(inflate(data, entry)), bounds)
            else:
                skim(data, entry)
            continue
        xml = inflate(data, entry)
        if may_be_many:
            trees += tree_bytes(xml)
            _check_trees(name, trees)
        check_xml(name, xml)
        if is_links(name):
            _check_small(entry)
            checked = check_links(name, parse(bytes(xml)), found.keys(), bounds.policy)
            uses[source(name).lower()] = checked.uses
            documents |= checked.documents
        else:
            text = as_utf_8(xml)
            check_content(name, text, kinds.of(name))
            used = uses.get(name.lower())
            if used:
                check_uses(name, text, used)
            if name in documents:
                raise UnsupportedDocumentError("embedded_object", f"the part {name!r} is no document; remove it")
        if name == main:
            check_root(format, xml, is_strict=says_strict(_small_xml(data, found[LINKS_PART])))


def _check_embedded(name: str, data: bytes, bounds: _Bounds) -> None:
    """Refuse a document in a document that would be refused alone, or is not what its name says."""
    with bounds.within():
        kind = _admitted(data, bounds)
    if not name.lower().endswith(f".{kind}"):
        raise UnsupportedDocumentError("embedded_object", f"the part {name!r} is a {kind}, and is not named so")


def _check_trees(name: str, size: int) -> None:
    if size > TREE_BYTES_MAX:
        raise UnsupportedDocumentError("too_complex", f"the file has too many elements to be edited ({name!r})")


def _small_xml(data: bytes, entry: Entry) -> bytes:
    _check_small(entry)
    xml = inflate(data, entry)
    check_xml(entry.name, xml)
    return bytes(xml)


def _check_small(entry: Entry) -> None:
    if entry.size > LINKS_BYTES_MAX:
        raise UnsupportedDocumentError("too_complex", f"the part {entry.name!r} is too large")


def _compound(data: bytes) -> UnsupportedDocumentError:
    if _ENCRYPTED in data:
        return UnsupportedDocumentError("encrypted", "the file is encrypted; save it without a password")
    return UnsupportedDocumentError(
        "legacy_format", "the file is in the format of Office 97 to 2003; save it as .docx, .xlsx or .pptx"
    )
