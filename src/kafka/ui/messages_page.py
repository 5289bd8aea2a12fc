"""The page of messages: the form with its results, and links to older and newer ones.

`message_fields.py` has the form, `message_rows.py` the rows, `search.py` the search. The page is sent while the search
runs, so that results appear as they are found, and leaving the page ends the search.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from kafka.consumer.bounds import WHERE_TOPICS_ARE
from kafka.display.page_elements import Html, html, joined, link
from kafka.errors import KafkaError, UnknownTopicOrPartitionError, error_text
from kafka.ui.message_fields import error_of, form, page_link, parse_search, places_text, way_of
from kafka.ui.message_rows import HEAD, rows_of
from kafka.ui.missing import Missing, similar_links, topic_names
from kafka.ui.page_frame import frame, trouble
from kafka.ui.search import Progress, Search
from kafka.ui.shared_state import Ui
from kafka.ui.when import zone_named

_FORMATS = (("JSON Lines", "jsonl"), ("CSV", "csv"), ("Parquet", "parquet"))


async def messages_page(ui: Ui, given: Mapping[str, str]) -> AsyncGenerator[Html]:
    """Yield the form, and then results as they are found, so that the browser can show them and stop the search."""
    await ui.poller.snapshot()  # for the header
    around = frame(ui, "Messages", "/messages")
    yield around.start
    yield await form(ui, given, "messages", "Search")
    if given.get("topic", "").strip():
        try:
            search = parse_search(ui, given)
            async with aclosing(_results(ui, search, given)) as parts:
                async for part in parts:
                    yield part
        except (TypeError, OverflowError, KafkaError) as error:
            yield trouble(error_text(error))
        except ValueError as error:
            yield error_of(error)
    else:
        yield Html('<p class="quiet">Enter a topic to see its newest messages.</p>')
    yield around.end


async def _results(ui: Ui, search: Search, given: Mapping[str, str]) -> AsyncGenerator[Html]:
    progress, failed, way = Progress(), "", way_of(given)
    zone = zone_named(given.get("zone", "").strip())
    yield _actions(ui, search, given)
    region = Html('<div class="wide messages" tabindex="0" role="region" aria-label="Messages found">')
    head, is_begun = html("{}<table>{}<tbody>", region, HEAD), False
    try:
        async with aclosing(ui.searches.run(search, progress, ui.registry)) as batches:
            async for records in batches:
                yield html("{}{}", "" if is_begun else head, await rows_of(ui, search.topic, records, way, zone))
                is_begun = True
    except UnknownTopicOrPartitionError as error:
        text = error_text(error).replace(WHERE_TOPICS_ARE, "see the Topics page")
        yield joined([trouble(text), _similar(ui, search)])
        return
    except (KafkaError, TypeError, ValueError, OverflowError) as error:
        failed = error_text(error).replace(WHERE_TOPICS_ARE, "see the Topics page")
    told = trouble(failed) or joined([_summary(search, progress), _pages(progress, given)])
    if is_begun or not failed:
        yield html("{}</tbody></table></div>", "" if is_begun else head)
    yield told


def _similar(ui: Ui, search: Search) -> Html:
    """Return links to the messages of topics with a similar name."""
    return similar_links(Missing("", "topics", "/", "/messages", "topic", search.topic, topic_names(ui)))


def _actions(ui: Ui, search: Search, given: Mapping[str, str]) -> Html:
    """Return the links to what else can be done with this search."""
    download = joined((page_link(name, "/download", given, format=kind) for name, kind in _FORMATS), " · ")
    more = [page_link("Follow new messages", "/tail", given), html("Download {}", download)]
    if ui.may_write:
        more.append(link("Produce a message", "/produce", topic=search.topic))
    return html('<p class="actions">{}</p>', joined((html("<span>{}</span>", each) for each in more), " "))


def _pages(progress: Progress, given: Mapping[str, str]) -> Html:
    """Return the links to older and newer messages."""
    links = []
    if progress.has_newer:
        ends = {number: each.end for number, each in progress.edges.items()}
        links.append(page_link("← Newer", "/messages", given, after=places_text(ends)))
    if progress.has_older:
        starts = {number: each.start for number, each in progress.edges.items()}
        links.append(page_link("Older →", "/messages", given, before=places_text(starts)))
    return html('<p class="pages" role="navigation" aria-label="Pages of messages">{}</p>', joined(links, " "))


def _summary(search: Search, progress: Progress) -> Html:
    text = f"{progress.found:,} found; {progress.looked_at:,} records of {progress.offsets:,} offsets were searched"
    order = "newest" if search.is_newest_first else "oldest"
    if progress.ended:
        onward = "continue with Older or Newer, or narrow it with a time or a partition"
        text += f". The search ended early: {progress.ended}; {onward}"
    elif not search.filters and search.start is None:
        text += f": the {'newest' if search.is_backwards else 'next'} records, {order} first"
    return html('<p class="note" role="status">{}.</p>', text)
