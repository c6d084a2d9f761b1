"""Weights of words: how much each counts, in the estimate and in the score."""
