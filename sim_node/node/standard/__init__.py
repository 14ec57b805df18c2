"""The plant's outputs as standard messages: which message takes what, and how its bytes are filled in place."""
