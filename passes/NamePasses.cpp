//===- NamePasses.cpp - which pass made an op that came from no line -------===//
#include "mlir/CAPI/Pass.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace {

/// After each pass, ops of unknown location get one that names the pass: "pass canonicalize".
struct PassNamer : PassInstrumentation {
  void runAfterPass(Pass *pass, Operation *op) override {
    if (pass->getArgument().empty()) // what runs other passes
      return;
    Location name = NameLoc::get(StringAttr::get(op->getContext(), "pass " + pass->getArgument()));
    op->walk([&](Operation *made) {
      if (isa<UnknownLoc>(made->getLoc()))
        made->setLoc(name);
    });
  }
};

} // namespace

/// From here on the passes of `passManager` name themselves in the locations of ops that they make from nothing.
extern "C" void tilewrightNamePasses(MlirPassManager passManager) {
  unwrap(passManager)->addInstrumentation(std::make_unique<PassNamer>());
}
