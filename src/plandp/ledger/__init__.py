"""What was spent on each dataset, written down before any row is read."""
