"""What a release looks like to a reader: tables, notebook pages and pictures."""
