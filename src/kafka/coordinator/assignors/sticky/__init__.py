"""The sticky assignor (KIP-54): balanced, and members keep as many of their partitions as possible."""
