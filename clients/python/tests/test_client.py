"""Run by `python3 -m unittest discover -s tests`, in the folder above."""

import datetime
import decimal
import http.server
import json
import threading
import unittest
import urllib.parse

from akin_client import AccessError, BadRequestError, BusyError, Client, Filter, NotFoundError, field, search_token, where


class FilterTest(unittest.TestCase):
    def test_escapes_values(self):
        for made, text in [
            (where("brand:{} AND price:[{low} TO *]", 'A "B" \\', low=50), 'brand:"A \\"B\\" \\\\" AND price:["50" TO *]'),
            (where("on:{} at:{}", True, datetime.date(2024, 2, 29)), 'on:"true" at:"2024-02-29"'),
            (where("id:{}", ["1", 2, decimal.Decimal("2.50")]), 'id:("1" OR "2" OR "2.50")'),
            (where("{}:{}", field("net weight:"), 2**62), 'net\\ weight\\::"4611686018427387904"'),
            (where("{} AND -id:{}", where("a:1 OR b:2"), "x"), '(a:1 OR b:2) AND -id:"x"'),
            (where("{0}:{0}", "{1}"), '"{1}":"{1}"'),
        ]:
            self.assertEqual(str(made), text)

    def test_refuses_what_no_document_has(self):
        for value in (None, float("nan"), float("inf"), b"bytes", {"a": 1}):
            self.assertRaises(TypeError, where, "a:{}", value)
        self.assertRaises(ValueError, where, "a:{}", [])
        self.assertRaises(KeyError, where, "a:{x.__class__}", x=1)


class TokenTest(unittest.TestCase):
    KEY = "akin_0123456789ab_" + "0" * 64
    EXPIRES = datetime.datetime.fromtimestamp(2_000_000_000, datetime.timezone.utc)

    def test_makes_the_token_of_the_page_about_keys(self):
        token = "akin_0123456789ab.eyJmaWx0ZXIiOiJ0ZW5hbnQ6YSIsImV4cGlyZXMiOjIwMDAwMDAwMDB9.c_qGzQzI2SZAN2qu5HQmG6bbJrKMJrdxV6iZZXwt6Ag"
        self.assertEqual(search_token(self.KEY, filter="tenant:a", expires=self.EXPIRES), token)
        self.assertEqual(search_token(self.KEY, filter="tenant:a", expires=self.EXPIRES.timestamp()), token)

    def test_refuses_what_gives_no_token(self):
        for key, filter, expires in [
            ("secret", "tenant:a", self.EXPIRES),
            (self.KEY, " ", self.EXPIRES),
            (self.KEY, "tenant:a", self.EXPIRES.replace(tzinfo=None)),
        ]:
            self.assertRaises(ValueError, search_token, key, filter=filter, expires=expires)


class Akin(http.server.BaseHTTPRequestHandler):
    """Answers with the responses that a test has prepared, and keeps the requests."""

    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append((self.command, self.path, self.headers, body))
        status, headers, answer = self.server.responses.pop(0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    do_GET = do_POST = do_PUT = do_DELETE = respond

    def log_message(self, *_):
        pass


class RequestTest(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Akin)
        self.server.requests, self.server.responses = [], []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        self.shop = Client(self.url, "secret").collection("a shop/1")

    def answer(self, *responses):
        self.server.responses = [(status, headers, answer) for status, headers, answer in responses]

    def found(self, *documents, **more):
        response = {"docs": list(documents), "numFound": 7, "numFoundExact": True}
        return 200, {}, {"responseHeader": {}, "response": response, **more}

    def form(self, index=-1):
        return urllib.parse.parse_qs(self.server.requests[index][3].decode())

    def test_sends_again_what_akin_could_not_accept(self):
        busy = {"Retry-After": "0"}
        self.answer((429, busy, {}), (503, busy, {}), (200, {}, {"documents": 1}))
        self.assertEqual(self.shop.status(), {"documents": 1})
        # Akin may have accepted a change although it answers 503.
        self.answer((429, busy, {}), (503, busy, {"error": {"msg": "said", "details": [{"id": "1"}]}}))
        with self.assertRaisesRegex(BusyError, "said") as caught:
            self.shop.add({"id": "1"})
        self.assertEqual((caught.exception.status, caught.exception.details), (503, [{"id": "1"}]))
        self.answer((429, {"Retry-After": "3600"}, {}))
        with self.assertRaises(BusyError) as caught:
            self.shop.status()
        self.assertEqual(caught.exception.retry_after, 3600)
        self.answer((404, {}, {}))
        self.assertRaises(NotFoundError, self.shop.status)
        self.assertEqual(len(self.server.requests), 7)

    def test_sends_the_key_to_akin_alone_and_does_not_print_it(self):
        self.answer((302, {"Location": self.url + "elsewhere"}, {}), (401, {}, {}))
        with self.assertRaisesRegex(Exception, "302"):
            self.shop.status()
        self.assertRaises(AccessError, self.shop.status)
        self.assertEqual([path for _, path, _, _ in self.server.requests], ["/api/cores/a%20shop%2F1"] * 2)
        self.assertEqual(self.server.requests[0][2]["Authorization"], "Bearer secret")
        self.assertNotIn("secret", repr((self.shop, self.shop._client)))

    def test_writes_documents_as_lines(self):
        self.answer((200, {}, {}))
        at = datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc)
        self.shop.add(({"id": str(i), "price": 79.0, "big": 2**62, "at": at} for i in range(2)), wait=True, maxErrors=1)
        method, path, headers, body = self.server.requests[0]
        self.assertEqual((method, path), ("POST", "/api/cores/a%20shop%2F1/update?commit=true&maxErrors=1"))
        self.assertEqual(headers["Content-Type"], "application/x-ndjson")
        lines = body.decode().splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn('"price": 79.0, "big": 4611686018427387904, "at": "2024-02-29T00:00:00+00:00"', lines[0])
        self.assertRaises(ValueError, self.shop.add, {"id": "1", "price": float("nan")})
        self.assertRaises(TypeError, self.shop.add, {"id": "1", "x": object()})

    def test_sends_pictures_with_their_document_or_their_search(self):
        self.answer((200, {}, {}), self.found())
        self.shop.add_picture(b"JPEG", id="1", brand="Ä\r\n--")
        _, _, headers, body = self.server.requests[0]
        self.assertRegex(headers["Content-Type"], "^multipart/form-data; boundary=")
        self.assertIn(b'name="document"\r\n\r\n{"id": "1", "brand": "\\u00c4\\r\\n--"}\r\n', body)
        self.assertIn(b'name="file"; filename="picture"\r\n\r\nJPEG\r\n', body)
        self.shop.similar(file=[b"one", b"two"], url="http://a.example/b.jpg", filter="a:1")
        _, path, _, body = self.server.requests[1]
        self.assertTrue(path.endswith("/image"))
        self.assertLess(body.index(b"one"), body.index(b"two"))
        self.assertIn(b'name="rank.by.url"\r\n\r\nhttp://a.example/b.jpg\r\n', body)

    def test_asks_for_the_figures_of_fields(self):
        figures = {"price": {"min": 1.0, "max": 9.5, "count": 7}}
        self.answer(self.found(stats={"stats_fields": figures}))
        self.assertEqual(self.shop.stats("price", filter=where("brand:{}", "Ada")), figures)
        form = self.form()
        self.assertEqual((form["stats"], form["stats.field"], form["fq"]), (["true"], ["price"], ['brand:"Ada"']))

    def test_makes_parameters_of_a_search(self):
        self.answer(self.found({"id": "2", "score": 0.5}, facet_counts={"facet_fields": {"brand": ["Ada", 2]}}))
        result = self.shop.similar(
            id=["1", "2"], filter=["a:1", where("b:{}", 2)], collapse="sku code", fields=["net weight"], facets="brand", threshold=0.5
        )
        self.assertEqual((result.total, len(result), result[0]["score"]), (7, 1, 0.5))
        self.assertEqual(result.facets, {"brand": {"Ada": 2}})
        form = self.form()
        self.assertEqual(form["rank.by.id"], ["1", "2"])
        self.assertEqual(form["fq"], ["a:1", 'b:"2"', '-id:("1" OR "2")', "{!collapse field='sku code'}"])
        self.assertEqual(form["fl"], ["id,score,net\\ weight"])
        self.assertEqual((form["facet.field"], form["facet.mincount"]), (["brand"], ["1"]))
        self.answer(self.found(), self.found(), self.found())
        self.shop.similar(color="#e03c31", itself=True)
        self.assertTrue(self.server.requests[-1][1].endswith("/color"))
        self.assertEqual(self.form()["fl"], ["id,score,*,-outputs"])
        self.shop.similar(outputs="{}", by="texture", wire={"rank.weights": "1"})
        self.assertEqual((self.form()["rank.mode"], self.form()["rank.weights"]), (["texture"], ["1"]))
        self.shop.search(sort="price asc")
        self.assertEqual(self.form()["fl"], ["id,*,-outputs"])

    def test_refuses_arguments_that_it_does_not_know(self):
        self.assertRaises(TypeError, self.shop.similar)
        for wrong, said in [({"rows": 3}, "rows: use limit"), ({"fq": "a:1"}, "fq: use filter"), ({"colour": "red"}, "go into wire")]:
            with self.assertRaisesRegex(TypeError, said):
                self.shop.similar(id="1", **wrong)
        for url in ("127.0.0.1:8983", "localhost:8983", "http://", ""):
            with self.assertRaisesRegex(ValueError, "begins with http://"):
                Client(url)
        self.assertEqual(self.server.requests, [])

    def test_says_its_own_names_in_errors_of_searches(self):
        messages = "Parameter rank.by.hex: \"x\". Parameter rows must be 5. Parameters start and rows are. Write rows."
        self.answer((400, {}, {"error": {"msg": messages, "details": [1]}}))
        with self.assertRaises(BadRequestError) as caught:
            self.shop.similar(color="x")
        said = "Parameter color: \"x\". Parameter limit must be 5. Parameters offset and limit are. Write rows."
        self.assertEqual((str(caught.exception), caught.exception.details), (said, [1]))

    def test_gives_groups_and_other_sections_of_a_response(self):
        page = {"numFound": 3, "docs": [{"id": "1"}, {"id": "2"}]}
        grouped = {"sku": {"matches": 9, "ngroups": 4, "groups": [{"groupValue": "a", "doclist": page}]}}
        self.answer((200, {}, {"responseHeader": {}, "grouped": grouped, "stats": {"stats_fields": {"price": {"max": 1.5}}}}))
        found = self.shop.search("red", group="sku", group_limit=2, wire={"stats": True})
        self.assertEqual([(one.value, one.total, one.documents) for one in found.groups], [("a", 3, page["docs"])])
        self.assertEqual((found.documents, found.total, found.stats), (page["docs"], 4, {"price": {"max": 1.5}}))
        self.assertEqual((self.form()["group.field"], self.form()["group.limit"]), (["sku"], ["2"]))
        self.answer(self.found({"id": "1"}, expanded={"a": page}))
        self.assertEqual(self.shop.search(collapse="sku", wire={"expand": True}).expanded, {"a": page["docs"]})

    def test_lists_groups_of_duplicates_and_suggests_labels(self):
        self.answer((200, {}, {"groups": [{"id": "a"}], "nextCursor": "n"}), (200, {}, {"groups": [{"id": "b"}]}))
        self.assertEqual([one["id"] for one in self.shop.groups(filter="a:1")], ["a", "b"])
        self.assertEqual((self.form()["cursor"], self.form()["fq"]), (["n"], ["a:1"]))
        self.answer((200, {}, {"tags": [{"tag": "red", "confidence": 0.5}]}))
        self.assertEqual(self.shop.tag(id="1", limit=3), [{"tag": "red", "confidence": 0.5}])
        self.assertEqual((self.form()["tagging.input.id"], self.form()["tagging.max"]), (["1"], ["3"]))

    def test_reads_everything_page_by_page(self):
        self.answer(
            self.found({"id": "1"}, nextCursorMark="one"), self.found({"id": "2"}, nextCursorMark="two"), self.found(nextCursorMark="two")
        )
        self.assertEqual([one["id"] for one in self.shop], ["1", "2"])
        self.assertEqual([self.form(index)["cursorMark"] for index in range(3)], [["*"], ["one"], ["two"]])

    def test_deletes_ids_or_what_matches(self):
        self.answer(*[(200, {}, {})] * 3)
        self.shop.delete("1")
        self.shop.delete(["1", "2"])
        self.shop.delete(filter=where("brand:{}", "Ada"))
        bodies = [json.loads(body)["delete"] for _, _, _, body in self.server.requests]
        self.assertEqual(bodies, [["1"], ["1", "2"], {"query": 'brand:"Ada"'}])
        self.assertRaises(TypeError, self.shop.delete)
        self.assertRaises(TypeError, self.shop.delete, "1", filter="a:1")
        self.assertEqual(self.shop.get([]), [])
        self.assertIsInstance(where("a:1"), Filter)


if __name__ == "__main__":
    unittest.main()
