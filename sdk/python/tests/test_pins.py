"""The rules of the pins at their edges. What several programs share is shown by the behaviour suite."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

from tandem_hub import Untrusted
from tandem_hub._pins import CONTENTS_MAX, NAMES_MAX, TASKS_MAX, UNSIGNED_MAX, PeerKey, Pins, Seen, forget
from tandem_hub._seal import PublicKey

KEYS = json.loads((Path(__file__).parents[2] / "vectors/keys.json").read_text(encoding="utf-8"))


def peer(agent: str, key: str = "ana", name: str = "Ana", alias: str | None = None) -> PeerKey:
    return PeerKey(agent, name, alias, PublicKey(KEYS[key]["public"]))


def task(name: str, party: str | None) -> list[str | None]:
    return [name, party]


class Rules(unittest.TestCase):
    """One test per rule."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "ada.pins"
        self.pins = Pins(self.path)

    def refused(self, code: str, pins: Pins, found: PeerKey) -> None:
        with self.assertRaises(Untrusted) as caught:
            pins.check(found)
        self.assertEqual(caught.exception.code, code)

    def test_a_key_is_pinned_once(self) -> None:
        self.pins.check(peer("agent_1"))
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o600)
        self.refused("key_changed", Pins(self.path), peer("agent_1", "bob"))
        self.pins.accept(peer("agent_1", "bob"))
        self.refused("key_changed", Pins(self.path), peer("agent_1"))
        Pins(self.path).check(peer("agent_1", "bob"))

    def test_another_agent_under_a_pinned_name_is_refused(self) -> None:
        self.pins.check(peer("agent_1", alias="partner"))
        self.refused("another_agent", self.pins, peer("agent_2", "bob", " ANA\u200b "))
        self.refused("another_agent", self.pins, peer("agent_2", "bob", "Partner"))
        self.pins.check(peer("agent_2", "bob", "Bob"))
        with self.assertRaises(Untrusted) as caught:
            self.pins.check_named("partner", "agent_2")
        self.assertEqual(caught.exception.code, "another_agent")
        self.pins.accept(peer("agent_2", "bob", "Ana"))
        with self.assertRaises(Untrusted) as caught:
            self.pins.check_named("ana", "agent_2")
        self.assertEqual(caught.exception.code, "same_name")
        self.assertIsNone(self.pins.name("agent_1"), "a name of two agents is the name of none")

    def test_an_agent_has_so_many_names(self) -> None:
        for number in range(NAMES_MAX + 5):
            self.pins.check(peer("agent_1", name=f"Ana {number}"))
        self.assertEqual(len(self.pins.known()["agents"]["agent_1"]["names"]), NAMES_MAX)

    def test_what_cannot_be_used_is_an_error_and_not_empty(self) -> None:
        self.pins.check(peer("agent_1"))
        text = self.path.read_text()
        for damaged in ("", "{}", "[]", text[:-3], text.replace('"tasks"', '"others"')):
            self.path.write_text(damaged)
            self.refused("pins", Pins(self.path), peer("agent_1"))
        self.path.write_text(text.replace(KEYS["ana"]["fingerprint"], "0" * 64))
        self.refused("pins", Pins(self.path), peer("agent_1"))
        self.path.write_text(text)
        self.path.chmod(0o640)
        self.refused("pins", Pins(self.path), peer("agent_1"))
        self.path.unlink()
        self.refused("pins", self.pins, peer("agent_2", "bob", "Bob"))
        self.assertFalse(self.path.exists())

    def test_the_other_party_of_a_task_stays(self) -> None:
        self.pins.remember("task_1", None)
        self.assertEqual(self.pins.task("task_1"), (True, None))
        self.pins.remember("task_1", "agent_1")
        with self.assertRaises(Untrusted) as caught:
            Pins(self.path).remember("task_1", "agent_2")
        self.assertEqual(caught.exception.code, "other_party")
        self.assertEqual(self.pins.task("task_2"), (False, None))

    def test_a_flood_of_tasks_forgets_its_own(self) -> None:
        agents = {"agent_bob": {"chosen": True}}
        tasks = [task(f"bob_{number}", "agent_bob") for number in range(500)]
        tasks += [task(f"other_{number}", f"agent_{number // 2}") for number in range(TASKS_MAX - 499)]
        forget(tasks, agents)
        self.assertEqual((len(tasks), sum(one[1] == "agent_bob" for one in tasks)), (TASKS_MAX, 500))
        unsigned = [task(f"task_{number}", None) for number in range(UNSIGNED_MAX + 1)]
        forget(unsigned, agents)
        self.assertEqual(unsigned[0][0], "task_1")

    def test_the_record_of_a_task_is_full_and_forgets_nothing(self) -> None:
        for seen in (Seen(None), Seen(self.path.with_suffix(".seen.d"))):
            entries = [(f"text {number}", "msg_1") for number in range(CONTENTS_MAX + 1)]
            outcomes = seen.record("task_1", entries, [])
            self.assertEqual(set(outcomes[:-1]), {None})
            self.assertEqual(outcomes[-1], "record_full")
            self.assertEqual(seen.record("task_1", [("text 0", "msg_2"), ("text 0", "msg_1")], []), ["repeated", None])
            self.assertEqual(seen.record("task_2", [("text 0", "msg_2")], []), [None])


if __name__ == "__main__":
    unittest.main()
