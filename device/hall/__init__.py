"""Connection of tables to a hall over MQTT: what a table publishes, and what the hall receives and stores."""
