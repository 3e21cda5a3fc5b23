#include "encoder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text.h"

namespace umpire {

namespace {
constexpr uint32_t kCombiningClasses = 256;
/** Marks that wait are few, but where someone sends megabytes of them. */
constexpr size_t kKeptMarks = 1 << 12;
}  // namespace

/** One text on its way through an encoder. */
template <typename Text, bool kSpans>
class Reading {
 public:
  Reading(Encoder& encoder, Encoding& encoding)
      : encoder_(encoder),
        characters_(encoder.vocabulary().characters()),
        trie_(encoder.vocabulary().trie()),
        max_word_(encoder.vocabulary().max_word_characters()),
        unknown_id_(encoder.vocabulary().unknown_id()),
        encoding_(encoding) {
    encoder_.waiting_.clear();
    OpenWord();
  }

  bool Read(Text text, ReadOptions options) {
    const size_t before = encoding_.ids.size();
    most_ = options.limit > kNoLimit - before ? kNoLimit : options.limit + before;
    const bool is_quick = !kSpans && max_word_ >= kLongestAsciiWord;
    const bool is_over = is_quick ? ReadQuickly(text) : ReadAll(text);
    if (is_over) return true;
    if (options.is_complete) {
      Settle();
      CloseWord();
    }
    return encoding_.ids.size() > most_;
  }

 private:
  /** @returns whether the limit was passed; so do the others that read */
  bool ReadAll(Text& text) {
    while (!text.AtEnd()) {
      if (ReadOne(text)) return true;
    }
    return false;
  }

  /** The quick way wherever a word begins, and the other one until the next does. */
  bool ReadQuickly(Text& text) {
    AsciiWindow<typename Text::Unit> window(text.units(), text.length());
    while (!text.AtEnd()) {
      const bool is_over = encoder_.vocabulary().lowercase() ? ReadAsciiWords<true>(text, window)
                                                             : ReadAsciiWords<false>(text, window);
      if (is_over) return true;
      do {
        if (text.AtEnd()) return false;
        if (ReadOne(text)) return true;
      } while (length_ > 0 || !encoder_.waiting_.empty());
    }
    return false;
  }

  /** Stops before what is not surely a word of ASCII, or the end of one. */
  template <bool kLowercase>
  bool ReadAsciiWords(Text& text, AsciiWindow<typename Text::Unit>& window) {
    using After = Encoder::After;
    size_t position = text.position();
    for (;;) {
      const uint8_t* bytes = window.At(position);
      const AsciiWord word = ReadAsciiWord<kLowercase>(bytes);
      const uint8_t next = bytes[word.length];
      const After after = encoder_.after_[next];
      if (after == After::kUnsure) break;
      if (word.length > 0) PushAsciiWord(word);
      if (after == After::kOwn) encoding_.ids.Push(encoder_.own_ids_[next]);
      position += word.length + 1;
      if (encoding_.ids.size() > most_) return true;
    }
    text.Seek(position);
    return false;
  }

  void PushAsciiWord(const AsciiWord& word) {
    WordCache::Entry& entry = encoder_.cache_.At(word);
    if (WordCache::Holds(entry, word)) return encoding_.ids.PushSome(entry.ids, entry.count);
    const size_t first = encoding_.ids.size();
    for (size_t i = 0; i < word.length; ++i) {
      const uint64_t letters = i < 8 ? word.head : word.tail;
      Push(characters_.Find(letters >> (i % 8 * 8) & 0xFF).payload());
    }
    CloseWord();
    const size_t count = encoding_.ids.size() - first;
    if (count > WordCache::kMostIds) return;
    entry = {word.head, word.tail, {}, static_cast<uint32_t>(count)};
    std::copy(encoding_.ids.begin() + first, encoding_.ids.end(), entry.ids);
  }

  bool ReadOne(Text& text) {
    const size_t start = text.position();
    const Step step = characters_.Find(text.Next());
    if (kSpans) span_ = {static_cast<uint32_t>(start), static_cast<uint32_t>(text.position())};
    // Nearly every character of nearly every text.
    if (step.action() == Action::kWord && encoder_.waiting_.empty()) {
      Push(step.payload());
      return false;
    }
    Take(step);
    return encoding_.ids.size() > most_;
  }

  void Take(Step step) {
    switch (step.action()) {
      case Action::kSkip:
        return;
      case Action::kLate:
        return Wait(characters_.late(step.payload()));
      case Action::kExpand:
        for (size_t i = 0; i < characters_.expansion_size(step.payload()); ++i) {
          Take(characters_.expansion(step.payload())[i]);
        }
        return;
      default:
        Settle();
    }
    switch (step.action()) {
      case Action::kWord:
        return Push(step.payload());
      case Action::kHangul: {
        const Syllable syllable = characters_.syllable(step.payload());
        for (size_t i = 0; i < syllable.count; ++i) Push(syllable.symbols[i]);
        return;
      }
      case Action::kOwn:
        CloseWord();
        Push(step.payload());
        return CloseWord();
      case Action::kSeparate:
        return CloseWord();
      default:
        return;
    }
  }

  void OpenWord() {
    encoder_.word_.clear();
    encoder_.word_spans_.clear();
    length_ = 0;
    is_known_ = true;
  }

  /** A word that no token can match keeps no symbols. */
  void Push(uint32_t symbol) {
    if (kSpans) whole_ = length_ == 0 ? span_ : Span{whole_.start, span_.end};
    ++length_;
    if (symbol == 0 || length_ > max_word_) is_known_ = false;
    if (!is_known_) return;
    encoder_.word_.push_back(symbol);
    if (kSpans) encoder_.word_spans_.push_back(span_);
  }

  void CloseWord() {
    if (length_ == 0) return;
    const size_t first = encoding_.ids.size();
    if (!is_known_ || !Match()) {
      encoding_.ids.Shrink(first);
      encoding_.ids.Push(unknown_id_);
      if (kSpans) {
        encoding_.spans.resize(first);
        encoding_.spans.push_back(whole_);
      }
    }
    OpenWord();
  }

  /** Greedy longest match. @returns whether it came to the end of the word */
  bool Match() {
    const uint32_t* symbols = encoder_.word_.data();
    const size_t length = encoder_.word_.size();
    uint32_t root = Trie::kStart;
    for (size_t start = 0; start < length; root = Trie::kContinuation) {
      uint32_t node = root;
      int32_t longest = Trie::kNone;
      size_t end = start;
      for (size_t i = start; i < length && trie_.Follow(node, symbols[i]); ++i) {
        if (trie_.id(node) == Trie::kNone) continue;
        longest = trie_.id(node);
        end = i + 1;
      }
      if (longest == Trie::kNone) return false;
      encoding_.ids.Push(longest);
      if (kSpans) {
        encoding_.spans.push_back({encoder_.word_spans_[start].start, encoder_.word_spans_[end - 1].end});
      }
      start = end;
    }
    return true;
  }

  /** More of them than a word may have make it unknown in any order. */
  void Wait(LateMark mark) {
    if (encoder_.waiting_.size() > max_word_) {
      encoder_.waiting_.back().span = span_;
      return;
    }
    encoder_.waiting_.push_back({mark.symbol, mark.combining_class, span_});
  }

  /** Marks that waited go on with the word, by class, and within a class as they came. */
  void Settle() {
    auto& waiting = encoder_.waiting_;
    if (waiting.empty()) return;
    if (waiting.size() > 1) SortWaiting();
    const Span here = span_;
    for (const auto& mark : waiting) {
      span_ = mark.span;
      Push(mark.symbol);
    }
    span_ = here;
    waiting.clear();
    if (waiting.capacity() > kKeptMarks) waiting.shrink_to_fit();
  }

  /** A counting sort: linear in the marks. */
  void SortWaiting() {
    auto& waiting = encoder_.waiting_;
    std::array<size_t, kCombiningClasses + 1> places{};
    for (const auto& mark : waiting) ++places[mark.combining_class + 1];
    for (size_t i = 1; i < places.size(); ++i) places[i] += places[i - 1];
    encoder_.sorted_.resize(waiting.size());
    for (const auto& mark : waiting) encoder_.sorted_[places[mark.combining_class]++] = mark;
    waiting.swap(encoder_.sorted_);
  }

  Encoder& encoder_;
  const CharacterTable& characters_;
  const Trie& trie_;
  const size_t max_word_;
  const int32_t unknown_id_;
  Encoding& encoding_;
  size_t length_ = 0;
  bool is_known_ = true;
  size_t most_ = kNoLimit;
  Span span_{};
  Span whole_{};
};

Encoder::Encoder(std::shared_ptr<const Vocabulary> vocabulary) : vocabulary_(std::move(vocabulary)) {
  after_.fill(After::kUnsure);
  const Trie& trie = vocabulary_->trie();
  for (char32_t c = 0; c < 0x80; ++c) {
    const Step step = vocabulary_->characters().Find(c);
    if (step.action() == Action::kSeparate) after_[c] = After::kSeparate;
    if (step.action() != Action::kOwn) continue;
    after_[c] = After::kOwn;
    uint32_t node = Trie::kStart;
    const bool is_token = trie.Follow(node, step.payload()) && trie.id(node) != Trie::kNone;
    own_ids_[c] = is_token ? trie.id(node) : vocabulary_->unknown_id();
  }
}

template <typename Text>
bool Encoder::Encode(Text text, ReadOptions options, Encoding& encoding) {
  return Reading<Text, false>(*this, encoding).Read(text, options);
}

template <typename Text>
bool Encoder::EncodeWithSpans(Text text, ReadOptions options, Encoding& encoding) {
  return Reading<Text, true>(*this, encoding).Read(text, options);
}

template bool Encoder::Encode(Latin1Text, ReadOptions, Encoding&);
template bool Encoder::Encode(Utf16Text, ReadOptions, Encoding&);
template bool Encoder::Encode(Utf8Text, ReadOptions, Encoding&);
template bool Encoder::EncodeWithSpans(Latin1Text, ReadOptions, Encoding&);
template bool Encoder::EncodeWithSpans(Utf16Text, ReadOptions, Encoding&);
template bool Encoder::EncodeWithSpans(Utf8Text, ReadOptions, Encoding&);

}  // namespace umpire
