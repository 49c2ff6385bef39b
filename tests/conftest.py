"""What all tests may rely on, however they were started."""

import signal

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # so a shell starts what runs in the background; tests that send Ctrl-C, also to their children, need it
    signal.signal(signal.SIGINT, signal.default_int_handler)
