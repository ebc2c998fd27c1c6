"""The view of the script: opened, saved, compared."""
