//===- Report.h - what the simulator found --------------------------------===//
#ifndef TILEWRIGHT_RUNTIME_SIM_REPORT_H
#define TILEWRIGHT_RUNTIME_SIM_REPORT_H

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace tilewright::sim {

/// Where in the program something happens: two strings in the compiled kernel, one behind the other.
class Site {
public:
  Site() = default;
  explicit Site(const char *text) : text(text) {}
  const char *name() const { return text; }
  const char *line() const { return text + std::strlen(text) + 1; }
  const void *identity() const { return text; }
  explicit operator bool() const { return text; }
  bool operator==(Site other) const { return text == other.text; }
  bool operator!=(Site other) const { return text != other.text; }

private:
  const char *text = nullptr;
};

/// What was found, one report for each kind and place, however many threads met it.
class ReportList {
public:
  /// Kind, site, the other site.
  using Key = std::tuple<int, const void *, const void *>;

  /// Counts another finding of `key`. Returns true if the key is new: its text is then wanted by `describe`.
  bool count(Key key);
  /// Gives the text of a new key. `place` is what reports of the same place have in common, `text` is the first one's.
  void describe(Key key, const std::string &place, const std::string &text);
  void add(const std::string &text);
  void clear();
  bool empty() const { return entries.empty(); }
  /// All reports, one a line.
  std::string text() const;

private:
  struct Entry {
    std::string place, text;
    uint64_t count;
  };
  static constexpr size_t maxEntries = 16;

  std::vector<Entry> entries;
  std::map<Key, size_t> known;
  bool overflowed = false;
};

} // namespace tilewright::sim

#endif
