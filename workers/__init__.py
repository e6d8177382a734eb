"""Jobs and the process that runs them."""
