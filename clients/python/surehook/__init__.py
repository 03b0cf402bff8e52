"""Calls the API of Surehook, and verifies its webhooks."""

from . import types
from ._call import AsyncPages, Page, Pages
from ._client import AsyncSurehook, Surehook
from ._errors import ProblemError, SurehookError, UnreachableError
from ._verify import VerificationError, events, verify

__all__ = [
    "AsyncPages",
    "AsyncSurehook",
    "Page",
    "Pages",
    "ProblemError",
    "Surehook",
    "SurehookError",
    "UnreachableError",
    "VerificationError",
    "events",
    "types",
    "verify",
]
