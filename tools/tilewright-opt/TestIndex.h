//===- TestIndex.h - what the index library says of marked values ---------===//
#ifndef TILEWRIGHT_TOOLS_TILEWRIGHTOPT_TESTINDEX_H
#define TILEWRIGHT_TOOLS_TILEWRIGHTOPT_TESTINDEX_H

namespace tilewright {

/// Registers --test-index, which the tool alone has: no user's pipeline needs it.
void registerTestIndex();

} // namespace tilewright

#endif
