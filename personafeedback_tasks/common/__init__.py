"""Shared by all packages here: errors, records from files, atomic writes, and safe handling of text from elsewhere."""
