"""A resident filter for mail servers and programs: the spamd protocol and HTTP on one address."""
