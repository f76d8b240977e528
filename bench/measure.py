"""What the benches share: facts about the machine, cost of processes, tables and result files."""

import json
import os
import platform
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def machine():
    """Facts without which a figure means nothing."""
    cpu = next(
        (line.split(":", 1)[1].strip() for line in lines("/proc/cpuinfo") if line.startswith("model name")), "unknown"
    )
    memory = next(int(line.split()[1]) for line in lines("/proc/meminfo") if line.startswith("MemTotal"))
    system = next((line.split("=", 1)[1].strip('"') for line in lines("/etc/os-release") if line.startswith("PRETTY")), "")
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory_mb": memory // 1024,
        "kernel": platform.release(),
        "system": system,
        "load_before": os.getloadavg()[0],
    }


def lines(path):
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def commit():
    """The version of the checkout, or unknown outside a clone."""
    described = subprocess.run(
        ["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return described.stdout.strip() or "unknown"


def cpu_ms(pid):
    """User and system time of a running process and the children it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(int(f) for f in fields[11:15]) * 1000 / TICKS


def write_results(name, results, command=None):
    """Writes bench/results/<name>.json with the machine and the command that made it, `cargo xtask bench <name>` unless
    it is another."""
    path = ROOT / "bench" / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    # Where things lie on one machine says nothing on another.
    options = [a.replace(str(Path.home()), "~") for a in sys.argv[1:]]
    for place in {"--docmill", "--models"} & set(options):
        at = options.index(place)
        del options[at : at + 2]
    document = {
        "made_by": " ".join([command or f"cargo xtask bench {name}", *options]),
        "made_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": commit(),
        **results,
    }
    path.write_text(json.dumps(document, indent=2) + "\n")
    print(f"\nwritten to {path.relative_to(ROOT)}")


def write_reading(name, made_by, results, lines, file=None):
    """Writes bench/results/read_<name>.json, or the file that is named, and the lines between the marks of that name in
    docs/quality.md."""
    path = ROOT / "bench" / "results" / (file or f"read_{name}.json")
    document = {
        "made_by": made_by,
        "made_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": commit(),
        **results,
    }
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    print(f"\nwritten to {path.relative_to(ROOT)}")
    write_quality(name, lines)


def write_quality(name, lines):
    """Writes the lines between the marks of that name in docs/quality.md."""
    page = ROOT / "docs" / "quality.md"
    begin, end = f"<!-- begin: {name} -->\n", f"<!-- end: {name} -->"
    text = page.read_text()
    head, tail = text.split(begin)[0], text.split(end)[1]
    page.write_text(head + begin + "\n".join(lines) + "\n" + end + tail)
    print(f"written to {page.relative_to(ROOT)}")


def table(head, rows):
    """Prints a Markdown table with aligned columns."""
    rows = [[str(c) for c in row] for row in rows]
    widths = [max(len(str(head[i])), *(len(r[i]) for r in rows)) for i in range(len(head))]
    def line(cells):
        return "| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths))) + " |"
    print(line(head))
    print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    for row in rows:
        print(line(row))


class MemoryOfTree(threading.Thread):
    """Samples the memory of a process and all its descendants every 100 ms, and keeps the peaks.

    The sum of RSS counts a page as often as it is shared; the sum of PSS counts it once. A child that is fenced in
    hides its PSS from other users, so without root `pss_complete` turns false and only RSS means something.
    """

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid = pid
        self.peak_rss = self.peak_pss = self.peak_processes = 0
        self.pss_complete = True
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(0.1):
            rss = pss = processes = 0
            for pid in family(self.pid):
                try:
                    rss += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
                    processes += 1
                except (OSError, IndexError):
                    continue
                try:
                    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                    pss += next(int(l.split()[1]) for l in rollup.splitlines() if l.startswith("Pss:")) * 1024
                except PermissionError:
                    self.pss_complete = False
                except (OSError, StopIteration):
                    continue
            self.peak_rss = max(self.peak_rss, rss)
            self.peak_pss = max(self.peak_pss, pss)
            self.peak_processes = max(self.peak_processes, processes)

    def stop(self):
        self.over.set()
        self.join()


def family(root):
    """A process and all its descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = int(Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry))
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting.extend(children.get(pid, []))
    return found
