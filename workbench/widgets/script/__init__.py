"""The view that shows, opens, saves and compares scripts."""
