"""The audit: attacks on the installed library that anyone can run, each with what was claimed and what was found."""
