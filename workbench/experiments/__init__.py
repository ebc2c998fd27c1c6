"""Many runs put side by side: does every strategy train the same model?"""

from .matrix import Cell, Matrix, cells_of, run_matrix

__all__ = ["Cell", "Matrix", "cells_of", "run_matrix"]
