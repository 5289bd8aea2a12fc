"""Notebooks in a kernel of Jupyter: what cells show, and what an interrupted cell leaves to the next one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import missing
from harness.frameworks import frameworks_environment
from harness.pins import PinsError
from kafka.broker import EmbeddedBroker

NOTEBOOK = Path(__file__).resolve().parents[3] / "examples" / "frameworks" / "notebook.ipynb"
PATIENCE_S = 200
RUN = """
import json, sys
import nbformat
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(book, timeout=150, kernel_name="ours").execute()
print(json.dumps([cell.outputs for cell in book.cells if cell.cell_type == "code"]))
"""
INTERRUPT = """
import json, os, queue, sys
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name="ours", startup_timeout=150)
def ran(code, interrupt=False):
    '''What a cell has printed, and the name of what it has raised; it is interrupted once it has printed "now".'''
    asked = client.execute(code)
    printed, raised = "", None
    while True:
        message = client.get_iopub_msg(timeout=150)
        kind, content = message["msg_type"], message["content"]
        if message["parent_header"].get("msg_id") != asked:
            continue
        if kind == "stream":
            printed += content["text"]
            if interrupt and "now" in printed:
                manager.interrupt_kernel()
                interrupt = False
        elif kind == "error":
            raised = content["ename"]
        elif kind == "status" and content["execution_state"] == "idle":
            client.get_shell_msg(timeout=150)
            return printed.replace("now\\n", ""), raised
try:
    print(json.dumps([ran(code, interrupt) for code, interrupt in json.loads(sys.argv[1])]))
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""
WIDGETS = (
    """
import os, signal, threading
import kafka.notebook
from kafka import KafkaConsumer, KafkaProducer
servers = dict(bootstrap_servers=os.environ["KAFKA_BOOTSTRAP_SERVERS"])
producer = KafkaProducer(**servers)
for number in range(10):
    producer.send("t", b"%d" % number).get(60)
with KafkaConsumer("t", group_id="g", auto_offset_reset="earliest", **servers) as consumer:
    next(consumer)
def until(widget, total):
    reached = threading.Event()
    def look(change):
        if widget.total is not None and widget.total >= total:
            reached.set()
    widget.observe(look, "data")
    look(None)
    print(reached.wait(60), widget.state)
lag = kafka.notebook.LagWidget("g", interval_s=0.1, **servers)
lag
""",
    "until(lag, 9)\n[lag.data['rows'], [len(part) > 0 for part in lag.data['segments']]]",
    "os.kill(os.getpid(), signal.SIGINT)\nsignal.pause()",  # stops the cell, not the widget
    "producer.send('t', b'10').get(60)\nuntil(lag, 10)",
    """
rate = kafka.notebook.RateWidget(["t", "<b>none</b>"], interval_s=0.1, **servers)
until(rate, 0)
rate.data["note"]
""",
    """
lag._on_message(lag, {"kind": "shown"}, [])
lag._on_message(lag, {"kind": "hidden"}, [])
print([each.name for each in threading.enumerate() if each.name == "kafka-notebook"])
""",
    """
lag.start()
lag.stop()
lag.stop()
rate.close()
producer.close()
print(lag.state)
print([each.name for each in threading.enumerate() if each.name == "kafka-notebook"])
""",
    "left = kafka.notebook.LagWidget('g', **servers)",  # the kernel ends while it runs
)
"""Cells with live widgets; the third is interrupted."""
RUN_CELLS = """
import json, sys
import nbformat
from nbclient import NotebookClient
cells = [nbformat.v4.new_code_cell(code) for code in json.loads(sys.argv[1])]
book = nbformat.v4.new_notebook(cells=cells)
client = NotebookClient(book, timeout=150, kernel_name="ours", allow_errors=True)
client.execute()
print(json.dumps([[cell.outputs for cell in book.cells], book.metadata.get("widgets", {})]))
"""
BEGIN = """
import os, signal
import pyarrow as pa
import kafka
from kafka import AsyncKafkaConsumer, KafkaConsumer, KafkaProducer
servers = dict(bootstrap_servers=os.environ["KAFKA_BOOTSTRAP_SERVERS"])
reading = dict(auto_offset_reset="earliest", **servers)
tp = kafka.TopicPartition("t", 0)
def pause(done, total):
    if done:
        print("now")
        signal.pause()
producer = KafkaProducer(**servers)
for number in range(10):
    producer.send("t", b"%d" % number).get(60)
consumer = KafkaConsumer("t", group_id="g", **reading)
seen = []
"""

CELLS = (
    (BEGIN, False, ""),
    # Iteration is interrupted where it waits for the eleventh record.
    (
        "for record in consumer:\n    seen.append(record.offset)\n    if record.offset == 9:\n        print('now')",
        True,
        "",
    ),
    ("producer.send('t', b'10').get(60)\nseen.append(next(consumer).offset)\nprint(seen)", False, str([*range(11)])),
    ("print('now')\nwhile True:\n    consumer.poll(600_000)", True, ""),
    ("producer.send('t', b'11').get(60)\nprint([each.offset for each in consumer.poll(60_000)[tp]])", False, "[11]"),
    # In the body of a loop, whose record was handed out.
    ("again = KafkaConsumer('t', **reading)\nfor record in again:\n    print('now')\n    signal.pause()", True, ""),
    ("print(record.offset, next(again).offset)", False, "0 1"),
    # What was taken of a table is sent, and what comes later follows it.
    ("table = pa.table({'value': [f'{n}' for n in range(200_000)]})", False, ""),
    ("producer.send_arrow('rows', table, progress=pause)", True, ""),
    ("producer.flush()\ntaken = kafka.read('rows', **servers).to_arrow()['value'].to_pylist()", False, ""),
    ("print(0 < len(taken) < 200_000, taken == [b'%d' % n for n in range(len(taken))])", False, "True True"),
    ("producer.send_arrow('rows', table.slice(len(taken))).get(60)", False, ""),
    ("kafka.read('rows', progress=pause, **servers).to_arrow()", True, ""),
    ("print(kafka.read('rows', **servers).to_arrow().num_rows)", False, "200000"),
    # Cells may await.
    (
        "there = AsyncKafkaConsumer('t', **reading)\nawait there.start()\nprint((await there.getone()).offset)",
        False,
        "0",
    ),
    ("there.seek_to_end()\nprint(await there.position(tp))", False, "12"),
    ("print('now')\nawait there.getone()", True, ""),
    ("producer.send('t', b'12').get(60)\nprint((await there.getone()).offset)\nawait there.stop()", False, "12"),
    ("for client in consumer, again, producer:\n    client.close()", False, ""),
)
"""Code, whether it is interrupted once it has printed "now", and what it prints besides."""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Where Jupyter is found, with a kernel of this interpreter and settings of its own."""
    try:
        found = frameworks_environment()
    except PinsError as error:
        missing(str(error))
        raise
    kernel = tmp_path / "data" / "kernels" / "ours"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "ours", "language": "python"}))
    folders = {
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "MPLCONFIGDIR": str(tmp_path / "matplotlib"),
    }
    return found | folders


def run(code: str, argument: str, environment: dict[str, str], servers: str) -> Any:
    """What a program prints last, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code, argument],
        env=environment | {"KAFKA_BOOTSTRAP_SERVERS": servers},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_notebook_runs_and_shows_tables_and_pictures(environment: dict[str, str], tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "broker", group_initial_rebalance_delay_ms=0) as broker:
        outputs = run(RUN, str(NOTEBOOK), environment, broker.bootstrap_servers)
    shown = [each["data"] for cell in outputs for each in cell if "data" in each]
    kinds = [sorted(set(each) & {"text/html", "image/png"}) for each in shown]
    html, png, text = ["text/html"], ["image/png"], list[str]()
    #        producer, sent, topic, read, polled, record, consumer, lag, lag of the group, group
    assert kinds == [html, text, html, html, html, html, html, png, png, html]
    assert "readings" in shown[2]["text/html"]
    assert "sensor-" in shown[4]["text/html"]
    assert "notebook" in shown[9]["text/html"]
    assert "3 of" not in shown[3]["text/html"]
    assert "all 3 shown" in shown[3]["text/html"]
    assert "value: bytes" in shown[3]["text/html"]


def test_an_interrupted_cell_loses_nothing(environment: dict[str, str], tmp_path: Path) -> None:
    cells = [(code, interrupt) for code, interrupt, _ in CELLS]
    with EmbeddedBroker(tmp_path / "broker", group_initial_rebalance_delay_ms=0) as broker:
        ran = run(INTERRUPT, json.dumps(cells), environment, broker.bootstrap_servers)
    for (printed, raised), (code, interrupt, expected) in zip(ran, CELLS, strict=True):
        assert (raised in ("KeyboardInterrupt", "CancelledError")) if interrupt else raised is None, (code, raised)
        assert printed.strip() == expected, code


def test_widgets_follow_a_group_and_end(environment: dict[str, str], tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "broker", group_initial_rebalance_delay_ms=0) as broker:
        outputs, widgets = run(RUN_CELLS, json.dumps(WIDGETS), environment, broker.bootstrap_servers)
    printed = ["".join(each.get("text", "") for each in cell if each.get("name") == "stdout") for cell in outputs]
    shown = [[each["data"] for each in cell if "data" in each] for cell in outputs]
    assert "application/vnd.jupyter.widget-view+json" in shown[0][0]
    assert "Lag of g" in shown[0][0]["text/plain"]
    assert printed[1] == "True live\n"
    assert shown[1][0]["text/plain"] == "[[['t-0', 9]], [True]]"
    assert [each["ename"] for each in outputs[2]] == ["KeyboardInterrupt"]
    assert printed[3] == "True live\n"
    assert printed[4].startswith("True")
    assert "<b>none</b>" in shown[4][0]["text/plain"]
    assert printed[5] == "['kafka-notebook']\n"  # the rate's alone: nobody looks at the lag
    assert printed[6] == "stopped\n[]\n"
    assert [cell for cell in outputs[7] if cell["output_type"] == "error"] == []
    (state,) = widgets.values()
    models = [each["state"] for each in state["state"].values()]
    assert any("render" in each.get("_esm", "") for each in models)
