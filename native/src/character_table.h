// BERT's normaliser and pre-tokeniser, folded into one look-up per code point: cleaning, ideographs, decomposition, marks,
// lower case and the ends of words. Which symbols there are is the vocabulary's.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace umpire {

struct BertOptions {
  bool lowercase;
  bool strip_accents;
};

/** The number of a code point that occurs in the vocabulary, from 1; 0 for all others. */
using SymbolMap = std::unordered_map<char32_t, uint32_t>;

/** What a code point does to the text at hand. */
enum class Action : uint32_t {
  kWord,      // goes on with the word; payload: symbol
  kOwn,       // a word of its own; payload: symbol
  kSeparate,  // ends the word
  kSkip,      // nothing
  kBreak,     // a mark that vanishes, and past which no mark is sorted
  kLate,      // a mark that stays, and is sorted among its like; payload: index of a LateMark
  kExpand,    // several steps; payload: where they are
  kHangul,    // a syllable; payload: its number
};

class Step {
 public:
  constexpr Step() : packed_(0) {}
  constexpr Step(Action action, uint32_t payload) : packed_(static_cast<uint32_t>(action) | payload << 3) {}
  Action action() const { return static_cast<Action>(packed_ & 7); }
  uint32_t payload() const { return packed_ >> 3; }

 private:
  uint32_t packed_;
};

struct LateMark {
  uint32_t symbol;
  uint32_t combining_class;
};

/** The symbols of a Hangul syllable. */
struct Syllable {
  std::array<uint32_t, 3> symbols;
  size_t count;
};

class CharacterTable {
 public:
  CharacterTable(BertOptions options, const SymbolMap& symbols);

  Step Find(char32_t code_point) const { return pages_[index_[code_point >> kPageBits]][code_point & (kPageSize - 1)]; }
  const LateMark& late(uint32_t index) const { return late_[index]; }
  const Step* expansion(uint32_t place) const { return &expansions_[place + 1]; }
  size_t expansion_size(uint32_t place) const { return expansions_[place].payload(); }
  Syllable syllable(uint32_t number) const;

 private:
  static constexpr uint32_t kPageBits = 8;
  static constexpr uint32_t kPageSize = 1 << kPageBits;
  static constexpr uint32_t kPages = 0x110000 >> kPageBits;

  friend class TableBuilder;

  /** Most pages of the code space are alike and kept once. */
  std::array<uint16_t, kPages> index_{};
  std::vector<std::array<Step, kPageSize>> pages_;
  std::vector<LateMark> late_;
  /** Runs of steps, each after a step whose payload is their number. */
  std::vector<Step> expansions_;
  std::array<uint32_t, 19> leads_{};
  std::array<uint32_t, 21> vowels_{};
  std::array<uint32_t, 28> tails_{};
};

}  // namespace umpire
