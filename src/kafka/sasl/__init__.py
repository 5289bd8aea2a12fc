"""kafka-python's folder of SASL mechanisms, from 2.1 to 2.3; they are chosen by the option `sasl_mechanism`."""
