"""What test modules share beside the fixtures of conftest.py. Nothing here is a test."""
