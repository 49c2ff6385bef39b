"""Values that stand in cells only: wherever else they turn up, data has leaked."""

CANARY = 48151623421337
CANARY_TEXT = f"canary{CANARY}"
_DIGITS = str(CANARY)[1:]  # without the first, which a decimal point can follow


def leaks(text: str) -> bool:
    """Whether a text holds a canary, as digits, in scientific notation or as part of a word."""
    return _DIGITS in text
