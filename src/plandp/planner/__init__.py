"""What is decided from public numbers alone, before any row is read."""
