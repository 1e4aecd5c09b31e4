"""The pages of the web application, one blueprint a module."""
