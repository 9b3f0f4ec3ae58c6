"""The wheel and environments to install it in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from uv import find_uv_bin

from support.one_task import leave_one_task

CHECKOUT = Path(__file__).parents[2]

UV = find_uv_bin()
"""pip takes minutes to choose versions where uv takes seconds."""


def build_wheel(folder: Path) -> None:
    """Build the wheel from a copy of the checkout that is gone afterwards."""
    ignore = shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "__pycache__")
    tree = shutil.copytree(CHECKOUT, folder / "source", ignore=ignore)
    subprocess.run([UV, "build", "-q", "--wheel", "--python", sys.executable, "--out-dir", folder, tree], check=True)
    shutil.rmtree(tree)


class Venv:
    """An environment. Its commands run far from the checkout and know nothing of it."""

    def __init__(self, root: Path) -> None:
        self.root, self.home = root / "venv", root / "home"

    @classmethod
    def create(cls, root: Path) -> Venv:
        """A fresh one, with pip, as `python -m venv` makes it in a tenth of the time."""
        venv = cls(root)
        venv.home.mkdir(parents=True)
        subprocess.run([UV, "venv", "-q", "--seed", "--python", sys.executable, venv.root], check=True)
        return venv

    @classmethod
    def linked(cls, root: Path, wheel: Path) -> Venv:
        """One with all that this environment has, by links, but for our package and torch, which lm-eval would import; and with the wheel."""
        venv = cls.create(root)
        here, there = Path(sysconfig.get_path("purelib")), venv.site_packages
        own = [there, there / "lm_eval", there / "lm_eval" / "tasks"]
        for folder in own:
            folder.mkdir(exist_ok=True)
            for path in (here / folder.relative_to(there)).iterdir():
                link = folder / path.name
                left_out = re.match(r"(torch|.*personafeedback_tasks)\b", path.name)
                if link not in own and not link.exists() and not left_out:
                    link.symlink_to(path)
        venv.install("--no-deps", str(wheel))
        leave_one_task(there)
        for name in ("inspect", "lm_eval", "personafeedback"):
            script = Path(sysconfig.get_path("scripts"), name).read_text(encoding="utf-8")
            path = venv.root / "bin" / name
            path.write_text(script.replace(sys.prefix, str(venv.root)), encoding="utf-8")
            path.chmod(0o755)
        return venv

    def install(self, *words: str) -> None:
        subprocess.run([UV, "pip", "install", "-q", "--python", self.root / "bin" / "python", *words], check=True)

    @property
    def site_packages(self) -> Path:
        (folder,) = (self.root / "lib").glob("python*/site-packages")
        return folder

    def run(self, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run one shell command line with this environment first on PATH."""
        inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        path = os.pathsep.join([str(self.root / "bin"), str(Path(UV).parent), os.environ["PATH"]])
        return subprocess.run(
            ["bash", "-c", command], cwd=self.home, capture_output=True, text=True, timeout=900, check=False,
            env={**inherited, "PATH": path, "VIRTUAL_ENV": str(self.root), "HF_HUB_OFFLINE": "1", "COLUMNS": "200", **environment},
        )  # fmt: skip
