"""No-op tasks through docmill's engine and through BullMQ on Redis, in turns, in one run.

CPU per task is user and system time of everything that takes part (docmill; or Node and Redis), from queueing to
done, divided by the number of tasks. Idle start is the time from queueing one task on an idle engine to its start.
docmill commits with `synchronous=FULL`; Redis runs with `appendonly yes`, `appendfsync everysec` and no snapshots,
so Redis may lose a second of work where docmill loses none (`--appendfsync always` makes them equal).
"""

import argparse
import functools
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from measure import cpu_ms, machine, table, write_results  # noqa: E402

HERE = Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docmill", help="the release binary; without it only BullMQ runs and nothing is written")
    parser.add_argument("--tasks", type=int, default=20_000, help="tasks of a batched round (claim 1: a quarter)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=200, help="idle starts of a round")
    parser.add_argument("--appendfsync", choices=["everysec", "always"], default="everysec")
    options = parser.parse_args()

    before = machine()
    home = Path(tempfile.mkdtemp(prefix="docmill-bench-"))
    try:
        peer = Peer(home, options.appendfsync)
        rounds = []
        few = max(options.tasks // 4, 100)
        sides = [
            ("bullmq, 1 at a time", lambda: peer.throughput(few, 1)),
            ("bullmq, 50 at once", lambda: peer.throughput(options.tasks, 50)),
            ("bullmq, 100 at once", lambda: peer.throughput(options.tasks, 100)),
            ("bullmq, idle start", lambda: peer.idle(options.samples)),
        ]
        if options.docmill:
            mine = functools.partial(docmill, options.docmill, home, options.samples)
            sides.insert(0, ("docmill, claim 1", lambda: mine(few, 1)))
            sides.insert(2, ("docmill, claim 256", lambda: mine(options.tasks, 256)))
        for number in range(1, options.rounds + 1):
            for name, run in sides:
                print(f"round {number}: {name}", file=sys.stderr, flush=True)
                rounds.append({"round": number, "name": name, **run()})
        report(rounds, sides, peer, options, before)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def docmill(binary, home, samples, tasks, claim):
    """One round of docmill on a fresh data directory; it measures itself."""
    data = tempfile.mkdtemp(prefix="data-", dir=home)
    command = [binary, "--data", data, "--json", "bench", "engine", "--tasks", str(tasks), "--claim", str(claim)]
    command += ["--samples", str(samples)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    shutil.rmtree(data)
    return json.loads(done.stdout)


class Peer:
    """BullMQ from npm and Redis from Debian, both in a folder that is removed afterwards."""

    def __init__(self, home, appendfsync):
        self.home, self.appendfsync = home, appendfsync
        self.environment = dict(os.environ, BULLMQ_HOME=str(home / "npm"))
        (home / "npm").mkdir()
        run(["npm", "install", "--prefix", home / "npm", "--no-audit", "--no-fund", "--no-package-lock", "bullmq", "ioredis"])
        self.redis = find_redis(home, self.environment)
        self.versions = {name: self.version_of(name) for name in ("bullmq", "ioredis")}
        self.versions["node"] = run(["node", "--version"]).strip()
        self.versions["redis"] = run([self.redis, "--version"], env=self.environment).split()[2].removeprefix("v=")

    def version_of(self, package):
        return json.loads((self.home / "npm/node_modules" / package / "package.json").read_text())["version"]

    def throughput(self, jobs, concurrency):
        with Redis(self) as redis, self.node("throughput", redis.port, jobs, concurrency) as node:
            expect(node, "ready")
            cost = {}
            for phase in ("added", "worked"):
                before = cpu_ms(redis.pid)
                told = tell(node)
                assert told["phase"] == phase, told
                cost[phase] = (told["node_cpu_ms"] + cpu_ms(redis.pid) - before, told["elapsed_ms"])
            tell(node, answer=False)
            return {
                "tasks": jobs,
                "queue_cpu_ms_per_task": cost["added"][0] / jobs,
                "work_cpu_ms_per_task": cost["worked"][0] / jobs,
                "cpu_ms_per_task": (cost["added"][0] + cost["worked"][0]) / jobs,
                "tasks_per_s": jobs * 1000 / cost["worked"][1],
            }

    def idle(self, samples):
        with Redis(self) as redis, self.node("idle", redis.port, samples) as node:
            times = sorted(json.loads(node.stdout.readline())["samples_ms"])
            return {
                "idle_start_ms_p50": statistics.median(times),
                "idle_start_ms_p99": times[min(len(times) - 1, int(len(times) * 0.99))],
            }

    def node(self, *arguments):
        command = ["node", HERE / "bullmq.mjs", *map(str, arguments)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment)


class Redis:
    """A Redis server of its own for one round: a fresh folder and a free port."""

    def __init__(self, peer):
        self.folder = tempfile.mkdtemp(prefix="redis-", dir=peer.home)
        self.port = free_port()
        settings = {
            "port": self.port,
            "bind": "127.0.0.1",
            "dir": self.folder,
            "appendonly": "yes",
            "appendfsync": peer.appendfsync,
            "save": "",
            "daemonize": "no",
        }
        words = [word for key, value in settings.items() for word in (f"--{key}", str(value))]
        self.process = subprocess.Popen([peer.redis, *words], stdout=subprocess.DEVNULL, env=peer.environment)
        self.pid = self.process.pid

    def __enter__(self):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"redis-server does not answer on port {self.port}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def find_redis(home, environment):
    """The installed server, or Debian's packages unpacked (not installed) into `home`."""
    installed = shutil.which("redis-server")
    if installed:
        return installed
    packages = ["redis-server", "redis-tools", "libjemalloc2", "liblzf1", "libatomic1"]
    (home / "debian").mkdir()
    run(["apt-get", "download", *packages], cwd=home / "debian")
    for package in (home / "debian").glob("*.deb"):
        run(["dpkg", "-x", package, home / "redis"])
    libraries = [str(path) for path in (home / "redis/usr/lib").iterdir() if path.is_dir()]
    environment["LD_LIBRARY_PATH"] = ":".join(libraries)
    return str(home / "redis/usr/bin/redis-server")


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return done.stdout


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def expect(node, word):
    line = node.stdout.readline().strip()
    if line != word:
        raise SystemExit(f"the BullMQ side said `{line}` instead of `{word}`")


def tell(node, answer=True):
    """Lets the Node side go on, and reads what it says next."""
    node.stdin.write("\n")
    node.stdin.flush()
    return json.loads(node.stdout.readline()) if answer else None


def median(rounds, name, key):
    values = [r[key] for r in rounds if r["name"] == name and r.get(key) is not None]
    return statistics.median(values) if values else None


def show(value, digits):
    return "" if value is None else f"{value:,.{digits}f}"


def report(rounds, sides, peer, options, before):
    keys = ["cpu_ms_per_task", "queue_cpu_ms_per_task", "tasks_per_s", "idle_start_ms_p50", "idle_start_ms_p99"]
    medians = {name: {key: median(rounds, name, key) for key in keys} for name, _ in sides}
    print()
    table(
        [f"median of {options.rounds}", "CPU ms/task", "of it queueing", "tasks/s", "idle start p50 ms", "p99 ms"],
        [
            [name, *(show(m[key], digits) for key, digits in zip(keys, [4, 4, 0, 2, 2]))]
            for name, m in medians.items()
        ],
    )
    if not options.docmill:
        return
    cpu = {name: m["cpu_ms_per_task"] for name, m in medians.items()}
    best_batched = min(cpu["bullmq, 50 at once"], cpu["bullmq, 100 at once"])
    ratios = {
        "claim_1": cpu["docmill, claim 1"] / cpu["bullmq, 1 at a time"],
        "batched": cpu["docmill, claim 256"] / best_batched,
    }
    print()
    table(
        ["docmill's CPU per task against BullMQ's", "ratio", "wanted"],
        [
            ["claim 1", f"{ratios['claim_1']:.3f}", "<= 0.500"],
            ["batched (BullMQ's better concurrency)", f"{ratios['batched']:.3f}", "<= 0.125"],
        ],
    )
    write_results(
        "engine",
        {
            "machine": before,
            "settings": {
                "docmill": "SQLite, synchronous=FULL",
                "redis": f"appendonly yes, appendfsync {peer.appendfsync}, no snapshots",
                "versions": peer.versions,
            },
            "median": medians,
            "cpu_ratio": ratios,
            "rounds": rounds,
        },
    )


if __name__ == "__main__":
    main()
