"""What supervision keeps."""
