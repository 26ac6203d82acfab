"""The records of measured schedules: the file that has them, and what each is of."""

from .journal import STATUSES, VERSION, Journal, JournalError, Trial, Where
from .program import NAME, device_name, identify, in_order, settings_of

__all__ = [
    "NAME", "STATUSES", "VERSION", "Journal", "JournalError", "Trial", "Where", "device_name", "identify", "in_order",
    "settings_of",
]  # fmt: skip
