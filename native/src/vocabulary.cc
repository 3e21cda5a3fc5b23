#include "vocabulary.h"

#include <algorithm>

#include "text.h"

namespace umpire {

namespace {

bool IsContinuation(const Token& token, const std::u16string& prefix) {
  return token.text.compare(0, prefix.size(), prefix) == 0;
}

template <typename Visit>
void ForEachCodePoint(const std::u16string& text, size_t from, Visit visit) {
  Utf16Text reader(text.data() + from, text.size() - from);
  while (!reader.AtEnd()) visit(reader.Next());
}

TrieKey MakeKey(const Token& token, size_t from, const SymbolMap& symbols) {
  TrieKey key{{}, token.id};
  ForEachCodePoint(token.text, from, [&](char32_t c) { key.symbols.push_back(symbols.at(c)); });
  return key;
}

}  // namespace

SymbolMap Vocabulary::FindSymbols(const VocabularySource& source) {
  SymbolMap symbols;
  for (const Token& token : source.tokens) {
    ForEachCodePoint(token.text, 0, [&](char32_t c) { symbols.try_emplace(c, static_cast<uint32_t>(symbols.size() + 1)); });
  }
  return symbols;
}

Trie Vocabulary::MakeTrie(const VocabularySource& source, const SymbolMap& symbols) {
  std::vector<TrieKey> starts;
  std::vector<TrieKey> continuations;
  for (const Token& token : source.tokens) {
    starts.push_back(MakeKey(token, 0, symbols));
    if (IsContinuation(token, source.prefix)) continuations.push_back(MakeKey(token, source.prefix.size(), symbols));
  }
  return Trie(std::move(starts), std::move(continuations), static_cast<uint32_t>(symbols.size()));
}

Vocabulary::Vocabulary(const VocabularySource& source, const SymbolMap& symbols)
    : characters_(source.options, symbols),
      trie_(MakeTrie(source, symbols)),
      lowercase_(source.options.lowercase),
      max_word_characters_(source.max_word_characters),
      unknown_id_(source.unknown_id),
      cls_id_(source.cls_id),
      sep_id_(source.sep_id) {
  for (const Token& token : source.tokens) {
    const auto size = static_cast<size_t>(token.id) + 1;
    if (continues_.size() < size) continues_.resize(size);
    if (IsContinuation(token, source.prefix)) continues_[size - 1] = 1;
  }
}

}  // namespace umpire
