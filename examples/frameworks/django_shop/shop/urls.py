"""The shop's URLs: POST takes an order, GET gives what a customer has ordered according to the topic."""

from django.urls import path

from shop import views

urlpatterns = [path("orders/<str:customer>/<int:amount>", views.take), path("orders/<str:customer>", views.total)]
