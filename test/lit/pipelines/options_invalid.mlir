// Options that no pipeline has are refused before anything runs.
// RUN: not tilewright-opt --tilewright-pipeline="arch=sm_70" %s 2>&1 | FileCheck %s --check-prefix=ARCH
// ARCH: error: expected an architecture from sm_75 to sm_120, got 'sm_70'
// RUN: not tilewright-opt --tilewright-pipeline="from=gpu to=loops" %s 2>&1 | FileCheck %s --check-prefix=BACK
// BACK: error: expected 'to' to be a stage after 'from': te, linalg, loops, gpu, then nvvm or host
// RUN: not tilewright-opt --tilewright-pipeline="from=nvvm to=host" %s 2>&1 | FileCheck %s --check-prefix=FORK
// FORK: error: expected 'to' to be a stage after 'from': te, linalg, loops, gpu, then nvvm or host
// RUN: not tilewright-opt --tilewright-pipeline="to=loop" %s 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: for the --to option: Cannot find option named 'loop'!
// RUN: not tilewright-opt --tilewright-pipeline="to=gpu target=cpu" %s 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: expected a stage of target cpu: te, linalg, loops or host
module {}
