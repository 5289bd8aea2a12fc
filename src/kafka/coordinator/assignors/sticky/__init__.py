"""The sticky assignor (KIP-54): balanced, and each member keeps as much as it can of what it had."""
