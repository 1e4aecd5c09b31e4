"""The appliance: cameras, panel, clock, store, and the table session that uses all of them."""
