"""The pages of the web application, one blueprint in each module."""
