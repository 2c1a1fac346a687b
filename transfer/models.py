"""What transfer keeps."""
