// Text as code points, whatever it is stored as. What is no text (a lone surrogate, a broken sequence) reads as U+FFFD.

#pragma once

#include <cstddef>
#include <cstdint>

namespace umpire {

inline constexpr char32_t kReplacement = 0xFFFD;

/** One byte a character: U+0000 to U+00FF. Positions are bytes, which are UTF-16 units too. */
class Latin1Text {
 public:
  using Unit = uint8_t;
  Latin1Text(const uint8_t* units, size_t length) : units_(units), length_(length) {}
  bool AtEnd() const { return position_ == length_; }
  size_t position() const { return position_; }
  const Unit* units() const { return units_; }
  size_t length() const { return length_; }
  /** @param position where a code point begins, or the end */
  void Seek(size_t position) { position_ = position; }
  char32_t Next() { return units_[position_++]; }

 private:
  const uint8_t* units_;
  size_t length_;
  size_t position_ = 0;
};

/** Positions are UTF-16 units. */
class Utf16Text {
 public:
  using Unit = char16_t;
  Utf16Text(const char16_t* units, size_t length) : units_(units), length_(length) {}
  bool AtEnd() const { return position_ == length_; }
  size_t position() const { return position_; }
  const Unit* units() const { return units_; }
  size_t length() const { return length_; }
  /** @param position where a code point begins, or the end */
  void Seek(size_t position) { position_ = position; }

  char32_t Next() {
    const char16_t unit = units_[position_++];
    if ((unit & 0xF800) != 0xD800) return unit;
    const bool is_high = unit < 0xDC00;
    if (!is_high || AtEnd() || (units_[position_] & 0xFC00) != 0xDC00) return kReplacement;
    const char16_t low = units_[position_++];
    return 0x10000 + ((char32_t{unit} & 0x3FF) << 10) + (low & 0x3FF);
  }

 private:
  const char16_t* units_;
  size_t length_;
  size_t position_ = 0;
};

/** Positions are bytes. A broken sequence is one U+FFFD for each of its longest valid beginnings, as in the web's decoder. */
class Utf8Text {
 public:
  using Unit = uint8_t;
  Utf8Text(const uint8_t* bytes, size_t length) : bytes_(bytes), length_(length) {}
  bool AtEnd() const { return position_ == length_; }
  size_t position() const { return position_; }
  const Unit* units() const { return bytes_; }
  size_t length() const { return length_; }
  /** @param position where a code point begins, or the end */
  void Seek(size_t position) { position_ = position; }

  char32_t Next() {
    const uint8_t lead = bytes_[position_++];
    if (lead < 0x80) return lead;
    if (lead < 0xC2 || lead > 0xF4) return kReplacement;
    const int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    char32_t code_point = lead & (0x3F >> more);
    for (int i = 0; i < more; ++i) {
      if (AtEnd() || !IsContinuation(lead, i)) return kReplacement;
      code_point = code_point << 6 | (bytes_[position_++] & 0x3F);
    }
    return code_point;
  }

 private:
  /** The second byte of some leads has a narrower range: no overlong forms, no surrogates, nothing past U+10FFFF. */
  bool IsContinuation(uint8_t lead, int index) const {
    const uint8_t byte = bytes_[position_];
    const uint8_t lowest = index > 0 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t highest = index > 0 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    return byte >= lowest && byte <= highest;
  }

  const uint8_t* bytes_;
  size_t length_;
  size_t position_ = 0;
};

}  // namespace umpire
