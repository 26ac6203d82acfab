"""What messages are made of: the user's line, and the user's text in a line of ours."""
