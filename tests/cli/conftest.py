"""The commands read logs of the toy harness, too."""

from __future__ import annotations

import pytest
from support import jsonl_harness

from personafeedback_tasks.logs import log


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(log, "READERS", (jsonl_harness.READER, *log.READERS))
