"""Access control: pairing, CSRF protection, rate limits, and the HTTP and HTTPS server."""
