"""Client of the agricultural advisory service: one file, nothing but Python's standard library.

    from agro_advisory import AdvisoryClient

    client = AdvisoryClient("https://advisory.example.org", key="agro_...")
    advice = client.point("fertilizer", lat=9.5, lng=38.5)
    for item in client.points("fertilizer", farms, crop="wheat", country_code="eth"):
        print(item.get("id"), item.get("code") or item["fertilizer_data"])

Batches take any number of places, also of a generator. They go out in groups, the next one when the answers before it were
taken, and what is missing of an answer that was cut off is asked for again. Calls are tried again where the service is
too busy or cannot be reached; what it keeps in the history has an ``Idempotency-Key``, and is there once.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union

__all__ = ["AdvisoryClient", "AdvisoryError"]

Json = Dict[str, Any]
"""An object of JSON, as the documents of the service describe it."""

_NDJSON = "application/x-ndjson"

_MOST_BYTES = 900_000
"""Bodies with many places have fewer than the service takes of somebody without a token."""

_FIRST_WAIT = 0.25
"""Seconds before the second attempt, where the service does not say; each further wait is twice as long."""

_FAULTS = ("OVERLOADED", "DATABASE_UNAVAILABLE")
"""What the last item of an answer says in the place of the rest, where the service could not go on."""

_REFUSALS = ("INVALID_PARAMETERS", "INVALID_GEOMETRY", "MALFORMED_JSON")
"""What an item says where its place was not read."""

_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?")

_LOST = (OSError, http.client.HTTPException)
"""What Python raises where a connection is not made, or breaks."""


class AdvisoryError(Exception):
    """The service has refused a call, or could not be reached.

    ``code`` is for programs, the text of the error for people. Without an answer ``status`` is 0, and ``code``
    ``NETWORK_ERROR``, or ``INCOMPLETE_ANSWER`` where an answer was cut off.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int = 0,
        request_id: Optional[str] = None,
        details: Optional[List[Json]] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = request_id
        """Names the call in the service's log."""
        self.details: List[Json] = details or []
        """What is wrong with single parameters."""
        self.retry_after = retry_after
        """After how many seconds it may be tried again, where the service says so."""


class AdvisoryClient:
    """Asks the service at an address. All methods raise :class:`AdvisoryError` where they have no answer.

    :param key: an API key or an access token, or what gives one before each call. Points are answered without it, polygons
        are not.
    :param retries: attempts after the first one
    :param max_wait: seconds; a call that would have to wait longer before an attempt is given up
    :param timeout: seconds that the service may be silent
    """

    def __init__(
        self,
        base_url: str,
        key: Union[str, Callable[[], str], None] = None,
        *,
        retries: int = 4,
        max_wait: float = 30.0,
        timeout: float = 60.0,
    ) -> None:
        self._base = base_url.rstrip("/")
        self._key = key
        self._retries = retries
        self._max_wait = max_wait
        self._timeout = timeout
        self._opener = urllib.request.build_opener(_NoRedirects)

    def point(self, product: str, *, lat: float, lng: float, **request: Any) -> Json:
        """Advice for one point; ``request`` may have crop, country_code, name and forecast_period."""
        body = {"lat": lat, "lng": lng, **request}
        return self.call("POST", f"/advisory/{product}/point", body=body, once=True)

    def polygon(
        self,
        product: str,
        *,
        geometry: Optional[Mapping[str, Any]] = None,
        admin: Optional[Mapping[str, Any]] = None,
        **request: Any,
    ) -> Json:
        """Advice for a GeoJSON polygon or an administrative area, one of the two; needs a key."""
        body = _given({"geometry": geometry, "admin": admin, **request})
        return self.call("POST", f"/advisory/{product}", body=body, once=True)

    def points(
        self,
        product: str,
        points: Iterable[Mapping[str, Any]],
        *,
        crop: Optional[str] = None,
        country_code: Optional[str] = None,
        forecast_period: Optional[str] = None,
        batch_size: int = 1000,
    ) -> Iterator[Json]:
        """Advice for any number of points, each with ``lat``, ``lng`` and perhaps ``id`` and ``name``, in their order.

        Coordinates may be text, as ``csv.DictReader`` has them; ids stay as they are. Where all of the first call are refused,
        the error says why.

        An item without data has ``error`` and ``code``. Items of different groups may come of different releases, where one is
        published meanwhile: each says its ``release``.

        :param batch_size: how many go into one call; the service takes 1,000, or 20,000 with a token
        """
        path = f"/advisory/{product}/points" + _query(crop, country_code, forecast_period)

        def ask(texts: List[str]) -> Iterator[str]:
            return self._lines(path, "\n".join(texts), _NDJSON)

        return self._answers((_with_numbers(point) for point in points), batch_size, ask)

    def polygons(
        self,
        product: str,
        features: Iterable[Mapping[str, Any]],
        *,
        crop: Optional[str] = None,
        country_code: Optional[str] = None,
        forecast_period: Optional[str] = None,
        batch_size: int = 100,
    ) -> Iterator[Json]:
        """Advice for any number of GeoJSON Features with polygons, as :meth:`points`; needs a key.

        :param batch_size: how many go into one call; the service takes 1,000
        """
        path = f"/advisory/{product}/polygons" + _query(crop, country_code, forecast_period)

        def ask(texts: List[str]) -> Iterator[str]:
            body = '{"type":"FeatureCollection","features":[' + ",".join(texts) + "]}"
            return self._lines(path, body, "application/geo+json")

        return self._answers(features, batch_size, ask)

    def areas(
        self,
        product: str,
        *,
        country_code: str,
        level: int,
        parent: Optional[str] = None,
        crop: Optional[str] = None,
        forecast_period: Optional[str] = None,
    ) -> Iterator[Json]:
        """Advice for all administrative areas of a level, in the order of their codes; needs a key.

        Where the answer is cut off, the areas are asked for again, and those that were answered are left out.
        """
        admin = _given({"country_code": country_code, "level": level, "parent": parent})
        body = json.dumps(_given({"admin": admin, "crop": crop, "forecast_period": forecast_period}))
        answered = set()
        attempt = 0
        while True:
            reader = _Reader(self._lines(f"/advisory/{product}/polygons", body, "application/json"))
            for item in reader:
                if item.get("id") in answered:
                    continue
                answered.add(item.get("id"))
                attempt = 0
                yield item
            if reader.stopped is None:
                return
            attempt += 1
            self._wait_for_rest(attempt, reader.stopped)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        once: bool = False,
    ) -> Json:
        """Any operation of the service with JSON: ``call("GET", "/admin", query={"admin0": "rwa", "level": 1})``.

        :param once: whether it takes an ``Idempotency-Key``, as `openapi.yaml` says; then it is tried again where its answer
            was lost, and done once
        """
        headers = {"Accept": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        if once:
            headers["Idempotency-Key"] = secrets.token_hex(16)
        if query:
            given = {name: _parameter(value) for name, value in _given(query).items()}
            path += "?" + urllib.parse.urlencode(given)
        text = self._open(method, path, data, headers, once or method != "POST", whole=True)
        answer: Json = json.loads(text) if text else {}
        return answer

    def _answers(
        self,
        places: Iterable[Mapping[str, Any]],
        batch_size: int,
        ask: Callable[[List[str]], Iterator[str]],
    ) -> Iterator[Json]:
        """The answers for any number of places, one call after the other; what is missing is asked for again."""
        # None as soon as one is accepted.
        refused: Optional[List[Json]] = []
        for left in _groups((json.dumps(place) for place in places), batch_size):
            attempt = 0
            while left:
                reader = _Reader(ask(left))
                answered = 0
                for item in reader:
                    answered += 1
                    if refused is not None and item.get("code") in _REFUSALS:
                        refused.append(item)
                        continue
                    yield from refused or []
                    refused = None
                    yield item
                left = left[answered:]
                if left:
                    attempt = 1 if answered else attempt + 1
                    self._wait_for_rest(attempt, reader.stopped)
            if refused:
                raise _all_refused(refused)

    def _wait_for_rest(self, attempt: int, reason: Optional[str]) -> None:
        if attempt > self._retries:
            raise _incomplete(reason)
        time.sleep(min(_wait_before(attempt, None), self._max_wait))

    def _lines(self, path: str, body: str, content_type: str) -> Iterator[str]:
        """The lines of an answer, each as soon as it is there; a last one without its end was cut off, and is none."""
        headers = {"Content-Type": content_type, "Accept": _NDJSON}
        with self._open("POST", path, body.encode(), headers, True) as response:
            rest = b""
            # Iterating over the answer itself would take one that was cut off for a whole one.
            while piece := response.read1(65536):
                *lines, rest = (rest + piece).split(b"\n")
                yield from (line.decode() for line in lines)

    def _open(
        self,
        method: str,
        path: str,
        data: Optional[bytes],
        headers: Dict[str, str],
        repeatable: bool,
        *,
        whole: bool = False,
    ) -> Any:
        """Sends a request until it is answered, and gives the answer where it is none of an error.

        :param whole: the answer is its bytes, and one that was cut off is as good as none
        """
        key = self._key() if callable(self._key) else self._key
        if key:
            headers["Authorization"] = f"Bearer {key}"
        attempt = 0
        while True:
            attempt += 1
            # Each attempt has its own: one that went through a proxy is addressed to that, and would go there unencrypted.
            request = urllib.request.Request(self._base + path, data=data, headers=headers, method=method)
            try:
                response = self._opener.open(request, timeout=self._timeout)
                return _whole(response) if whole else response
            except AdvisoryError as cut:
                error = cut
                busy = repeatable
            except urllib.error.HTTPError as answer:
                error = _error_of(answer)
                busy = _is_busy(error, repeatable)
            except _LOST as cause:
                error = AdvisoryError(f"The service cannot be reached: {cause}", code="NETWORK_ERROR")
                busy = repeatable
            wait = _wait_before(attempt, error.retry_after)
            if attempt > self._retries or not busy or wait > self._max_wait:
                raise error
            time.sleep(wait)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for an error: Python would send the key along, wherever it leads."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Reader:
    """The items of an answer as far as they come; then ``stopped`` says why there are no more, or is None."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.stopped: Optional[str] = None

    def __iter__(self) -> Iterator[Json]:
        doubtful: Optional[Json] = None
        while True:
            try:
                line = next(self._lines, None)
            except _LOST as error:
                self.stopped = str(error) or type(error).__name__
                line = None
            if line is None:
                break
            if doubtful is not None:
                yield doubtful
                doubtful = None
            item: Json = json.loads(line)
            # It stands for the rest where it is the last one.
            if "id" not in item and item.get("code") in _FAULTS:
                doubtful = item
            else:
                yield item
        if doubtful is not None:
            self.stopped = str(doubtful.get("error"))


def _with_numbers(point: Mapping[str, Any]) -> Json:
    """A point whose coordinates are numbers, also where they are text; text that is none is left to the service."""
    return {name: _number(value) if name in ("lat", "lng") else value for name, value in point.items()}


def _number(value: Any) -> Any:
    text = value.strip() if isinstance(value, str) else ""
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else value


def _all_refused(items: List[Json]) -> AdvisoryError:
    first = items[0]
    said = f"All {len(items)} places are refused. The first one: {first.get('error')}"
    return AdvisoryError(said, code=str(first["code"]), status=400, details=first.get("details"))


def _groups(texts: Iterable[str], count: int) -> Iterator[List[str]]:
    """Texts in groups of so many, and not too many bytes: one that is larger comes alone."""
    group: List[str] = []
    size = 0
    for text in texts:
        if len(group) == count or (group and size + len(text) > _MOST_BYTES):
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text) + 1
    if group:
        yield group


def _parameter(value: Any) -> Any:
    """A value as addresses have it, where Python would write it in another way."""
    return str(value).lower() if isinstance(value, bool) else value


def _given(members: Mapping[str, Any]) -> Json:
    return {name: value for name, value in members.items() if value is not None}


def _query(crop: Optional[str], country_code: Optional[str], forecast_period: Optional[str]) -> str:
    given = _given({"crop": crop, "country_code": country_code, "forecast_period": forecast_period})
    return "?" + urllib.parse.urlencode(given) if given else ""


def _wait_before(attempt: int, retry_after: Optional[float]) -> float:
    """As long as the service says, and part of as much again, so that those who wait do not come back together."""
    wait = _FIRST_WAIT * 2.0 ** (attempt - 1) if retry_after is None else retry_after
    return wait * (1 + random.random() / 2)


def _is_busy(error: AdvisoryError, repeatable: bool) -> bool:
    if error.status == 409:
        return error.retry_after is not None
    return error.status == 429 or (error.status == 503 and repeatable)


def _whole(response: Any) -> bytes:
    with response:
        try:
            body: bytes = response.read()
        except _LOST as error:
            raise _incomplete(str(error)) from error
    return body


def _error_of(answer: urllib.error.HTTPError) -> AdvisoryError:
    """The error that a refusal says. What stands between may have answered in another form."""
    body, after = _read_error(answer)
    said = body.get("error") or f"The answer has the status {answer.code}."
    if 300 <= answer.code < 400:
        said = f"The address leads elsewhere, to {answer.headers.get('Location')}: name that one if you trust it."
    return AdvisoryError(
        str(said),
        code=str(body.get("code") or "UNKNOWN_ERROR"),
        status=answer.code,
        request_id=body.get("request_id") or answer.headers.get("X-Request-Id"),
        details=body.get("details"),
        retry_after=after,
    )


def _read_error(answer: urllib.error.HTTPError) -> Tuple[Json, Optional[float]]:
    after = answer.headers.get("Retry-After", "")
    seconds = float(after) if after.isdecimal() else None
    with answer:
        try:
            body = json.loads(answer.read())
        except (ValueError, *_LOST):
            body = None
    return (body if isinstance(body, dict) else {}), seconds


def _incomplete(reason: Optional[str]) -> AdvisoryError:
    said = f" {reason}" if reason else ""
    return AdvisoryError(f"The answer was cut off.{said}", code="INCOMPLETE_ANSWER")
