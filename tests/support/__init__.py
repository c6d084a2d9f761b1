"""What tests share: the table of models, streams, messages and odd inputs."""
