"""What comes in as a file: judged by its content, made harmless, and turned into a text or an image."""
