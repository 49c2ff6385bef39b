"""What was released, in a few public words, so that a list of releases can be read."""

from plandp.terms.release import MeanRelease
from plandp.terms.text_table import show_label

_FIRST = 3


def what_of(release: MeanRelease) -> str:
    """Return method or kind, n × d and the first labels: what was public before a row was read."""
    receipt = release.receipt
    how = receipt.method if release.kind == "real" else release.kind
    if release.kind != "real" and receipt.method != "plan":
        how = f"{receipt.method}, {release.kind}"
    named = [show_label(label, longest=16) for label in release.labels[:_FIRST]]
    more = ["…"] if receipt.d > _FIRST else []
    return f"{how}, {receipt.n:,} × {receipt.d:,}: {', '.join([*named, *more])}"
