"""The words of plandp: budgets, columns, payments, receipts and releases."""
