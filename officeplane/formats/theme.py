"""The theme of a file that has none and needs one: Office's colours, plain fills and lines."""

from typing import Final

THEME_TYPE: Final = "application/vnd.openxmlformats-officedocument.theme+xml"

_COLOURS: Final = {
    "dk2": "44546A", "lt2": "E7E6E6", "accent1": "4472C4", "accent2": "ED7D31", "accent3": "A5A5A5",
    "accent4": "FFC000", "accent5": "5B9BD5", "accent6": "70AD47", "hlink": "0563C1", "folHlink": "954F72",
}  # fmt: skip
_FILL: Final = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
_LINE: Final = (
    f'<a:ln w="{{}}" cap="flat" cmpd="sng" algn="ctr">{_FILL}<a:prstDash val="solid"/><a:miter lim="800000"/></a:ln>'
)
_FONT: Final = '<a:latin typeface="{}"/><a:ea typeface=""/><a:cs typeface=""/>'

THEME: Final = (
    '<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="Office Theme"><a:themeElements>'
    '<a:clrScheme name="Office"><a:dk1><a:sysClr val="windowText" lastClr="000000"/></a:dk1>'
    '<a:lt1><a:sysClr val="window" lastClr="FFFFFF"/></a:lt1>'
    + "".join(f'<a:{name}><a:srgbClr val="{colour}"/></a:{name}>' for name, colour in _COLOURS.items())
    + '</a:clrScheme><a:fontScheme name="Office">'
    f"<a:majorFont>{_FONT.format('Calibri Light')}</a:majorFont><a:minorFont>{_FONT.format('Calibri')}</a:minorFont>"
    f'</a:fontScheme><a:fmtScheme name="Office"><a:fillStyleLst>{_FILL * 3}</a:fillStyleLst>'
    f"<a:lnStyleLst>{''.join(_LINE.format(width) for width in (6350, 12700, 19050))}</a:lnStyleLst>"
    f"<a:effectStyleLst>{'<a:effectStyle><a:effectLst/></a:effectStyle>' * 3}</a:effectStyleLst>"
    f"<a:bgFillStyleLst>{_FILL * 3}</a:bgFillStyleLst></a:fmtScheme></a:themeElements>"
    "<a:objectDefaults/><a:extraClrSchemeLst/></a:theme>"
)
"""The content of the part."""
