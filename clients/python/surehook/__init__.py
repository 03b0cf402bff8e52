"""Calls the API of Surehook with the functions that are generated from its contract."""

from ._client import Problem, connect
from ._pages import pages
from ._verify import VerificationError, events, verify

__all__ = ["Problem", "VerificationError", "connect", "events", "pages", "verify"]
