"""Commands that hand trials on: put together, compared, read from other tools and written for them."""
