"""Every SQL statement of the product."""
