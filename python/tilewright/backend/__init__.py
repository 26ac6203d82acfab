"""The end of the way down: PTX, cubins, SASS, and kernels and host programs as C++ for people."""
