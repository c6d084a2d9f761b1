"""Inputs that hypothesis draws: messages, streams, and odd values."""
