"""Runs a function in a forked child, with less than root can do, and returns what it returned."""

import json
import os
import pwd
import select
import signal
import traceback


def in_a_fork(work, *, unprivileged=False):
    """Return the JSON-ready value of work() in a child; its exception as an AssertionError."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if unprivileged and os.geteuid() == 0:  # root may write what is read-only
                nobody = pwd.getpwnam("nobody")
                os.setgroups([])
                os.setgid(nobody.pw_gid)
                os.setuid(nobody.pw_uid)
            answer = {"returned": work()}
        except BaseException:
            answer = {"raised": traceback.format_exc()}
        os.write(into, json.dumps(answer).encode())
        os._exit(0)
    os.close(into)
    if not select.select([out], [], [], 60)[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise AssertionError("the child hangs")
    with os.fdopen(out) as pipe:
        answer = json.loads(pipe.read())
    os.waitpid(child, 0)
    assert "raised" not in answer, answer["raised"]
    return answer["returned"]
