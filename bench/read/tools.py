"""What the benches of reading are made with: a release build of docmill, and packages in an environment of their own."""

import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from measure import ROOT


def with_packages(bench, *packages):
    """Goes on if the packages are there; else installs them outside the system's and starts the script again there.

    A package whose module has another name is written `package:module`.
    """
    names = [package.split(":")[-1] for package in packages]
    if all(importlib.util.find_spec(name) for name in names):
        return
    home = Path(tempfile.gettempdir()) / f"docmill-bench-{bench}"
    if not home.exists():
        venv.create(home, with_pip=True)
    wanted = [package.split(":")[0] for package in packages]
    subprocess.run([home / "bin/pip", "install", "--quiet", *wanted], check=True)
    if Path(sys.prefix) == home:
        raise SystemExit(f"installed, and still not there: {', '.join(names)}")
    # By its full name: Python finds its packages by the name that it is called by.
    python = str(home / "bin/python")
    os.execv(python, [python, *sys.argv])


def release(given=None, package="docmill", example=None):
    """The binary that was given, or the release build of this checkout."""
    if given:
        return Path(given).resolve()
    command = ["cargo", "build", "--release", "--locked", "--package", package]
    command += ["--example", example] if example else []
    subprocess.run(command, check=True, cwd=ROOT)
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    return folder / "examples" / example if example else folder / package


def timed(command, **more):
    """What a command prints, and the CPU time in seconds of all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, **more).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
