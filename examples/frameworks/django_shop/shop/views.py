"""Views of the shop. They only use the database; signals and the command `read_orders` connect it to Kafka."""

from django.db import transaction
from django.db.models import Sum
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from shop.models import Order, ReceivedOrder


@csrf_exempt
@require_POST
@transaction.atomic
def take(request: HttpRequest, customer: str, amount: int) -> JsonResponse:
    if amount == 0:
        return JsonResponse({"error": "expected an amount of at least 1, found 0"}, status=400)
    order = Order.objects.create(customer=customer, amount=amount)
    if amount > 1000:
        transaction.set_rollback(True)  # neither the row nor a record: the record is sent after the commit
        return JsonResponse({"error": f"expected an amount of at most 1000, found {amount}"}, status=409)
    return JsonResponse({"order": order.pk}, status=201)


@require_GET
def total(request: HttpRequest, customer: str) -> JsonResponse:
    found = ReceivedOrder.objects.filter(customer=customer).aggregate(total=Sum("amount", default=0))
    return JsonResponse(found)
