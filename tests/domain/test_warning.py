from officeplane.domain.warning import WARNINGS_MAX, EditWarning, Loss, as_json, as_warnings, refusal


def test_a_refusal_names_what_would_be_lost_and_how_to_do_it_all_the_same() -> None:
    losses = [Loss("picture", "page-1", "Logo"), *[Loss("footnote", "page-1")] * 3]

    refused = refusal(losses)

    told = str(refused)
    assert "picture 'Logo' in page-1, footnote (3 times) in page-1" in told
    assert '"discard": true' in told
    assert refused.facts == {
        "losses": [
            {"kind": "picture", "nodeId": "page-1", "name": "Logo", "times": 1},
            {"kind": "footnote", "nodeId": "page-1", "times": 3},
        ]
    }


def test_a_refusal_of_thousands_of_losses_is_short() -> None:
    told = str(refusal(Loss("picture", f"page-{number}", "x" * 10_000) for number in range(10_000)))

    assert "and 9980 more" in told
    assert len(told) < 3_000


def test_what_was_lost_and_meant_is_a_warning() -> None:
    assert as_json(as_warnings([Loss("picture", "page-1", "Logo"), Loss("field", None)])) == [
        {"code": "lost", "nodeId": "page-1", "detail": "picture 'Logo'"},
        {"code": "lost", "detail": "field"},
    ]


def test_a_result_lists_a_hundred_warnings_and_counts_the_others() -> None:
    told = as_json([EditWarning("lost", "y" * 1_000, f"page-{number}") for number in range(1_000)])

    assert len(told) == WARNINGS_MAX
    assert told[-1] == {"code": "more", "detail": "901 more warnings are not listed"}
    assert max(len(warning["detail"]) for warning in told) <= 300
