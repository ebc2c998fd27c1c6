"""The commands, one module each: a few calls, and the printed output."""
