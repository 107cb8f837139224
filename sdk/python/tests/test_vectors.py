"""The package reads what the Rust code has written: sdk/vectors."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any, get_args

from tandem_hub import InvalidWebhook, Refused, verify
from tandem_hub._codes import BY_CODE
from tandem_hub._http import refusal
from tandem_hub._names import folded
from tandem_hub._seal import PrivateKey, PublicKey, SealError, unseal
from tandem_hub._wire import ErrorCode, Status
from tandem_hub.events import Event, Start, parse_frame

VECTORS = Path(__file__).parents[2] / "vectors"


def read(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


class Vectors(unittest.TestCase):
    """One test per file."""

    def test_every_code_has_its_class(self) -> None:
        self.assertEqual(set(BY_CODE), set(get_args(ErrorCode)))
        moves = read("words")["moves"]
        self.assertEqual({move[end] for move in moves for end in ("from", "to")}, set(get_args(Status)))

    def test_fingerprints(self) -> None:
        for one in read("fingerprints")["examples"]:
            key = PublicKey(one["public"])
            self.assertEqual((key.fingerprint, key.words), (one["hex"], one["words"]))

    def test_sealed_content_opens_for_both(self) -> None:
        keys, sealed = read("keys"), read("sealed")
        private = {name: PrivateKey(keys[name]["private"]) for name in ("ana", "bob")}
        self.assertGreaterEqual(len(sealed["opened"]), 6)
        for one in sealed["opened"]:
            for reader in ("ana", "bob"):
                sender = private[one["sender"]].public
                found = unseal(sealed["taskId"], one["sealed"], sealed["agents"][reader], private[reader], sender)
                self.assertEqual(found.decode(), one["plaintext"])

    def test_what_is_wrong_is_refused_for_its_reason(self) -> None:
        keys, sealed = read("keys"), read("sealed")
        private = {name: PrivateKey(keys[name]["private"]) for name in ("ana", "bob")}
        self.assertGreaterEqual(len(sealed["refused"]), 30)
        for one in sealed["refused"]:
            agent, sender = sealed["agents"][one["reader"]], private[one["sender"]].public
            with self.subTest(one["why"], reader=one["reader"]):
                with self.assertRaises(SealError) as caught:
                    unseal(sealed["taskId"], one["sealed"], agent, private[one["reader"]], sender)
                self.assertEqual(caught.exception.part, one["error"])

    def test_webhooks(self) -> None:
        for one in read("webhooks"):
            with self.subTest(one["why"]):
                try:
                    found = verify(one["headers"], one["body"].encode(), one["secret"], now=one["now"])
                    self.assertEqual(found, json.loads(one["body"]))
                    self.assertTrue(one["valid"])
                except InvalidWebhook:
                    self.assertFalse(one["valid"])

    def test_error_bodies(self) -> None:
        kinds = {"refused": "Refused", "unavailable": "Unavailable", "lost": "AnswerLost", "not_a_hub": "NotAHub"}
        for one in read("errors"):
            with self.subTest(one["body"], status=one["status"]):
                error, expect = refusal(one["status"], one["headers"], one["body"].encode()), one["expect"]
                if isinstance(error, Refused) and expect["kind"] == "refused":
                    self.assertEqual(error.code, expect["code"])
                    self.assertIs(type(error), BY_CODE.get(expect["code"], Refused))
                    self.assertEqual(error.task_status, expect.get("taskStatus"))
                    self.assertEqual(list(error.next_statuses), expect.get("nextStatuses", []))
                else:
                    self.assertEqual(type(error).__name__, kinds[expect["kind"]])
                self.assertEqual(getattr(error, "retry_after", None), expect.get("retryAfter"))

    def test_event_frames(self) -> None:
        for one in read("events"):
            frame, expect = parse_frame(one["frame"]), one["expect"]
            if isinstance(frame, Start):
                self.assertTrue(expect["connected"])
                self.assertEqual((frame.cursor, frame.epoch), (expect["cursor"], expect["epoch"]))
            else:
                self.assertIsInstance(frame, Event)
                names = ("cursor", "type", "taskId", "fromAgentId", "createdAt", "data")
                self.assertEqual(list(frame), [expect[name] for name in names])

    def test_names(self) -> None:
        for one in read("names")["names"]:
            self.assertEqual(folded(one["name"]), one["folded"], repr(one["name"]))


if __name__ == "__main__":
    unittest.main()
