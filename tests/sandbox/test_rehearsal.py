"""What is rehearsed before children are born need not be loaded by any of them."""

import json
import subprocess
import sys

import pytest

from officeplane.domain.document import Format

FIRST_WORK = """
import json, sys
from officeplane.sandbox import child
from officeplane.sandbox.rehearsal import rehearse
from officeplane.domain.document import Format
from officeplane.formats.blank import blank
from officeplane.formats.opening import read_document

rehearse()
before = set(sys.modules)
document = read_document(Format(sys.argv[1]), blank(Format(sys.argv[1]), "Title"))
document.outline(), document.text(), document.package.write()
print(json.dumps(sorted(set(sys.modules) - before)))
"""


@pytest.mark.parametrize("format", list(Format))
def test_a_child_loads_nothing_for_its_first_document(format: Format) -> None:
    ended = subprocess.run((sys.executable, "-c", FIRST_WORK, format), capture_output=True, text=True, check=True)

    assert json.loads(ended.stdout) == []
