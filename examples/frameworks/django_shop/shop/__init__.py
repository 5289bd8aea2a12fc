"""The only application of the shop: takes orders, announces them in a topic, and reads the topic."""
