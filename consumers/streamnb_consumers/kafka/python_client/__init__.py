"""Driver for kafka-python, with the workarounds that exactly-once processing needs."""

import warnings

# kafka-python imports deprecated modules. All modules of this package import `kafka` after this.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka.admin
    import kafka.consumer.fetcher
    import kafka.coordinator.assignors.cooperative_sticky
    import kafka.errors
    import kafka.net.manager
    import kafka.net.sasl.oauth
    import kafka.net.transport
    import kafka.partitioner.default
    import kafka.protocol.consumer
    import kafka.record.default_records
    import kafka.structs

__all__ = ["kafka"]
