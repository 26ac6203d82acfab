"""The C++ library in this process: its functions, LLVM's JIT, and objects whose calls it takes."""
