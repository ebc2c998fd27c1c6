"""Small parts that the views are made of."""
