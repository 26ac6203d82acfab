//===- CText.h - any text in a line of C++ --------------------------------===//
//
// Names of tensors, axes and symbols are the user's: whatever stands in them, they are within one string or one
// comment.
//
//===----------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PASSES_GPUTOSOURCE_CTEXT_H
#define TILEWRIGHT_PASSES_GPUTOSOURCE_CTEXT_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ConvertUTF.h"

#include <string>

namespace tilewright::source {

/// Bytes that are no text of UTF-8 as escapes, and all that is not printed.
inline bool isPlainText(llvm::StringRef text) {
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  return llvm::isLegalUTF8String(&begin, begin + text.size());
}

/// What stands between the quotes of a string.
inline std::string escaped(llvm::StringRef text) {
  bool isUTF8 = isPlainText(text);
  std::string made;
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      made += {'\\', static_cast<char>(c)};
    else if (c == '\n')
      made += "\\n";
    else if (c == '\t')
      made += "\\t";
    else if (c < 32 || c == 127 || (c > 127 && !isUTF8)) // in octal: of a hexadecimal one any number of digits counts
      made += {'\\', static_cast<char>('0' + (c >> 6)), static_cast<char>('0' + (c >> 3 & 7)),
               static_cast<char>('0' + (c & 7))};
    else
      made += static_cast<char>(c);
  }
  return made;
}

/// A string of C++.
inline std::string quoted(llvm::StringRef text) { return "\"" + escaped(text) + "\""; }

/// The rest of a line after //. A backslash at the end would make the next line part of it.
inline std::string inComment(llvm::StringRef text) {
  std::string made;
  for (unsigned char c : text)
    made += c < 32 || c == 127 ? escaped(llvm::StringRef(reinterpret_cast<const char *>(&c), 1))
                               : std::string(1, static_cast<char>(c));
  return made.empty() || made.back() != '\\' ? made : made + ".";
}

} // namespace tilewright::source

#endif
