"""Changes of topics and groups: a preview first, then what was previewed, with roles, form tokens and an audit log."""

import asyncio
import html
import json
import pathlib
import re
from collections.abc import AsyncIterator, Callable
from urllib.parse import quote_plus

import pytest

from kafka.admin import ConfigResource, OffsetSpec
from kafka.broker import EmbeddedBroker
from kafka.display.page_elements import Html
from kafka.errors import KafkaTimeoutError
from kafka.structs import OffsetAndMetadata, TopicPartition
from kafka.ui import submissions
from kafka.ui.access import gate
from kafka.ui.access.settings import AccessSettings
from kafka.ui.access.user import Role, User
from kafka.ui.snapshot import Snapshot
from kafka.ui.web_server import _CHANGES
from unit.ui.ui_support import HOSTILE, Pages, pages_of, rows_of, settings, text_of

pytestmark = pytest.mark.once


@pytest.fixture
def log(tmp_path: pathlib.Path) -> pathlib.Path:
    """The file of the audit log."""
    return tmp_path / "audit"


@pytest.fixture
async def writing(broker: EmbeddedBroker, log: pathlib.Path) -> AsyncIterator[Pages]:
    """A UI that allows writes."""
    given = settings(broker.bootstrap_servers, allow_writes=True, access=AccessSettings(audit_log=log))
    async with pages_of(given) as made:
        yield made


def entries(log: pathlib.Path) -> list[tuple[str, str]]:
    return [(each["action"], each["result"]) for each in map(json.loads, log.read_text().splitlines())]


async def submit(pages: Pages, page: str, path: str, **fields: str) -> str:
    """Send the form of a page that goes to a path, as a browser does."""
    for action, content in re.findall(r'<form method="post" action="([^"]*)">(.*?)</form>', page, re.DOTALL):
        if html.unescape(action).startswith(path):
            hidden = {
                name: html.unescape(value)
                for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', content)
            }
            return await pages.post("/" + html.unescape(action), **{**hidden, **fields})
    raise AssertionError(f"no form for {path} in {page}")


async def ends(pages: Pages, topic: str, spec: OffsetSpec = OffsetSpec.LATEST) -> list[int]:
    (described,) = await pages.ui.admin.describe_topics([topic])
    places = [TopicPartition(topic, each["partition"]) for each in described["partitions"]]
    found = await pages.ui.admin.list_partition_offsets(dict.fromkeys(places, spec))
    return [found[tp].offset for tp in sorted(places)]


async def test_a_config_is_previewed_changed_and_returned_to_its_default(
    writing: Pages, topic: Callable[..., str], log: pathlib.Path
) -> None:
    name = topic(b"v")

    async def config() -> str:
        resource = ConfigResource("TOPIC", name)
        found = await writing.ui.admin.describe_configs([resource], config_filter="all")
        return str(found["topic"][name]["retention.ms"]["value"])

    usual = await config()
    page = await writing.get("/topic", name=name)
    preview = await submit(writing, page, "change-config", config="retention.ms", value="1234567")
    assert rows_of(preview, "Configs") == [["retention.ms", f"{usual} (default)", "1234567"]]
    assert await config() == usual
    done = await submit(writing, preview, "change-config")
    assert f"retention.ms of {name} was changed" in text_of(done)
    assert await config() == "1234567"
    preview = await submit(writing, page, "change-config", config="retention.ms", value="")
    await submit(writing, preview, "change-config")
    assert await config() == usual
    for wrong, told in (
        ({"config": "retention.ms", "value": "soon"}, "Nothing was changed"),
        ({"config": HOSTILE, "value": "1"}, "expected the name of a topic config"),
        ({"config": "", "value": "1"}, "expected the name of a topic config"),
    ):
        page = await writing.post(f"/change-config?name={name}", **wrong)
        assert told in text_of(page)
        assert "<img" not in page
    assert entries(log) == [("change config", "done")] * 2


async def test_partitions_are_added(writing: Pages, topic: Callable[..., str], log: pathlib.Path) -> None:
    name = topic(b"v")
    page = await writing.get("/topic", name=name)
    preview = await submit(writing, page, "add-partitions", partitions="3")
    assert "partitions cannot be removed" in text_of(preview)
    assert len(await ends(writing, name)) == 1
    assert "has 3 partitions" in text_of(await submit(writing, preview, "add-partitions"))
    assert len(await ends(writing, name)) == 3
    assert len(rows_of(await writing.get("/topic", name=name), "Partitions")) == 3, "the next page has them already"
    for wrong in ("2", "many", "-1", "", "9" * 12):
        assert "Nothing was changed" in await writing.post(f"/add-partitions?name={name}", partitions=wrong)
    assert entries(log) == [("add partitions", "done")]


async def test_records_before_the_offsets_of_the_preview_are_deleted(
    writing: Pages, topic: Callable[..., str], broker: EmbeddedBroker, log: pathlib.Path
) -> None:
    name = topic(*[b"v"] * 20, partitions=2)
    page = await writing.get("/topic", name=name)
    preview = await submit(writing, page, "delete-records", before="4", partition="1")
    assert rows_of(preview, "Deleted records") == [["1", "0", "4", "4"]]
    assert await ends(writing, name, OffsetSpec.EARLIEST) == [0, 0]
    wrong = await submit(writing, preview, "delete-records", typed="something")
    assert f"type the name {name} to confirm" in text_of(wrong)
    assert await ends(writing, name, OffsetSpec.EARLIEST) == [0, 0]
    assert "were deleted" in text_of(await submit(writing, wrong, "delete-records", typed=name))
    assert await ends(writing, name, OffsetSpec.EARLIEST) == [0, 4]
    preview = await submit(writing, page, "delete-records", before="2023-11-14T22:13:20.006Z")  # the records' times
    assert rows_of(preview, "Deleted records") == [["0", "0", "3", "3"], ["1", "4", "4", "0"]] or rows_of(
        preview, "Deleted records"
    ) == [["0", "0", "3", "3"], ["1", "4", "3", "0"]]
    preview = await submit(writing, page, "delete-records", before="latest")
    assert "were deleted" in text_of(await submit(writing, preview, "delete-records", typed=name))
    assert await ends(writing, name, OffsetSpec.EARLIEST) == [10, 10]
    for fields in (
        {"before": ""},
        {"before": HOSTILE},
        {"before": "earliest"},
        {"before": "latest"},
        {"before": "3", "partition": "7"},
        {"confirmed": "yes", "typed": name},
        {"confirmed": "yes", "typed": name, "offsets": "0:-1"},
        {"confirmed": "yes", "typed": name, "offsets": "0:1:2 x"},
        {"confirmed": "yes", "typed": name, "offsets": "7:1"},
    ):
        page = await writing.post(f"/delete-records?name={name}", **fields)
        assert "Nothing was changed" in text_of(page), fields
        assert "<img" not in page
    assert entries(log) == [("delete records", "done")] * 2 + [("delete records", "failed")] * 4


async def test_a_topic_is_deleted_if_its_name_is_typed(
    writing: Pages, topic: Callable[..., str], log: pathlib.Path
) -> None:
    name = topic(*[b"v"] * 3)
    await writing.ui.admin.alter_group_offsets(f"of-{name}", {TopicPartition(name, 0): OffsetAndMetadata(1, "", None)})
    preview = await submit(writing, await writing.get("/topic", name=name), "delete-topic")
    assert f"groups that read it of-{name}" in text_of(preview)
    assert f'<a href="topic?name={name}">Cancel</a>' in preview
    for typed in ("", name.upper(), f"{name} "):
        preview = await submit(writing, preview, "delete-topic", typed=typed)
        assert name in await writing.ui.admin.list_topics()
    assert "was deleted" in text_of(await submit(writing, preview, "delete-topic", typed=name))
    assert name not in await writing.ui.admin.list_topics()
    await writing.get("/topic", 404, name=name)
    page = await writing.post(f"/delete-topic?name={name}", confirmed="yes", typed=name)
    assert "there is no topic" in text_of(page)
    assert entries(log) == [("delete topic", "done"), ("delete topic", "failed")]


async def test_a_change_without_an_answer_may_have_taken_effect(
    writing: Pages, topic: Callable[..., str], log: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic(b"v")
    preview = await writing.post(f"/delete-topic?name={name}")

    async def silent(*_: object, **__: object) -> None:
        raise KafkaTimeoutError("no answer in 30 s")

    monkeypatch.setattr(writing.ui.admin, "delete_topics", silent)
    page = text_of(await submit(writing, preview, "delete-topic", typed=name))
    assert "The cluster did not confirm the change, which may have taken effect: no answer in 30 s" in page
    assert "Nothing was changed" not in page
    assert entries(log) == [("delete topic", "failed")]


async def test_internal_topics_are_not_changed(writing: Pages, topic: Callable[..., str]) -> None:
    name = topic(b"v")
    await writing.ui.admin.alter_group_offsets("internal", {TopicPartition(name, 0): OffsetAndMetadata(1, "", None)})
    await writing.ui.admin.create_topics({"__ours": {"num_partitions": 1}}, wait_for_metadata=True)
    await writing.ui.poller.refreshed()
    page = await writing.get("/topic", name="__ours")
    assert "change-config" in page
    assert "delete-topic" not in page
    for path in ("/delete-topic", "/delete-records", "/add-partitions"):
        fields = {"confirmed": "yes", "typed": "__ours", "before": "1", "partitions": "9", "offsets": "0:1"}
        assert "is internal" in text_of(await writing.post(f"{path}?name=__ours", **fields))


async def test_a_group_without_members_is_deleted(writing: Pages, topic: Callable[..., str], log: pathlib.Path) -> None:
    name, group = topic(b"v"), f"g{HOSTILE}"
    for each in (group, "line\nbreak"):
        await writing.ui.admin.alter_group_offsets(each, {TopicPartition(name, 0): OffsetAndMetadata(0, "", None)})
    for each in (group, "line\nbreak"):
        page = await writing.get("/group", id=each)
        preview = await submit(writing, page, "delete-group")
        assert "<img" not in preview
        assert f'<a href="group?id={quote_plus(each)}">Cancel</a>' in preview
        assert each in [listed["group_id"] for listed in await writing.ui.admin.list_groups()]
        assert "was deleted" in text_of(await submit(writing, preview, "delete-group", typed=each))
        assert each not in [listed["group_id"] for listed in await writing.ui.admin.list_groups()]
    assert "there is no group 'nobody'" in text_of(await writing.post("/delete-group?name=nobody", confirmed="yes"))
    assert entries(log) == [("delete group", "done")] * 2 + [("delete group", "failed")]


@pytest.mark.parametrize("path", [each[0] for each in _CHANGES])
async def test_viewers_other_sites_and_forged_forms_change_nothing(
    writing: Pages,
    pages: Pages,
    topic: Callable[..., str],
    log: pathlib.Path,
    path: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = topic(b"v")
    fields = {"confirmed": "yes", "typed": name, "config": "retention.ms", "value": "1", "partitions": "5"}
    fields |= {"offsets": "0:1", "before": "1"}
    assert "Refused" in await writing.post(f"{path}?name={name}", 403, token="forged", **fields)
    assert "another site" in await writing.post(
        f"{path}?name={name}", 403, {"origin": "http://attacker.example"}, **fields
    )
    assert (await writing.browser.get(f"{path}?name={name}&confirmed=yes&typed={name}")).status_code in (404, 405)
    assert (await pages.browser.post(f"{path}?name={name}", data=fields)).status_code == 404, "a read-only UI"
    monkeypatch.setattr(gate, "ANYONE", User("eve", Role.VIEWER, "none"))
    assert "may only read" in await writing.post(f"{path}?name={name}", 403, **fields)
    assert "change-config" not in await writing.get("/topic", name=name)
    assert await ends(writing, name, OffsetSpec.EARLIEST) == [0]
    assert {result for _, result in entries(log)} == {"refused"}


@pytest.mark.parametrize("change", ["delete-topic", "delete-records", "add-partitions"])
async def test_a_preview_is_of_one_topic_and_not_of_a_later_one_with_its_name(
    writing: Pages, topic: Callable[..., str], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = topic(*[b"v"] * 3)
    previewed = {"delete-topic": {}, "delete-records": {"before": "2"}, "add-partitions": {"partitions": "3"}}[change]
    preview = await writing.post(f"/{change}?name={name}", **previewed)
    known = writing.ui.poller.newest

    async def late() -> Snapshot | None:
        return known

    monkeypatch.setattr(writing.ui.poller, "refreshed", late)  # as with a slow cluster
    await writing.ui.admin.delete_topics([name])
    await writing.ui.admin.create_topics({name: {"num_partitions": 1}}, wait_for_metadata=True)
    page = text_of(await submit(writing, preview, change, typed=name))
    assert f"topic {name} was deleted, or created again, after the preview" in page
    assert len(await ends(writing, name)) == 1


async def test_two_operators_do_not_overwrite_each_others_configs_unseen(
    writing: Pages, topic: Callable[..., str], log: pathlib.Path
) -> None:
    name = topic(b"v")
    address, wanted = f"/change-config?name={name}", {"config": "retention.ms"}
    first, second = [await writing.post(address, **wanted, value=value) for value in ("1000", "2000")]
    await submit(writing, first, "change-config")
    page = text_of(await submit(writing, second, "change-config"))
    assert "Nothing was changed: retention.ms was changed to '1000' after the preview" in page
    found = await writing.ui.admin.describe_configs([ConfigResource("TOPIC", name)], config_filter="all")
    assert found["topic"][name]["retention.ms"]["value"] == "1000"
    assert entries(log) == [("change config", "done"), ("change config", "failed")]


async def test_a_confirmation_that_is_sent_twice_takes_effect_once_and_tells_so_twice(
    writing: Pages, topic: Callable[..., str], log: pathlib.Path
) -> None:
    name = topic(b"v")
    preview = await writing.post(f"/delete-topic?name={name}")
    wrong = await submit(writing, preview, "delete-topic", typed="wrong")
    assert "Nothing was changed" in wrong
    for page in (preview, preview):
        told = text_of(await submit(writing, page, "delete-topic", typed=name))
        assert f"Topic {name} was deleted" in told
    assert entries(log) == [("delete topic", "done")]


async def test_a_change_goes_on_without_its_request_and_is_in_the_audit_log_even_if_it_is_cut_short(
    writing: Pages, topic: Callable[..., str], log: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def slow(*_: object, **__: object) -> None:
        begun.set()
        await may_end.wait()

    monkeypatch.setattr(writing.ui.admin, "delete_topics", slow)
    for end in ("done", "failed"):
        name = topic(b"v")
        preview = await writing.post(f"/delete-topic?name={name}")
        begun.clear()
        may_end.clear()
        request = asyncio.create_task(submit(writing, preview, "delete-topic", typed=name))
        await begun.wait()
        request.cancel()
        await asyncio.wait({request})
        assert request.cancelled()
        (change,) = (task for task in writing.ui.submissions._results.values() if not task.done())
        if end == "done":
            may_end.set()
        else:
            change.cancel()  # the server stops
        await asyncio.wait({change})
        assert entries(log)[-1] == ("delete topic", end)
    assert "may have taken effect" in json.loads(log.read_text().splitlines()[-1])["error"]


def test_a_limited_number_of_results_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "_MOST", 3)
    kept = submissions.Submissions()
    made = []

    async def make() -> tuple[Html, bool]:
        made.append(1)
        return Html("page"), True

    async def main() -> None:
        for number in (1, 2, 3, 4, 4, 1):
            await kept.once("/path", {submissions.FIELD: str(number)}, make)

    asyncio.run(main())
    assert (len(made), len(kept._results)) == (5, 3)


@pytest.mark.parametrize(("size", "number"), [(1_000, 9), (100_000, 3), (1_000_000, 1)])
def test_results_are_kept_in_limited_memory_and_the_newest_in_any_case(
    monkeypatch: pytest.MonkeyPatch, size: int, number: int
) -> None:
    monkeypatch.setattr(submissions, "_MOST_BYTES", 301_000)
    kept = submissions.Submissions()
    made = []

    async def make() -> tuple[Html, bool]:
        made.append(1)
        return Html("x" * size), True

    async def main() -> None:
        for each in (*range(9), 8):
            await kept.once("/path", {submissions.FIELD: str(each)}, make)

    asyncio.run(main())
    assert (len(made), len(kept._results)) == (9, number)
    assert kept._sizes.keys() == kept._results.keys()
