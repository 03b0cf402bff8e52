"""What Schemathesis does otherwise than by default.

It repeats a request that is answered 503 with Retry-After, as clients do.

On a busy machine a call of the emulator may time out, and 503 is then the right answer.
A 503 without Retry-After, any other 5xx, and the 21st 503 in a row stay failures.

It sends no path with a line break: the emulator has no route for one, and answers 404.
"""

from urllib.parse import unquote

import schemathesis
from requests.adapters import HTTPAdapter
from urllib3.util import Retry


class Unavailable(Retry):
    RETRY_AFTER_STATUS_CODES = frozenset({503})


make = HTTPAdapter.__init__


def patient(self, *args, **kwargs):
    make(self, *args, **kwargs)
    self.max_retries = Unavailable(
        total=20, connect=0, read=False, redirect=0, other=0, status=20, allowed_methods=None, raise_on_status=False
    )


HTTPAdapter.__init__ = patient


@schemathesis.hook
def filter_path_parameters(context, path_parameters):
    return not any(end in unquote(str(value)) for value in (path_parameters or {}).values() for end in "\r\n")
