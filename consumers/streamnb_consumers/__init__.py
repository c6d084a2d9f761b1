"""Filters of message streams: read a message, decide, and learn when its label arrives.

`daemon.loop.Loop` moves records from a source through a `pipeline.filter.Filter` to a sink, with
one transaction for each batch. Sources and sinks are standard input and output, files, memory
(`io`) or Kafka (`kafka`). Messages are SMS or mail.
"""
