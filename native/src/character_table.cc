#include "character_table.h"

#include <cstring>
#include <string>
#include <string_view>

#include "unicode_tables.h"

namespace umpire {

namespace {

constexpr uint32_t kCodePoints = 0x110000;
constexpr uint32_t kHangulFirst = 0xAC00;
constexpr uint32_t kHangulCount = 11172;
constexpr uint32_t kLeadFirst = 0x1100;
constexpr uint32_t kVowelFirst = 0x1161;
constexpr uint32_t kTailFirst = 0x11A7;
constexpr uint32_t kTails = 28;
constexpr uint32_t kVowels = 21;

enum Flag : uint8_t { kDropped = 1, kBlank = 2, kSeparator = 4, kPunctuation = 8, kMark = 16, kIdeograph = 32 };

using Expansions = std::unordered_map<char32_t, std::u32string>;

template <size_t kSize>
Expansions ReadExpansions(const uint32_t (&flat)[kSize]) {
  Expansions expansions;
  for (size_t i = 0; i < kSize; i += 2 + flat[i + 1]) {
    expansions[flat[i]] = std::u32string(&flat[i + 2], &flat[i + 2] + flat[i + 1]);
  }
  return expansions;
}

}  // namespace

/** Fills the table; what it needs for that is forgotten afterwards. */
class TableBuilder {
 public:
  TableBuilder(BertOptions options, const SymbolMap& symbols, CharacterTable& table)
      : options_(options), symbols_(symbols), table_(table), flags_(kCodePoints), steps_(kCodePoints) {
    Mark(unicode::kDropped, kDropped);
    Mark(unicode::kBlank, kBlank);
    Mark(unicode::kSeparator, kSeparator);
    Mark(unicode::kPunctuation, kPunctuation);
    Mark(unicode::kMark, kMark);
    Mark(unicode::kIdeograph, kIdeograph);
    ReadCase();
    ReadMarks();
  }

  void Build() {
    // Whatever is in no table is a letter that no token has: the steps start as that.
    for (const auto& [code_point, symbol] : symbols_) Set(code_point);
    for (uint32_t c = 0; c < kCodePoints; ++c) {
      if (flags_[c] != 0) Set(c);
    }
    for (const auto& [code_point, text] : lower_) Set(code_point);
    for (const auto& [code_point, text] : decompositions_) Set(code_point);
    for (const auto& [code_point, combining_class] : classes_) Set(code_point);
    if (options_.strip_accents) BuildHangul();
    BuildPages();
  }

 private:
  template <size_t kSize>
  void Mark(const unicode::Run (&runs)[kSize], Flag flag) {
    for (const auto& [first, count] : runs) {
      for (uint32_t c = first; c < first + count; ++c) flags_[c] |= flag;
    }
  }

  void ReadCase() {
    if (!options_.lowercase) return;
    lower_ = ReadExpansions(unicode::kLowerExpansions);
    for (const auto& [first, count, step, distance] : unicode::kLower) {
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t c = first + i * step;
        lower_[c] = std::u32string(1, static_cast<char32_t>(static_cast<int64_t>(c) + distance));
      }
    }
  }

  void ReadMarks() {
    if (!options_.strip_accents) return;
    decompositions_ = ReadExpansions(unicode::kDecompositions);
    for (const auto& [first, count, combining_class] : unicode::kCombiningClasses) {
      for (uint32_t c = first; c < first + count; ++c) classes_[c] = combining_class;
    }
  }

  void Set(char32_t code_point) { steps_[code_point] = StepOf(code_point); }

  Step StepOf(char32_t c) {
    if (flags_[c] & kDropped) return Step(Action::kSkip, 0);
    if (flags_[c] & kBlank) return Step(Action::kSeparate, 0);
    std::vector<Step> steps;
    const auto decomposed = decompositions_.find(c);
    if (decomposed == decompositions_.end()) {
      Append(c, steps);
    } else {
      for (const char32_t part : decomposed->second) Append(part, steps);
    }
    if (flags_[c] & kIdeograph) MakeOwn(steps);
    if (steps.empty()) return Step(Action::kSkip, 0);
    return steps.size() == 1 ? steps[0] : Expand(steps);
  }

  /** Cleaned and decomposed: what is left are marks, case and the ends of words. */
  void Append(char32_t c, std::vector<Step>& steps) {
    const auto found = classes_.find(c);
    const uint32_t combining_class = found == classes_.end() ? 0 : found->second;
    if (options_.strip_accents && (flags_[c] & kMark)) {
      // After a letter nothing waits to be sorted.
      const bool may_wait = steps.empty() || steps.back().action() == Action::kLate;
      if (combining_class == 0 && may_wait) steps.emplace_back(Action::kBreak, 0);
      return;
    }
    const auto lower = lower_.find(c);
    if (lower == lower_.end()) return AppendFinal(c, combining_class, steps);
    for (const char32_t part : lower->second) AppendFinal(part, combining_class, steps);
  }

  void AppendFinal(char32_t c, uint32_t combining_class, std::vector<Step>& steps) {
    if (flags_[c] & kSeparator) {
      steps.emplace_back(Action::kSeparate, 0);
    } else if (flags_[c] & kPunctuation) {
      steps.emplace_back(Action::kOwn, SymbolOf(c));
    } else if (combining_class != 0) {
      steps.emplace_back(Action::kLate, static_cast<uint32_t>(table_.late_.size()));
      table_.late_.push_back({SymbolOf(c), combining_class});
    } else {
      steps.emplace_back(Action::kWord, SymbolOf(c));
    }
  }

  /** A space on either side. */
  static void MakeOwn(std::vector<Step>& steps) {
    if (steps.size() == 1 && steps[0].action() == Action::kWord) {
      steps[0] = Step(Action::kOwn, steps[0].payload());
      return;
    }
    steps.insert(steps.begin(), Step(Action::kSeparate, 0));
    steps.emplace_back(Action::kSeparate, 0);
  }

  Step Expand(const std::vector<Step>& steps) {
    const auto place = static_cast<uint32_t>(table_.expansions_.size());
    table_.expansions_.emplace_back(Action::kExpand, static_cast<uint32_t>(steps.size()));
    table_.expansions_.insert(table_.expansions_.end(), steps.begin(), steps.end());
    return Step(Action::kExpand, place);
  }

  void BuildHangul() {
    for (uint32_t i = 0; i < table_.leads_.size(); ++i) table_.leads_[i] = SymbolOf(kLeadFirst + i);
    for (uint32_t i = 0; i < table_.vowels_.size(); ++i) table_.vowels_[i] = SymbolOf(kVowelFirst + i);
    for (uint32_t i = 0; i < table_.tails_.size(); ++i) table_.tails_[i] = SymbolOf(kTailFirst + i);
    for (uint32_t i = 0; i < kHangulCount; ++i) steps_[kHangulFirst + i] = Step(Action::kHangul, i);
  }

  void BuildPages() {
    std::unordered_map<std::string_view, uint16_t> known;
    using Page = std::array<Step, CharacterTable::kPageSize>;
    for (uint32_t page = 0; page < CharacterTable::kPages; ++page) {
      const Step* steps = &steps_[page << CharacterTable::kPageBits];
      const std::string_view bytes(reinterpret_cast<const char*>(steps), sizeof(Page));
      const auto [found, is_new] = known.try_emplace(bytes, static_cast<uint16_t>(table_.pages_.size()));
      table_.index_[page] = found->second;
      if (is_new) std::memcpy(table_.pages_.emplace_back().data(), steps, sizeof(Page));
    }
    table_.pages_.shrink_to_fit();
  }

  uint32_t SymbolOf(char32_t c) const {
    const auto found = symbols_.find(c);
    return found == symbols_.end() ? 0 : found->second;
  }

  BertOptions options_;
  const SymbolMap& symbols_;
  CharacterTable& table_;
  std::vector<uint8_t> flags_;
  std::vector<Step> steps_;
  Expansions lower_;
  Expansions decompositions_;
  std::unordered_map<char32_t, uint32_t> classes_;
};

CharacterTable::CharacterTable(BertOptions options, const SymbolMap& symbols) {
  TableBuilder(options, symbols, *this).Build();
}

Syllable CharacterTable::syllable(uint32_t number) const {
  const uint32_t tail = number % kTails;
  const uint32_t vowel = number / kTails % kVowels;
  const uint32_t lead = number / (kTails * kVowels);
  return {{leads_[lead], vowels_[vowel], tails_[tail]}, tail == 0 ? size_t{2} : size_t{3}};
}

}  // namespace umpire
