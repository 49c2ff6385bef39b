"""Rigorous integer bounds of exp(-a/b)."""


def exp_bounds(a: int, b: int, precision: int) -> tuple[int, int]:
    """Return integers lower <= 2^precision · exp(-a/b) <= upper, for integers a >= 0 and b > 0.

    Integer arithmetic with outward rounding only; the gap is at most 2, and 0 for a = 0.
    """
    if a == 0:
        return 1 << precision, 1 << precision
    if a > precision * b:
        return 0, 1  # exp(-a/b) < 2^(-a/b) < 2^-precision
    # exp(-a/b) = exp(-y)^(2^halvings) with 0 < y < 1/16, where the alternating series falls fast.
    halvings = (a // b).bit_length() + 4
    # Every squaring doubles the relative error: `halvings` guard bits for that, and more to spare.
    working = precision + 2 * halvings + 16
    lower, upper = _enclosure(a, b, halvings=halvings, working=working)
    return lower >> (working - precision), ceil_shift(upper, working - precision)


def _enclosure(a: int, b: int, *, halvings: int, working: int) -> tuple[int, int]:
    """Return integers lower <= 2^working · exp(-a/b) <= upper, for 0 < a/b < 2^halvings / 16."""
    y_lower = (a << working) // (b << halvings)
    y_upper = y_lower + 1
    lower = upper = term_lower = term_upper = 1 << working
    n = 0
    while term_upper > 1:
        n += 1
        term_lower = (term_lower * y_lower >> working) // n
        term_upper = _ceil_div(ceil_shift(term_upper * y_upper, working), n)
        if n % 2:
            lower, upper = lower - term_upper, upper - term_lower
        else:
            lower, upper = lower + term_lower, upper + term_upper
    # What is left of an alternating series with falling terms is below its last term.
    lower -= term_upper
    upper += term_upper
    for _ in range(halvings):
        lower = lower * lower >> working
        upper = ceil_shift(upper * upper, working)
    return lower, upper


def _ceil_div(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def ceil_shift(value: int, bits: int) -> int:
    """Return value / 2^bits, rounded up."""
    return -(-value >> bits)
