// From a text to ids: reads code points, gathers the symbols of a word, and matches the longest tokens in it. One encoder
// belongs to one thread and keeps its memory, and what common words were cut into, from text to text.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "ascii_words.h"
#include "id_list.h"
#include "vocabulary.h"

namespace umpire {

inline constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

/** Where a token stands in the text, in its reader's positions. */
struct Span {
  uint32_t start;
  uint32_t end;
};

struct Encoding {
  IdList ids;
  /** As long as `ids` where spans were asked for, else empty. */
  std::vector<Span> spans;
};

struct ReadOptions {
  /** Reading stops after the word that brings more ids than this, counted from where the encoding was at first. */
  size_t limit = kNoLimit;
  /** Whether the text ends here; otherwise what may be part of a longer word is left out. */
  bool is_complete = true;
};

class Encoder {
 public:
  explicit Encoder(std::shared_ptr<const Vocabulary> vocabulary);

  const Vocabulary& vocabulary() const { return *vocabulary_; }

  /** Appends to the encoding. `Text` is a reader of text.h. @returns whether the limit was passed */
  template <typename Text>
  bool Encode(Text text, ReadOptions options, Encoding& encoding);

  /** The same, and a span for each id. */
  template <typename Text>
  bool EncodeWithSpans(Text text, ReadOptions options, Encoding& encoding);

 private:
  template <typename Text, bool kSpans>
  friend class Reading;

  struct WaitingMark {
    uint32_t symbol;
    uint32_t combining_class;
    Span span;
  };

  /** What a byte of an AsciiWindow does after a word. */
  enum class After : uint8_t { kUnsure, kSeparate, kOwn };

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::array<After, 0x81> after_{};
  /** Ids of punctuation marks. */
  std::array<int32_t, 0x81> own_ids_{};
  WordCache cache_;
  std::vector<uint32_t> word_;
  std::vector<Span> word_spans_;
  std::vector<WaitingMark> waiting_;
  std::vector<WaitingMark> sorted_;
};

}  // namespace umpire
