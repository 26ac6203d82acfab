// RUN: tilewright-opt %s --multiversion-host-functions="levels=znver4" -verify-diagnostics

// expected-error @+1 {{expected levels x86-64-v2, x86-64-v3 or x86-64-v4, got 'znver4'}}
module {
}
