"""The product at its edges: settings, wiring, routes, pages."""
