"""How long a call runs on after Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["seconds_after_ctrl_c"]


def _without_processor(thread: int) -> float:
    """The seconds in which a thread was ready to run, and the processors ran others: a busy machine's part."""
    return int(Path(f"/proc/self/task/{thread}/schedstat").read_text().split()[1]) * 1e-9


def seconds_after_ctrl_c(call: Callable[[], object], after: float = 0.3) -> float:
    """The seconds from Ctrl-C, `after` so many of the call, to the end of the call, which raises KeyboardInterrupt.

    Those in which this thread, or the one that sends the signal, waited for a processor do not count. To be called in
    the main thread, which gets the signals.
    """
    main, began = os.getpid(), list[float]()

    def send() -> None:
        time.sleep(after)
        own = threading.get_native_id()
        waited = _without_processor(own)
        began.extend([time.monotonic(), -_without_processor(main)])
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        began.append(_without_processor(own) - waited)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        call()
    except KeyboardInterrupt:
        ended, waited = time.monotonic(), _without_processor(main)
    else:
        raise AssertionError("the call ended before Ctrl-C")
    finally:
        signal.signal(signal.SIGINT, before)
    sender.join()
    return ended - began[0] - (waited + began[1]) - began[2]
