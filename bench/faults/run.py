"""Disturbs real workers on real servers, as often as asked for, and keeps what came of it.

Starts the long versions of the tests in `crates/docmill/tests/faults`: several worker processes on PostgreSQL and S3,
killed, stopped past their leases and told to end by a plan that a seed makes, while the servers crash, restart and
drop connections; and a worker that is cut off from its database. A run that leaves anything else than an undisturbed
run leaves fails, and so does this.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from measure import ROOT, machine, table, write_results  # noqa: E402

TESTS = ["cargo", "test", "--workspace", "--all-features", "--locked", "--test", "faults", "--"]
DISTURBED = "as_many_disturbances_as_asked_for_leave_what_an_undisturbed_run_leaves"
CUT_OFF = "worker_that_is_cut_off_for_as_long_as_asked_for_writes_nothing_twice"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1, help="disturbed runs, each with the next seed")
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--disturbances", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cut-off", type=int, default=120, metavar="SECONDS", help="0 leaves that test out")
    options = parser.parse_args()
    before = machine()
    asked = f"{options.runs} {options.files} {options.disturbances} {options.seed}"
    told = run(DISTURBED, "DOCMILL_FAULTS", asked)
    if options.cut_off:
        told += run(CUT_OFF, "DOCMILL_CUT_OFF", str(options.cut_off))
    table(
        ["run", "files", "disturbances", "late", "seconds", "longest overdue"],
        [
            [
                f"{t['run']} {t.get('seed', '')}",
                t.get("files", ""),
                sum(t.get("disturbances", {}).values()),
                t.get("late", ""),
                f"{t['seconds']:.0f}",
                f"{t['longest_overdue_ms'] / 1000:.1f} s" if "longest_overdue_ms" in t else "",
            ]
            for t in told
        ],
    )
    made_by = " ".join(["cargo xtask faults", *sys.argv[1:]])
    write_results("faults", {"made_by": made_by, "machine": before, "runs": told})


def run(test, variable, asked):
    """Runs one test and returns the figures that it tells."""
    environment = {**os.environ, variable: asked}
    command = [".ci/with-servers", *TESTS, "--exact", test]
    told = []
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith("faults: "):
                told.append(json.loads(line.removeprefix("faults: ")))
    if process.returncode != 0:
        sys.exit(f"{test} failed; the seed and the plan stand above")
    if not told:
        sys.exit(f"{test} told nothing; was it run at all?")
    return told


if __name__ == "__main__":
    main()
