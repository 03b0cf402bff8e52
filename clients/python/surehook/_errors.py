class SurehookError(Exception):
    """A call that failed."""


class ProblemError(SurehookError):
    """A refusal of the API. The code is empty for a request refused by API Gateway."""

    def __init__(self, status: int, code: str, detail: str, fields: dict[str, str], retry_after: float = 0) -> None:
        self.status, self.code, self.detail, self.fields, self.retry_after = status, code, detail, fields, retry_after
        wrong = "".join(f"; {field}: {message}" for field, message in fields.items())
        super().__init__(f"{status} {code or 'from API Gateway'}: {detail}{wrong}")


class UnreachableError(SurehookError):
    """A request without an answer. The API may have done what the request says."""

    def __init__(self, host: str, cause: Exception) -> None:
        self.host = host
        super().__init__(f"no answer from {host}: {cause}")
