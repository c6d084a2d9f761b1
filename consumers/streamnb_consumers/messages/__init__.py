"""What a message is: SMS and mail, read from records, strictly."""
