"""Small parts of which the views are made."""
