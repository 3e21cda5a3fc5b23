// A WordPiece vocabulary made ready for reading: which symbols there are, what every code point does, and the trie of the
// tokens. Never changed once made, so that all threads of a process read one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "character_table.h"
#include "trie.h"

namespace umpire {

struct Token {
  std::u16string text;
  int32_t id;
};

struct VocabularySource {
  std::vector<Token> tokens;
  /** Begins every token that goes on with a word. */
  std::u16string prefix;
  BertOptions options;
  /** A longer word is unknown. */
  size_t max_word_characters;
  int32_t unknown_id;
  int32_t cls_id;
  int32_t sep_id;
};

class Vocabulary {
 public:
  explicit Vocabulary(const VocabularySource& source) : Vocabulary(source, FindSymbols(source)) {}

  const CharacterTable& characters() const { return characters_; }
  const Trie& trie() const { return trie_; }
  bool lowercase() const { return lowercase_; }
  size_t max_word_characters() const { return max_word_characters_; }
  int32_t unknown_id() const { return unknown_id_; }
  int32_t cls_id() const { return cls_id_; }
  int32_t sep_id() const { return sep_id_; }
  /** `[size]`: 1 where the token goes on with a word. */
  const std::vector<uint8_t>& continues() const { return continues_; }

 private:
  Vocabulary(const VocabularySource& source, const SymbolMap& symbols);

  static SymbolMap FindSymbols(const VocabularySource& source);
  static Trie MakeTrie(const VocabularySource& source, const SymbolMap& symbols);

  CharacterTable characters_;
  Trie trie_;
  bool lowercase_;
  size_t max_word_characters_;
  int32_t unknown_id_;
  int32_t cls_id_;
  int32_t sep_id_;
  std::vector<uint8_t> continues_;
};

}  // namespace umpire
