"""Pictures are kept where the caller says, in the format that the name says; anything else is refused with advice."""

import pytest

import plandp
from plandp.report.picture import svg_text

CHECK = plandp.check(n=1e4, d=2.0, bounds=(0, 1), rho=1)


@pytest.mark.parametrize(("suffix", "begin"), [(".svg", b"<?xml"), (".PNG", b"\x89PNG"), (".pdf", b"%PDF")])
def test_a_picture_is_kept_and_returned(tmp_path, suffix, begin):
    path = tmp_path / f"check{suffix}"
    figure = CHECK.plot(str(path))
    assert path.read_bytes().startswith(begin)
    assert svg_text(figure) == svg_text(CHECK.plot())


@pytest.mark.parametrize("path", ["check", "check.txt", 7])
def test_other_names_are_refused_with_advice(path):
    with pytest.raises(plandp.ArgumentError, match=r"path: must end in \.svg, \.png, \.pdf; .* plot\(\)\.savefig"):
        CHECK.plot(path)


def test_whole_floats_are_numbers_of_rows_and_columns():
    assert (CHECK.n, CHECK.d) == (10_000, 2)
    with pytest.raises(plandp.ArgumentError, match="n: must be the number of rows"):
        plandp.check(n=1.5, d=2, bounds=(0, 1), rho=1)
