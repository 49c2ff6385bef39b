"""Public arithmetic: everything here works on public and on already released numbers only."""
