"""One module for each command; its name is the name of the command."""
