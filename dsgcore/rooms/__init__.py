"""Rooms for a class: questions, the guesses of phones in rounds, and their results, without names."""
