"""The appliance: cameras, panel, clock, store, and the table session that joins them."""
