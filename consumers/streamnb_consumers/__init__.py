"""Filters of message streams: read a message, decide, learn when its label arrives.

`loop.Loop` carries records from a source through a `filtering.Filter` to a sink, a batch a
transaction. It knows neither where records come from nor what a message is: sources and sinks are
standard input and output, files or memory; messages are SMS (`sms`) or mail (`spam`).
"""
