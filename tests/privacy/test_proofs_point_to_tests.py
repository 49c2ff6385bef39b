"""Proofs name code and tests that exist, and code names proofs that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROOFS = sorted((ROOT / "docs" / "proofs").glob("*.md"))
SOURCE = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "src" / "plandp").rglob("*.py")))
TESTS = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py")))


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.stem)
def test_what_a_proof_names_exists(proof: Path) -> None:
    text = proof.read_text("utf-8")
    for path in re.findall(r"`(tests/[\w/.]+)`", text):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"`((?:[a-z]+/)?[a-z_]+\.py)`", text):
        assert (ROOT / "src" / "plandp" / path).exists(), path
    for name in re.findall(r"`(test_\w+)`", text):
        assert f"def {name}(" in TESTS, name
    for page in re.findall(r"\]\(([^)#:]+)", text) + re.findall(r"(?<![\w/-])[\w-]+\.md\b", text):
        assert (proof.parent / page).exists(), page


def test_the_code_names_proofs_that_exist_and_the_index_has_them_all() -> None:
    named = set(re.findall(r"docs/proofs/(\w+\.md)", SOURCE))
    assert named <= {proof.name for proof in PROOFS}
    index = (ROOT / "docs" / "proofs" / "README.md").read_text("utf-8")
    assert all(f"({proof.name})" in index for proof in PROOFS if proof.name != "README.md")
