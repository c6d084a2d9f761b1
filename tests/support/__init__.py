"""Support for tests: the table of models, streams, messages and odd inputs."""
