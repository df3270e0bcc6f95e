import inspect
from collections.abc import Callable

import pytest

from officeplane.domain.document import Format
from officeplane.formats.gate import admit
from officeplane.formats.package import Package
from tests.fixtures.documents import excel, powerpoint, word

EXAMPLES = [
    pytest.param(kind, make, id=f"{kind}-{name}")
    for kind, module in ((Format.DOCX, word), (Format.XLSX, excel), (Format.PPTX, powerpoint))
    for name, make in inspect.getmembers(module, inspect.isfunction)
    if make.__module__ == module.__name__
    and not name.startswith("_")
    and inspect.signature(make).return_annotation in {bytes, "bytes"}
    and all(one.default is not inspect.Parameter.empty for one in inspect.signature(make).parameters.values())
]


@pytest.mark.parametrize(("format", "make"), EXAMPLES)
def test_every_example_is_admitted_before_and_after_it_is_written(format: Format, make: Callable[[], bytes]) -> None:
    data = make()

    assert admit(data) == format
    assert admit(Package.read(data).write().content()) == format
