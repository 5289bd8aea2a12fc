"""What makes a worker process cheap to use again."""

import subprocess
import sys


def test_what_outlives_the_first_task_is_left_out_of_collections():
    code = (
        "import gc; from kafka.spark.worker import begin_task\n"
        "class Node: pass\n"
        "stays = Node(); stays.self = stays\n"
        "begin_task(); print(gc.get_freeze_count())\n"
        "begin_task(); print(any(each is stays for each in gc.get_objects()), gc.get_freeze_count() > 1000)\n"
        "frozen = gc.get_freeze_count(); begin_task(); print(gc.get_freeze_count() <= frozen)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split("\n") == ["0", "False True", "True", ""]
