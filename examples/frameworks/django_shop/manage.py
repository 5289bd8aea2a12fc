"""Django's command line for the shop: `python manage.py runserver`, `read_orders`, `announce_orders`.

pip install kafka-columnar django
python manage.py migrate
KAFKA_BOOTSTRAP_SERVERS=localhost:9092 python manage.py runserver
KAFKA_BOOTSTRAP_SERVERS=localhost:9092 python manage.py read_orders
curl -X POST localhost:8000/orders/ada/3
curl localhost:8000/orders/ada
"""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
    execute_from_command_line(sys.argv)
