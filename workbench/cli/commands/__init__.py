"""The commands, a module each: a few calls, and what is printed."""
