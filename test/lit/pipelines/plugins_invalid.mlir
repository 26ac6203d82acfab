// A plug-in that cannot be loaded is an error, as MLIR's own option would abort.
// RUN: not tilewright-opt --load-pass-plugin=./no-such.so %s 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: tilewright-opt: error: expected a plug-in of MLIR's, got './no-such.so': Could not load library './no-such.so': ./no-such.so: cannot open shared object file: No such file or directory
// RUN: not tilewright-opt --load-dialect-plugin %s %s 2>&1 | FileCheck %s --check-prefix=DIALECT
// DIALECT: tilewright-opt: error: expected a plug-in of MLIR's, got '{{.*}}plugins_invalid.mlir': Could not load library {{.*}}invalid ELF header
module {}
