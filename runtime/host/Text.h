//===- Text.h - messages without the C++ library --------------------------===//
#ifndef TILEWRIGHT_RUNTIME_HOST_TEXT_H
#define TILEWRIGHT_RUNTIME_HOST_TEXT_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tilewright::host {

/// Text in memory of the caller's, cut off where that ends.
class Text {
public:
  Text(char *data, size_t capacity) : data(data), capacity(capacity) {
    if (capacity)
      data[0] = '\0';
  }

  Text &operator<<(const char *text) {
    for (; *text && length + 1 < capacity; ++text)
      data[length++] = *text;
    if (capacity)
      data[length] = '\0';
    return *this;
  }

  Text &operator<<(uint64_t number) {
    char digits[24];
    char *first = digits + sizeof(digits);
    *--first = '\0';
    do
      *--first = static_cast<char>('0' + number % 10);
    while (number /= 10);
    return *this << first;
  }

  Text &operator<<(int64_t number) {
    return number < 0 ? *this << "-" << (uint64_t(0) - static_cast<uint64_t>(number))
                      : *this << static_cast<uint64_t>(number);
  }

  Text &operator<<(int32_t number) { return *this << static_cast<int64_t>(number); }
  Text &operator<<(uint32_t number) { return *this << static_cast<uint64_t>(number); }

  /// "(3, 4)", as Python writes a tuple.
  Text &addTuple(const int64_t *numbers, int64_t count) {
    *this << "(";
    for (int64_t i = 0; i < count; ++i)
      *this << (i ? ", " : "") << numbers[i];
    return *this << (count == 1 ? ",)" : ")");
  }

  /// "1 byte", "2 bytes".
  Text &addCount(int64_t number, const char *noun) {
    return *this << number << " " << noun << (number == 1 ? "" : "s");
  }

private:
  char *data;
  size_t capacity, length = 0;
};

} // namespace tilewright::host

#endif
