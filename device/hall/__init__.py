"""What a table publishes over MQTT for the hall: messages, and the thread that sends them to the broker."""
