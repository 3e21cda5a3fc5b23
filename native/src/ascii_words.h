// The quick way through what most texts are made of: words of up to 16 ASCII letters and digits. A word is found, put in
// lower case and compared eight bytes at a time, and what it was cut into is kept. Everything else is the encoder's.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace umpire {

inline constexpr size_t kLongestAsciiWord = 16;

/** The letters of a word, eight to a number, the first in the lowest byte; zeros after the last. */
struct AsciiWord {
  uint64_t head = 0;
  uint64_t tail = 0;
  size_t length = 0;
};

/** @param bytes 16 of them can be read @returns a length of 17 where the word goes on after them */
template <bool kLowercase>
AsciiWord ReadAsciiWord(const uint8_t* bytes);

/** What words were cut into: direct-mapped, exact, of one vocabulary and one thread. */
class WordCache {
 public:
  static constexpr size_t kMostIds = 3;

  struct Entry {
    uint64_t head = 0;
    uint64_t tail = 0;
    int32_t ids[kMostIds] = {};
    /** 0 where there is no word. */
    uint32_t count = 0;
  };

  WordCache() : entries_(size_t{1} << kBits) {}

  /** The only place where the word may be. */
  Entry& At(const AsciiWord& word) {
    const uint64_t mixed = (word.head ^ word.tail * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u;
    return entries_[mixed >> (64 - kBits)];
  }

  static bool Holds(const Entry& entry, const AsciiWord& word) {
    return entry.head == word.head && entry.tail == word.tail && entry.count != 0;
  }

 private:
  /** 256 KiB of entries: they stay in a core's second cache. */
  static constexpr int kBits = 13;
  std::vector<Entry> entries_;
};

/**
 * A text's units as bytes, a stretch at a time: those below 0x80 as they are, all others as 0x80. After the end come more
 * of those, so that a word can be read without asking where the text ends.
 */
template <typename Unit>
class AsciiWindow {
 public:
  AsciiWindow(const Unit* units, size_t length) : units_(units), length_(length) {}

  /** @returns 17 bytes from the position on */
  const uint8_t* At(size_t position) {
    if (position < start_ || position + kReach > start_ + kSize) Fill(position);
    return bytes_ + (position - start_);
  }

 private:
  static constexpr size_t kSize = 2048;
  static constexpr size_t kReach = kLongestAsciiWord + 1;

  void Fill(size_t position) {
    start_ = position;
    const size_t left = length_ - position;
    const size_t count = left < kSize ? left : kSize;
    const Unit* from = units_ + position;
    for (size_t i = 0; i < count; ++i) bytes_[i] = static_cast<uint8_t>(from[i] < 0x80 ? from[i] : 0x80);
    const size_t padded = count + kReach < kSize ? count + kReach : kSize;
    std::memset(bytes_ + count, 0x80, padded - count);
  }

  const Unit* units_;
  size_t length_;
  /** Such that nothing lies in the window yet. */
  size_t start_ = static_cast<size_t>(-1) / 2;
  uint8_t bytes_[kSize];
};

namespace ascii {

inline constexpr uint64_t kOnes = 0x0101010101010101u;
inline constexpr uint64_t kHighs = 0x80 * kOnes;

/** The high bit of each byte between `first` and `last`; the high bits of `bytes` are 0. */
inline uint64_t Between(uint64_t bytes, uint8_t first, uint8_t last) {
  return (bytes + (0x80u - first) * kOnes) & ~(bytes + (0x7Fu - last) * kOnes) & kHighs;
}

/** Eight bytes as a number whose lowest byte is the first, on every kind of machine. */
inline uint64_t Load(const uint8_t* bytes) {
  uint64_t number = 0;
  std::memcpy(&number, bytes, sizeof number);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  number = __builtin_bswap64(number);
#endif
  return number;
}

struct Part {
  uint64_t letters;
  size_t length;
};

/** Letters and digits from the start of eight bytes. */
template <bool kLowercase>
Part ReadPart(const uint8_t* place) {
  const uint64_t bytes = Load(place);
  const uint64_t low = bytes & ~kHighs;
  const uint64_t capitals = Between(low, 'A', 'Z');
  const uint64_t others = Between(low, 'a', 'z') | Between(low, '0', '9');
  const uint64_t ends = ~(capitals | others) & kHighs | (bytes & kHighs);
  // A capital's high bit, two places down, is what makes it small.
  const uint64_t letters = kLowercase ? bytes + (capitals >> 2) : bytes;
  if (ends == 0) return {letters, 8};
  const int bits = __builtin_ctzll(ends) & ~7;
  return {letters & ((uint64_t{1} << bits) - 1), static_cast<size_t>(bits) / 8};
}

}  // namespace ascii

template <bool kLowercase>
AsciiWord ReadAsciiWord(const uint8_t* bytes) {
  const ascii::Part head = ascii::ReadPart<kLowercase>(bytes);
  if (head.length < 8) return {head.letters, 0, head.length};
  const ascii::Part tail = ascii::ReadPart<kLowercase>(bytes + 8);
  return {head.letters, tail.letters, 8 + tail.length};
}

}  // namespace umpire
