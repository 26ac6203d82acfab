"""Files that are kept between processes."""
