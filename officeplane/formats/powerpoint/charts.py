"""Charts on slides: new ones, and those that lie there changed."""

import posixpath
from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import LOST, EditWarning
from officeplane.formats.charts.changing import ChartLook, change_chart, check_known, new_chart
from officeplane.formats.charts.names import CHART, CHART_TYPE, c
from officeplane.formats.charts.placing import ChartPlace
from officeplane.formats.package import Package
from officeplane.formats.pictures.drawing import EMU, describe, units
from officeplane.formats.powerpoint.chart_data import Given, change_data, keep_data, name_workbook
from officeplane.formats.powerpoint.free_places import free_place
from officeplane.formats.powerpoint.geometry import Area, area_of, place
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.names import R_ID, a, alone, p, under
from officeplane.formats.powerpoint.nodes import SlideNode
from officeplane.formats.powerpoint.shape_parts import chart_part
from officeplane.formats.powerpoint.shapes import FRAME, next_shape_number, properties, shape_tree
from officeplane.formats.powerpoint.slides import Slide, free_name
from officeplane.formats.powerpoint.text_shapes import add_shape
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.xml import Element, serialise

_LETTERS: Final = 1_200


def insert_chart(
    package: Package, slide: Slide, room: Room, look: ChartLook, given: Given, alt: str | None, wanted: ChartPlace
) -> tuple[str, list[EditWarning]]:
    """Put a chart on a slide, where there is room unless a place is said; return its id, and what to warn of."""
    root = package.tree(slide.part)
    content = room.for_body(root)
    free = free_place(root, room, content.height)
    folder = posixpath.join(posixpath.dirname(posixpath.dirname(slide.part)), "charts")
    part = free_name(package, folder, "chart")
    data, workbook = keep_data(package, part, given)
    chart = new_chart(look, data, _LETTERS)
    name_workbook(chart, workbook)
    package.put(part, serialise(chart))
    declare(package, part, CHART_TYPE)
    number = next_shape_number(root)
    frame = alone(FRAME)
    about = under(frame, p("nvGraphicFramePr"))
    named = under(about, p("cNvPr"), id=str(number), name=f"Chart {number - 1}")
    if alt is not None:
        describe(named, alt)
    under(under(about, p("cNvGraphicFramePr")), a("graphicFrameLocks"), noGrp="1")
    under(about, p("nvPr"))
    place(under(frame, p("xfrm")), _area(wanted, free.area))
    held = under(under(frame, a("graphic")), a("graphicData"), uri=CHART)
    shown = etree.SubElement(held, c("chart"), nsmap={"c": CHART})
    shown.set(R_ID, Relationships(package, slide.part).add("chart", part))
    add_shape(root, frame)
    package.changed(slide.part)
    is_placed = wanted.left is not None and wanted.top is not None
    crowded = "there is no free room for the chart: it lies over others"
    return f"{slide.id}.{number}", [] if free.is_clear or is_placed else [EditWarning("overflow", crowded, slide.id)]


def change_slide_chart(
    package: Package, node: SlideNode, look: ChartLook, given: Given | None, alt: str | None, wanted: ChartPlace
) -> list[EditWarning]:
    """Change a chart on a slide; return what to warn of."""
    slide, shape = node.slide, node.shape
    part = None if shape is None else chart_part(package, slide.part, shape)
    if shape is None or part is None:
        raise InvalidEditError(f"{node.id!r} is a {node.detail.kind} and no chart that can be changed here")
    root = package.tree(part)
    check_known(root)
    data = None if given is None else change_data(package, part, root, given)
    lost = change_chart(root, look, data)
    if data is not None or look != ChartLook():
        package.changed(part)
    about = properties(shape)
    if alt is not None and about is not None:
        describe(about, alt)
    if wanted.is_said:
        _move(package, slide, shape, wanted)
    if alt is not None or wanted.is_said:
        package.changed(slide.part)
    return [EditWarning(LOST, said, node.id) for said in lost]


def _move(package: Package, slide: Slide, shape: Element, wanted: ChartPlace) -> None:
    if shape.getparent() is not shape_tree(package.tree(slide.part)):
        raise InvalidEditError("the chart is in a group, whose size is its own: leave out left, top, width and height")
    area = area_of(shape)
    transform = shape.find(p("xfrm"))
    if area is None or transform is None:
        raise InvalidEditError("the chart does not say where it lies: move it in PowerPoint once")
    for child in list(transform):
        transform.remove(child)
    place(transform, _area(wanted, area))


def _area(wanted: ChartPlace, otherwise: Area) -> Area:
    return Area(
        otherwise.x if wanted.left is None else round(wanted.left * EMU),
        otherwise.y if wanted.top is None else round(wanted.top * EMU),
        otherwise.width if wanted.width is None else units(wanted.width),
        otherwise.height if wanted.height is None else units(wanted.height),
    )
