"""The JSON API's bodies, and how domain objects become them."""
