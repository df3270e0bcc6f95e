"""What a doctor finds: one line per matter, each with what to do about it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from pydantic import JsonValue
from rich.text import Text

from officeplane.cli.texts import printable


class Verdict(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


STYLES = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.PROBLEM: "bold red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One matter that was looked at."""

    check: str
    verdict: Verdict
    detail: str
    advice: str = ""


def ok(check: str, detail: str) -> Finding:
    """Return a matter that is as it should be."""
    return Finding(check, Verdict.OK, detail)


def warning(check: str, detail: str, advice: str) -> Finding:
    """Return a matter that works and could be better."""
    return Finding(check, Verdict.WARNING, detail, advice)


def problem(check: str, detail: str, advice: str) -> Finding:
    """Return a matter that keeps work from being done, or puts it at risk."""
    return Finding(check, Verdict.PROBLEM, detail, advice)


def worst(findings: Sequence[Finding]) -> Verdict:
    """Return the verdict on the whole."""
    order = list(Verdict)
    return max((finding.verdict for finding in findings), key=order.index, default=Verdict.OK)


def as_json(findings: Sequence[Finding]) -> JsonValue:
    """Return the findings for a program to read."""
    return {"status": worst(findings).value, "checks": [asdict(finding) for finding in findings]}


def finding_lines(findings: Sequence[Finding]) -> Iterator[Text]:
    """Write a line for each matter, and below it what to do."""
    width = max((len(finding.check) for finding in findings), default=0)
    for finding in findings:
        verdict = Text(f"{finding.verdict.value:<8}", style=STYLES[finding.verdict])
        yield Text.assemble(verdict, f"{finding.check:<{width}}  {printable(finding.detail)}")
        if finding.advice:
            yield Text(f"{'':8}{'':{width}}  -> {finding.advice}", style="dim")
