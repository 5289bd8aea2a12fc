"""The page for Spark's streaming queries: lag, rates and durations over time."""

from collections.abc import Sequence

from kafka.display.page_elements import Html, count, html, joined, rate, time
from kafka.ui.charts import chart
from kafka.ui.page_frame import live_address, live_page, trouble
from kafka.ui.shared_state import Ui
from kafka.ui.spark_log import Batch
from kafka.ui.tables import Column, Columns, Table

_Query = tuple[str, Sequence[Batch]]
"""The name of a query, and its batches."""
_COLUMNS: Columns[_Query] = (
    Column("query", lambda each: each[0], lambda each: each[0]),
    Column("last batch", lambda each: count(each[1][-1].number), lambda each: each[1][-1].number, is_number=True),
    Column("time", lambda each: time(round(each[1][-1].time * 1000)), lambda each: each[1][-1].time),
    Column("rows", lambda each: count(each[1][-1].rows), lambda each: each[1][-1].rows, is_number=True),
    Column(
        "input rate",
        lambda each: rate(each[1][-1].input_rate, " rows/s"),
        lambda each: each[1][-1].input_rate,
        is_number=True,
        note="Rows that arrived per second",
    ),
    Column(
        "processing rate", lambda each: rate(each[1][-1].rate, " rows/s"), lambda each: each[1][-1].rate, is_number=True
    ),
    Column("duration", lambda each: f"{each[1][-1].seconds:.2f} s", lambda each: each[1][-1].seconds, is_number=True),
    Column("lag", lambda each: count(each[1][-1].lag), lambda each: each[1][-1].lag, is_number=True),
    Column(
        "lost",
        lambda each: count(each[1][-1].lost or None),
        lambda each: each[1][-1].lost,
        is_number=True,
        note="Records that were deleted before they were read",
    ),
)
_TABLE = Table("Queries", _COLUMNS, lambda each: each[0], sort="query", empty="The file contains no query yet.")


async def spark_page(ui: Ui) -> Html:
    """Return the page that shows all queries."""
    return live_page(ui, "Spark queries", "/spark", await spark_part(ui), live_address(ui, "spark"), of_cluster=False)


async def spark_part(ui: Ui) -> Html:
    """Return the live part of the page."""
    if ui.spark is None:
        return html(
            "<p>Start <code>kafka ui --spark PATH</code> with the file that "
            "<code>kafka.spark.watch(spark, json_lines=PATH)</code> writes, and its queries are shown here.</p>"
        )
    queries, failed = {}, ""
    try:
        queries = dict(sorted((await ui.read_spark()).items()))
    except OSError as error:
        failed = str(error)
    unread = (
        f"{ui.spark.unread} lines of {ui.spark.path.name} are not reports of kafka.spark.watch"
        if ui.spark.unread
        else ""
    )
    lags = {
        name: [(each.time, each.lag) for each in batches if each.lag is not None] for name, batches in queries.items()
    }
    rates = {
        name: [(each.time, each.rate) for each in batches if each.rate is not None] for name, batches in queries.items()
    }
    took = {name: [(each.time, each.seconds) for each in batches] for name, batches in queries.items()}
    return joined(
        [
            trouble(failed),
            trouble(unread),
            _TABLE.html(queries.items()),
            chart("Lag", lags, "records", is_whole=True),
            chart("Rate", rates, "rows/s"),
            chart("Duration of micro-batches", took, "seconds"),
        ]
    )
