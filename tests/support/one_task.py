"""lm-eval with one task of its own: reading its fourteen thousand YAML files takes each process of it ten seconds.

`python tests/support/one_task.py` removes the others from the environment that it runs in. Only environments that are made for tests
should be treated so: tox does it, and what installs a wheel with lm-eval for many runs.
"""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path


def leave_one_task(site_packages: Path) -> None:
    """Remove all tasks that lm-eval brings but hellaswag."""
    for path in (site_packages / "lm_eval" / "tasks").iterdir():
        if path.is_symlink() and path.name != "hellaswag" and path.is_dir():
            path.unlink()
        elif path.is_dir() and path.name != "hellaswag":
            shutil.rmtree(path)


if __name__ == "__main__":
    leave_one_task(Path(sysconfig.get_path("purelib")))
