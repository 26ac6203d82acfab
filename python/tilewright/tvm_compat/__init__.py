"""For scripts that were written for TVM: what is not carried over, and what takes its place."""
