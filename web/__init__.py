"""The page that phones at the table see: shows the session and steers it."""
