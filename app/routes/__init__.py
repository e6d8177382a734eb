"""One module per part of the product; `app.asgi` lists them."""
