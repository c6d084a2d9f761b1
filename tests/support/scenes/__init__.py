"""Workers as processes on a broker of their own: what happens to them, and what they wrote."""
