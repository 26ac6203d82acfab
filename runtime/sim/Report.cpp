//===- Report.cpp - what the simulator found ------------------------------===//
#include "runtime/sim/Report.h"

#include <algorithm>

using namespace tilewright::sim;

bool ReportList::count(Key key) {
  auto found = known.find(key);
  if (found == known.end())
    return true;
  if (found->second < entries.size())
    ++entries[found->second].count;
  return false;
}

void ReportList::describe(Key key, const std::string &place, const std::string &text) {
  // A line that was unrolled or inlined has many sites; a reader wants to see it once.
  auto same = std::find_if(entries.begin(), entries.end(), [&](const Entry &entry) { return entry.place == place; });
  known[key] = same - entries.begin();
  if (same != entries.end()) {
    ++same->count;
  } else if (entries.size() < maxEntries) {
    entries.push_back({place, text, 1});
  } else {
    overflowed = true;
    known[key] = SIZE_MAX;
  }
}

void ReportList::add(const std::string &text) { entries.push_back({text, text, 1}); }

void ReportList::clear() {
  entries.clear();
  known.clear();
  overflowed = false;
}

std::string ReportList::text() const {
  std::string all;
  for (const Entry &entry : entries) {
    all += (all.empty() ? "" : "\n") + entry.text;
    if (entry.count > 1)
      all += " (" + std::to_string(entry.count - 1) + " more like this)";
  }
  if (overflowed)
    all += "\nand more at other places";
  return all;
}
