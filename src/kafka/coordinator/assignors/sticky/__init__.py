"""The sticky assignor (KIP-54): assignments are balanced, and members keep as many of their partitions as possible."""
