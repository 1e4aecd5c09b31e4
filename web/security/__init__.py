"""Access control: pairing, CSRF protection, rate limits, the server and its https proxy."""
