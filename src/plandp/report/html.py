"""A release as a notebook shows it."""

from collections.abc import Iterable
from html import escape

from plandp.terms.receipt import INSECURE_NOTICE, Receipt
from plandp.terms.release import MeanRelease
from plandp.terms.shown import column_name, hidden_columns, refinement_line, uncertainty_name
from plandp.terms.text_table import show_integer, show_label

_SHOWN_COORDINATES = 20
_NUMBER = "text-align: right; font-variant-numeric: tabular-nums;"
_ALARM = "border-left: 4px solid #d55e00; padding: 2px 8px; margin: 6px 0;"


def release_page(release: MeanRelease) -> str:
    """Return self-contained HTML: estimates with their noise, the cost, the receipt and every warning."""
    receipt, forecast = release.receipt, release.forecast
    below = (hidden_columns(release, _SHOWN_COORDINATES), refinement_line(release))
    alarms = ([INSECURE_NOTICE] if receipt.insecure else []) + [f"Warning: {text}" for text in release.warnings]
    parts = [
        f"<p><strong>MeanRelease</strong> of {receipt.d} {column_name(release)}s, n = {receipt.n}<br>"
        f"{escape(receipt.headline())}</p>",
        *(f'<p style="{_ALARM}">{escape(alarm)}</p>' for alarm in alarms),
        _table(
            ("label", "estimate", uncertainty_name(release)),
            (
                (show_label(label), f"{estimate:.6g}", f"{uncertainty:.3g}")
                for label, estimate, uncertainty in release.first_rows(_SHOWN_COORDINATES)
            ),
        ),
        *(f"<p>{escape(line)}</p>" for line in below if line),
        f"<p>{_what_counted(release)}</p>",
        f"<p>Forecast: ℓ<sub>{forecast.error_norm:g}</sub> error {forecast.error:.4g}, "
        f"{forecast.noise_share:.1%} of ρ in the final noise.<br>"
        f"<small>Covers {escape(forecast.covers)}.</small></p>",
        _receipt(receipt),
    ]
    return '<div class="plandp-release">' + "".join(parts) + "</div>"


def _what_counted(release: MeanRelease) -> str:
    if release.kind != "real":
        return "What is not there counted as 0."
    if release.missing is None:
        return "Missing values counted as the released centres."
    values = [f"{value:.6g}" for value in release.missing[:_SHOWN_COORDINATES].tolist()]
    if len(set(release.missing.tolist())) == 1:
        return f"Missing values counted as {values[0]}."
    more = ", …" if len(release.missing) > _SHOWN_COORDINATES else ""
    return f"Missing values counted as {', '.join(values)}{more}, in the order of the columns."


def _receipt(receipt: Receipt) -> str:
    steps = _table(
        ("step", "ρ", "share", "sensitivity²", "queries"),
        (
            (
                step.step,
                f"{float(step.rho):.4g}",
                f"{receipt.share(step):.1%}",
                show_integer(step.squared_sensitivity),
                str(step.queries),
            )
            for step in receipt.steps()
        ),
    )
    facts = "<br>".join(map(escape, receipt.facts()))
    return f"<details><summary>Receipt</summary>{steps}<p>{facts}</p></details>"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"<tr>{''.join(f'<th>{escape(name)}</th>' for name in head)}</tr>"]
    for first, *numbers in rows:
        cells = "".join(f'<td style="{_NUMBER}">{escape(number)}</td>' for number in numbers)
        lines.append(f'<tr><td style="text-align: left;">{escape(first)}</td>{cells}</tr>')
    return f"<table>{''.join(lines)}</table>"
