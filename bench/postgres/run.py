"""No-op tasks through docmill's engine on PostgreSQL: against graphile-worker, with two workers, out of a long queue,
and beside a transaction that keeps its snapshot.

All of it runs on a PostgreSQL server of its own, with `fsync` and `synchronous_commit` on and otherwise as it comes.
CPU per task is user and system time of everything that takes part: the client (docmill; or Node) and all processes of
the server, from queueing to done, and of the VACUUM and CHECKPOINT that the work leaves behind.
"""

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent)]
from measure import machine, table, write_results  # noqa: E402
from server import SETTINGS, Server  # noqa: E402

HERE = Path(__file__).resolve().parent

# The newest that runs on Node 20; 0.18 wants Node 22.
GRAPHILE = "graphile-worker@0.17.3"

# How graphile-worker is run; each way by its own documentation.
PEERS = {
    "graphile-worker, 24 at once": {"concurrentJobs": 24, "maxPoolSize": 25},
    "graphile-worker, batched as advised": {
        "concurrentJobs": 24, "maxPoolSize": 25, "localQueue": {"size": 25},
        "completeJobBatchDelay": 250, "failJobBatchDelay": 250,
    },
    "graphile-worker, batched as benched": {
        "concurrentJobs": 24, "maxPoolSize": 25, "localQueue": {"size": 500},
        "completeJobBatchDelay": 0, "failJobBatchDelay": 0,
    },
}
DOCMILL = "docmill, claim 256"

# A task of the bench with two workers: it waits, and takes an eighth of a slot, so that a worker runs 64 at once.
WAIT_MS, UNITS = 100, 4


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docmill", required=True, help="the release binary")
    parser.add_argument("--parts", default="tasks,workers,claims,snapshot", help="which of them")
    parser.add_argument("--rounds", type=int, default=3, help="of tasks and of workers")
    parser.add_argument("--tasks", type=int, default=40_000, help="tasks of a round")
    parser.add_argument("--queued", type=int, default=1_000_000, help="tasks that wait while claims are measured")
    parser.add_argument("--hold", type=int, default=600, help="seconds that the snapshot is held")
    options = parser.parse_args()
    parts = {"tasks": tasks, "workers": workers, "claims": claims, "snapshot": snapshot}
    wanted = options.parts.split(",")
    if unknown := set(wanted) - set(parts):
        raise SystemExit(f"no such part: {', '.join(unknown)}; there are: {', '.join(parts)}")

    before = machine()
    home = Path(tempfile.mkdtemp(prefix="docmill-bench-"))
    try:
        with Server(home) as server:
            bench = Bench(options, home, server)
            measured = {name: parts[name](bench) for name in parts if name in wanted}
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print()
    rows = [row for part in measured.values() for row in part.pop("verdict")]
    table(["wanted", "bar", "measured", ""], rows)
    settings = {"postgres": {"version": bench.server.version, **SETTINGS}, "graphile-worker": PEERS, "versions": bench.versions}
    write_results("postgres", {"machine": before, "settings": settings, **measured})


class Bench:
    """What the parts share."""

    def __init__(self, options, home, server):
        self.options, self.home, self.server = options, home, server
        self.versions = {}

    def docmill(self, database, *arguments):
        """A process of docmill on that database, told by lines."""
        data = tempfile.mkdtemp(prefix="data-", dir=self.home)
        command = [self.options.docmill, "--data", data, "--json", *map(str, arguments)]
        environment = dict(os.environ, DOCMILL_STORE_URL=self.server.url(database), DOCMILL_LOG="warn")
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
        )

    @contextlib.contextmanager
    def driven(self, database, *arguments):
        process = self.docmill(database, "bench", "driven", *arguments)
        try:
            expect(process, '"ready"')
            yield process
        finally:
            process.stdin.close()
            if process.wait():
                raise SystemExit(f"docmill ended with {process.returncode}")

    def phase(self, process, words):
        """Tells a process to do something; answers what it says, with the server's CPU beside its own."""
        before = self.server.cpu_ms()
        told = tell(process, words)
        return {"client": told["cpu_ms"], "server": self.server.cpu_ms() - before, "elapsed": told["elapsed_ms"]}

    def clean_up(self, database):
        """What the work left for later; it is part of its price."""
        before = self.server.cpu_ms()
        self.server.sql(database, "VACUUM")
        self.server.sql(database, "CHECKPOINT")
        return {"client": 0, "server": self.server.cpu_ms() - before}


def tasks(bench):
    """CPU per task and tasks per second, in turns with graphile-worker."""
    home = bench.home / "npm"
    home.mkdir()
    run(["npm", "install", "--prefix", home, "--no-audit", "--no-fund", "--no-package-lock", GRAPHILE])
    bench.versions["graphile-worker"] = json.loads((home / "node_modules/graphile-worker/package.json").read_text())["version"]
    bench.versions["node"] = run(["node", "--version"]).strip()
    count = bench.options.tasks
    rounds = []
    for number in range(1, bench.options.rounds + 1):
        for name in [DOCMILL, *PEERS]:
            print(f"round {number}: {name}", file=sys.stderr, flush=True)
            database = bench.server.fresh("tasks")
            if name == DOCMILL:
                with bench.driven(database, "--claim", 256) as process:
                    phases = {"queue": bench.phase(process, f"queue {count}"), "work": bench.phase(process, "work")}
            else:
                phases = graphile(bench, home, database, count, PEERS[name])
            phases["clean_up"] = bench.clean_up(database)
            rounds.append({"round": number, "name": name, **cost(phases, count)})
    keys = ["cpu_ms_per_task", "client_cpu_ms", "server_cpu_ms", "queue_cpu_ms", "work_cpu_ms", "clean_up_cpu_ms", "tasks_per_s"]
    medians = {
        name: {key: statistics.median(r[key] for r in rounds if r["name"] == name) for key in keys}
        for name in [DOCMILL, *PEERS]
    }
    print()
    table(
        [f"median of {bench.options.rounds}, CPU in ms/task", "all", "client", "server", "queueing", "working", "cleaning up", "tasks/s"],
        [[name, *(f"{m[key]:,.4f}" if "cpu" in key else f"{m[key]:,.0f}" for key in keys)] for name, m in medians.items()],
    )
    ratios = {name: medians[DOCMILL]["cpu_ms_per_task"] / medians[name]["cpu_ms_per_task"] for name in PEERS}
    rate = medians[DOCMILL]["tasks_per_s"]
    verdict = [["tasks/s on PostgreSQL", ">= 1,500", f"{rate:,.0f}", judge(rate >= 1500)]]
    for name, ratio in ratios.items():
        verdict.append([f"CPU per task against {name}", "<= 0.250", f"{ratio:.3f}", judge(ratio <= 0.25)])
    return {"tasks": count, "median": medians, "cpu_ratio": ratios, "rounds": rounds, "verdict": verdict}


def graphile(bench, home, database, count, settings):
    command = ["node", HERE / "graphile.mjs", bench.server.url(database), str(count), json.dumps(settings)]
    environment = dict(os.environ, GRAPHILE_HOME=str(home))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment) as node:
        expect(node, "ready")
        phases = {"queue": bench.phase(node, ""), "work": bench.phase(node, "")}
        tell(node, "", answer=False)
    return phases


def cost(phases, count):
    of = {f"{name}_cpu_ms": (phase["client"] + phase["server"]) / count for name, phase in phases.items()}
    sides = {f"{side}_cpu_ms": sum(p[side] for p in phases.values()) / count for side in ("client", "server")}
    return {**of, **sides, "cpu_ms_per_task": sum(of.values()), "tasks_per_s": count * 1000 / phases["work"]["elapsed"]}


def workers(bench):
    """Two workers against one, on tasks that wait."""
    count = 8_000
    rounds = []
    for number in range(1, bench.options.rounds + 1):
        for processes in (1, 2):
            print(f"round {number}: {processes} workers on tasks that wait", file=sys.stderr, flush=True)
            database = bench.server.fresh("workers")
            with bench.driven(database, "--wait-ms", WAIT_MS, "--units", UNITS) as process:
                tell(process, f"queue {count}")
            working = [bench.docmill(database, "work", "--kinds", "no-op", "--exit-when-idle") for _ in range(processes)]
            for process in working:
                process.stdin.close()
                process.stdout.read()
                if process.wait():
                    raise SystemExit(f"docmill ended with {process.returncode}")
            done, took = bench.server.sql(
                database, "SELECT count(*), max(finished_at) - min(finished_at) FROM task WHERE kind = 'no-op' AND state = 'done'"
            ).split("|")
            if int(done) < count:
                raise SystemExit(f"{done} of {count} tasks were done")
            rounds.append({"round": number, "workers": processes, "tasks_per_s": int(done) * 1000 / int(took)})
    rates = {n: statistics.median(r["tasks_per_s"] for r in rounds if r["workers"] == n) for n in (1, 2)}
    print()
    table(
        [f"tasks that wait {WAIT_MS} ms, {8 * 32 // UNITS} at once a worker", "tasks/s", "each round"],
        [
            [f"{n} worker{'s'[: n - 1]}", f"{rates[n]:,.0f}", " ".join(f"{r['tasks_per_s']:,.0f}" for r in rounds if r["workers"] == n)]
            for n in (1, 2)
        ],
    )
    ratio = rates[2] / rates[1]
    verdict = [["two workers against one, tasks that wait", ">= 1.60", f"{ratio:.2f}", judge(ratio >= 1.6)]]
    return {"tasks": count, "wait_ms": WAIT_MS, "at_once": 8 * 32 // UNITS, "tasks_per_s": rates, "ratio": ratio, "rounds": rounds, "verdict": verdict}


def claims(bench):
    """How long a claim takes while very much is queued."""
    print(f"claims out of {bench.options.queued:,} queued tasks", file=sys.stderr, flush=True)
    process = bench.docmill(bench.server.fresh("claims"), "bench", "claims", "--queued", bench.options.queued)
    said, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"docmill ended with {process.returncode}")
    measured = json.loads(said)
    print()
    table(
        [f"of {measured['queued']:,} queued, {measured['workers']} workers, claims of", "claims", "p50 ms", "p99 ms", "longest ms"],
        [
            [str(s["tasks"]), str(s["claims"]), *(f"{s[f'claim_ms_{key}']:.2f}" for key in ("p50", "p99", "max"))]
            for s in measured["sizes"]
        ],
    )
    worst = max(s["claim_ms_p99"] for s in measured["sizes"])
    return {**measured, "verdict": [[f"claim p99 at {measured['queued']:,} queued, ms", "<= 50", f"{worst:.1f}", judge(worst <= 50)]]}


def snapshot(bench):
    """The same work on two databases in turns; in one of them a transaction keeps its snapshot all the time."""
    count = max(bench.options.tasks // 4, 1000)
    names = ("free", "held")
    taken = {name: [] for name in names}
    with contextlib.ExitStack() as stack:
        sides = {name: stack.enter_context(bench.driven(bench.server.fresh(name), "--claim", 256)) for name in names}
        for name in names:
            slice_of(sides[name], count)
        holder = stack.enter_context(bench.server.session("held"))
        holder.stdin.write("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) > 0 FROM task;\n")
        expect(holder, "t")
        began = time.monotonic()
        turn = 0
        while time.monotonic() - began < bench.options.hold:
            at = time.monotonic() - began
            print(f"snapshot held for {at:.0f} s of {bench.options.hold}", file=sys.stderr, flush=True)
            for name in names if turn % 2 == 0 else reversed(names):
                taken[name].append({"at_s": at, "tasks_per_s": count * 1000 / slice_of(sides[name], count)})
            turn += 1
        dead = {name: int(bench.server.sql(name, "SELECT pg_stat_get_dead_tuples('task'::regclass)")) for name in names}
        holder.stdin.write("COMMIT;\n")
        holder.stdin.close()

    def slower(since):
        """Of the same turns on both sides, so that a busy moment of the machine hits both."""
        seconds = {n: sum(1 / s["tasks_per_s"] for s in taken[n] if s["at_s"] >= since) for n in names}
        return seconds["held"] / seconds["free"] - 1

    end = bench.options.hold
    print()
    table(
        [f"snapshot held for {end} s, in turns", "tasks/s, median", "dead rows of task at the end"],
        [[n, f"{statistics.median(s['tasks_per_s'] for s in taken[n]):,.0f}", f"{dead[n]:,}"] for n in names],
    )
    whole, last = slower(0), slower(end * 2 / 3)
    verdict = [
        [f"slower with a snapshot held for {end} s, all the time", "<= 10 %", f"{whole:+.1%}", judge(whole <= 0.1)],
        ["the same, the last third of it", "<= 10 %", f"{last:+.1%}", judge(last <= 0.1)],
    ]
    return {"tasks_of_a_turn": count, "hold_s": end, "slower": whole, "slower_last_third": last, "dead_rows": dead, "turns": taken, "verdict": verdict}


def slice_of(process, count):
    """Milliseconds to queue tasks and to work them off."""
    return tell(process, f"queue {count}")["elapsed_ms"] + tell(process, "work")["elapsed_ms"]


def judge(met):
    return "met" if met else "MISSED"


def expect(process, word):
    line = process.stdout.readline().strip()
    if line != word:
        raise SystemExit(f"a process said `{line}` instead of `{word}`")


def tell(process, words, answer=True):
    """Tells a process something, and reads what it says next."""
    process.stdin.write(words + "\n")
    process.stdin.flush()
    if not answer:
        return None
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"a process ended instead of answering `{words}`")
    return json.loads(line)


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
