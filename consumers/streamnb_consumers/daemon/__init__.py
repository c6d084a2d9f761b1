"""The programs: settings to a running loop, which tells how it goes."""
