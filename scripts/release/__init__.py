"""What is published: built here, byte for byte the same each time, and tried as a user would install it.

``python -m scripts.release`` is `make release-check`, all of a release but the upload.
"""
