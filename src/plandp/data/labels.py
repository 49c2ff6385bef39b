"""Column labels: read from a container, and looked up for `columns=`."""

from collections.abc import Callable, Iterable, Sequence, Set
from operator import index

from plandp.errors import ArgumentError
from plandp.terms.columns import Label, fits_label
from plandp.terms.text_table import show_given, with_article

BeforeValues = Callable[[tuple[Label, ...]], None]
"""Called once by every way in, with the labels: all that is public was accepted, and no row value was looked at yet."""


def nothing_before(labels: tuple[Label, ...]) -> None:
    """Do nothing before values are read."""


def read_labels(raw: Iterable[object]) -> tuple[Label, ...]:
    """Return the labels of a container as str and int; others, and labels that occur twice, are refused."""
    labels = tuple(_label(item, argument="data") for item in raw)
    _refuse_repeated(labels, argument="data", advice="rename one of the columns")
    return labels


def find_positions(labels: tuple[Label, ...], columns: Iterable[Label] | None) -> tuple[int, ...] | None:
    """Return where the asked columns stand, in the order asked, or of a set in their own; None stands for all."""
    if columns is None:
        return None
    if isinstance(columns, str) or not isinstance(columns, Iterable) or getattr(columns, "ndim", 1) == 0:
        raise ArgumentError("columns", "pass a list of column labels, such as columns=['age', 'income']")
    asked = tuple(_label(item, argument="columns") for item in columns)
    if not asked:
        raise ArgumentError("columns", "no column is named; name at least one, or leave columns out for all")
    _refuse_repeated(asked, argument="columns", advice="name each column once")
    place = {label: position for position, label in enumerate(labels)}
    for label in asked:
        if label not in place:
            raise ArgumentError("columns", f"the data has no column {label!r}; {offer(labels)}")
    found = tuple(place[label] for label in asked)
    return tuple(sorted(found)) if isinstance(columns, Set) else found


def select(labels: tuple[Label, ...], positions: tuple[int, ...] | None) -> tuple[Label, ...]:
    """Return the labels at these positions, or all of them."""
    return labels if positions is None else tuple(labels[position] for position in positions)


def offer(labels: Sequence[object]) -> str:
    """Return what to say of the columns that there are, where one is asked for that is not."""
    if not labels:
        return "it has no columns"
    shown = ", ".join(repr(label) for label in labels[:8])
    return f"its columns are {shown}" + (f", … ({len(labels)} in all)" if len(labels) > 8 else "")


def _label(item: object, *, argument: str) -> Label:
    if isinstance(item, str):
        return str(item)
    if not isinstance(item, bool):
        try:
            number = index(item)  # type: ignore[arg-type]  # NumPy integers become int here, others fail
        except TypeError:
            pass
        else:
            if fits_label(number):
                return number
            raise ArgumentError(argument, "column labels that are int must not have more than 128 bits")
    raise ArgumentError(
        argument, f"column labels must be str or int, and {show_given(item)} is {with_article(type(item).__name__)}"
    )


def _refuse_repeated(labels: tuple[Label, ...], *, argument: str, advice: str) -> None:
    seen: set[Label] = set()
    for label in labels:
        if label in seen:
            raise ArgumentError(argument, f"the column {label!r} occurs more than once; {advice}")
        seen.add(label)
