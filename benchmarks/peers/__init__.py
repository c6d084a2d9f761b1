"""Prequential results on real streams: every model, and OnlineNB next to other filters.

Run them with `make results` and `make peers`.
"""
