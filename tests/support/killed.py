"""Commands that are killed half-way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count


def mind_interrupts():
    """A shell lets what it runs in the background ignore SIGINT, and processes inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Command:
    """A harness's command with its files in one folder."""

    def __init__(self, folder, data, url, **environment):
        self.folder = folder
        folder.mkdir()
        self._environment = {
            **os.environ, "PERSONAFEEDBACK_DATA": str(data), "RECENTER_DATA": str(data), "HF_HUB_OFFLINE": "1",
            "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url,
            **environment,
        }  # fmt: skip

    def start(self, *arguments):
        with (self.folder / "output").open("w") as output:
            return subprocess.Popen(
                [sys.executable, "-m", *arguments], env=self._environment, cwd=self.folder, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=mind_interrupts,
            )  # fmt: skip

    def run(self, *arguments):
        process = self.start(*arguments)
        try:
            assert process.wait(timeout=300) == 0, (self.folder / "output").read_text()[-3000:]
        finally:
            kill(process)

    def run_and_kill(self, server, *arguments, answered, held, by=signal.SIGKILL):
        """Send a signal to the command and all it started, once `answered` requests are answered and `held` more wait; wait until it ends."""
        server.answer_only(answered)
        process = self.start(*arguments)
        try:
            server.wait_until_it_answers_no_more(process, held)
            os.killpg(process.pid, by)
            process.wait(timeout=60)
        finally:
            kill(process)
            server.answer_only(float("inf"))


def kill(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)


class Killed(BaseException):
    """Nobody catches it."""


def after_each_file(monkeypatch, run: Callable[[int], object]) -> Iterator[int]:
    """Run something again and again, killed after it replaced no file, one, two and so on, until it ends by itself.

    Args:
        run: gets the number of files after which it is killed.

    Yields:
        That number, after each kill.
    """
    replace = os.replace
    for files in count():
        left = files

        def replaced(*paths: object) -> None:
            nonlocal left
            if not left:
                raise Killed
            left -= 1
            replace(*paths)

        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", replaced)
            try:
                run(files)
            except Killed:
                pass
            else:
                return
        yield files
