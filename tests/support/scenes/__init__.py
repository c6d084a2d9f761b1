"""Workers as processes on their own broker, disturbing events, and checks of their output."""
