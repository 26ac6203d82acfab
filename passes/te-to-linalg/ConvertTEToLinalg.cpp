#include "passes/Passes.h"
namespace tilewright {
#define GEN_PASS_DEF_CONVERTTETOLINALG
#include "passes/Passes.h.inc"
namespace {
struct ConvertTEToLinalg : impl::ConvertTEToLinalgBase<ConvertTEToLinalg> {
  void runOnOperation() override {}
};
} // namespace
} // namespace tilewright
