"""What becomes of batches: decisions about answers, and the futures and callbacks that are told."""
