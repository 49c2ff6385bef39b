"""A real PostgreSQL server for tests: on a free port, in a folder of its own, never as root."""

import importlib.util
import os
import pwd
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

ABSENT = "no PostgreSQL here: neither initdb and postgres of the system, nor the Python package pgserver"


def find_binaries() -> Path | None:
    """Return the folder of initdb and postgres: the system's, or those in the package pgserver."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    package = importlib.util.find_spec("pgserver")
    if package is not None and package.origin is not None:
        folders.append(Path(package.origin).parent / "pginstall" / "bin")
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


@contextmanager
def running_server(binaries: Path, *, largest_file: int | None = None) -> Iterator[str]:
    """Yield the URL of a fresh server, without a database name; it is gone afterwards.

    No file of it can grow beyond `largest_file` bytes, 2 MiB or more: what a full disk looks like, without being root.
    """
    folder = Path(tempfile.mkdtemp(prefix="plandp-pg-"))
    user = _unprivileged()
    as_user = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
    data = folder / "data"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    try:
        made = [binaries / "initdb", "-D", data, "-U", "plandp", "--auth=trust", "-E", "UTF8", "--no-locale"]
        made += ["--wal-segsize=1"] if largest_file else []
        subprocess.run(made, check=True, **quiet, **as_user)
        port = _free_port()
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": port,
            "unix_socket_directories": "",
            "max_connections": 100,
            "logging_collector": "off",
            "fsync": "off",  # processes are killed here, not the power
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        limit = partial(_limit_files, largest_file) if largest_file else None
        server = subprocess.Popen([binaries / "postgres", "-D", data, *options], preexec_fn=limit, **quiet, **as_user)
        try:
            _wait_for(port, server)
            yield f"postgresql://plandp@127.0.0.1:{port}"
        finally:
            server.send_signal(signal.SIGQUIT)  # at once, with all sessions: the folder is thrown away anyway
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def _unprivileged() -> pwd.struct_passwd | None:
    """Return whom to run as: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("root needs a user named postgres or nobody to run PostgreSQL as")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    import psycopg

    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(f"postgresql://plandp@127.0.0.1:{port}/postgres").close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
