"""Tests of the client: ``AGRO_URL`` is the address of a service with the demo data, ``AGRO_KEY`` a key or a token for it."""

from __future__ import annotations

import json
import os
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Dict, Iterator, List, Tuple
from unittest import mock

import agro_advisory
from agro_advisory import AdvisoryClient, AdvisoryError

HERE: Dict[str, Any] = {"lat": 9.5, "lng": 38.5}


def square(id: str, lng: float, lat: float) -> Dict[str, Any]:
    east, north = lng + 0.01, lat + 0.01
    ring = [[lng, lat], [east, lat], [east, north], [lng, north], [lng, lat]]
    return {"type": "Feature", "id": id, "geometry": {"type": "Polygon", "coordinates": [ring]}, "properties": {}}


class WithService(unittest.TestCase):
    client: ClassVar[AdvisoryClient]

    @classmethod
    def setUpClass(cls) -> None:
        cls.client = AdvisoryClient(os.environ["AGRO_URL"], key=lambda: os.environ["AGRO_KEY"])

    def test_a_point_is_in_the_history_once(self) -> None:
        answer = self.client.point("yield", **HERE)
        self.assertEqual(answer["location"], {"name": "Point", **HERE, "type": "point"})
        ids = [item["id"] for item in self.client.call("GET", "/history/my", query={"limit": 1})["items"]]
        self.assertEqual(ids, [answer["history_id"]])

    def test_a_refusal_has_its_code_status_and_id(self) -> None:
        with self.assertRaises(AdvisoryError) as raised:
            self.client.point("fertilizer", **HERE, crop="potato")
        error = raised.exception
        self.assertEqual((error.status, error.code), (400, "CROP_NOT_AVAILABLE"))
        self.assertEqual([detail["field"] for detail in error.details], ["crop"])
        self.assertTrue(error.request_id)

    def test_points_are_cut_into_calls_and_read_as_they_are_needed(self) -> None:
        points = [{"id": index, "lat": 9 + index / 50, "lng": 38.5} for index in range(25)]
        read = []

        def generated() -> Iterator[Dict[str, Any]]:
            for point in points:
                read.append(point)
                yield point

        answers = self.client.points("yield", generated(), crop="wheat", country_code="eth", batch_size=10)
        first = next(answers)
        self.assertEqual(len(read), 11)
        items = [first, *answers]
        body = {"points": points, "crop": "wheat", "country_code": "eth"}
        alone = self.client.call("POST", "/advisory/yield/points", body=body)
        self.assertEqual([item["id"] for item in items], list(range(25)))
        self.assertEqual([item["yield_data"] for item in items], [item["yield_data"] for item in alone["items"]])

    def test_rows_of_a_table_are_points_and_ids_stay_text(self) -> None:
        rows = [
            {"id": "007", "lat": "9.5", "lng": " 38.5 "},
            {"id": "1e3", "lat": "9,5", "lng": "38,5"},
            {"id": "12", "lat": "9", "lng": "+38.5"},
            {"id": "x", "lat": "north", "lng": "38.5"},
        ]
        items = list(self.client.points("yield", rows, country_code="eth"))
        self.assertEqual([item["id"] for item in items], ["007", "1e3", "12", "x"])
        self.assertEqual([item.get("code") for item in items], [None, None, None, "INVALID_PARAMETERS"])

    def test_a_batch_that_is_refused_as_a_whole_raises(self) -> None:
        rows = [{"id": str(index), "latitude": "9.5", "lng": "38.5"} for index in range(5)]
        with self.assertRaises(AdvisoryError) as raised:
            list(self.client.points("yield", rows, country_code="eth", batch_size=3))
        self.assertEqual((raised.exception.code, raised.exception.status), ("INVALID_PARAMETERS", 400))
        self.assertIn("All 3 places are refused. The first one: lat is required", str(raised.exception))
        bad = {"lat": 95, "lng": 38.5}
        items = list(self.client.points("yield", [bad, {**HERE}, bad], country_code="eth", batch_size=2))
        self.assertEqual([item.get("code") for item in items], ["INVALID_PARAMETERS", None, "INVALID_PARAMETERS"])
        with self.assertRaises(AdvisoryError) as raised:
            list(self.client.polygons("yield", [square("a", 100, 95)]))
        self.assertEqual(raised.exception.code, "INVALID_GEOMETRY")

    def test_polygons_and_areas_are_answered_as_each_alone(self) -> None:
        fields = [square("a", 38.5, 9.5), square("nowhere", 0, 0), square("b", 38.6, 9.5)]
        items = list(self.client.polygons("fertilizer", fields, batch_size=2))
        self.assertEqual([item["id"] for item in items], ["a", "nowhere", "b"])
        self.assertIn("code", items[1])
        alone = self.client.polygon("fertilizer", geometry=fields[0]["geometry"])
        self.assertEqual(items[0]["fertilizer_data"], alone["fertilizer_data"])

        areas = list(self.client.areas("isfm", country_code="rwa", level=1, crop="potato"))
        listed = self.client.call("GET", "/admin", query={"admin0": "rwa", "level": 1})
        self.assertEqual([item["id"] for item in areas], [item["code"] for item in listed["items"]])


Answer = Tuple[int, Dict[str, str], bytes]


def lines(*items: Dict[str, Any]) -> bytes:
    return "".join(json.dumps(item) + "\n" for item in items).encode()


def chunked(body: bytes, *, whole: bool) -> bytes:
    end = b"0\r\n\r\n" if whole else b""
    return b"%x\r\n%s\r\n" % (len(body), body) + end


class Scripted(BaseHTTPRequestHandler):
    """Answers with what it is given, one after the other."""

    protocol_version = "HTTP/1.1"
    answers: ClassVar[List[Answer]] = []
    requests: ClassVar[List[Tuple[str, bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.requests.append((self.headers.get("Idempotency-Key", ""), body))
        self.answer()

    def answer(self) -> None:
        status, headers, answer = self.answers.pop(0)
        self.send_response(status)
        for name, value in {"Connection": "close", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)
        self.close_connection = True

    def do_GET(self) -> None:
        self.requests.append((self.path, b""))
        self.answer()

    def do_CONNECT(self) -> None:
        self.requests.append(("CONNECT", self.path.encode()))
        self.send_error(502)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def streamed(*items: Dict[str, Any], whole: bool) -> Answer:
    return (200, {"Transfer-Encoding": "chunked"}, chunked(lines(*items), whole=whole))


def busy(retry_after: int) -> Answer:
    body = b'{"error": "The service is busy.", "code": "OVERLOADED", "request_id": "r1"}'
    return (503, {"Retry-After": str(retry_after), "Content-Length": str(len(body))}, body)


class WhenItFails(unittest.TestCase):
    def setUp(self) -> None:
        Scripted.requests.clear()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        patch = mock.patch.object(agro_advisory, "_FIRST_WAIT", 0.0)
        patch.start()
        self.addCleanup(patch.stop)
        self.client = AdvisoryClient(f"http://127.0.0.1:{self.server.server_address[1]}", retries=2)

    def test_a_busy_service_is_asked_again_under_one_key(self) -> None:
        Scripted.answers[:] = [busy(0), (200, {"Content-Length": "2"}, b"{}")]
        self.assertEqual(self.client.point("yield", **HERE), {})
        self.assertEqual(len(Scripted.requests), 2)
        self.assertEqual(Scripted.requests[0], Scripted.requests[1])
        self.assertRegex(Scripted.requests[0][0], "^[0-9a-f]{32}$")

    def test_an_answer_that_was_cut_off_is_asked_for_again_under_one_key(self) -> None:
        Scripted.answers[:] = [(200, {"Content-Length": "9"}, b"{"), (200, {"Content-Length": "2"}, b"{}")]
        self.assertEqual(self.client.point("yield", **HERE), {})
        self.assertEqual(len(Scripted.requests), 2)
        self.assertEqual(Scripted.requests[0], Scripted.requests[1])

    def test_what_would_be_done_twice_is_not_asked_for_again(self) -> None:
        Scripted.answers[:] = [(200, {"Content-Length": "9"}, b"{")]
        with self.assertRaises(AdvisoryError) as raised:
            self.client.call("POST", "/anything", body={})
        self.assertEqual((raised.exception.status, raised.exception.code), (0, "INCOMPLETE_ANSWER"))
        self.assertEqual(len(Scripted.requests), 1)

    def test_every_attempt_goes_through_a_tunnel_of_the_proxy(self) -> None:
        # The key is sent within the tunnel, or not at all.
        with mock.patch.dict(os.environ, {"https_proxy": self.client._base, "no_proxy": ""}):
            client = AdvisoryClient("https://service.test", key="secret", retries=2)
            with self.assertRaises(AdvisoryError) as raised:
                client.point("yield", **HERE)
        self.assertEqual(raised.exception.code, "NETWORK_ERROR")
        self.assertEqual(Scripted.requests, [("CONNECT", b"service.test:443")] * 3)

    def test_yes_and_no_in_an_address_are_those_of_json(self) -> None:
        Scripted.answers[:] = [(200, {"Content-Length": "2"}, b"{}")]
        self.client.call("GET", "/a", query={"yes": True, "no": False, "one": 1, "none": None})
        self.assertEqual(Scripted.requests, [("/a?yes=true&no=false&one=1", b"")])

    def test_a_long_wait_is_not_waited_for(self) -> None:
        Scripted.answers[:] = [busy(900)]
        with self.assertRaises(AdvisoryError) as raised:
            self.client.point("yield", **HERE)
        error = raised.exception
        self.assertEqual((error.status, error.code, error.request_id), (503, "OVERLOADED", "r1"))
        self.assertEqual((str(error), error.retry_after), ("The service is busy.", 900))

    def test_what_is_missing_of_a_cut_answer_is_asked_for_again(self) -> None:
        Scripted.answers[:] = [streamed({"id": 1}, whole=False), streamed({"id": 2}, {"id": 3}, whole=True)]
        points = [{"id": id, **HERE} for id in (1, 2, 3)]
        self.assertEqual([item["id"] for item in self.client.points("yield", points)], [1, 2, 3])
        self.assertEqual([len(body.splitlines()) for _, body in Scripted.requests], [3, 2])

    def test_an_answer_that_never_gets_on_is_an_error(self) -> None:
        Scripted.answers[:] = [streamed(whole=False)] * 3
        with self.assertRaises(AdvisoryError) as raised:
            list(self.client.points("yield", [HERE]))
        self.assertEqual(raised.exception.code, "INCOMPLETE_ANSWER")

    def test_areas_are_answered_once_though_the_answer_was_cut_or_says_that_the_rest_is_missing(self) -> None:
        fault = {"error": "The database is away.", "code": "DATABASE_UNAVAILABLE"}
        Scripted.answers[:] = [
            streamed({"id": "A"}, whole=False),
            streamed({"id": "A"}, {"id": "B"}, fault, whole=True),
            streamed({"id": "A"}, {"id": "B"}, {"id": "C"}, whole=True),
        ]
        items = self.client.areas("yield", country_code="eth", level=1)
        self.assertEqual([item["id"] for item in items], ["A", "B", "C"])

    def test_a_redirect_is_an_error_and_the_key_goes_nowhere(self) -> None:
        elsewhere = {"Location": self.client._base + "/elsewhere", "Content-Length": "0"}
        for status in (302, 307):
            Scripted.requests.clear()
            Scripted.answers[:] = [(status, elsewhere, b"")]
            with self.assertRaises(AdvisoryError) as raised:
                self.client.point("yield", **HERE)
            self.assertEqual((raised.exception.status, raised.exception.code), (status, "UNKNOWN_ERROR"))
            self.assertIn("/elsewhere", str(raised.exception))
            self.assertEqual(len(Scripted.requests), 1)

    def test_nobody_there_is_an_error(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        with self.assertRaises(AdvisoryError) as raised:
            self.client.point("yield", **HERE)
        self.assertEqual((raised.exception.status, raised.exception.code), (0, "NETWORK_ERROR"))


if __name__ == "__main__":
    unittest.main()
