"""What hypothesis draws: messages and streams of them, and odd inputs."""
